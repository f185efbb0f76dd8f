//! Progress that a fan has earned but that is not recorded yet: whether a progress check would find anything.

use crate::{
    Achievement, Cadence, Facts, FanProgress, Quest, QuestId, Run, RunStatus, StepDone, is_due, today,
};
use terrace_kernel::{Timestamp, UserId};

/// A rank that meets every threshold.
const FIRST: u64 = 1;

/// The progress of a fan: the facts and the runs.
#[derive(Debug, Clone)]
pub struct FanStanding {
    /// Id of the fan.
    pub user: UserId,
    /// The inputs of checks and achievements.
    pub progress: FanProgress,
    /// The fan's runs, each with its completed steps: at least those of once-only quests and of today. Runs of other
    /// days are ignored.
    pub runs: Vec<(Run, Vec<StepDone>)>,
}

impl FanStanding {
    /// Whether a step, a quest or an achievement is earned and not recorded; `rank` is the fan's rank on the global
    /// board, if listed.
    pub fn has_news(
        &self,
        quests: &[Quest],
        achievements: &[Achievement],
        rank: Option<u64>,
        now: Timestamp,
    ) -> bool {
        self.is_any_due(quests, rank, now) || self.has_reached_one(achievements)
    }

    /// Whether the result depends on the fan's rank; if not, the rank need not be looked up.
    pub fn asks_rank(&self, quests: &[Quest], now: Timestamp) -> bool {
        // A step met by rank may unlock another one, so the rank matters even if there is news without it.
        self.due(quests, Some(FIRST), now) > self.due(quests, None, now)
    }

    fn is_any_due(&self, quests: &[Quest], rank: Option<u64>, now: Timestamp) -> bool {
        self.due(quests, rank, now) > 0
    }

    /// The number of today's runs that a check would change, plus the number of steps that it would complete in them.
    fn due(&self, quests: &[Quest], rank: Option<u64>, now: Timestamp) -> usize {
        let facts = Facts { rank, ..self.progress.facts };
        let today = today(self.progress.zone, self.progress.visits.as_ref(), now);
        let of_today =
            self.runs.iter().filter(|(run, _)| run.period.local_date().is_none_or(|date| date == today));
        let completed = self.completed_at_most(quests);
        let due = of_today.filter_map(|(run, done)| {
            let quest = quests.iter().find(|quest| quest.id == run.quest)?;
            is_due(quest, run, done, &facts, &completed, now)
                .then(|| 1 + crate::met_steps(quest, run, done, &facts, &completed, now).len())
        });
        due.sum()
    }

    /// All quests that the fan may have completed: runs of daily quests of other days may be missing here, so that each
    /// daily quest counts.
    fn completed_at_most(&self, quests: &[Quest]) -> Vec<QuestId> {
        let is_completed = |id: QuestId| {
            self.runs.iter().any(|(run, _)| run.quest == id && run.status == RunStatus::Completed)
        };
        let completed =
            quests.iter().filter(|quest| quest.cadence == Cadence::Daily || is_completed(quest.id));
        completed.map(|quest| quest.id).collect()
    }

    fn has_reached_one(&self, achievements: &[Achievement]) -> bool {
        let known = self.progress.known();
        achievements
            .iter()
            .any(|one| !self.progress.achievements.contains(&one.key) && one.is_reached(&known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quest::tests::{at, done, quest};
    use crate::{Check, Period};
    use chrono_tz::Tz;
    use uuid::Uuid;

    fn standing(runs: Vec<(Run, Vec<StepDone>)>) -> FanStanding {
        let progress = FanProgress {
            zone: Tz::UTC,
            visits: None,
            facts: Facts::default(),
            quests_completed: 0,
            achievements: Vec::new(),
        };
        FanStanding { user: UserId::from_uuid(Uuid::from_u128(7)), progress, runs }
    }

    #[test]
    fn the_rank_is_asked_for_where_it_can_bring_something() {
        let mut ranked = quest("rr");
        ranked.steps[0].check = Some(Check::RankThreshold { rank: 3 });
        ranked.steps[1].check = Some(Check::FollowUser { count: 1 });
        let run = Run::started(ranked.id, Period::Once, at(0));
        let now = at(50);
        let quests = [ranked];
        let waiting = standing(vec![(run, Vec::new())]);
        assert!(waiting.asks_rank(&quests, now));
        for (rank, news) in [(None, false), (Some(4), false), (Some(3), true)] {
            assert_eq!(waiting.has_news(&quests, &[], rank, now), news, "{rank:?}");
        }
        // Also if something is new without it.
        let mut richer = waiting.clone();
        richer.progress.facts.follows = 1;
        assert!(richer.has_news(&quests, &[], None, now) && richer.asks_rank(&quests, now));
        let ranked_already = standing(vec![(run, done(&[1]))]);
        assert!(!ranked_already.asks_rank(&quests, now));
        assert!(!standing(Vec::new()).asks_rank(&quests, now));
    }

    #[test]
    fn a_locked_quest_is_no_news_until_its_prerequisite_is_completed() {
        let before = Quest { id: QuestId::from_uuid(Uuid::from_u128(2)), ..quest("r") };
        let mut after = Quest { prerequisites: vec![before.id], ..quest("r") };
        after.steps[0].check = Some(Check::FollowUser { count: 1 });
        let (now, daily) = (at(50), Quest { cadence: Cadence::Daily, ..before.clone() });
        let news = |before: &Quest, status: Option<RunStatus>| {
            let begun = |quest: &Quest| Run::started(quest.id, Period::Once, at(0));
            let mut standing = standing(vec![(begun(&after), Vec::new())]);
            standing.progress.facts.follows = 1;
            standing.runs.extend(status.map(|status| (Run { status, ..begun(before) }, Vec::new())));
            standing.has_news(&[before.clone(), after.clone()], &[], None, now)
        };
        assert!(!news(&before, None) && !news(&before, Some(RunStatus::Active)));
        assert!(news(&before, Some(RunStatus::Completed)));
        // It may have been completed on another day.
        assert!(news(&daily, None));
    }

    #[test]
    fn a_run_of_another_day_is_over() {
        let mut daily = quest("r");
        daily.steps[0].check = Some(Check::FollowUser { count: 1 });
        let now = at(50);
        let on = |date: &str| {
            let period = Period::Day(date.parse().expect("a date"));
            let mut standing = standing(vec![(Run::started(daily.id, period, at(0)), Vec::new())]);
            standing.progress.facts.follows = 1;
            standing.has_news(&[daily.clone()], &[], None, now)
        };
        assert_eq!(["1969-12-31", "1970-01-01", "1970-01-02"].map(on), [false, true, false]);
    }

    #[test]
    fn an_achievement_is_news_until_it_is_noted() {
        let achievement = Achievement {
            key: "popular".parse().expect("a key"),
            title: String::new(),
            description: String::new(),
            is_secret: false,
            goal: "followers:2".parse().expect("a goal"),
        };
        let mut standing = standing(Vec::new());
        let mut news = |followers, has: bool| {
            standing.progress.facts.followers = followers;
            standing.progress.achievements = has.then(|| achievement.key.clone()).into_iter().collect();
            standing.has_news(&[], std::slice::from_ref(&achievement), None, at(0))
        };
        assert_eq!([news(1, false), news(2, false), news(2, true)], [false, true, false]);
    }
}
