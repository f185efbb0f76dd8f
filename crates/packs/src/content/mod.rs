//! Validation of a catalogue as a whole, before any of it is stored.

mod draft;
mod whole;

pub use draft::{CatalogueDraft, CollectibleDraft, PackDraft, PriceDraft, SlotDraft};

use crate::{
    Collectible, CollectibleId, CollectibleKey, Content, Guarantee, Pack, PackId, PackKey, Rarity, Slot,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::content::{self, ContentProblems, LONGEST_ADDRESS, is_image_address};
use terrace_kernel::text::{TextError, line, paragraphs};
use terrace_kernel::{Currency, MalformedCurrency, PriceError, PriceKind, PricePart};
use terrace_kernel::{MalformedKey, TeamId, Timestamp};
use uuid::Uuid;

/// The highest weight, of a rarity in a slot and of a collectible in a pack.
const HEAVIEST: u32 = 1_000_000;
/// The most slots of a pack.
const MOST_SLOTS: usize = 20;
/// The most collectibles in a pack. It bounds the sum of the weights of a rarity to 1,000,000,000.
const MOST_CONTENTS: usize = 1_000;
/// The largest edition, supply and limit per fan.
const MOST_COPIES: u32 = 1_000_000_000;
/// The longest name, in characters.
const LONGEST_NAME: usize = 120;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 500;

/// The list of the content that an item is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContentItem {
    /// The list of collectibles.
    Collectible,
    /// The list of packs.
    Pack,
}

impl fmt::Display for ContentItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Collectible => "collectible",
            Self::Pack => "pack",
        })
    }
}

/// A problem in the content, with the place of its item.
pub type ContentError = content::ContentError<ContentItem, ContentProblem>;

/// A problem in the content. Slots count from 1, as they are written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentProblem {
    /// The key is malformed.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key occurs twice in the list.
    #[error("the key is used twice")]
    KeyTwice,
    /// The name is invalid.
    #[error("the name {0}")]
    Name(TextError),
    /// The description is invalid.
    #[error("the description {0}")]
    Description(TextError),
    /// The image is neither a path nor an https address, or it is too long.
    #[error("the image must be an https address or a path, of at most {LONGEST_ADDRESS} characters")]
    Image,
    /// No rarity has this name.
    #[error("{0:?} is no rarity")]
    Rarity(String),
    /// No team has this key.
    #[error("there is no team {0:?}")]
    UnknownTeam(String),
    /// The edition is zero, negative or too large.
    #[error("the edition must be 1 to {MOST_COPIES}")]
    Edition,
    /// The rarity of an existing collectible differs.
    #[error("the rarity cannot change: it has been {0}")]
    RarityChanged(Rarity),
    /// The edition of an existing collectible differs.
    #[error("the edition cannot change: it has been {}", edition(*.0))]
    EditionChanged(Option<u32>),
    /// The kind of the price is unknown.
    #[error("the price must be in points, coins or money")]
    PriceKind,
    /// The price is invalid.
    #[error("the price {0}")]
    Price(PriceError),
    /// The currency code is malformed.
    #[error("the price: {0}")]
    Currency(MalformedCurrency),
    /// ISO 4217 has no such currency.
    #[error("the price: ISO 4217 lists no currency {0}")]
    UnknownCurrency(Currency),
    /// The price is not in the club's currency.
    #[error("the price is in {price}, and the currency of the club is {club}")]
    OtherCurrency {
        /// The currency of the price.
        price: Currency,
        /// The currency of the club.
        club: Currency,
    },
    /// The limit for each fan is zero, negative or too large.
    #[error("the limit must be 1 to {MOST_COPIES}")]
    Limit,
    /// The supply is zero, negative or too large.
    #[error("the supply must be 1 to {MOST_COPIES}")]
    Supply,
    /// The pack closes before it opens, or at the same instant.
    #[error("it must open before it closes")]
    Window,
    /// A pack that is not stored yet closes before the content is loaded.
    #[error("it is new, and closes in the past")]
    ClosedBefore,
    /// The pack has no slots, or too many.
    #[error("a pack has 1 to {MOST_SLOTS} slots")]
    Slots,
    /// A slot has no rarities.
    #[error("slot {0} gives no rarity")]
    EmptySlot(usize),
    /// A slot names a rarity twice.
    #[error("slot {0} names {1} twice")]
    RarityTwice(usize, Rarity),
    /// A weight is zero, negative or too large.
    #[error("the weight of {0:?} must be 1 to {HEAVIEST}")]
    Weight(String),
    /// The pack holds too many collectibles.
    #[error("a pack holds at most {MOST_CONTENTS} collectibles")]
    Contents,
    /// The content has no collectible of this key.
    #[error("there is no collectible {0:?}")]
    UnknownCollectible(String),
    /// The pack names a collectible twice.
    #[error("it holds {0:?} twice")]
    CollectibleTwice(String),
    /// A slot may give a rarity of which the pack has no collectible.
    #[error("a slot may give {0}, and no collectible of the pack is of it")]
    NothingOf(Rarity),
    /// The pack holds a collectible that no slot can give.
    #[error("no slot can give {0:?}")]
    NeverGiven(String),
    /// The last slot cannot give a rarity that fulfils the guarantee.
    #[error("the last slot cannot give what is guaranteed: {0} or rarer")]
    Guarantee(Rarity),
    /// All collectibles of a rarity are limited, and their editions cannot fill a single copy.
    #[error("{slots} slots may give {rarity}, and only {editions} of it exist")]
    PoolTooSmall {
        /// The rarity without unlimited collectibles.
        rarity: Rarity,
        /// The number of slots that may give it.
        slots: u32,
        /// The total edition of its collectibles in the pack.
        editions: u32,
    },
    /// A collectible of a closed pool is also in another pack, which could use up its edition.
    #[error("{collectible:?} is also in {other:?}: a rarity that is limited as a whole is of one pack alone")]
    SharedPool {
        /// Key of the limited collectible.
        collectible: String,
        /// Key of the other pack, which may be missing from the content.
        other: String,
    },
    /// The slots, the guarantee or the contents of a pack changed after its sale began.
    #[error(
        "slots, guarantee and contents cannot change after the pack was on sale: use a new key for new content"
    )]
    DrawChanged,
}

