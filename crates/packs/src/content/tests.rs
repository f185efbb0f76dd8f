use super::*;

fn collectible(key: &str, rarity: &str, edition: Option<i64>) -> CollectibleDraft {
    CollectibleDraft {
        key: key.to_owned(),
        name: format!("Collectible {key}"),
        rarity: rarity.to_owned(),
        edition,
        ..CollectibleDraft::default()
    }
}

fn weighted(weights: &[(&str, i64)]) -> Vec<(String, i64)> {
    weights.iter().map(|(key, weight)| ((*key).to_owned(), *weight)).collect()
}

fn pack(key: &str) -> PackDraft {
    PackDraft {
        key: key.to_owned(),
        name: format!("Pack {key}"),
        price: PriceDraft { kind: "coins".to_owned(), amount: 5, currency: None },
        slots: vec![SlotDraft { rarities: weighted(&[("rare", 1), ("common", 9)]) }],
        contents: weighted(&[("cup", 2), ("scarf", 1), ("flag", 3)]),
        ..PackDraft::default()
    }
}

fn draft() -> CatalogueDraft {
    CatalogueDraft {
        collectibles: vec![
            collectible("scarf", "common", None),
            collectible("flag", "common", Some(100)),
            collectible("cup", "rare", None),
            collectible("ring", "legendary", Some(3)),
            collectible("star", "legendary", Some(2)),
        ],
        packs: vec![pack("starter"), pack("derby")],
    }
}

fn team(key: &str) -> Option<TeamId> {
    (key == "lions").then(|| TeamId::from_uuid(Uuid::from_u128(77)))
}

fn planned(
    draft: &CatalogueDraft,
    collectibles: &[Collectible],
    packs: &[Pack],
    mut from: u128,
) -> Result<Catalogue, Vec<ContentError>> {
    let (now, currency) = (Some(Timestamp::from_micros(1_000)), Some(Currency::EUR));
    let known = Known { collectibles, packs, team: &team, now, closes_after: now, currency };
    plan(draft, &known, || {
        from += 1;
        Uuid::from_u128(from)
    })
}

/// The problems of the sample catalogue after a change, with nothing stored before.
fn said(change: impl FnOnce(&mut CatalogueDraft)) -> Vec<String> {
    let mut draft = draft();
    change(&mut draft);
    let errors = planned(&draft, &[], &[], 0).err().unwrap_or_default();
    errors.iter().map(ToString::to_string).collect()
}

/// The same for a change of the second pack.
fn of_pack(change: impl FnOnce(&mut PackDraft)) -> Vec<String> {
    said(|draft| change(&mut draft.packs[1]))
}

#[test]
fn content_becomes_a_catalogue() {
    let mut draft = draft();
    draft.collectibles[0].team = Some("lions".to_owned());
    draft.collectibles[0].image_url = Some("/assets/scarf.png".to_owned());
    draft.packs[1].guarantee = Some("rare".to_owned());
    draft.packs[1].supply = Some(50);
    draft.packs[1].price =
        PriceDraft { kind: "money".to_owned(), amount: 499, currency: Some("EUR".to_owned()) };
    let Catalogue { collectibles, packs } = planned(&draft, &[], &[], 0).unwrap();
    assert_eq!((collectibles.len(), collectibles[0].team), (5, team("lions")));
    let derby = &packs[1];
    assert_eq!(derby.price.currency().map(|currency| currency.to_string()), Some("EUR".to_owned()));
    assert_eq!((derby.supply, derby.guarantee), (Some(50), Some(Guarantee { at_least: Rarity::Rare })));
    // The order in which content is written does not change the order of the draw.
    assert_eq!(derby.slots, [Slot { rarities: vec![(Rarity::Common, 9), (Rarity::Rare, 1)] }]);
    let contents: Vec<_> = derby.contents.iter().map(|one| (one.rarity, one.edition, one.weight)).collect();
    assert_eq!(
        contents,
        [(Rarity::Common, None, 1), (Rarity::Common, Some(100), 3), (Rarity::Rare, None, 2)]
    );
    assert!(derby.contents.is_sorted_by_key(|content| content.collectible));
}

#[test]
fn ids_go_by_keys() {
    let Catalogue { collectibles, packs } = planned(&draft(), &[], &[], 0).unwrap();
    let mut changed = draft();
    changed.packs.reverse();
    changed.packs[0].name = "Something else".to_owned();
    changed.packs[0].price.amount = 6;
    changed.collectibles.reverse();
    let after = planned(&changed, &collectibles, &packs, 1_000).unwrap();
    assert_eq!((after.packs[0].id, after.packs[1].id), (packs[1].id, packs[0].id));
    assert_eq!(after.packs[0].contents, packs[1].contents);
    assert_eq!(after.collectibles[4], collectibles[0]);
}

