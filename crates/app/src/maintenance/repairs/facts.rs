//! Backfill of points for what fans did and nobody recorded. The records have the keys that they would have had, so that what
//! was paid meanwhile, or is paid beside it, is paid once.

use crate::boards::{AwardPointsRefusal, AwardResult, Awards};
use crate::maintenance::repairs::walk::{Held, Looked, Repair, count, hold, look_at_fans, walk_fans};
use crate::maintenance::{Category, Counts, Task, Unrecorded, UnrecordedVisit};
use crate::store::{ReadTx, Tx};
use crate::upkeep;
use crate::upkeep::books;
use std::collections::HashMap;
use terrace_kernel::{Ctx, Failure, StoreError, TeamId, Timestamp, UserId, Uuid};
use terrace_quests::VisitRules;
use terrace_scoring::{FavoriteAsOf, NewAward, Points, SourceKey, SourceKind, board_team};

/// Records of completed steps and quests.
pub(in crate::maintenance) fn quest_points() -> Task {
    let about = "Records the points of completed steps and quests that have no record, as of when they were completed";
    Task::new("backfill-quest-points", Category::Backfill, about, |work| async move {
        let awards = work.app().awards();
        walk_fans(&work, QuestPoints { awards }).await
    })
    // The season of then is stamped, and a quest is complete by the run that it has.
    .after(&["turn-seasons", "repair-quest-runs"])
}

/// Records of daily visits.
pub(in crate::maintenance) fn visit_points() -> Task {
    let about = "Records the points of daily visits that have no record, as of their date";
    Task::new("backfill-visit-points", Category::Backfill, about, |work| async move {
        let awards = work.app().awards();
        walk_fans(&work, VisitPoints { awards }).await
    })
    .after(&["turn-seasons"])
}

/// Writes a record as of then, on the board of the quest's team, or of the favourite of then where that is known; `None`
/// where the fact has one, or the account is gone.
pub(super) fn record(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    awards: &Awards,
    award: &NewAward,
    team: Option<TeamId>,
) -> Result<Option<i64>, StoreError> {
    match awards.backfill_award(tx, ctx, award, team) {
        Ok(AwardResult::Now { record, .. }) => Ok(Some(record.amount.get())),
        Ok(AwardResult::Before) | Err(Failure::Refused(AwardPointsRefusal::NotActive)) => Ok(None),
        Err(Failure::Broken(error)) => Err(error),
        // Content bounds what quests pay, and their teams do not go away.
        Err(Failure::Refused(refusal @ (AwardPointsRefusal::Rule(_) | AwardPointsRefusal::UnknownTeam))) => {
            Err(StoreError::defect("record what a fan did", format!("{refusal:?}")))
        }
    }
}

/// What is known of the favourite teams of fans.
pub(super) fn favorites(tx: &mut dyn Tx, of: &Held) -> Result<HashMap<UserId, FavoriteAsOf>, StoreError> {
    Ok(tx.favorites_between(of.first, of.last)?.into_iter().collect())
}

/// Makes what stands beside the records of fans who are held what their records say; says of how many it was something else.
pub(super) fn reconcile(tx: &mut dyn Tx, ctx: &Ctx, mut concerned: Vec<UserId>) -> Result<u64, StoreError> {
    concerned.sort_unstable();
    concerned.dedup();
    if concerned.is_empty() {
        return Ok(0);
    }
    let books = books(tx)?;
    upkeep::reconcile(tx, &books, &concerned, ctx.now())
}

/// What a fan did that nobody recorded.
struct Missing {
    /// What its record is called in the report.
    kind: &'static str,
    award: NewAward,
    /// The team of the quest that it belongs to; later the one on whose board it counts.
    team: Option<TeamId>,
}

/// Records what the suspects lack, once they are held: what `find` finds of them, of whom it may find more.
fn make_up_for(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    awards: &Awards,
    suspects: &[Uuid],
    find: impl FnOnce(&mut dyn Tx, &Held) -> Result<Vec<Missing>, StoreError>,
) -> Result<Counts, StoreError> {
    let (mut counts, mut concerned) = (Counts::new(), Vec::new());
    let Some(held) = hold(tx, suspects)? else { return Ok(counts) };
    let favorites = favorites(tx, &held)?;
    let mut found = find(tx, &held)?;
    found.retain(|missing| held.contains(missing.award.user));
    for Missing { award, team, .. } in &mut found {
        let favorite = favorites.get(&award.user).and_then(|known| known.at(award.at));
        *team = board_team(*team, favorite);
    }
    let past: Vec<_> = found.iter().map(|missing| (&missing.award, missing.team)).collect();
    let at_once = awards.give_at_once(tx, ctx, &past)?;
    for (Missing { kind, award, team }, is_given) in found.iter().zip(at_once) {
        let given = if is_given { Some(award.amount.get()) } else { record(tx, ctx, awards, award, *team)? };
        if let Some(given) = given {
            count(&mut counts, kind, 1);
            count(&mut counts, "points", u64::try_from(given).unwrap_or(0));
            concerned.push(award.user);
        }
    }
    reconcile(tx, ctx, concerned)?;
    Ok(counts)
}

#[derive(Clone)]
struct QuestPoints {
    awards: Awards,
}

impl Repair for QuestPoints {
    const NAME: &'static str = "backfill_quest_points";
    const AFFECTS_LEADERBOARD: bool = true;

    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        _now: Timestamp,
    ) -> Result<Option<Looked>, StoreError> {
        look_at_fans(tx, after, |tx, first, last| {
            Ok(tx.unrecorded_between(first, last)?.into_iter().map(|fact| fact.user).collect())
        })
    }

    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError> {
        make_up_for(tx, ctx, &self.awards, suspects, |tx, held| {
            let facts = tx.unrecorded_of(&held.fans)?;
            Ok(facts.into_iter().map(Missing::from).collect())
        })
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

#[derive(Clone)]
struct VisitPoints {
    awards: Awards,
}

impl Repair for VisitPoints {
    const NAME: &'static str = "backfill_visit_points";
    const AFFECTS_LEADERBOARD: bool = true;

    fn look(
        &self,
        tx: &mut dyn ReadTx,
        after: Option<Uuid>,
        _now: Timestamp,
    ) -> Result<Option<Looked>, StoreError> {
        look_at_fans(tx, after, |tx, first, last| {
            Ok(tx.unrecorded_visits_between(first, last)?.into_iter().map(|visit| visit.user).collect())
        })
    }

    fn settle(&self, tx: &mut dyn Tx, ctx: &mut Ctx, suspects: &[Uuid]) -> Result<Counts, StoreError> {
        make_up_for(tx, ctx, &self.awards, suspects, |tx, held| {
            let visits = tx.unrecorded_visits_between(held.first, held.last)?;
            Ok(visits.into_iter().filter_map(last_paid).collect())
        })
    }
}

/// The last visit that paid, where its date is known.
fn last_paid(UnrecordedVisit { user, visits, registered_at }: UnrecordedVisit) -> Option<Missing> {
    let (date, at) = (visits.last_paid?, visits.last_paid_from(registered_at)?);
    let amount = Points::new(VisitRules::default().pays(visits.streak));
    let (reason, source) = ("Daily visit".to_owned(), SourceKey::daily_visit(date));
    let award = NewAward { user, amount, reason, source, at };
    Some(Missing { kind: "records of visits", award, team: None })
}
