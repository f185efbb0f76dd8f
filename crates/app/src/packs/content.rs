//! Packs and collectibles as content, parsed from TOML and validated as a whole.

use crate::content::{ContentFaults, Entry, Fields, Location, Text, collectible_url, pack_url};
use terrace_kernel::Timestamp;
use terrace_packs::{
    Catalogue, CatalogueDraft, CollectibleDraft, ContentItem, ContentProblem, Known, PackDraft, PriceDraft,
    SlotDraft, plan,
};
use uuid::Uuid;

/// Packs and collectibles as described by a file. [`PackContent::plan`] validates them against the existing ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackContent {
    draft: CatalogueDraft,
    collectible_places: Vec<Location>,
    pack_places: Vec<Location>,
    /// Whether there may be collectibles whose keys could not be read.
    is_open: bool,
    /// Whether there may be packs whose keys could not be read.
    has_open_packs: bool,
}

/// Counts of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackSummary {
    /// Number of packs in the content.
    pub packs: usize,
    /// Number of collectibles in the content.
    pub collectibles: usize,
    /// Number of packs that the load retired.
    pub retired: u64,
}

/// Name of the file in messages.
const PACKS: &str = "packs.toml";

impl PackContent {
    /// The packs embedded in the program.
    ///
    /// # Errors
    ///
    /// If they are malformed.
    pub fn embedded() -> Result<Self, ContentFaults> {
        Self::parse(include_str!("../../content/packs.toml"))
    }

    /// Parses packs and collectibles.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(text: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let content = Self::read(Some(text), &mut faults);
        faults.unless_any(content)
    }

    /// Parses packs and collectibles and notes all faults. An item with faults is part of the result, so that references
    /// to it are no faults. A file that is `None` exists and cannot be read.
    pub fn read(text: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(PACKS, text);
        let [collectibles, packs] = text.entries(["collectible", "pack"], faults);
        let is_open = collectibles.is_open;
        let collectibles = text.read_all(collectibles, faults, collectible).into_iter();
        let (collectibles, collectible_places) =
            collectibles.map(|Entry { place, value }| (value, place)).unzip();
        let has_open_packs = packs.is_open;
        let packs = text.read_all(packs, faults, pack).into_iter();
        let pack = |Entry { place, value }| (PackDraft { is_partial: !place.is_whole, ..value }, place);
        let (packs, pack_places) = packs.map(pack).unzip();
        let draft = CatalogueDraft { collectibles, packs };
        Self { draft, collectible_places, pack_places, is_open, has_open_packs }
    }

    /// Whether there may be packs or collectibles whose keys could not be read.
    pub fn is_open(&self) -> bool {
        self.is_open || self.has_open_packs
    }

    /// Notes the packs that closed before `now`, which load only where they exist already.
    pub fn closed(&self, now: Timestamp, notes: &mut ContentFaults) {
        for (draft, place) in self.draft.packs.iter().zip(&self.pack_places) {
            if let Some(closes) = draft.closes_at.filter(|closes| *closes <= now) {
                place.fault(
                    notes,
                    format!("pack {:?} closed at {closes}: it can be changed, not added", draft.key),
                );
            }
        }
    }

    /// The keys of the collectibles' teams, possibly with duplicates.
    pub fn teams(&self) -> impl Iterator<Item = &str> {
        self.draft.collectibles.iter().filter_map(|collectible| collectible.team.as_deref())
    }

    /// Counts of the content.
    pub fn summary(&self) -> PackSummary {
        let CatalogueDraft { collectibles, packs } = &self.draft;
        PackSummary { packs: packs.len(), collectibles: collectibles.len(), retired: 0 }
    }

    /// The pictures that collectibles and packs name, as file, line and path.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        let collectibles = self.draft.collectibles.iter().map(|draft| draft.image_url.as_deref());
        let packs = self.draft.packs.iter().map(|draft| draft.image_url.as_deref());
        let places = self.collectible_places.iter().chain(&self.pack_places);
        collectibles.chain(packs).zip(places).filter_map(|(path, place)| Some((PACKS, place.line, path?)))
    }

    /// Replaces the path of each picture with its URL, which `url` returns.
    #[must_use]
    pub fn with_pictures(mut self, url: impl Fn(&str) -> Option<String>) -> Self {
        let collectibles = self.draft.collectibles.iter_mut().map(|draft| &mut draft.image_url);
        for image in collectibles.chain(self.draft.packs.iter_mut().map(|draft| &mut draft.image_url)) {
            *image = image.as_deref().and_then(&url);
        }
        self
    }

    /// The catalogue that this content describes, merged with the existing one ([`terrace_packs::plan`]).
    ///
    /// # Errors
    ///
    /// All violations, each with its line.
    pub fn plan(&self, known: &Known<'_>, new_id: impl FnMut() -> Uuid) -> Result<Catalogue, ContentFaults> {
        let planned = plan(&self.draft, known, new_id).map_err(|errors| {
            let mut faults = ContentFaults::default();
            for error in &errors {
                let places = match error.item {
                    ContentItem::Collectible => &self.collectible_places,
                    ContentItem::Pack => &self.pack_places,
                };
                let may_exist =
                    self.is_open && matches!(error.problem, ContentProblem::UnknownCollectible(_));
                if let Some(place) = places.get(error.place).filter(|_| !may_exist) {
                    place.fault(&mut faults, error.to_string());
                }
            }
            faults
        });
        planned.map(with_drawings)
    }
}

