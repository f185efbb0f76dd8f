//! Rewards as content.

use crate::content::{ContentFaults, Entry, Fields, Location, Text};
use terrace_kernel::{GrantDraft, Timestamp};
use terrace_rewards::{CostDraft, GivesDraft, Known, RequirementDraft, Reward, RewardDraft, plan};
use uuid::Uuid;

/// Rewards as described by a file. [`RewardContent::plan`] validates them against the stored ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RewardContent {
    drafts: Vec<RewardDraft>,
    places: Vec<Location>,
}

/// Counts of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RewardSummary {
    /// Number of rewards in the content.
    pub rewards: usize,
    /// Number of rewards that the load retired.
    pub retired: u64,
}

/// Name of the file in messages.
const REWARDS: &str = "rewards.toml";

impl RewardContent {
    /// The rewards embedded in the program.
    ///
    /// # Errors
    ///
    /// If they are malformed.
    pub fn embedded() -> Result<Self, ContentFaults> {
        Self::parse(include_str!("../../content/rewards.toml"))
    }

    /// Parses the file.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(text: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let content = Self::read(Some(text), &mut faults);
        faults.unless_any(content)
    }

    /// Parses the file and notes all faults. A file that is `None` exists and cannot be read.
    pub fn read(text: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(REWARDS, text);
        let [entries] = text.entries(["reward"], faults);
        let entries = text.read_all(entries, faults, reward).into_iter();
        let (drafts, places) = entries.map(|Entry { place, value }| (value, place)).unzip();
        Self { drafts, places }
    }

    /// Notes the rewards that closed before `now`, which load only where they exist already.
    pub fn closed(&self, now: Timestamp, notes: &mut ContentFaults) {
        for (draft, place) in self.drafts.iter().zip(&self.places) {
            if let Some(closes) = draft.closes_at.filter(|closes| *closes <= now) {
                let closed =
                    format!("reward {:?} closed at {closes}: it can be changed, not added", draft.key);
                place.fault(notes, closed);
            }
        }
    }

    /// The pictures that rewards name, as file, line and path.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        let rewards = self.drafts.iter().zip(&self.places);
        rewards.filter_map(|(draft, place)| Some((REWARDS, place.line, draft.image_url.as_deref()?)))
    }

    /// Replaces the path of each picture with its URL, which `url` returns.
    #[must_use]
    pub fn with_pictures(mut self, url: impl Fn(&str) -> Option<String>) -> Self {
        for reward in &mut self.drafts {
            reward.image_url = reward.image_url.as_deref().and_then(&url);
        }
        self
    }

    /// The rewards that this content describes, merged with the stored ones ([`terrace_rewards::plan`]).
    ///
    /// # Errors
    ///
    /// All violations, each with its line.
    pub fn plan(
        &self,
        known: &Known<'_>,
        new_id: impl FnMut() -> Uuid,
    ) -> Result<Vec<Reward>, ContentFaults> {
        plan(&self.drafts, known, new_id).map_err(|errors| {
            ContentFaults::at(&self.places, errors.iter().map(|error| (error.place, error)))
        })
    }
}

fn reward(fields: &mut Fields<'_, '_>) -> RewardDraft {
    let draft = RewardDraft {
        key: fields.key(),
        name: fields.text("name", "Reward"),
        description: fields.optional("description").unwrap_or_default(),
        image_url: fields.optional("image"),
        gives: fields.required_table("grant", gives).flatten(),
        cost: fields.table("cost", cost).flatten(),
        requires: fields.optional_tables("requires", requirement).into_iter().flatten().flatten().collect(),
        stock: fields.optional("stock"),
        per_user_limit: fields.optional("limit"),
        period: fields.optional("period"),
        valid_hours: fields.optional("valid_hours"),
        opens_at: fields.instant("opens"),
        closes_at: fields.instant("closes"),
        is_partial: false,
    };
    RewardDraft { is_partial: !fields.is_whole(), ..draft }
}

/// `None` if parts of it cannot be read.
fn gives(fields: &mut Fields<'_, '_>) -> Option<GivesDraft> {
    let kind = fields.text("kind", "");
    let gives = if kind == "code" {
        GivesDraft::Code(fields.text("codes", ""))
    } else {
        let (amount, key) = (fields.optional("amount"), fields.optional("key"));
        GivesDraft::Goods(GrantDraft { kind, amount, key })
    };
    fields.is_whole().then_some(gives)
}

