//! Backfill of points for what fans did and nobody recorded. The records have the keys that they would have had, so that what
//! was paid meanwhile, or is paid beside it, is paid once.

use super::walk::{Looked, Mending, count, fans, look_at_fans, tally, walk_fans};
use crate::awards::{Awards, GiveRefusal, Given};
use crate::maintenance::{Category, Counts, Task, Unrecorded, UnrecordedVisit};
use crate::store::{ReadTx, Tx};
use std::collections::HashMap;
use terrace_kernel::{Ctx, Failure, StoreError, TeamId, Timestamp, UserId, Uuid};
use terrace_quests::VisitRules;
use terrace_scoring::{Books, KnownFavorite, NewAward, Points, SourceKey, SourceKind, board_team};

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
    match awards.give_for_the_past(tx, ctx, award, team) {
        Ok(Given::Now { record, .. }) => Ok(Some(record.amount.get())),
        Ok(Given::Before) | Err(Failure::Refused(GiveRefusal::NotActive)) => Ok(None),
        Err(Failure::Broken(error)) => Err(error),
        // Content bounds what quests pay, and their teams do not go away.
        Err(Failure::Refused(refusal @ (GiveRefusal::Rule(_) | GiveRefusal::UnknownTeam))) => {
            Err(StoreError::defect("record what a fan did", format!("{refusal:?}")))
        }
    }
}

/// What is known of the favourite teams of fans.
pub(super) fn favorites(
    tx: &mut dyn Tx,
    first: UserId,
    last: UserId,
) -> Result<HashMap<UserId, KnownFavorite>, StoreError> {
    Ok(tx.favorites_between(first, last)?.into_iter().collect())
}

/// Makes what stands beside the records of fans who are held what their records say; says of how many it was something else.
/// An award to a season that is over leaves the legacy entries of that season behind (scoring rule 7).
pub(super) fn bring_in_line(
    tx: &mut dyn Tx,
    ctx: &Ctx,
    mut concerned: Vec<UserId>,
) -> Result<u64, StoreError> {
    concerned.sort_unstable();
    concerned.dedup();
    let (Some(first), Some(last)) = (concerned.first(), concerned.last()) else { return Ok(0) };
    let books = Books::new(tx.seasons()?, &tx.every_board()?);
    let mut mends = Vec::new();
    for fan in tx.points_between(*first, *last)? {
        if concerned.binary_search(&fan.user).is_ok() {
            mends.extend(books.audit(&fan, ctx.now()).mend);
        }
    }
    tx.mend_points(&mends, ctx.now())?;
    Ok(tally(mends.len()))
}

/// How much was paid, for the report.
fn points(counts: &mut Counts, given: i64) {
    count(counts, "points", u64::try_from(given).unwrap_or(0));
}

#[derive(Clone)]
struct QuestPoints {
    awards: Awards,
}

impl Mending for QuestPoints {
    const NAME: &'static str = "backfill_quest_points";
    const SHOWS_ON_BOARDS: bool = true;

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
        let (mut counts, mut concerned) = (Counts::new(), Vec::new());
        let Some((held, first, last)) = fans(suspects) else { return Ok(counts) };
        // Before anything is read: whoever completes something of theirs has recorded it, or waits.
        tx.hold_fans(&held)?;
        let favorites = favorites(tx, first, last)?;
        for Unrecorded { user, source, points: pays, title, team, at } in tx.unrecorded_of(&held)? {
            let favorite = favorites.get(&user).and_then(|known| known.at(at));
            let kind =
                if source.kind() == SourceKind::Quest { "records of quests" } else { "records of steps" };
            let award = NewAward { user, amount: Points::new(pays), reason: title, source, at };
            if let Some(given) = record(tx, ctx, &self.awards, &award, board_team(team, favorite))? {
                count(&mut counts, kind, 1);
                points(&mut counts, given);
                concerned.push(user);
            }
        }
        bring_in_line(tx, ctx, concerned)?;
        Ok(counts)
    }
}

#[derive(Clone)]
struct VisitPoints {
    awards: Awards,
}

impl Mending for VisitPoints {
    const NAME: &'static str = "backfill_visit_points";
    const SHOWS_ON_BOARDS: bool = true;

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
        let (mut counts, mut concerned) = (Counts::new(), Vec::new());
        let Some((held, first, last)) = fans(suspects) else { return Ok(counts) };
        tx.hold_fans(&held)?;
        let favorites = favorites(tx, first, last)?;
        let rules = VisitRules::default();
        for UnrecordedVisit { user, visits, registered_at } in tx.unrecorded_visits_between(first, last)? {
            let known = held.binary_search(&user).is_ok();
            let (true, Some(date), Some(at)) =
                (known, visits.last_paid, visits.last_paid_from(registered_at))
            else {
                continue;
            };
            let favorite = favorites.get(&user).and_then(|known| known.at(at));
            let award = NewAward {
                user,
                amount: Points::new(rules.pays(visits.streak)),
                reason: "Daily visit".to_owned(),
                source: SourceKey::daily_visit(date),
                at,
            };
            if let Some(given) = record(tx, ctx, &self.awards, &award, board_team(None, favorite))? {
                count(&mut counts, "records of visits", 1);
                points(&mut counts, given);
                concerned.push(user);
            }
        }
        bring_in_line(tx, ctx, concerned)?;
        Ok(counts)
    }
}