/// Gives each item without a picture the URL of its drawing.
fn with_drawings(mut catalogue: Catalogue) -> Catalogue {
    for item in catalogue.collectibles.iter_mut().filter(|item| item.image_url.is_none()) {
        item.image_url = Some(collectible_url(item.key.as_str(), &item.name, item.rarity.as_str()));
    }
    for pack in catalogue.packs.iter_mut().filter(|pack| pack.image_url.is_none()) {
        pack.image_url = Some(pack_url(pack.key.as_str(), &pack.name));
    }
    catalogue
}

fn collectible(fields: &mut Fields<'_, '_>) -> CollectibleDraft {
    CollectibleDraft {
        key: fields.key(),
        name: fields.text("name", "Collectible"),
        rarity: fields.text("rarity", "common"),
        team: fields.optional("team"),
        image_url: fields.optional("image"),
        edition: fields.optional("edition"),
    }
}

fn pack(fields: &mut Fields<'_, '_>) -> PackDraft {
    PackDraft {
        key: fields.key(),
        name: fields.text("name", "Pack"),
        description: fields.optional("description").unwrap_or_default(),
        image_url: fields.optional("image"),
        price: fields.required_table("price", price).flatten().unwrap_or_else(unread_price),
        per_user_limit: fields.optional("limit"),
        supply: fields.optional("supply"),
        opens_at: fields.instant("opens"),
        closes_at: fields.instant("closes"),
        guarantee: fields.optional("guarantee"),
        slots: fields.tables("slots", slot).unwrap_or_else(|| vec![unread_slot()]),
        contents: fields.required_table("contents", weights).unwrap_or_default(),
        is_partial: false,
    }
}

/// `None` if parts of it cannot be read: whether it has a currency depends on the kind.
fn price(fields: &mut Fields<'_, '_>) -> Option<PriceDraft> {
    let price = PriceDraft {
        kind: fields.text("kind", ""),
        amount: fields.required("amount", 1),
        currency: fields.optional("currency"),
    };
    fields.is_whole().then_some(price)
}

/// In place of a price that cannot be read.
fn unread_price() -> PriceDraft {
    PriceDraft { kind: "points".to_owned(), amount: 1, currency: None }
}

/// The weights by rarity.
fn slot(fields: &mut Fields<'_, '_>) -> SlotDraft {
    SlotDraft { rarities: weights(fields) }
}

/// In place of slots that cannot be read.
fn unread_slot() -> SlotDraft {
    SlotDraft { rarities: vec![("common".to_owned(), 1)] }
}

