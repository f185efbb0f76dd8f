import type { Products } from './en-products';

export const deProducts: Products = {
  list: {
    title: 'Shop',
    failedTitle: 'Der Shop wurde nicht geladen',
    emptyTitle: 'Nichts im Verkauf',
    emptyText: 'Neues kommt mit der Saison. Packs gibt es schon jetzt.',
    noneTitle: 'Nichts dieser Art',
    noneText: 'Sieh dir alles an, was im Verkauf ist.',
    all: 'Alles',
    categories: 'Welche Produkte',
    kind: 'Wie es kommt',
    kinds: { all: 'Alle', physical: 'Zu dir nach Hause', digital: 'Sofort' },
    from: (price) => `ab ${price}`,
  },
  product: {
    back: 'Alle Produkte',
    failedTitle: 'Das Produkt wurde nicht geladen',
    variant: 'Welches',
    price: 'Wie du bezahlst',
    physical: 'Es wird dir geschickt.',
    digital: 'Du hast es, sobald es bezahlt ist.',
    gives: (amount) => `Zu jedem: ${amount}.`,
    limit: (shown) => `Höchstens ${shown} für jeden Fan.`,
    closes: (time) => `Im Verkauf bis ${time}.`,
    add: 'In den Warenkorb',
    adding: 'Kommt hinein',
    added: (quantity, name) => `In deinem Warenkorb: ${quantity} × ${name}.`,
    inCart: (shown) => `${shown} in deinem Warenkorb.`,
    toCart: 'Zum Warenkorb',
    enough: 'Alles, was du haben kannst, ist im Warenkorb.',
  },
};
export default deProducts;
