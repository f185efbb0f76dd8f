/** The texts of the pages of products. */
export const enProducts = {
  list: {
    title: 'Shop',
    failedTitle: 'The shop didn’t load',
    emptyTitle: 'Nothing is on sale',
    emptyText: 'New things come with the season. The packs are open meanwhile.',
    noneTitle: 'Nothing of that kind',
    noneText: 'Look at everything that is on sale.',
    all: 'Everything',
    categories: 'Which products',
    kind: 'How it comes',
    kinds: { all: 'All', physical: 'To your home', digital: 'At once' },
    from: (price: string) => `from ${price}`,
  },
  product: {
    back: 'All products',
    failedTitle: 'The product didn’t load',
    variant: 'Which one',
    price: 'How you pay',
    physical: 'It is sent to you.',
    digital: 'You have it as soon as it is paid.',
    gives: (amount: string) => `With each: ${amount}.`,
    limit: (shown: string) => `At most ${shown} for each fan.`,
    closes: (time: string) => `On sale until ${time}.`,
    add: 'Add to cart',
    adding: 'Adding',
    added: (quantity: string, name: string) => `In your cart: ${quantity} × ${name}.`,
    inCart: (shown: string) => `${shown} in your cart.`,
    toCart: 'To the cart',
    enough: 'All that you can have is in your cart.',
  },
};

/** The texts of one language for them. */
export type Products = typeof enProducts;
export default enProducts;