fn weights(fields: &mut Fields<'_, '_>) -> Vec<(String, i64)> {
    fields.all().into_iter().map(|(name, _, weight)| (name, weight.unwrap_or(1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use terrace_kernel::{Currency, PriceKind, TeamId};
    use terrace_packs::{Minted, odds};

    fn planned(content: &PackContent) -> Result<Catalogue, ContentFaults> {
        let team = |_: &str| Some(TeamId::from_uuid(Uuid::from_u128(1)));
        let mut ids = 0;
        let (now, currency) = (Some(Timestamp::from_micros(0)), Some(Currency::EUR));
        content.plan(
            &Known { collectibles: &[], packs: &[], team: &team, now, closes_after: now, currency },
            || {
                ids += 1;
                Uuid::from_u128(ids)
            },
        )
    }

    #[test]
    fn what_comes_with_the_program_holds_what_it_promises() {
        let content = PackContent::embedded().unwrap();
        let Catalogue { collectibles, packs } = planned(&content).unwrap();
        let rarities: BTreeSet<_> = collectibles.iter().map(|collectible| collectible.rarity).collect();
        let editions: Vec<_> = collectibles.iter().filter_map(|collectible| collectible.edition).collect();
        assert_eq!((rarities.len(), editions), (5, vec![500, 25]));
        let kinds: Vec<_> = packs.iter().map(|pack| pack.price.kind()).collect();
        assert_eq!(kinds, PriceKind::ALL);
        // The description promises the golden cup in one of ten packs, and no more copies are sold than there are
        // cups.
        let trophies = packs.last().unwrap();
        let cup = odds(trophies, &Minted::default()).rarities.last().copied().unwrap();
        assert!((cup.at_least_one - 0.1).abs() < 1e-12);
        assert_eq!(trophies.remaining(terrace_packs::Stock::default(), &Minted::default()), Some(25));
        let teams = include_str!("../../content/teams.toml");
        assert!(content.teams().all(|key| teams.contains(&format!("\nkey = {key:?}\n"))));
    }

    #[test]
    fn the_coins_of_the_first_two_days_buy_a_pack() {
        let rules = terrace_quests::VisitRules::default();
        let earned: i64 = rules.coins.iter().filter(|(streak, _)| *streak <= 2).map(|(_, coins)| coins).sum();
        let Catalogue { packs, .. } = planned(&PackContent::embedded().unwrap()).unwrap();
        let coins = packs.iter().filter(|pack| pack.price.kind() == PriceKind::Coins);
        let least = coins.map(|pack| pack.price.amount()).min();
        assert!(least.is_some_and(|price| price <= earned), "{least:?} of {earned}");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let text = include_str!("../../content/packs.toml");
        let wrong = text
            .replace("edition = 25", "edition = 0")
            .replace("guarantee = \"rare\"", "guarantee = \"shiny\"");
        let error = planned(&PackContent::parse(&wrong).unwrap()).unwrap_err().to_string();
        let line = |of: &str| text[..text.find(of).unwrap()].matches('\n').count();
        assert_eq!(
            error,
            format!(
                "packs.toml:{}: collectible \"golden-cup\" (no. 12): the edition must be 1 to 1000000000\n\
                 packs.toml:{}: pack \"away-days\" (no. 2): \"shiny\" is no rarity",
                line("key = \"golden-cup\""),
                line("key = \"away-days\""),
            )
        );
        let error = PackContent::parse("[[collectible]]\nkey = \"a\"\ncolour = 1\n").unwrap_err().to_string();
        assert!(error.contains("\npacks.toml:3: unknown field `colour`"), "{error}");
        let soon = text.replacen("limit = 20\n", "opens = \"soon\"\n", 1);
        let error = PackContent::parse(&soon).unwrap_err().to_string();
        let at = line("limit = 20") + 1;
        assert_eq!(
            error,
            format!("packs.toml:{at}: opens is no instant such as 2027-03-01T00:00:00Z: \"soon\"")
        );
    }

    #[test]
    fn all_faults_of_a_pack_are_named_at_once() {
        let text = "[[collectible]]\nkey = \"a\"\nname = 4\nrarity = \"shiny\"\nedition = \"x\"\n\
                    [[pack]]\nkey = \"A pack\"\nname = \"\"\nprice = { kind = \"points\", amount = \"x\" }\n\
                    slots = [{ common = 0, rare = \"x\" }]\ncontents = { a = 1, b = 1 }\n\
                    opens = \"x\"\ncloses = 4\ncolour = 1\nimage = \"http://x\"\n\
                    [[pack]]\nkey = \"b\"\n\
                    [[pack]]\nkey = \"c\"\nname = \"C\"\nprice = { kind = \"money\", amount = 5, currency = \"ZZZ\" }\n\
                    slots = [{ rare = 1 }]\ncontents = {}\n";
        let mut faults = ContentFaults::default();
        let content = PackContent::read(Some(text), &mut faults);
        faults.extend(planned(&content).unwrap_err());
        let faults = faults.sorted();
        let expected = [
            (1, "\"shiny\" is no rarity"),
            (3, "`name`: invalid type"),
            (5, "`edition`: invalid type"),
            (6, "1 to 64 of a-z"),
            (6, "the name must hold"),
            (6, "the weight of \"common\" must be"),
            (6, "there is no collectible \"b\""),
            (6, "the image must be"),
            (9, "`amount`: invalid type"),
            (10, "`rare`: invalid type"),
            (12, "opens is no instant"),
            (13, "closes is no instant"),
            (14, "unknown field `colour`"),
            (16, "missing field `name`"),
            (16, "missing field `price`"),
            (16, "missing field `slots`"),
            (16, "missing field `contents`"),
            (18, "ISO 4217 lists no currency ZZZ"),
        ];
        for (line, part) in expected {
            let named = faults.iter().any(|fault| fault.line == Some(line) && fault.message.contains(part));
            assert!(named, "{line}: {part} is not in\n{faults}");
        }
        assert_eq!(faults.count(), expected.len(), "{faults}");
    }
}
