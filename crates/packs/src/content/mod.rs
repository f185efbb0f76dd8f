//! What content says, checked as a whole before anything of it is kept.

mod draft;
mod whole;

pub use draft::{CatalogueDraft, CollectibleDraft, PackDraft, PriceDraft, SlotDraft};

use crate::{
    Collectible, CollectibleId, CollectibleKey, Content, Guarantee, Pack, PackId, PackKey, Rarity, Slot,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use terrace_kernel::text::{TextError, line, paragraphs};
use terrace_kernel::{MalformedCurrency, Price, PriceError, PriceKind};
use terrace_kernel::{MalformedKey, TeamId, Timestamp};
use uuid::Uuid;

/// The highest weight, of a rarity in a slot and of a collectible in a pack.
const HEAVIEST: u32 = 1_000_000;
/// The most slots of a pack.
const MOST_SLOTS: usize = 20;
/// The most collectibles in a pack: with it the weights of a rarity add up to 1,000,000,000 at most.
const MOST_CONTENTS: usize = 1_000;
/// The largest edition, supply and limit per fan.
const MOST_COPIES: u32 = 1_000_000_000;
/// The longest name, in characters.
const LONGEST_NAME: usize = 120;
/// The longest description, in characters.
const LONGEST_DESCRIPTION: usize = 500;
/// The longest address of a picture, in bytes.
const LONGEST_ADDRESS: usize = 500;

/// Which list of the content something stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContentItem {
    /// That of collectibles.
    Collectible,
    /// That of packs.
    Pack,
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ContentError {
    /// In which list.
    pub item: ContentItem,
    /// The key of the collectible or pack as it stands there.
    pub key: String,
    /// Its place in the list, from 0: what finds it in the file where the key does not.
    pub place: usize,
    /// What is wrong.
    pub problem: ContentProblem,
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { item, key, place, problem } = self;
        let item = match item {
            ContentItem::Collectible => "collectible",
            ContentItem::Pack => "pack",
        };
        write!(f, "{item} {key:?} (no. {}): {problem}", place.saturating_add(1))
    }
}

/// What is wrong with content. Slots count from 1, as they are written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContentProblem {
    /// The key is none.
    #[error("{0}")]
    Key(MalformedKey),
    /// The key was used before in the list.
    #[error("the key is used twice")]
    KeyTwice,
    /// The name cannot be taken.
    #[error("the name {0}")]
    Name(TextError),
    /// The description cannot be taken.
    #[error("the description {0}")]
    Description(TextError),
    /// The picture has no address that pages could load.
    #[error("the image must be an https address or a path, of at most {LONGEST_ADDRESS} characters")]
    Image,
    /// A rarity is none.
    #[error("{0:?} is no rarity")]
    Rarity(String),
    /// No team has this key.
    #[error("there is no team {0:?}")]
    UnknownTeam(String),
    /// The edition holds nothing, or too many.
    #[error("the edition must be 1 to {MOST_COPIES}")]
    Edition,
    /// The collectible was of another rarity before.
    #[error("the rarity cannot change: it has been {0}")]
    RarityChanged(Rarity),
    /// The collectible was of another edition before.
    #[error("the edition cannot change: it has been {}", edition(*.0))]
    EditionChanged(Option<u32>),
    /// What is paid with is none of what can be.
    #[error("the price must be in points, coins or money")]
    PriceKind,
    /// The price makes no sense.
    #[error("the price {0}")]
    Price(PriceError),
    /// The currency is none.
    #[error("the price: {0}")]
    Currency(MalformedCurrency),
    /// The limit for each fan is none, or too high.
    #[error("the limit must be 1 to {MOST_COPIES}")]
    Limit,
    /// The supply is none, or too high.
    #[error("the supply must be 1 to {MOST_COPIES}")]
    Supply,
    /// The pack closes before it opens, or at once.
    #[error("it must open before it closes")]
    Window,
    /// The pack has no slot, or too many.
    #[error("a pack has 1 to {MOST_SLOTS} slots")]
    Slots,
    /// A slot gives nothing.
    #[error("slot {0} gives no rarity")]
    EmptySlot(usize),
    /// A slot names a rarity twice.
    #[error("slot {0} names {1} twice")]
    RarityTwice(usize, Rarity),
    /// A weight is nothing, or too high.
    #[error("the weight of {0:?} must be 1 to {HEAVIEST}")]
    Weight(String),
    /// The pack holds too many collectibles.
    #[error("a pack holds at most {MOST_CONTENTS} collectibles")]
    Contents,
    /// There is no such collectible.
    #[error("there is no collectible {0:?}")]
    UnknownCollectible(String),
    /// The pack names a collectible twice.
    #[error("it holds {0:?} twice")]
    CollectibleTwice(String),
    /// A slot may give a rarity of which the pack holds nothing.
    #[error("a slot may give {0}, and no collectible of the pack is of it")]
    NothingOf(Rarity),
    /// The pack holds a collectible that no slot can give.
    #[error("no slot can give {0:?}")]
    NeverGiven(String),
    /// The last slot cannot give what is guaranteed.
    #[error("the last slot cannot give what is guaranteed: {0} or rarer")]
    Guarantee(Rarity),
    /// A rarity that can run out does not even fill one copy.
    #[error("{slots} slots may give {rarity}, and only {editions} of it exist")]
    PoolTooSmall {
        /// The rarity, whose collectibles are all limited.
        rarity: Rarity,
        /// How many slots may give it.
        slots: u32,
        /// How many copies of its collectibles there will ever be.
        editions: u32,
    },
    /// What one pack promises, another could take away.
    #[error("{collectible:?} is also in {other:?}: a rarity that is limited as a whole is of one pack alone")]
    SharedPool {
        /// The limited collectible.
        collectible: String,
        /// The other pack, whether or not it is still in the content.
        other: String,
    },
    /// What the pack is drawn from is not what it was when it was sold.
    #[error(
        "slots, guarantee and contents cannot change once it was on sale: give what is new a key of its own"
    )]
    DrawChanged,
}

