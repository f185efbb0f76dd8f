//! Daily visits of several fans, recorded in one transaction with a fixed number of statements.

use crate::boards::{AwardPoints, Awards};
use crate::quests::NotActive;
use crate::quests::commands::{DailyVisit, VisitDaily, reached, visit_award};
use crate::store::{Batched, VisitTx};
use std::collections::{BTreeMap, HashSet};
use terrace_kernel::{Ctx, StoreError, UserId};
use terrace_quests::{VisitOutcome, VisitRules, Visits, VisitsChange, visit, visit_status};
use terrace_scoring::Writer;

/// A visit that pays points and nothing else.
struct Due {
    change: VisitsChange,
    order: AwardPoints,
    result: DailyVisit,
}

type Results = BTreeMap<usize, Result<DailyVisit, NotActive>>;

/// Records visits as [`VisitDaily`] does for each. There is no result for a further visit of the same fan, for a fan whose
/// account is not active or is held by another transaction, for a visit that reaches a milestone or an achievement, and
/// for one after a change of the time zone on a date that was paid: these run alone.
pub(super) fn record_visits(
    batch: &mut [(&VisitDaily, &mut Ctx)],
    tx: &mut dyn VisitTx,
) -> Result<Batched<VisitDaily>, StoreError> {
    let mut results = Results::new();
    let due = sort(batch, tx, &mut results)?;
    let changes: Vec<VisitsChange> = due.values().map(|one| one.change.clone()).collect();
    if tx.put_all_visits(&changes)? != changes.len() {
        // The fans are locked, so that no other transaction writes their visits.
        return Err(StoreError::defect("visit", "visits changed under a lock"));
    }
    let mut awarded: Vec<(&AwardPoints, &mut Ctx)> = batch
        .iter_mut()
        .enumerate()
        .filter_map(|(place, (_, ctx))| Some((&due.get(&place)?.order, &mut **ctx)))
        .collect();
    let points = Awards::give_all(tx, &mut awarded)?;
    for ((place, Due { result, .. }), points) in due.into_iter().zip(points) {
        results.insert(place, Ok(DailyVisit { points, ..result }));
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}

/// Locks the fans and applies the rules.
fn sort(
    batch: &[(&VisitDaily, &mut Ctx)],
    tx: &mut dyn VisitTx,
    results: &mut Results,
) -> Result<BTreeMap<usize, Due>, StoreError> {
    let mut users: HashSet<UserId> = HashSet::new();
    let mut wanted: BTreeMap<usize, &VisitDaily> = BTreeMap::new();
    for (place, (command, _)) in batch.iter().enumerate() {
        if users.insert(command.user) {
            wanted.insert(place, command);
        }
    }
    let fans = tx.lock_fans(&users.into_iter().collect::<Vec<_>>())?;
    let rules = VisitRules::default();
    let mut due = BTreeMap::new();
    for (place, (command, ctx)) in batch.iter().enumerate() {
        let fan = fans.get(&command.user).filter(|_| wanted.contains_key(&place));
        let Some((zone, known)) = fan else { continue };
        let (known, now): (Option<&Visits>, _) = (known.as_ref(), ctx.now());
        match visit(known, *zone, now, &rules).outcome {
            VisitOutcome::AlreadyToday { noted: None, .. } => {
                let status = visit_status(known, *zone, now, &rules);
                let result = DailyVisit { already_completed: true, points: 0, coins: 0, status };
                results.insert(place, Ok(result));
            }
            VisitOutcome::Paid { local_date, points, coins: 0, milestone: _, state }
                if reached(known, &state).is_empty() =>
            {
                let status = visit_status(Some(&state), *zone, now, &rules);
                let award = visit_award(command.user, local_date, points, now);
                let awards = command.awards.clone();
                let order = AwardPoints { awards, award, team: None, by: Writer::Service };
                let change = VisitsChange {
                    user: command.user,
                    visits: state,
                    before: known.and_then(|one| one.last_paid),
                };
                let result = DailyVisit { already_completed: false, points: 0, coins: 0, status };
                due.insert(place, Due { change, order, result });
            }
            VisitOutcome::AlreadyToday { .. } | VisitOutcome::Paid { .. } => {}
        }
    }
    Ok(due)
}
