//! What a load would change.

use crate::content::Content;
use crate::content::rewards::{self, RewardContext};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use terrace_app::content::ContentFaults;
use terrace_app::grants::{Giver, GrantBook};
use terrace_games::{KnownRounds, KnownWheels, Round, RoundStatus, Wheel};
use terrace_identity::{League, Team};
use terrace_kernel::{LeagueId, StoreError, TeamId, Timestamp};
use terrace_packs::Catalogue as PackCatalogue;
use terrace_quests::Quest;
use terrace_rewards::Reward;
use terrace_shop::{Catalogue as ShopCatalogue, TaxRate};
use terrace_store::OpsReadTx;
use terrace_store::content::StoredContent;
use uuid::Uuid;

/// An item of content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// Its kind, such as `quest`.
    pub kind: &'static str,
    /// Its stable key.
    pub key: String,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.key)
    }
}

/// What a load changes, by kind and key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContentChanges {
    /// Items that are new.
    pub added: Vec<Item>,
    /// Items that exist and differ.
    pub changed: Vec<Item>,
    /// Items that exist and are not in the content any more.
    pub retired: Vec<Item>,
}

/// The kinds of items: first those that fans own, buy or work on. Teams come late, because there are many of them.
const KINDS: [&str; 13] = [
    "pack",
    "quest",
    "product",
    "reward",
    "wheel",
    "round",
    "category",
    "shipping method",
    "tax rate",
    "collectible",
    "team",
    "league",
    "file",
];
/// The most items of a kind that are listed by name.
const LISTED: usize = 30;

/// Names items by kind, those that fans own or buy first; of many of a kind, the first ones and how many more there are.
pub fn listed(items: &[Item]) -> Vec<String> {
    let of_kind = |kind: &&'static str| {
        let all: Vec<&Item> = items.iter().filter(|item| item.kind == *kind).collect();
        let more = all.len().saturating_sub(LISTED);
        let mut named: Vec<String> = all.into_iter().take(LISTED).map(Item::to_string).collect();
        if more > 0 {
            named.push(format!("{more} more of the kind {kind}"));
        }
        named
    };
    KINDS.iter().flat_map(of_kind).collect()
}

impl ContentChanges {
    /// Whether nothing would change.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.retired.is_empty()
    }

    /// Compares the items of a kind. Retired items count as absent, so that one that comes back is added.
    pub(super) fn compare<T: PartialEq>(
        &mut self,
        kind: &'static str,
        before: BTreeMap<&str, &T>,
        after: impl IntoIterator<Item = (impl AsRef<str>, T)>,
    ) {
        let mut before = before;
        for (key, item) in after {
            let key = key.as_ref();
            let list = match before.remove(key) {
                None => &mut self.added,
                Some(known) if *known != item => &mut self.changed,
                Some(_) => continue,
            };
            list.push(Item { kind, key: key.to_owned() });
        }
        self.retired.extend(before.into_keys().map(|key| Item { kind, key: key.to_owned() }));
    }
}

/// The stored content.
pub(super) struct Existing {
    leagues: Vec<League>,
    teams: Vec<Team>,
    quests: Vec<Quest>,
    packs: PackCatalogue,
    shop: ShopCatalogue,
    rewards: Vec<Reward>,
    wheels: Vec<Wheel>,
    rounds: Vec<Round>,
    pub(super) stored: Option<StoredContent>,
}

impl Existing {
    pub(super) fn read(tx: &mut dyn OpsReadTx) -> Result<Self, StoreError> {
        Ok(Self {
            leagues: tx.all_leagues()?,
            teams: tx.all_teams()?,
            quests: tx.quests()?,
            packs: PackCatalogue { collectibles: tx.collectibles()?, packs: tx.packs()? },
            shop: tx.catalogue()?,
            rewards: tx.rewards()?,
            wheels: tx.wheels()?,
            rounds: tx.rounds()?,
            stored: tx.stored_content()?,
        })
    }
}

/// The rows that a load writes.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) leagues: Vec<League>,
    pub(super) teams: Vec<Team>,
    pub(super) quests: Vec<Quest>,
    pub(super) packs: PackCatalogue,
    pub(super) shop: ShopCatalogue,
    pub(super) rewards: Vec<Reward>,
    pub(super) wheels: Vec<Wheel>,
    pub(super) rounds: Vec<Round>,
    pub(super) stored: StoredContent,
    pub(super) changes: ContentChanges,
}

/// Path under which a picture of the content is served.
fn picture_url(content: &Content, path: &str) -> Option<String> {
    content.pictures.get(path).map(|picture| format!("/content/pictures/{}", picture.hash))
}

