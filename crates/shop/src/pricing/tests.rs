use super::*;
use crate::cart::tests::item;
use crate::{Address, Category, PriceId, TaxRate, VariantPrice};
use terrace_kernel::{PricePart, Uuid};

fn product(nth: u128, kind: ProductKind, price: Vec<PricePart>) -> Product {
    let variant = Variant {
        id: item(nth, 1).variant,
        key: "one".parse().unwrap(),
        name: "One".to_owned(),
        options: vec![],
        prices: vec![VariantPrice { id: item(nth, 1).price, price: Price::new(price).unwrap() }],
        stock: None,
        is_retired: false,
    };
    Product {
        id: ProductId::from_uuid(Uuid::from_u128(nth)),
        key: format!("p{nth}").parse().unwrap(),
        name: format!("Product {nth}"),
        description: String::new(),
        image_urls: vec![],
        kind,
        team: None,
        category: None,
        per_user_limit: None,
        opens_at: None,
        closes_at: None,
        grants: vec![],
        tax_class: "standard".to_owned(),
        variants: vec![variant],
        is_retired: false,
    }
}

fn euros(amount: i64) -> PricePart {
    PricePart::new(PriceKind::Money, amount, Some(Currency::EUR)).unwrap()
}

fn coins(amount: i64) -> PricePart {
    PricePart::new(PriceKind::Coins, amount, None).unwrap()
}

fn shop() -> Catalogue {
    Catalogue {
        categories: Vec::<Category>::new(),
        products: vec![
            product(1, ProductKind::Physical, vec![euros(1190)]),
            product(2, ProductKind::Digital, vec![coins(30), euros(119)]),
        ],
        methods: vec![ShippingMethod {
            key: "post".parse().unwrap(),
            name: "Post".to_owned(),
            price: Some(euros(490)),
            countries: vec!["DE".parse().unwrap()],
            days: 3,
        }],
        taxes: vec![TaxRate { class: "standard".to_owned(), country: None, basis_points: 1900 }],
    }
}

fn shipping(country: &str) -> Shipping {
    let text = || "x".to_owned();
    Shipping {
        method: "post".parse().unwrap(),
        address: Address {
            name: text(),
            line1: text(),
            line2: None,
            postal_code: text(),
            city: text(),
            region: None,
            country: country.parse().unwrap(),
        },
    }
}

fn priced(shop: &Catalogue, cart: &StoredCart, fan: u128) -> PricedCart {
    let find = |id: VariantId| {
        let mut all =
            shop.products.iter().flat_map(|one| one.variants.iter().map(move |variant| (one, variant)));
        all.find(|(_, variant)| variant.id == id)
    };
    let pricing = Pricing {
        user: UserId::from_uuid(Uuid::from_u128(fan)),
        catalogue: shop,
        variant: &find,
        bought: &HashMap::new(),
        balances: Amounts { points: 0, coins: 60, money: 0 },
        now: Timestamp::from_micros(0),
    };
    pricing.price(cart)
}

fn cart() -> StoredCart {
    StoredCart { items: vec![(item(1, 2), None), (item(2, 2), None)], shipping: Some(shipping("DE")) }
}

#[test]
fn a_cart_costs_what_its_lines_and_shipping_cost_and_contains_their_tax() {
    let found = priced(&shop(), &cart(), 1);
    assert_eq!(found.totals, Amounts { points: 0, coins: 60, money: 2 * 1190 + 2 * 119 + 490 });
    assert_eq!((found.all_problems().count(), found.taxes()), (0, BTreeMap::from([(0, 0), (1900, 418)])));
    assert_eq!(found.currency, Some(Currency::EUR));
}

#[test]
fn each_problem_is_named_where_it_stands() {
    let of = |change: fn(&mut Catalogue, &mut StoredCart)| {
        let (mut shop, mut cart) = (shop(), cart());
        change(&mut shop, &mut cart);
        let found = priced(&shop, &cart, 1);
        (found.lines.iter().map(|line| line.problems.clone()).collect::<Vec<_>>(), found.problems)
    };
    let first = |problem| (vec![vec![problem], vec![]], vec![]);
    assert_eq!(of(|shop, _| shop.products[0].is_retired = true), first(Problem::Unavailable));
    assert_eq!(of(|shop, _| shop.products[0].variants[0].is_retired = true), first(Problem::Unavailable));
    let stock =
        |_: &mut Catalogue, cart: &mut StoredCart| cart.items[0].1 = Some(Stock { supply: 5, taken: 4 });
    assert_eq!(of(stock), first(Problem::SoldOut));
    assert_eq!(of(|shop, _| shop.products[0].per_user_limit = Some(1)), first(Problem::LimitReached));
    assert_eq!(of(|_, cart| cart.items[0].0.quantity = 6), first(Problem::LimitReached));
    let price = |shop: &mut Catalogue, _: &mut StoredCart| {
        shop.products[0].variants[0].prices[0].id = PriceId::from_uuid(Uuid::from_u128(99));
    };
    assert_eq!(of(price), first(Problem::PriceChanged));
    let whole = |problem| (vec![vec![], vec![]], vec![problem]);
    assert_eq!(of(|_, cart| cart.shipping = None), whole(Problem::AddressMissing));
    assert_eq!(of(|_, cart| cart.shipping = Some(shipping("FR"))), whole(Problem::AddressMissing));
    assert_eq!(of(|_, cart| cart.items[1].0.quantity = 3), whole(Problem::InsufficientBalance));
}

#[test]
fn a_quote_changes_with_everything_that_is_due_and_with_the_fan() {
    type Change = fn(&mut Catalogue, &mut StoredCart);
    let quote = priced(&shop(), &cart(), 1).quote.unwrap();
    assert_eq!((quote.len(), priced(&shop(), &cart(), 1).quote.as_ref()), (64, Some(&quote)));
    assert_ne!(priced(&shop(), &cart(), 2).quote.unwrap(), quote);
    let changes: [Change; 6] = [
        |_, cart| cart.items[0].0.quantity = 1,
        |shop, _| shop.products[0].variants[0].prices[0].price = Price::new(vec![euros(1189)]).unwrap(),
        |shop, _| shop.taxes[0].basis_points = 700,
        |shop, _| shop.methods[0].price = None,
        |_, cart| cart.shipping.as_mut().unwrap().address.city = "y".to_owned(),
        |shop, _| shop.products[1].grants = vec![Grant::Coins(1)],
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        let (mut shop, mut cart) = (shop(), cart());
        change(&mut shop, &mut cart);
        assert_ne!(priced(&shop, &cart, 1).quote.unwrap(), quote, "change {nth}");
    }
    assert_eq!(priced(&shop(), &StoredCart::default(), 1).quote, None);
}
