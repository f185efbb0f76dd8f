//! The cart of a fan.

use crate::dto::{IdText, given, object};
use crate::shop::dto::{Price, PriceKind, PricePart, ProductKind, Variant};
use crate::shop::order_dto::PendingOrder;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use terrace_app::shop::ShownCart;
use terrace_kernel::Currency;
use terrace_shop::{
    Address as DomainAddress, Amounts, PriceId, PricedLine, PricedShipping, Problem as DomainProblem,
    Shipping, VariantId,
};
use utoipa::ToSchema;
use uuid::Uuid;

/// The quantity of a variant in the cart.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct CartLineBody {
    /// The number of units: 0 to 20; 0 removes the line.
    #[schema(minimum = 0, maximum = 20, example = 1)]
    pub(crate) quantity: i64,
    /// The id of the chosen price; by default the one in the cart, or the first.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Uuid>, nullable = false)]
    pub(crate) price_id: Option<IdText<PriceId>>,
}

/// A line of a guest's cart.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct GuestLineBody {
    /// The id of the variant.
    #[schema(value_type = Uuid)]
    pub(crate) variant_id: IdText<VariantId>,
    /// The number of units: 1 to 20.
    #[schema(minimum = 1, maximum = 20, example = 1)]
    pub(crate) quantity: i64,
    /// The id of the chosen price.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Option<Uuid>, nullable = false)]
    pub(crate) price_id: Option<IdText<PriceId>>,
}

/// The cart that a guest kept.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MergeBody {
    /// 1 to 50 lines.
    #[schema(min_items = 1, max_items = 50)]
    pub(crate) lines: Vec<GuestLineBody>,
}

/// Where an order is to be sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct AddressBody {
    /// The name of the recipient: 1 to 120 characters.
    #[schema(example = "Mia Kurz", min_length = 1, max_length = 120)]
    pub(crate) name: String,
    /// Street and number: 1 to 120 characters.
    #[schema(example = "Hafenstr. 7", min_length = 1, max_length = 120)]
    pub(crate) line1: String,
    /// Further details: 1 to 120 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_length = 1, max_length = 120, nullable = false)]
    pub(crate) line2: Option<String>,
    /// The postal code: 1 to 20 characters.
    #[schema(example = "20459", min_length = 1, max_length = 20)]
    pub(crate) postal_code: String,
    /// The city: 1 to 120 characters.
    #[schema(example = "Hamburg", min_length = 1, max_length = 120)]
    pub(crate) city: String,
    /// The region or state: 1 to 120 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(min_length = 1, max_length = 120, nullable = false)]
    pub(crate) region: Option<String>,
    /// The ISO 3166-1 code of the country: two capital letters.
    #[schema(example = "DE", pattern = "^[A-Z]{2}$")]
    pub(crate) country: String,
}

/// An address.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Address {
    /// The name of the recipient.
    #[schema(example = "Mia Kurz")]
    name: String,
    /// Street and number.
    #[schema(example = "Hafenstr. 7")]
    line1: String,
    /// Further details.
    #[schema(required)]
    line2: Option<String>,
    /// The postal code.
    #[schema(example = "20459")]
    postal_code: String,
    /// The city.
    #[schema(example = "Hamburg")]
    city: String,
    /// The region or state.
    #[schema(required)]
    region: Option<String>,
    /// The ISO 3166-1 code of the country.
    #[schema(example = "DE")]
    country: String,
}

impl From<&DomainAddress> for Address {
    fn from(address: &DomainAddress) -> Self {
        Self {
            name: address.name.clone(),
            line1: address.line1.clone(),
            line2: address.line2.clone(),
            postal_code: address.postal_code.clone(),
            city: address.city.clone(),
            region: address.region.clone(),
            country: address.country.to_string(),
        }
    }
}

/// How and where a cart is to be sent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ShippingBody {
    /// The key of a shipping method that reaches the country.
    #[schema(example = "standard")]
    pub(crate) method: String,
    /// The address.
    #[serde(deserialize_with = "object")]
    pub(crate) address: AddressBody,
}

/// The code of a problem.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CartProblemCode {
    /// The variant is not sold any more, or not yet.
    Unavailable,
    /// Fewer units are left than wanted.
    SoldOut,
    /// The fan would have more than allowed.
    LimitReached,
    /// The chosen price does not exist any more; the line shows the first price of the variant.
    PriceChanged,
    /// Something is to be sent, and no method that reaches an address is chosen.
    AddressMissing,
    /// The fan has too few points or coins.
    InsufficientBalance,
}

/// Why a line or a cart cannot be bought as it is.
#[derive(Serialize, ToSchema)]
pub(crate) struct CartProblem {
    /// The code.
    code: CartProblemCode,
}

impl From<&DomainProblem> for CartProblem {
    fn from(problem: &DomainProblem) -> Self {
        let code = match problem {
            DomainProblem::Unavailable => CartProblemCode::Unavailable,
            DomainProblem::SoldOut => CartProblemCode::SoldOut,
            DomainProblem::LimitReached => CartProblemCode::LimitReached,
            DomainProblem::PriceChanged => CartProblemCode::PriceChanged,
            DomainProblem::AddressMissing => CartProblemCode::AddressMissing,
            DomainProblem::InsufficientBalance => CartProblemCode::InsufficientBalance,
        };
        Self { code }
    }
}

/// Amounts that are due together.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Total {
    /// The amounts, each of another kind; those that are zero are left out.
    parts: Vec<PricePart>,
}