/// Merges content with the stored one. Keys are identity: an item whose key is stored keeps its id.
///
/// # Errors
///
/// All rules that the content breaks together with the stored one.
pub(super) fn plan(
    content: &Content,
    existing: &Existing,
    now: Timestamp,
    mut new_id: impl FnMut() -> Uuid,
) -> Result<Planned, ContentFaults> {
    let mut faults = ContentFaults::default();
    let league_ids: HashMap<&str, LeagueId> =
        existing.leagues.iter().map(|league| (league.key.as_str(), league.id)).collect();
    let known: HashMap<&str, &Team> = existing.teams.iter().map(|team| (team.key.as_str(), team)).collect();
    let picture = |path: &str| picture_url(content, path);
    let (leagues, teams) = content.catalogue.rows(
        |key| league_ids.get(key).copied(),
        |key| known.get(key).map(|team| (team.id, team.follower_count)),
        picture,
        &mut new_id,
    );
    let team_ids: HashMap<&str, TeamId> = teams.iter().map(|team| (team.key.as_str(), team.id)).collect();
    let team = |key: &str| team_ids.get(key).copied();

    let known = terrace_quests::Known { quests: &existing.quests, team: &team, closes_after: Some(now) };
    let quests = terrace_quests::plan(&content.quests.drafts, &known, &mut new_id).unwrap_or_else(|errors| {
        content.quests.locate(&errors, &mut faults);
        Vec::new()
    });
    let known = terrace_packs::Known {
        collectibles: &existing.packs.collectibles,
        packs: &existing.packs.packs,
        team: &team,
        now: Some(now),
        closes_after: Some(now),
        currency: Some(content.club.currency),
    };
    let packs = content.packs.clone().with_pictures(picture);
    let packs = packs.plan(&known, &mut new_id);
    let mut is_open = content.packs.is_open();
    let packs = packs.unwrap_or_else(|errors| {
        faults.extend(errors);
        is_open = true;
        PackCatalogue { collectibles: Vec::new(), packs: Vec::new() }
    });
    let granted =
        GrantBook { packs: &packs.packs, collectibles: &packs.collectibles, is_open, ..GrantBook::default() };
    let shop = granted.with_names(Giver::Order, |grants| {
        let known = terrace_shop::Known {
            catalogue: &existing.shop,
            team: &team,
            grants,
            closes_after: Some(now),
            currency: Some(content.club.currency),
        };
        content.shop.clone().with_pictures(picture).plan(&known, &mut new_id)
    });
    let shop = shop.unwrap_or_else(|errors| {
        faults.extend(errors);
        is_open = true;
        ShopCatalogue::default()
    });
    let granted =
        GrantBook { products: &shop.products, is_open: is_open || content.shop.is_open(), ..granted };
    let beside =
        RewardContext { quests: &quests, achievements: content.achievements.as_deref(), granted, now };
    let rewards = content.rewards.clone().with_pictures(picture);
    let rewards = rewards::plan(&rewards, &existing.rewards, &beside, &mut new_id, &mut faults);
    let wheels = granted.with_names(Giver::Spin, |names| {
        let known = KnownWheels { wheels: &existing.wheels, names, closes_after: Some(now) };
        content.wheels.plan(&known, &mut new_id)
    });
    let wheels = wheels.unwrap_or_else(|errors| {
        faults.extend(errors);
        Vec::new()
    });
    let known = KnownRounds { rounds: &existing.rounds, team: &team, now: Some(now) };
    let rounds = content.trivia.clone().with_pictures(picture).plan(&known, &mut new_id);
    let rounds = rounds.unwrap_or_else(|errors| {
        faults.extend(errors);
        Vec::new()
    });
    let stored = StoredContent {
        version: content.club.version,
        digest: content.digest.clone(),
        club: content.club_text.clone(),
        achievements: content.achievements.clone(),
        levels: content.levels.clone(),
        logo_url: content.club.logo.as_ref().and_then(|(path, _)| picture(path)),
        loaded_at: now,
    };
    let mut changes = changes(existing, &leagues, &teams, &quests, (&packs, &shop, &wheels), &stored);
    rewards::changes(&mut changes, &existing.rewards, &rewards);
    round_changes(&mut changes, &existing.rounds, &rounds, now);
    let planned = Planned { leagues, teams, quests, packs, shop, rewards, wheels, rounds, stored, changes };
    faults.unless_any(planned)
}

/// A round that is over stays when the content no longer contains it.
fn round_changes(changes: &mut ContentChanges, stored: &[Round], rounds: &[Round], now: Timestamp) {
    let is_compared = |round: &&Round| {
        !round.is_cancelled
            && (round.status(now) != RoundStatus::Over
                || rounds.iter().any(|planned| planned.key == round.key))
    };
    let before = stored.iter().filter(is_compared).map(|round| (round.key.as_str(), round)).collect();
    changes.compare("round", before, rounds.iter().map(|round| (round.key.as_str(), round.clone())));
}