#[test]
fn errors_name_the_pack_and_what_is_wrong_with_it() {
    let time = |micros| Some(Timestamp::from_micros(micros));
    let price = |kind: &str, amount, currency: Option<&str>| {
        let (kind, currency) = (kind.to_owned(), currency.map(str::to_owned));
        of_pack(|pack| pack.price = PriceDraft { kind, amount, currency })
    };
    let slots = |slots: &[&[(&str, i64)]]| {
        let slots = slots.iter().map(|rarities| SlotDraft { rarities: weighted(rarities) }).collect();
        of_pack(|pack| pack.slots = slots)
    };
    let both: &[_] = &[("common", 1_000_000), ("rare", 1)];
    let contents = |contents: &[(&str, i64)]| of_pack(|pack| pack.contents = weighted(contents));
    for (said, words) in [
        (of_pack(|pack| pack.name = " ".to_owned()), "the name must hold at least 1 visible character(s)"),
        (
            of_pack(|pack| pack.description = "x".repeat(501)),
            "the description must hold at most 500 characters",
        ),
        (price("gold", 1, None), "the price must be in points, coins or money"),
        (price("points", 0, None), "the price must be 1 to 1000000000"),
        (price("points", 1_000_000_001, None), "the price must be 1 to 1000000000"),
        (price("money", 1, None), "the price in money needs a currency"),
        (price("coins", 1, Some("EUR")), "the price in points or coins has no currency"),
        (price("money", 1, Some("eur")), "the price: a currency is three capital letters, such as EUR"),
        (of_pack(|pack| pack.per_user_limit = Some(0)), "the limit must be 1 to 1000000000"),
        (of_pack(|pack| pack.supply = Some(-1)), "the supply must be 1 to 1000000000"),
        (
            of_pack(|pack| (pack.opens_at, pack.closes_at) = (time(5_000), time(5_000))),
            "it must open before it closes",
        ),
        (slots(&[]), "a pack has 1 to 20 slots"),
        (slots(&[both; 21]), "a pack has 1 to 20 slots"),
        (slots(&[&[("common", 1), ("rare", 1)], &[]]), "slot 2 gives no rarity"),
        (slots(&[&[("common", 1), ("rare", 1), ("common", 2)]]), "slot 1 names common twice"),
        (slots(&[&[("common", 1), ("rare", 0)]]), "the weight of \"rare\" must be 1 to 1000000"),
        (slots(&[&[("common", 1), ("rare", 1_000_001)]]), "the weight of \"rare\" must be 1 to 1000000"),
        (slots(&[&[("common", 1), ("rare", 1), ("shiny", 1)]]), "\"shiny\" is no rarity"),
        (
            slots(&[&[("common", 1), ("rare", 1), ("epic", 1)]]),
            "a slot may give epic, and no collectible of the pack is of it",
        ),
        (slots(&[&[("common", 1)]]), "no slot can give \"cup\""),
        (contents(&[("cup", 1), ("scarf", -1)]), "the weight of \"scarf\" must be 1 to 1000000"),
        (contents(&[("cup", 1), ("scarf", 1), ("cup", 2)]), "it holds \"cup\" twice"),
        (contents(&[("cup", 1), ("scarf", 1), ("hat", 2)]), "there is no collectible \"hat\""),
        (
            of_pack(|pack| pack.guarantee = Some("epic".to_owned())),
            "the last slot cannot give what is guaranteed: epic or rarer",
        ),
        (of_pack(|pack| pack.guarantee = Some("shiny".to_owned())), "\"shiny\" is no rarity"),
        (of_pack(|pack| pack.key = "starter".to_owned()), "the key is used twice"),
    ] {
        let key = if words.contains("the key") { "starter" } else { "derby" };
        assert_eq!(said, [format!("pack {key:?} (no. 2): {words}")]);
    }
    for right in [
        slots(&[both; 20]),
        of_pack(|pack| pack.guarantee = Some("common".to_owned())),
        price("money", 1_000_000_000, Some("EUR")),
    ] {
        assert_eq!(right, [""; 0]);
    }
}