impl Total {
    pub(crate) fn of(amounts: Amounts, currency: Option<Currency>) -> Self {
        let code = currency.map(|currency| currency.to_string());
        let parts = [
            (PriceKind::Points, amounts.points, None),
            (PriceKind::Coins, amounts.coins, None),
            (PriceKind::Money, amounts.money, code),
        ];
        let parts = parts.into_iter().filter(|(_, amount, _)| *amount > 0);
        Self { parts: parts.map(|(kind, amount, currency)| PricePart::new(kind, amount, currency)).collect() }
    }
}

/// The product of a line.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CartProduct {
    /// The id of the product.
    id: Uuid,
    /// The stable key of the product.
    #[schema(example = "knitted-scarf")]
    key: String,
    /// The name of the product.
    name: String,
    /// How the product reaches the fan.
    kind: ProductKind,
    /// The URLs of the pictures.
    image_urls: Vec<String>,
}

/// A line of a cart.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CartLine {
    /// The variant.
    variant: Variant,
    /// Its product.
    product: CartProduct,
    /// The number of units.
    quantity: u32,
    /// The id of the price.
    price_id: Uuid,
    /// The price of one unit.
    unit: Price,
    /// The price of all units.
    total: Total,
    /// Why the line cannot be bought as it is.
    problems: Vec<CartProblem>,
}

/// How and where a cart is sent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CartShipping {
    /// The key of the method.
    #[schema(example = "standard")]
    method: String,
    /// The name of the method.
    name: String,
    /// The price.
    price: Total,
    /// The address.
    address: Address,
}

impl CartShipping {
    fn new(priced: &PricedShipping, currency: Option<Currency>) -> Self {
        let Shipping { method, address } = &priced.shipping;
        Self {
            method: method.to_string(),
            name: priced.name.clone(),
            price: Total::of(Amounts { money: priced.amount, ..Amounts::default() }, currency),
            address: Address::from(address),
        }
    }
}

/// The tax of a rate.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TaxPart {
    /// The rate in hundredths of a percent: 1900 is 19 %.
    #[schema(example = 1900)]
    basis_points: u32,
    /// The tax in minor units of the currency.
    #[schema(example = 318)]
    amount: i64,
}

/// The tax that the totals contain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tax {
    /// The tax in minor units of the currency.
    #[schema(example = 318)]
    amount: i64,
    /// The ISO 4217 code of the currency; null if nothing costs money.
    #[schema(example = "EUR", required)]
    currency: Option<String>,
    /// The tax by rate.
    rates: Vec<TaxPart>,
}

impl Tax {
    pub(crate) fn new(taxes: &BTreeMap<u32, i64>, currency: Option<Currency>) -> Self {
        Self {
            amount: taxes.values().sum(),
            currency: currency.map(|currency| currency.to_string()),
            rates: taxes
                .iter()
                .map(|(rate, amount)| TaxPart { basis_points: *rate, amount: *amount })
                .collect(),
        }
    }
}

/// A cart at its current prices. It reserves nothing.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cart {
    /// The lines, the oldest first.
    lines: Vec<CartLine>,
    /// How and where it is sent; null if nothing is to be sent, or nothing that fits was chosen.
    #[schema(required)]
    shipping: Option<CartShipping>,
    /// What is due in all.
    totals: Total,
    /// The tax that the totals contain.
    tax: Tax,
    /// Why the cart as a whole cannot be bought as it is.
    problems: Vec<CartProblem>,
    /// Identifies lines, prices, shipping, tax and totals; a checkout names it. Null for an empty cart.
    #[schema(required)]
    quote: Option<String>,
}

impl Cart {
    pub(crate) fn new(shown: &ShownCart) -> Self {
        let ShownCart { cart, book, at, .. } = shown;
        let line = |line: &PricedLine| {
            let (product, variant) = book.variant(line.item.variant)?;
            let stocks: HashMap<_, _> = line.stock.map(|stock| (variant.id, stock)).into_iter().collect();
            Some(CartLine {
                variant: Variant::new(product, variant, &stocks, *at),
                product: CartProduct {
                    id: product.id.as_uuid(),
                    key: product.key.to_string(),
                    name: product.name.clone(),
                    kind: product.kind.into(),
                    image_urls: product.image_urls.clone(),
                },
                quantity: line.item.quantity,
                price_id: line.item.price.as_uuid(),
                unit: Price::from(&line.unit),
                total: Total::of(line.total, cart.currency),
                problems: line.problems.iter().map(CartProblem::from).collect(),
            })
        };
        Self {
            lines: cart.lines.iter().filter_map(line).collect(),
            shipping: cart.shipping.as_ref().map(|shipping| CartShipping::new(shipping, cart.currency)),
            totals: Total::of(cart.totals, cart.currency),
            tax: Tax::new(&cart.taxes(), cart.currency),
            problems: cart.problems.iter().map(CartProblem::from).collect(),
            quote: cart.quote.clone(),
        }
    }
}

/// A cart.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CartEnvelope {
    /// The cart in its current state.
    pub(crate) cart: Cart,
    /// The order that waits for its payment; of several the newest. What it reserves is no longer in the cart.
    #[schema(required)]
    pub(crate) pending_order: Option<PendingOrder>,
}

/// A cart after a merge.
#[derive(Serialize, ToSchema)]
pub(crate) struct MergedCart {
    /// The cart in its current state.
    pub(crate) cart: Cart,
    /// The ids of variants that were left out: unknown ones, and those for which the cart has no room.
    pub(crate) skipped: Vec<Uuid>,
}
