//! Backfill of points for activity without a record. The records get the keys that they would have had, so that
//! activity that was paid meanwhile, or is paid concurrently, is paid once.

use crate::maintenance::{
    Category, Derived, Held, Looked, Page, Settled, Task, Unrecorded, UnrecordedVisit, WalkReport, hold,
};
use crate::points::{reconcile, record_past};
use std::collections::HashMap;
use std::convert::Infallible;
use terrace_app::boards::Awards;
use terrace_kernel::{Ctx, StoreError, TeamId, UserId, num};
use terrace_quests::VisitRules;
use terrace_scoring::{FavoriteAsOf, NewAward, Points, SourceKey, SourceKind, board_team};
use terrace_store::{OpsReadTx, OpsTx};

/// Records completed steps and quests.
pub(crate) fn quest_points() -> Task {
    let about = "Records the points of completed steps and quests that have no record, as of when they were completed";
    Task::new("backfill-quest-points", Category::Backfill, about, |work| async move {
        let awards = work.app().awards();
        work.walk_fans(Unpaid { activity: Activity::Quests, awards }).await
    })
    // Awards are assigned to the season of their time, and a quest is complete according to its run.
    .after(&["turn-seasons", "repair-quest-runs"])
}

/// Records daily visits.
pub(crate) fn visit_points() -> Task {
    let about = "Records the points of daily visits that have no record, as of their date";
    Task::new("backfill-visit-points", Category::Backfill, about, |work| async move {
        let awards = work.app().awards();
        work.walk_fans(Unpaid { activity: Activity::Visits, awards }).await
    })
    .after(&["turn-seasons"])
}

/// Reads the known favourite teams of fans over time.
pub(super) fn favorites(
    tx: &mut dyn OpsReadTx,
    of: &Held<'_>,
) -> Result<HashMap<UserId, FavoriteAsOf>, StoreError> {
    Ok(tx.favorites_between(of.first, of.last)?.into_iter().collect())
}

/// An activity that has no record.
struct Missing {
    /// Kind of the record in the report.
    kind: &'static str,
    award: NewAward,
    /// Team of the quest it belongs to; later, the team on whose board it counts.
    team: Option<TeamId>,
}

#[derive(Clone)]
struct Unpaid {
    activity: Activity,
    awards: Awards,
}

#[derive(Clone, Copy)]
enum Activity {
    Quests,
    Visits,
}

impl Derived for Unpaid {
    const NAME: &'static str = "backfill_points";
    const AFFECTS_LEADERBOARD: bool = true;
    type Key = UserId;
    type Check = Infallible;

    fn look(&self, page: Page<'_, UserId>) -> Looked<UserId> {
        page.fans(|tx, first, last| {
            Ok(match self.activity {
                Activity::Quests => {
                    tx.unrecorded_between(first, last)?.into_iter().map(|fact| fact.user).collect()
                }
                Activity::Visits => {
                    tx.unrecorded_visits_between(first, last)?.into_iter().map(|visit| visit.user).collect()
                }
            })
        })
    }

    fn settle(&self, tx: &mut dyn OpsTx, ctx: &mut Ctx, suspects: &[UserId]) -> Settled {
        let (mut report, mut concerned) = (WalkReport::default(), Vec::new());
        let Some(held) = hold(tx, suspects)? else { return Ok(report) };
        let favorites = favorites(tx, &held)?;
        let mut found: Vec<Missing> = match self.activity {
            Activity::Quests => tx.unrecorded_of(held.fans)?.into_iter().map(Missing::from).collect(),
            Activity::Visits => {
                let visits = tx.unrecorded_visits_between(held.first, held.last)?;
                visits.into_iter().filter_map(last_paid).collect()
            }
        };
        found.retain(|missing| held.contains(missing.award.user));
        for Missing { award, team, .. } in &mut found {
            let favorite = favorites.get(&award.user).and_then(|known| known.at(award.at));
            *team = board_team(*team, favorite);
        }
        let past: Vec<_> = found.iter().map(|missing| (&missing.award, missing.team)).collect();
        let at_once = self.awards.give_at_once(tx, ctx, &past)?;
        for (Missing { kind, award, team }, is_given) in found.iter().zip(at_once) {
            let given = if is_given {
                Some(award.amount.get())
            } else {
                record_past(tx, ctx, &self.awards, award, *team)?
            };
            if let Some(given) = given {
                report.wrote(kind, 1);
                report.wrote("points", num::to_u64(given));
                concerned.push(award.user);
            }
        }
        reconcile(tx, concerned, ctx.now())?;
        Ok(report)
    }
}

impl From<Unrecorded> for Missing {
    fn from(Unrecorded { user, source, points, title, team, at }: Unrecorded) -> Self {
        let is_quest = source.kind() == SourceKind::Quest;
        let kind = if is_quest { "records of quests" } else { "records of steps" };
        let award = NewAward { user, amount: Points::new(points), reason: title, source, at };
        Self { kind, award, team }
    }
}

/// The last visit that paid, if its date is known.
fn last_paid(UnrecordedVisit { user, visits, registered_at }: UnrecordedVisit) -> Option<Missing> {
    let (date, at) = (visits.last_paid?, visits.last_paid_from(registered_at)?);
    let amount = Points::new(VisitRules::default().pays(visits.streak));
    let (reason, source) = ("Daily visit".to_owned(), SourceKey::daily_visit(date));
    let award = NewAward { user, amount, reason, source, at };
    Some(Missing { kind: "records of visits", award, team: None })
}