#[test]
fn a_pack_holds_a_thousand_collectibles_at_most() {
    let with = |count: usize| {
        said(|draft| {
            let keys = (0..count).map(|number| format!("c{number}"));
            draft.collectibles.extend(keys.clone().map(|key| collectible(&key, "common", None)));
            draft.packs[1].contents =
                keys.map(|key| (key, 1_000_000)).chain([("cup".to_owned(), 1)]).collect();
        })
    };
    assert_eq!(with(999), [""; 0]);
    assert_eq!(with(1_000), ["pack \"derby\" (no. 2): a pack holds at most 1000 collectibles"]);
}

#[test]
fn errors_name_the_collectible() {
    let of_one = |change: &dyn Fn(&mut CollectibleDraft)| said(|draft| change(&mut draft.collectibles[0]));
    let image = |address: &str| of_one(&|one| one.image_url = Some(address.to_owned()));
    let no_image = "the image must be an https address or a path, of at most 500 characters";
    for (said, words) in [
        (of_one(&|one| one.name = "a\nb".to_owned()), "the name must not hold control characters"),
        (of_one(&|one| one.rarity = "shiny".to_owned()), "\"shiny\" is no rarity"),
        (of_one(&|one| one.team = Some("tigers".to_owned())), "there is no team \"tigers\""),
        (of_one(&|one| one.edition = Some(0)), "the edition must be 1 to 1000000000"),
        (image("http://pictures.example/a.png"), no_image),
        (image("javascript:alert(1)"), no_image),
        (image("//pictures.example/a.png"), no_image),
        (image("/a b.png"), no_image),
        (image(&format!("/{}", "x".repeat(500))), no_image),
        (image(""), no_image),
    ] {
        assert_eq!(said, [format!("collectible \"scarf\" (no. 1): {words}")]);
    }
    assert_eq!(image("https://pictures.example/a.png"), [""; 0]);
    let twice = said(|draft| draft.collectibles[1].key = "scarf".to_owned());
    assert_eq!(twice[0], "collectible \"scarf\" (no. 2): the key is used twice");
    let malformed = said(|draft| draft.collectibles[3].key = "The Ring".to_owned());
    assert_eq!(
        malformed,
        ["collectible \"The Ring\" (no. 4): a key is 1 to 64 of a-z, 0-9, '.', '_' and '-'"]
    );
}

/// A pack whose legendary slot is filled from three rings and two stars.
fn vault(key: &str) -> PackDraft {
    let mut vault = pack(key);
    vault.slots.push(SlotDraft { rarities: weighted(&[("legendary", 1)]) });
    vault.contents.extend(weighted(&[("ring", 1), ("star", 1)]));
    vault
}

/// No other pack can use up the editions that a closed pool needs.
#[test]
fn a_closed_pool_is_of_one_pack_alone() {
    assert_eq!(said(|draft| draft.packs[0] = vault("vault")), [""; 0]);
    let shared = |one: &str, other: &str, place: usize| {
        format!(
            "pack {one:?} (no. {place}): \"ring\" is also in {other:?}: a rarity that is limited as a whole is of one pack \
             alone"
        )
    };
    let both = [shared("vault", "crypt", 1), shared("crypt", "vault", 2)];
    assert_eq!(said(|draft| draft.packs = vec![vault("vault"), vault("crypt")]), both);
    // One of the two packs with a closed pool is enough.
    let opened = |draft: &mut CatalogueDraft| {
        draft.collectibles.push(collectible("poster", "legendary", None));
        draft.packs = vec![vault("vault"), vault("crypt")];
        draft.packs[1].contents.extend(weighted(&[("poster", 5)]));
    };
    assert_eq!(said(opened), both);
    // Limited collectibles of rarities that never run out may be in any number of packs, as the flag is.
    assert_eq!(said(|_| ()), [""; 0]);
    // A pack that was removed from the content may still have sealed copies.
    let mut before = draft();
    before.packs = vec![vault("vault")];
    let Catalogue { collectibles, packs } = planned(&before, &[], &[], 0).unwrap();
    let mut after = draft();
    after.packs = vec![vault("crypt")];
    let errors = planned(&after, &collectibles, &packs, 1_000).unwrap_err();
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), [shared("crypt", "vault", 1)]);
}

#[test]
fn a_closed_pool_fills_a_copy_at_least() {
    let many = |count: usize| {
        said(|draft| {
            let mut vault = vault("vault");
            vault.slots = vec![vault.slots[1].clone(); count];
            vault.contents = weighted(&[("ring", 1), ("star", 1)]);
            draft.packs[0] = vault;
        })
    };
    assert_eq!(many(5), [""; 0]);
    assert_eq!(many(6), ["pack \"vault\" (no. 1): 6 slots may give legendary, and only 5 of it exist"]);
}

