use super::*;
use terrace_kernel::GrantItem;

fn grant(kind: &str, amount: Option<i64>, key: Option<&str>) -> GrantDraft {
    GrantDraft { kind: kind.to_owned(), amount, key: key.map(str::to_owned) }
}

fn part(kind: &str, amount: i64, currency: Option<&str>) -> PartDraft {
    PartDraft { kind: kind.to_owned(), amount, currency: currency.map(str::to_owned) }
}

fn shop() -> CatalogueDraft {
    let variant = VariantDraft {
        key: "m".to_owned(),
        name: "M".to_owned(),
        options: vec![("size".to_owned(), "M".to_owned())],
        prices: vec![vec![part("money", 1999, Some("EUR"))], vec![part("coins", 500, None)]],
        stock: Some(3),
        is_partial: false,
    };
    let scarf = ProductDraft {
        key: "scarf".to_owned(),
        name: "Scarf".to_owned(),
        kind: "physical".to_owned(),
        category: Some("wear".to_owned()),
        variants: vec![variant.clone()],
        ..ProductDraft::default()
    };
    let purse = ProductDraft {
        key: "purse".to_owned(),
        name: "Purse".to_owned(),
        kind: "digital".to_owned(),
        grants: vec![grant("coins", Some(100), None), grant("pack", None, Some("starter"))],
        variants: vec![VariantDraft { stock: None, ..variant }],
        ..ProductDraft::default()
    };
    CatalogueDraft {
        categories: vec![CategoryDraft { key: "wear".to_owned(), name: "Wear".to_owned(), parent: None }],
        products: vec![scarf, purse],
        methods: vec![MethodDraft {
            key: "post".to_owned(),
            name: "Post".to_owned(),
            price: Some(part("money", 490, Some("EUR"))),
            countries: vec!["DE".to_owned()],
            days: 5,
        }],
        taxes: vec![TaxDraft { class: "standard".to_owned(), country: None, basis_points: 1900 }],
    }
}

fn planned(draft: &CatalogueDraft, before: &Catalogue) -> Result<Catalogue, Vec<ContentError>> {
    let mut ids = 100;
    let (closes_after, currency) = (Some(Timestamp::from_micros(0)), Some(Currency::EUR));
    let item = |key: &str| {
        let may_be_granted = key != "limited";
        ["starter", "limited"].contains(&key).then(|| GrantItem { id: Uuid::from_u128(1), may_be_granted })
    };
    let grants = GrantNames { pack: &item, collectible: &item, product: &item };
    let known = Known { catalogue: before, team: &|_| None, grants, closes_after, currency };
    plan(draft, &known, || {
        ids += 1;
        Uuid::from_u128(ids)
    })
}

#[test]
fn content_keeps_the_ids_of_what_is_stored() {
    let first = planned(&shop(), &Catalogue::default()).unwrap();
    assert_eq!(planned(&shop(), &first).unwrap(), first);
    let mut dearer = shop();
    dearer.products[0].variants[0].prices[0][0].amount = 2499;
    dearer.products[1].variants[0].key = "l".to_owned();
    let second = planned(&dearer, &first).unwrap();
    let prices =
        |of: &Catalogue| of.products[0].variants[0].prices.iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(second.products[0].variants[0].id, first.products[0].variants[0].id);
    assert!(prices(&first)[0] != prices(&second)[0] && prices(&first)[1] == prices(&second)[1]);
    let retired: Vec<_> =
        second.products[1].variants.iter().map(|one| (one.key.as_str(), one.is_retired)).collect();
    assert_eq!(retired, [("l", false), ("m", true)]);
}

#[test]
fn each_rule_is_refused_with_its_place() {
    type Damage = fn(&mut CatalogueDraft);
    let cases: Vec<(Damage, &str)> = vec![
        (|shop| shop.products[0].key = "A".to_owned(), "product \"A\" (no. 1): a key is"),
        (|shop| shop.products[1].key = "scarf".to_owned(), "the key is used twice"),
        (|shop| shop.products[0].kind = "paper".to_owned(), "digital or physical"),
        (|shop| shop.products[0].team = Some("x".to_owned()), "no team \"x\""),
        (|shop| shop.products[0].category = Some("x".to_owned()), "no category \"x\""),
        (|shop| shop.products[0].per_user_limit = Some(0), "the limit must be"),
        (|shop| shop.products[0].image_urls = vec!["//evil".to_owned()], "images"),
        (|shop| shop.products[0].closes_at = Some(Timestamp::from_micros(0)), "closes in the past"),
        (|shop| shop.products[0].variants.clear(), "1 to 50 variants"),
        (|shop| shop.products[0].variants[0].prices.clear(), "1 to 4 different prices"),
        (|shop| shop.products[0].variants[0].prices[0].clear(), "a price has one part"),
        (|shop| shop.products[0].variants[0].prices[0][0].amount = 0, "a price must be 1 to"),
        (
            |shop| shop.products[0].variants[0].prices[0][0].currency = Some("USD".to_owned()),
            "a price is in USD",
        ),
        (|shop| shop.products[0].variants[0].stock = Some(-1), "the stock of variant \"m\""),
        (|shop| shop.products[0].grants = vec![grant("coins", Some(1), None)], "only digital products"),
        // Boards would be for sale.
        (|shop| shop.products[1].grants[0].kind = "points".to_owned(), "it cannot grant \"points\""),
        (|shop| shop.products[1].grants[1].kind = "product".to_owned(), "it cannot grant \"product\""),
        (|shop| shop.products[1].grants[0].amount = Some(500), "at least as many coins as it costs"),
        (|shop| shop.products[1].grants[0].amount = None, "a grant of coins is of 1 to"),
        (|shop| shop.products[1].grants[1].amount = Some(21), "a grant of pack is of 1 to 20"),
        (|shop| shop.products[1].grants[1].key = Some("x".to_owned()), "there is no pack \"x\""),
        (|shop| shop.products[1].grants[1].key = None, "has a `key`"),
        (
            |shop| {
                let again = shop.products[1].grants[1].clone();
                shop.products[1].grants.push(again);
            },
            "each once",
        ),
        (
            |shop| shop.products[1].grants[1] = grant("collectible", None, Some("limited")),
            "no limited collectible",
        ),
        (|shop| shop.methods.clear(), "no shipping method"),
        (|shop| shop.methods[0].price = Some(part("coins", 1, None)), "in money"),
        (|shop| shop.methods[0].countries = vec!["de".to_owned()], "method \"post\" (no. 1): a country"),
        (|shop| shop.methods[0].countries = vec!["DE".to_owned(), "ZZ".to_owned()], "no country ZZ"),
        (
            |shop| shop.taxes[0].country = Some("XX".to_owned()),
            "tax \"standard\" (no. 1): ISO 3166-1 lists no",
        ),
        (|shop| shop.methods[0].days = 0, "the days"),
        (|shop| shop.taxes[0].basis_points = 10_001, "tax \"standard\" (no. 1): a tax rate"),
        (|shop| shop.taxes.push(shop.taxes[0].clone()), "two rates"),
        (
            |shop| shop.categories[0].parent = Some("wear".to_owned()),
            "category \"wear\" (no. 1): there is no",
        ),
    ];
    for (damage, words) in cases {
        let mut draft = shop();
        damage(&mut draft);
        let errors = planned(&draft, &Catalogue::default()).unwrap_err();
        assert!(errors.iter().any(|error| error.to_string().contains(words)), "{words}: {errors:?}");
    }
}
