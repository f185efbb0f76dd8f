import type {
  Cart,
  CartLine,
  CartProblemCode,
  Order,
  OrderLine,
  PricePart,
  Product,
  Variant,
} from '$lib/api/types';

const AT = '2026-11-23T12:00:00.000Z';

/** An id that the client takes for one of the service. */
export const idOf = (number: number): string => `0190a6f2-7c1e-7000-8000-${String(number).padStart(12, '0')}`;

export const euros = (amount: number): PricePart => ({ kind: 'money', amount, currency: 'EUR' });
export const coins = (amount: number): PricePart => ({ kind: 'coins', amount, currency: null });

export function aVariant(more: Partial<Variant> = {}): Variant {
  return {
    id: idOf(1),
    key: 'one',
    name: 'One size',
    options: [],
    prices: [{ id: idOf(11), parts: [euros(1995)] }],
    available: true,
    remaining: null,
    ...more,
  };
}

export function aProduct(more: Partial<Product> = {}): Product {
  return {
    id: 'product-1',
    key: 'scarf',
    name: 'Knitted scarf',
    description: 'Wool, two metres.',
    imageUrls: [],
    kind: 'physical',
    teamId: null,
    categoryId: null,
    available: true,
    perUserLimit: null,
    opensAt: null,
    closesAt: null,
    grants: [],
    variants: [aVariant()],
    ...more,
  };
}

export function aLine(more: Partial<CartLine> = {}, problems: CartProblemCode[] = []): CartLine {
  const { id, key, name, kind, imageUrls } = aProduct();
  return {
    variant: aVariant(),
    product: { id, key, name, kind, imageUrls },
    quantity: 1,
    priceId: idOf(11),
    unit: { parts: [euros(1995)] },
    total: { parts: [euros(1995)] },
    problems: problems.map((code) => ({ code })),
    ...more,
  };
}

const address = {
  name: 'Mia Kurz',
  line1: 'Hafenstr. 7',
  line2: null,
  postalCode: '20459',
  city: 'Hamburg',
  region: null,
  country: 'DE',
};

export const standard = { method: 'standard', name: 'Standard', price: { parts: [euros(490)] }, address };

export function aCart(lines: CartLine[], more: Partial<Cart> = {}): Cart {
  return {
    lines,
    shipping: standard,
    totals: { parts: [euros(2485)] },
    tax: { amount: 397, currency: 'EUR', rates: [{ basisPoints: 1900, amount: 397 }] },
    problems: [],
    quote: lines.length === 0 ? null : 'quote-1',
    ...more,
  };
}

/** The answer to a reading of the cart. */
export const theCart = (cart: Cart, pendingOrder: object | null = null): object => ({ cart, pendingOrder });

export function anItem(more: Partial<OrderLine> = {}): OrderLine {
  return {
    id: 'line-1',
    productId: 'product-1',
    variantId: idOf(1),
    name: 'Knitted scarf, One size',
    quantity: 1,
    unit: { parts: [euros(1995)] },
    total: { parts: [euros(1995)] },
    fulfilment: 'waiting',
    shipment: null,
    goods: [],
    ...more,
  };
}

export function anOrder(more: Partial<Order> = {}): Order {
  return {
    id: 'order-1',
    status: 'pending',
    lines: [anItem()],
    shipping: standard,
    totals: { parts: [euros(2485)] },
    tax: { amount: 397, currency: 'EUR', rates: [] },
    paidBy: { points: 0, coins: 0, balance: 0, card: 2485 },
    refunds: [],
    disputed: false,
    checkoutUrl: 'https://pay.test/order-1',
    expiresAt: null,
    createdAt: AT,
    ...more,
  };
}