fn changes(
    existing: &Existing,
    leagues: &[League],
    teams: &[Team],
    quests: &[Quest],
    (packs, shop, wheels): (&PackCatalogue, &ShopCatalogue, &[Wheel]),
    stored: &StoredContent,
) -> ContentChanges {
    let mut changes = ContentChanges::default();
    let before = existing.leagues.iter().map(|league| (league.key.as_str(), league)).collect();
    changes.compare("league", before, leagues.iter().map(|league| (&league.key, league.clone())));
    // Leagues without teams are not listed, and so not retired.
    changes.retired.clear();
    let before = existing.teams.iter().filter(|team| !team.is_retired);
    let before = before.map(|team| (team.key.as_str(), team)).collect();
    changes.compare("team", before, teams.iter().map(|team| (&team.key, team.clone())));
    let before = existing.quests.iter().filter(|quest| !quest.is_retired);
    let before = before.map(|quest| (quest.key.as_str(), quest)).collect();
    changes.compare("quest", before, quests.iter().map(|quest| (quest.key.as_str(), quest.clone())));
    let before = existing.packs.collectibles.iter().map(|item| (item.key.as_str(), item)).collect();
    let retired = changes.retired.len();
    let after = packs.collectibles.iter().map(|item| (item.key.as_str(), item.clone()));
    changes.compare("collectible", before, after);
    // A collectible stays with its owners, and in the packs that hold it.
    changes.retired.truncate(retired);
    let before = existing.packs.packs.iter().filter(|pack| !pack.is_retired);
    let before = before.map(|pack| (pack.key.as_str(), pack)).collect();
    changes.compare("pack", before, packs.packs.iter().map(|pack| (pack.key.as_str(), pack.clone())));
    let before = existing.wheels.iter().filter(|wheel| !wheel.is_retired);
    let before = before.map(|wheel| (wheel.key.as_str(), wheel)).collect();
    changes.compare("wheel", before, wheels.iter().map(|wheel| (wheel.key.as_str(), wheel.clone())));
    shop_changes(&mut changes, &existing.shop, shop);
    let texts = |content: &StoredContent| {
        [Some(content.club.clone()), content.achievements.clone(), content.levels.clone()]
    };
    let before = existing.stored.as_ref().map(texts).unwrap_or_default();
    for ((key, before), after) in
        ["club", "achievements", "levels"].into_iter().zip(before).zip(texts(stored))
    {
        let list = match (before, after) {
            (before, after) if before == after => continue,
            (None, _) => &mut changes.added,
            (Some(_), _) => &mut changes.changed,
        };
        list.push(Item { kind: "file", key: format!("{key}.toml") });
    }
    changes
}

fn shop_changes(changes: &mut ContentChanges, existing: &ShopCatalogue, shop: &ShopCatalogue) {
    let before = existing.categories.iter().filter(|category| !category.is_retired);
    let before = before.map(|category| (category.key.as_str(), category)).collect();
    changes.compare("category", before, shop.categories.iter().map(|one| (one.key.as_str(), one.clone())));
    let before = existing.products.iter().filter(|product| !product.is_retired);
    let before = before.map(|product| (product.key.as_str(), product)).collect();
    changes.compare("product", before, shop.products.iter().map(|one| (one.key.as_str(), one.clone())));
    let before = existing.methods.iter().map(|method| (method.key.as_str(), method)).collect();
    changes.compare(
        "shipping method",
        before,
        shop.methods.iter().map(|one| (one.key.as_str(), one.clone())),
    );
    let key = |rate: &TaxRate| match rate.country {
        Some(country) => format!("{} {country}", rate.class),
        None => rate.class.clone(),
    };
    let keys: Vec<_> = existing.taxes.iter().map(key).collect();
    let before = keys.iter().map(String::as_str).zip(&existing.taxes).collect();
    changes.compare("tax rate", before, shop.taxes.iter().map(|one| (key(one), one.clone())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_items_of_a_kind_hide_no_other_kind() {
        let items = |kind, count: usize| (0..count).map(move |n| Item { kind, key: format!("k{n}") });
        let all: Vec<Item> = items("team", 266).chain(items("quest", 1)).chain(items("pack", 31)).collect();
        let said = listed(&all);
        assert_eq!(said.len(), 30 + 1 + 1 + 30 + 1);
        assert_eq!([&said[0], &said[30], &said[31]], ["pack k0", "1 more of the kind pack", "quest k0"]);
        assert_eq!([&said[32], &said[62]], ["team k0", "236 more of the kind team"]);
    }
}