fn edition(edition: Option<u32>) -> String {
    edition.map_or_else(|| "open".to_owned(), |edition| edition.to_string())
}

/// What content is checked against, and what it keeps.
pub struct Known<'a> {
    /// The collectibles that there are: those of the same key keep their ids, rarities and editions.
    pub collectibles: &'a [Collectible],
    /// The packs that there are, retired ones included: those of the same key keep their ids and, once they were on sale,
    /// what they are drawn from.
    pub packs: &'a [Pack],
    /// The team of a key.
    pub team: &'a dyn Fn(&str) -> Option<TeamId>,
    /// The instant at which the content is loaded.
    pub now: Timestamp,
}

/// A catalogue that holds what it promises.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Catalogue {
    /// Its collectibles, in the order of the content.
    pub collectibles: Vec<Collectible>,
    /// Its packs, in the order of the content.
    pub packs: Vec<Pack>,
}

/// The catalogue that content describes. Ids go by keys: what had its key before keeps its id, and with it what fans
/// bought and own; `new_id` names the others.
///
/// Refused is whatever could not hold its odds (`docs/spec.md` §1, rule 11): weights of nothing, slots that nothing
/// fills, guarantees that the last slot cannot fulfil, editions that another pack could use up, and changes of what was
/// on sale.
///
/// # Errors
///
/// Everything that is wrong, collectibles first, in the order of the content.
pub fn plan(
    draft: &CatalogueDraft,
    known: &Known<'_>,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Catalogue, Vec<ContentError>> {
    let mut found = Problems::default();
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
        packs.extend(pack(pack_draft, &shelf, known, &mut new_id, &mut found).map(|pack| (place, pack)));
    }
    // What is left out by an error would only give rise to others.
    if found.errors.is_empty() {
        whole::check(&packs, &collectibles, known, &mut found);
    }
    if found.errors.is_empty() {
        Ok(Catalogue { collectibles, packs: packs.into_iter().map(|(_, pack)| pack).collect() })
    } else {
        Err(found.errors)
    }
}

/// What was found wrong so far, and where one is looking.
#[derive(Default)]
struct Problems {
    errors: Vec<ContentError>,
    here: Option<(ContentItem, String, usize)>,
}

impl Problems {
    fn at(&mut self, item: ContentItem, key: &str, place: usize) {
        self.here = Some((item, key.to_owned(), place));
    }