/// The odds of a pack that was on sale never change.
#[test]
fn what_was_on_sale_is_drawn_from_as_before() {
    let mut before = draft();
    before.packs[1].opens_at = Some(Timestamp::from_micros(1_001));
    let Catalogue { collectibles, packs } = planned(&before, &[], &[], 0).unwrap();
    let said = |change: &dyn Fn(&mut CatalogueDraft)| {
        let mut after = before.clone();
        change(&mut after);
        let errors = planned(&after, &collectibles, &packs, 1_000).err().unwrap_or_default();
        errors.iter().map(|error| (error.key.clone(), error.problem.clone())).collect::<Vec<_>>()
    };
    let changed = [("starter".to_owned(), ContentProblem::DrawChanged)];
    assert_eq!(said(&|after| after.packs[0].slots[0].rarities[0].1 = 2), changed);
    assert_eq!(said(&|after| after.packs[0].contents[0].1 = 3), changed);
    assert_eq!(said(&|after| drop(after.packs[0].contents.pop())), changed);
    assert_eq!(said(&|after| after.packs[0].guarantee = Some("rare".to_owned())), changed);
    // All other properties may change, and so may packs that are not on sale yet.
    assert_eq!(
        said(&|after| {
            after.packs[0].price.amount = 7;
            after.packs[0].supply = Some(1);
            after.packs[0].closes_at = Some(Timestamp::from_micros(2_000));
            after.packs[1].slots[0].rarities[0].1 = 2;
        }),
        []
    );
    assert_eq!(
        said(&|after| after.collectibles[3].edition = Some(4)),
        [("ring".to_owned(), ContentProblem::EditionChanged(Some(3)))]
    );
    assert_eq!(
        said(&|after| after.collectibles[4].rarity = "epic".to_owned()),
        [("star".to_owned(), ContentProblem::RarityChanged(Rarity::Legendary))]
    );
    assert_eq!(
        ContentProblem::EditionChanged(None).to_string(),
        "the edition cannot change: it has been open"
    );
}

#[test]
fn everything_that_is_wrong_is_reported() {
    let mut draft = draft();
    draft.collectibles[2].rarity = "shiny".to_owned();
    draft.packs[0].name = String::new();
    draft.packs[1].contents.clear();
    draft.packs[1].supply = Some(0);
    let errors = planned(&draft, &[], &[], 0).unwrap_err();
    let problems: Vec<_> = errors.iter().map(|error| (error.item, error.place, &error.problem)).collect();
    // The packs contain the cup, which is invalid here; that is not reported again.
    assert_eq!(
        problems,
        [
            (ContentItem::Collectible, 2, &ContentProblem::Rarity("shiny".to_owned())),
            (ContentItem::Pack, 0, &ContentProblem::Name(TextError::TooShort(1))),
            (ContentItem::Pack, 1, &ContentProblem::Supply),
        ]
    );
}

/// Rules that depend on what is stored do not hide each other.
#[test]
fn all_problems_with_what_is_stored_are_reported_at_once() {
    let before = draft();
    let Catalogue { collectibles, packs } = planned(&before, &[], &[], 0).unwrap();
    let mut after = before;
    after.collectibles[1].rarity = "rare".to_owned();
    after.packs[0].slots[0].rarities[0].1 = 2;
    after.packs[1].slots[0].rarities[0].1 = 2;
    let mut late = pack("late");
    late.closes_at = Some(Timestamp::from_micros(1_000));
    after.packs.push(late);
    let errors = planned(&after, &collectibles, &packs, 1_000).unwrap_err();
    let problems: Vec<_> = errors.iter().map(|error| (error.key.as_str(), &error.problem)).collect();
    assert_eq!(
        problems,
        [
            ("flag", &ContentProblem::RarityChanged(Rarity::Common)),
            ("starter", &ContentProblem::DrawChanged),
            ("derby", &ContentProblem::DrawChanged),
            ("late", &ContentProblem::ClosedBefore),
        ]
    );
}

#[test]
fn prices_in_money_are_in_the_currency_of_the_club() {
    let price = |currency: &str| {
        of_pack(|pack| {
            pack.price =
                PriceDraft { kind: "money".to_owned(), amount: 499, currency: Some(currency.to_owned()) };
        })
    };
    assert_eq!(price("EUR"), [""; 0]);
    let said = |words: &str| [format!("pack \"derby\" (no. 2): {words}")];
    assert_eq!(price("USD"), said("the price is in USD, and the currency of the club is EUR"));
    assert_eq!(price("ZZZ"), said("the price: ISO 4217 lists no currency ZZZ"));
}