/// `None` if parts of it cannot be read.
fn cost(fields: &mut Fields<'_, '_>) -> Option<CostDraft> {
    let cost = CostDraft { kind: fields.text("kind", ""), amount: fields.required("amount", 1) };
    fields.is_whole().then_some(cost)
}

/// `None` if parts of it cannot be read.
fn requirement(fields: &mut Fields<'_, '_>) -> Option<RequirementDraft> {
    let requirement = RequirementDraft {
        level: fields.optional("level"),
        quest: fields.optional("quest"),
        achievement: fields.optional("achievement"),
        rank: fields.optional("rank"),
        points: fields.optional("points"),
    };
    fields.is_whole().then_some(requirement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grants::{Giver, GrantBook};
    use crate::quests::{QuestContent, embedded_achievements};
    use std::collections::BTreeSet;
    use terrace_rewards::{CostKind, Gives, Requirement};

    fn planned(content: &RewardContent) -> Result<Vec<Reward>, ContentFaults> {
        let quests = QuestContent::embedded().unwrap();
        let quest =
            |key: &str| quests.drafts.iter().any(|quest| quest.key == key).then(|| Uuid::from_u128(1));
        let achievements = embedded_achievements();
        let achievement = |key: &str| achievements.iter().any(|one| one.key.as_str() == key);
        let mut ids = 10;
        GrantBook { is_open: true, ..GrantBook::default() }.with_names(Giver::Claim, |grants| {
            let known =
                Known { rewards: &[], quest: &quest, achievement: &achievement, grants, closes_after: None };
            content.plan(&known, || {
                ids += 1;
                Uuid::from_u128(ids)
            })
        })
    }

    #[test]
    fn the_demo_has_a_limited_reward_costs_and_requirements() {
        let rewards = planned(&RewardContent::embedded().unwrap()).unwrap();
        let has = |is: &dyn Fn(&Reward) -> bool| rewards.iter().any(is);
        assert!((3..=5).contains(&rewards.len()));
        assert!(has(&|reward| reward.is_limited()));
        for kind in CostKind::ALL {
            assert!(has(&|reward| reward.cost.is_some_and(|cost| cost.kind == *kind)), "{kind}");
        }
        assert!(has(&|reward| matches!(reward.requires.as_slice(), [Requirement::Level(_)])));
        let kinds: BTreeSet<bool> =
            rewards.iter().map(|reward| matches!(reward.gives, Gives::Code(_))).collect();
        assert_eq!(kinds.len(), 2, "codes and goods");
    }

    #[test]
    fn all_faults_of_a_reward_are_named_with_their_lines() {
        let text = "[[reward]]\nkey = \"A b\"\nname = 4\ncost = { kind = \"money\", amount = 5 }\nlimit = 0\n\
                    requires = [{ quest = \"nowhere\" }, { level = 1, rank = 1 }]\nvalid_hours = \"x\"\n\
                    opens = \"x\"\ngrant = { kind = \"points\", amount = 5 }\ncolour = 1\n\
                    [[reward]]\nkey = \"b\"\nname = \"B\"\nlimit = 1\n\
                    [[reward]]\nkey = \"c\"\nname = \"C\"\nlimit = 1\ngrant = { kind = \"code\", codes = \"file\" }\n";
        let mut faults = ContentFaults::default();
        let content = RewardContent::read(Some(text), &mut faults);
        faults.extend(planned(&content).unwrap_err());
        let faults = faults.sorted();
        let expected = [
            (1, "1 to 64 of a-z"),
            (1, "the cost must be in points or coins"),
            (1, "the limit must be 1"),
            (1, "there is no quest \"nowhere\""),
            (1, "one of level, quest"),
            (1, "it cannot grant \"points\""),
            (3, "`name`: invalid type"),
            (7, "`valid_hours`: invalid type"),
            (8, "opens is no instant"),
            (10, "unknown field `colour`"),
            (11, "missing field `grant`"),
            (15, "codes come from a pool or are generated"),
        ];
        for (line, part) in expected {
            let named = faults.iter().any(|fault| fault.line == Some(line) && fault.message.contains(part));
            assert!(named, "{line}: {part} is not in\n{faults}");
        }
        assert_eq!(faults.count(), expected.len(), "{faults}");
    }
}