fn edition(edition: Option<u32>) -> String {
    edition.map_or_else(|| "open".to_owned(), |edition| edition.to_string())
}

/// The state that content is validated against.
pub struct Known<'a> {
    /// The stored collectibles. Content of the same key keeps their ids, and must keep their rarities and editions.
    pub collectibles: &'a [Collectible],
    /// The stored packs, including retired ones. Content of the same key keeps their ids and, once they were on sale,
    /// must keep their slots, guarantee and contents.
    pub packs: &'a [Pack],
    /// Looks up a team by its key.
    pub team: &'a dyn Fn(&str) -> Option<TeamId>,
    /// The instant at which the content is loaded; `None` for a check without a database.
    pub now: Option<Timestamp>,
    /// The instant after which a pack that is not stored yet must close, if this is checked.
    pub closes_after: Option<Timestamp>,
    /// The currency of prices in money; `None` if it is not known.
    pub currency: Option<Currency>,
}

/// A validated catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    /// The collectibles, in the order of the content.
    pub collectibles: Vec<Collectible>,
    /// The packs, in the order of the content.
    pub packs: Vec<Pack>,
}

/// Validates content and builds the catalogue that it describes. An item whose key is stored already keeps the stored
/// id, and with it everything that fans bought and own; `new_id` generates the ids of the others.
///
/// Content that could break its odds is refused (`docs/spec.md` §1, rule 11): zero weights, slots that nothing can
/// fill, guarantees that the last slot cannot fulfil, editions that another pack could use up, and changes of what was
/// on sale.
///
/// # Errors
///
/// Returns all problems: those of collectibles first, then those of packs, each in the order of the content.
pub fn plan(
    draft: &CatalogueDraft,
    known: &Known<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Catalogue, Vec<ContentError>> {
    let mut found = Problems::new(ContentItem::Collectible);
    let mut seen = BTreeSet::new();
    let mut collectibles = Vec::new();
    for (place, draft) in draft.collectibles.iter().enumerate() {
        found.at(ContentItem::Collectible, &draft.key, place);
        if !seen.insert(draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        collectibles.extend(collectible(draft, known, &mut new_id, &mut found));
    }
    let by_key: BTreeMap<&str, &Collectible> =
        collectibles.iter().map(|collectible| (collectible.key.as_str(), collectible)).collect();
    let mut seen = BTreeSet::new();
    let mut packs = Vec::new();
    for (place, pack_draft) in draft.packs.iter().enumerate() {
        found.at(ContentItem::Pack, &pack_draft.key, place);
        if !seen.insert(pack_draft.key.as_str()) {
            found.note(ContentProblem::KeyTwice);
        }
        let shelf = Shelf { by_key: &by_key, drafted: &draft.collectibles };
        let before = found.count();
        let Some(pack) = pack(pack_draft, &shelf, known, &mut new_id, &mut found) else { continue };
        // In others, parts that were left out because of an error would only cause follow-up errors.
        let is_whole = !pack_draft.is_partial
            && found.count() == before
            && pack.contents.len() == pack_draft.contents.len();
        packs.push(Planned { place, pack, is_whole });
    }
    whole::check(&packs, &collectibles, known, &mut found);
    found.sort();
    found.unless_any(Catalogue {
        collectibles,
        packs: packs.into_iter().map(|planned| planned.pack).collect(),
    })
}

/// A pack and its index in the content.
struct Planned {
    place: usize,
    pack: Pack,
    /// Whether all that it holds is valid by itself.
    is_whole: bool,
}

type Problems = ContentProblems<ContentItem, ContentProblem>;

fn rarity(text: &str, found: &mut Problems) -> Option<Rarity> {
    found.take(text.parse(), |_| ContentProblem::Rarity(text.to_owned()))
}

/// A number of copies, if one is given.
fn copies(number: Option<i64>, problem: ContentProblem, found: &mut Problems) -> Option<u32> {
    found.within(number?, 1, MOST_COPIES, problem)
}

fn image(address: Option<&String>, found: &mut Problems) -> Option<String> {
    if address.is_some_and(|address| !is_image_address(address)) {
        found.note(ContentProblem::Image);
    }
    address.cloned()
}

/// Builds a collectible and notes all its problems. `None` if a required part is invalid.
fn collectible(
    draft: &CollectibleDraft,
    known: &Known<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Collectible> {
    let key: Option<CollectibleKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = found.take(line(&draft.name, 1, LONGEST_NAME), ContentProblem::Name);
    let rarity = rarity(&draft.rarity, found);
    let team = draft.team.as_ref().and_then(|key| {
        found.take((known.team)(key).ok_or(key), |key| ContentProblem::UnknownTeam(key.clone()))
    });
    let image_url = image(draft.image_url.as_ref(), found);
    let edition = copies(draft.edition, ContentProblem::Edition, found);
    let before = known.collectibles.iter().find(|one| one.key.as_str() == draft.key);
    if let Some(before) = before {
        if rarity.is_some_and(|rarity| rarity != before.rarity) {
            found.note(ContentProblem::RarityChanged(before.rarity));
        }
        if edition != before.edition {
            found.note(ContentProblem::EditionChanged(before.edition));
        }
    }
    let id = before.map_or_else(|| CollectibleId::from_uuid(new_id()), |one| one.id);
    Some(Collectible { id, key: key?, name: name?, rarity: rarity?, team, image_url, edition })
}

/// The collectibles that packs may contain.
struct Shelf<'a> {
    by_key: &'a BTreeMap<&'a str, &'a Collectible>,
    /// All collectibles as written: a key that is here but not in `by_key` had an error, and is not unknown.
    drafted: &'a [CollectibleDraft],
}

/// Builds a pack and notes all its problems. `None` if a required part is invalid.
fn pack(
    draft: &PackDraft,
    shelf: &Shelf<'_>,
    known: &Known<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Pack> {
    let key: Option<PackKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = found.take(line(&draft.name, 1, LONGEST_NAME), ContentProblem::Name);
    let description =
        found.take(paragraphs(&draft.description, 0, LONGEST_DESCRIPTION), ContentProblem::Description);
    let image_url = image(draft.image_url.as_ref(), found);
    let price = price(&draft.price, known, found);
    let per_user_limit = copies(draft.per_user_limit, ContentProblem::Limit, found);
    let supply = copies(draft.supply, ContentProblem::Supply, found);
    if let (Some(opens), Some(closes)) = (draft.opens_at, draft.closes_at)
        && opens >= closes
    {
        found.note(ContentProblem::Window);
    }
    let before = known.packs.iter().find(|pack| pack.key.as_str() == draft.key);
    if before.is_none()
        && draft.closes_at.zip(known.closes_after).is_some_and(|(closes, after)| closes <= after)
    {
        found.note(ContentProblem::ClosedBefore);
    }
    let slots = slots(&draft.slots, found);
    let guarantee = draft.guarantee.as_ref().and_then(|text| rarity(text, found));
    let contents = contents(&draft.contents, shelf, found);
    Some(Pack {
        id: before.map_or_else(|| PackId::from_uuid(new_id()), |pack| pack.id),
        key: key?,
        name: name?,
        description: description?,
        image_url,
        price: price?,
        per_user_limit,
        supply,
        opens_at: draft.opens_at,
        closes_at: draft.closes_at,
        slots,
        guarantee: guarantee.map(|at_least| Guarantee { at_least }),
        contents,
        is_retired: false,
    })
}

fn price(draft: &PriceDraft, known: &Known<'_>, found: &mut Problems) -> Option<PricePart> {
    let kind: Option<PriceKind> = found.take(draft.kind.parse(), |_| ContentProblem::PriceKind);
    let currency =
        draft.currency.as_ref().map(|text| found.take(text.parse::<Currency>(), ContentProblem::Currency));
    let currency = match currency {
        Some(currency) => Some(currency?),
        None => None,
    };
    if let Some(price) = currency {
        match known.currency {
            _ if price.decimals().is_none() => found.note(ContentProblem::UnknownCurrency(price)),
            Some(club) if price != club => found.note(ContentProblem::OtherCurrency { price, club }),
            Some(_) | None => {}
        }
    }
    found.take(PricePart::new(kind?, draft.amount, currency), ContentProblem::Price)
}

fn slots(drafts: &[SlotDraft], found: &mut Problems) -> Vec<Slot> {
    if !(1..=MOST_SLOTS).contains(&drafts.len()) {
        found.note(ContentProblem::Slots);
    }
    let mut slots = Vec::new();
    for (draft, number) in drafts.iter().zip(1..) {
        if draft.rarities.is_empty() {
            found.note(ContentProblem::EmptySlot(number));
        }
        let mut rarities = BTreeMap::new();
        for (name, weight) in &draft.rarities {
            let weight = found.within(*weight, 1, HEAVIEST, ContentProblem::Weight(name.clone()));
            let Some(rarity) = rarity(name, found) else { continue };
            if rarities.insert(rarity, weight.unwrap_or(1)).is_some() {
                found.note(ContentProblem::RarityTwice(number, rarity));
            }
        }
        slots.push(Slot { rarities: rarities.into_iter().collect() });
    }
    slots
}

fn contents(drafts: &[(String, i64)], shelf: &Shelf<'_>, found: &mut Problems) -> Vec<Content> {
    if drafts.len() > MOST_CONTENTS {
        found.note(ContentProblem::Contents);
    }
    let mut seen = BTreeSet::new();
    let mut contents = Vec::new();
    for (key, weight) in drafts {
        let weight = found.within(*weight, 1, HEAVIEST, ContentProblem::Weight(key.clone()));
        if !seen.insert(key) {
            found.note(ContentProblem::CollectibleTwice(key.clone()));
        }
        match shelf.by_key.get(key.as_str()) {
            Some(Collectible { id, rarity, edition, .. }) => contents.push(Content {
                collectible: *id,
                rarity: *rarity,
                edition: *edition,
                weight: weight.unwrap_or(1),
            }),
            None if shelf.drafted.iter().any(|draft| draft.key == *key) => {}
            None => found.note(ContentProblem::UnknownCollectible(key.clone())),
        }
    }
    contents.sort_by_key(|content| content.collectible);
    contents
}

#[cfg(test)]
mod tests;