    fn note(&mut self, problem: ContentProblem) {
        let (item, key, place) = self.here.clone().unwrap_or((ContentItem::Pack, String::new(), 0));
        self.errors.push(ContentError { item, key, place, problem });
    }

    /// The value, or `None` and a note of what is wrong with it.
    fn take<T, E>(&mut self, value: Result<T, E>, problem: impl FnOnce(E) -> ContentProblem) -> Option<T> {
        value.map_err(|error| self.note(problem(error))).ok()
    }

    fn rarity(&mut self, text: &str) -> Option<Rarity> {
        self.take(text.parse(), |_| ContentProblem::Rarity(text.to_owned()))
    }

    /// A number of copies, if one is given.
    fn copies(&mut self, number: Option<i64>, problem: ContentProblem) -> Option<u32> {
        self.within(number?, MOST_COPIES, problem)
    }

    fn within(&mut self, number: i64, most: u32, problem: ContentProblem) -> Option<u32> {
        let number = u32::try_from(number).ok().filter(|number| (1..=most).contains(number));
        if number.is_none() {
            self.note(problem);
        }
        number
    }

    fn image(&mut self, address: Option<&String>) -> Option<String> {
        let address = address?;
        // Two slashes would begin the address of another host.
        let is_path = address.starts_with('/') && !address.starts_with("//");
        let is_plain =
            address.len() <= LONGEST_ADDRESS && address.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_plain || !(is_path || address.starts_with("https://")) {
            self.note(ContentProblem::Image);
        }
        Some(address.clone())
    }
}

/// A collectible, unless something that it is made of is missing; whatever is wrong is noted.
fn collectible(
    draft: &CollectibleDraft,
    known: &Known<'_>,
    new_id: &mut impl FnMut() -> Uuid,
    found: &mut Problems,
) -> Option<Collectible> {
    let key: Option<CollectibleKey> = found.take(draft.key.parse(), ContentProblem::Key);
    let name = found.take(line(&draft.name, 1, LONGEST_NAME), ContentProblem::Name);
    let rarity = found.rarity(&draft.rarity);
    let team = draft.team.as_ref().and_then(|key| {
        found.take((known.team)(key).ok_or(key), |key| ContentProblem::UnknownTeam(key.clone()))
    });
    let image_url = found.image(draft.image_url.as_ref());
    let edition = found.copies(draft.edition, ContentProblem::Edition);
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

/// The collectibles that packs may hold.
struct Shelf<'a> {
    by_key: &'a BTreeMap<&'a str, &'a Collectible>,
    /// As they are written: one with an error is not unknown as well.
    drafted: &'a [CollectibleDraft],
}

/// A pack, unless something that it is made of is missing; whatever is wrong is noted.
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
    let image_url = found.image(draft.image_url.as_ref());
    let price = price(&draft.price, found);
    let per_user_limit = found.copies(draft.per_user_limit, ContentProblem::Limit);
    let supply = found.copies(draft.supply, ContentProblem::Supply);
    if let (Some(opens), Some(closes)) = (draft.opens_at, draft.closes_at)
        && opens >= closes
    {
        found.note(ContentProblem::Window);
    }
    let slots = slots(&draft.slots, found);
    let guarantee = draft.guarantee.as_ref().and_then(|text| found.rarity(text));
    let contents = contents(&draft.contents, shelf, found);
    let before = known.packs.iter().find(|pack| pack.key.as_str() == draft.key);
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

fn price(draft: &PriceDraft, found: &mut Problems) -> Option<Price> {
    let kind: Option<PriceKind> = found.take(draft.kind.parse(), |_| ContentProblem::PriceKind);
    let currency = draft.currency.as_ref().map(|text| found.take(text.parse(), ContentProblem::Currency));
    let currency = match currency {
        Some(currency) => Some(currency?),
        None => None,
    };
    found.take(Price::new(kind?, draft.amount, currency), ContentProblem::Price)
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
        for (rarity, weight) in &draft.rarities {
            let weight = found.within(*weight, HEAVIEST, ContentProblem::Weight(rarity.clone()));
            let Some(rarity) = found.rarity(rarity) else { continue };
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
        let weight = found.within(*weight, HEAVIEST, ContentProblem::Weight(key.clone()));
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
