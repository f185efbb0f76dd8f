//! Rewards of a folder, which name quests, achievements, packs, collectibles and products.

use crate::content::plan::ContentChanges;
use std::collections::BTreeMap;
use terrace_app::content::ContentFaults;
use terrace_app::grants::{Giver, GrantBook};
use terrace_app::quests::{QuestContent, embedded_achievements, read_achievements};
use terrace_app::rewards::RewardContent;
use terrace_kernel::Timestamp;
use terrace_quests::{Achievement, Quest};
use terrace_rewards::{Known, Reward};
use uuid::Uuid;

/// The keys of the achievements that rewards may require.
pub(super) struct AchievementKeys {
    known: Vec<Achievement>,
    /// Whether some of them could not be read: then every key is accepted.
    is_open: bool,
}

impl AchievementKeys {
    /// Those of the file, or of the program if there is none.
    pub(super) fn read(text: Option<&str>, faults: &mut ContentFaults) -> Self {
        match text {
            Some(text) => {
                let mut found = ContentFaults::default();
                let known = read_achievements(Some(text), &mut found);
                let is_open = found.count() > 0;
                faults.extend(found);
                Self { known, is_open }
            }
            None => Self { known: embedded_achievements().to_vec(), is_open: false },
        }
    }

    /// Those of a file that cannot be read.
    pub(super) const fn unreadable() -> Self {
        Self { known: Vec::new(), is_open: true }
    }

    fn has(&self, key: &str) -> bool {
        self.is_open || self.known.iter().any(|one| one.key.as_str() == key)
    }
}

/// Checks rewards against the other content of the folder, without any stored content.
pub(super) fn check(
    rewards: &RewardContent,
    quests: &QuestContent,
    achievements: &AchievementKeys,
    granted: &GrantBook<'_>,
    faults: &mut ContentFaults,
) {
    let quest = |key: &str| {
        let is_known = quests.is_open() || quests.drafts.iter().any(|draft| draft.key == key);
        is_known.then_some(Uuid::nil())
    };
    let achievement = |key: &str| achievements.has(key);
    // Paths in the folder become paths of the service.
    let rewards = rewards.clone().with_pictures(|path| Some(format!("/{path}")));
    let planned = granted.with_names(Giver::Claim, |grants| {
        let known =
            Known { rewards: &[], quest: &quest, achievement: &achievement, grants, closes_after: None };
        let mut ids = 0_u128;
        rewards.plan(&known, || {
            ids += 1;
            Uuid::from_u128(ids)
        })
    });
    if let Err(errors) = planned {
        faults.extend(errors);
    }
}

/// The rest of the content, as it will be stored.
pub(super) struct RewardContext<'a> {
    pub(super) quests: &'a [Quest],
    /// Text of the achievements of the club, if it has any.
    pub(super) achievements: Option<&'a str>,
    pub(super) granted: GrantBook<'a>,
    pub(super) now: Timestamp,
}

/// Merges rewards with the stored ones; notes all violations.
pub(super) fn plan(
    rewards: &RewardContent,
    stored: &[Reward],
    beside: &RewardContext<'_>,
    new_id: impl FnMut() -> Uuid,
    faults: &mut ContentFaults,
) -> Vec<Reward> {
    // Its faults were found when the folder was read.
    let achievements = AchievementKeys::read(beside.achievements, &mut ContentFaults::default());
    let quest = |key: &str| {
        let found = beside.quests.iter().find(|quest| quest.key.as_str() == key);
        found.map(|quest| quest.id.as_uuid())
    };
    let achievement = |key: &str| achievements.has(key);
    let planned = beside.granted.with_names(Giver::Claim, |grants| {
        let closes_after = Some(beside.now);
        let known = Known { rewards: stored, quest: &quest, achievement: &achievement, grants, closes_after };
        rewards.plan(&known, new_id)
    });
    planned.unwrap_or_else(|errors| {
        faults.extend(errors);
        Vec::new()
    })
}

/// Compares rewards with the stored ones.
pub(super) fn changes(changes: &mut ContentChanges, stored: &[Reward], rewards: &[Reward]) {
    let before = stored.iter().filter(|reward| !reward.is_retired);
    let before: BTreeMap<&str, &Reward> = before.map(|reward| (reward.key.as_str(), reward)).collect();
    changes.compare("reward", before, rewards.iter().map(|reward| (reward.key.as_str(), reward.clone())));
}
