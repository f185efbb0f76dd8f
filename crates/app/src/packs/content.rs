//! Packs and collectibles as content, parsed from TOML and validated as a whole.

use crate::content::{ContentFaults, Entry, Text, collectible_url, instant, pack_url};
use serde::Deserialize;
use std::collections::BTreeMap;
use terrace_packs::{
    Catalogue, CatalogueDraft, CollectibleDraft, ContentItem, Known, PackDraft, PriceDraft, SlotDraft, plan,
};
use uuid::Uuid;

/// Packs and collectibles as described by a file. [`PackContent::plan`] validates them against the existing ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackContent {
    draft: CatalogueDraft,
    /// The line on which each collectible begins.
    collectible_lines: Vec<usize>,
    /// The line on which each pack begins.
    pack_lines: Vec<usize>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CollectibleEntry {
    key: String,
    name: String,
    rarity: String,
    team: Option<String>,
    image: Option<String>,
    edition: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PackEntry {
    key: String,
    name: String,
    #[serde(default)]
    description: String,
    image: Option<String>,
    price: PriceEntry,
    limit: Option<i64>,
    supply: Option<i64>,
    opens: Option<String>,
    closes: Option<String>,
    guarantee: Option<String>,
    /// Per slot, the weights by rarity.
    slots: Vec<BTreeMap<String, i64>>,
    /// The weights by collectible.
    contents: BTreeMap<String, i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceEntry {
    kind: String,
    amount: i64,
    currency: Option<String>,
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
        let content = Self::read(text, &mut faults);
        faults.unless_any(content)
    }

    /// Parses packs and collectibles and notes all faults; the result contains what is well formed.
    pub fn read(text: &str, faults: &mut ContentFaults) -> Self {
        let text = Text::new(PACKS, text);
        let [collectibles, packs] = text.entries(["collectible", "pack"], faults);
        let (collectible_lines, collectibles) = text
            .read_all(collectibles, faults)
            .into_iter()
            .map(|entry| (entry.line, collectible(entry.value)))
            .unzip();
        let (mut pack_lines, mut drafts) = (Vec::new(), Vec::new());
        for Entry { line, value } in text.read_all(packs, faults) {
            match pack(value) {
                Ok(pack) => {
                    pack_lines.push(line);
                    drafts.push(pack);
                }
                Err(message) => faults.add(PACKS, line, message),
            }
        }
        let draft = CatalogueDraft { collectibles, packs: drafts };
        Self { draft, collectible_lines, pack_lines }
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
        let lines = self.collectible_lines.iter().chain(&self.pack_lines);
        collectibles.chain(packs).zip(lines).filter_map(|(path, line)| Some((PACKS, *line, path?)))
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
                let lines = match error.item {
                    ContentItem::Collectible => &self.collectible_lines,
                    ContentItem::Pack => &self.pack_lines,
                };
                faults.add(PACKS, lines.get(error.place).copied(), error.to_string());
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

fn collectible(entry: CollectibleEntry) -> CollectibleDraft {
    CollectibleDraft {
        key: entry.key,
        name: entry.name,
        rarity: entry.rarity,
        team: entry.team,
        image_url: entry.image,
        edition: entry.edition,
    }
}

fn pack(entry: PackEntry) -> Result<PackDraft, String> {
    let slot = |weights: BTreeMap<String, i64>| SlotDraft { rarities: weights.into_iter().collect() };
    Ok(PackDraft {
        key: entry.key,
        name: entry.name,
        description: entry.description,
        image_url: entry.image,
        price: PriceDraft {
            kind: entry.price.kind,
            amount: entry.price.amount,
            currency: entry.price.currency,
        },
        per_user_limit: entry.limit,
        supply: entry.supply,
        opens_at: instant("opens", entry.opens)?,
        closes_at: instant("closes", entry.closes)?,
        slots: entry.slots.into_iter().map(slot).collect(),
        guarantee: entry.guarantee,
        contents: entry.contents.into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use terrace_kernel::PriceKind;
    use terrace_kernel::{TeamId, Timestamp};
    use terrace_packs::{Minted, odds};

    fn planned(content: &PackContent) -> Result<Catalogue, ContentFaults> {
        let team = |_: &str| Some(TeamId::from_uuid(Uuid::from_u128(1)));
        let now = Timestamp::from_micros(0);
        let mut ids = 0;
        content.plan(&Known { collectibles: &[], packs: &[], team: &team, now }, || {
            ids += 1;
            Uuid::from_u128(ids)
        })
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
        assert_eq!(
            error,
            format!("packs.toml:{}: opens is no instant: \"soon\"", line("key = \"away-days\""))
        );
    }
}
