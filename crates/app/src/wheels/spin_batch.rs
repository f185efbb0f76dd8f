//! Spins of several fans, in one transaction with a fixed number of statements.

use crate::balances::balance_events;
use crate::grants::give_all;
use crate::store::{Batched, WheelTx};
use crate::wheels::due_spin::{DueSpin, spin_event};
use crate::wheels::{SpinWheel, SpinWheelRefusal, WheelSpun};
use std::collections::{BTreeMap, HashSet};
use terrace_games::Wheel;
use terrace_kernel::{Ctx, Failure, GrantKind, StoreError, UserId};
use terrace_ledger::Transfer;
use terrace_quests::VisitsChange;

/// A spin, and the transfer of its price.
type Due<'a> = (DueSpin<'a>, Option<Transfer>);

type Results = BTreeMap<usize, Result<WheelSpun, SpinWheelRefusal>>;

/// Spins wheels as [`SpinWheel`] does for each. There is no result for a further spin of the same fan, for a fan whose account
/// is not active or is held by another transaction, and for a segment that gives something else than points or coins:
/// these run alone.
pub(super) fn spin_wheels(
    batch: &mut [(&SpinWheel, &mut Ctx)],
    tx: &mut dyn WheelTx,
) -> Result<Batched<SpinWheel>, StoreError> {
    let mut results = Results::new();
    let due = draw(batch, tx, &mut results)?;
    let due = afford(due, tx, &mut results)?;
    for (place, spun) in write(due, batch, tx)? {
        results.insert(place, Ok(spun));
    }
    Ok((0..batch.len()).map(|place| results.remove(&place)).collect())
}

/// Locks the fans, applies the rules and draws.
fn draw<'a>(
    batch: &mut [(&'a SpinWheel, &mut Ctx)],
    tx: &mut dyn WheelTx,
    results: &mut Results,
) -> Result<BTreeMap<usize, Due<'a>>, StoreError> {
    let mut users = HashSet::new();
    let mut wanted: BTreeMap<usize, &'a Wheel> = BTreeMap::new();
    for (place, (command, _)) in batch.iter().enumerate() {
        let command: &'a SpinWheel = command;
        let wheel = command.book.wheel(command.wheel).filter(|wheel| !wheel.is_limited());
        if let Some(wheel) = wheel
            && users.insert(command.user)
        {
            wanted.insert(place, wheel);
        }
    }
    let mut fans = tx.lock_fans(&users.into_iter().collect::<Vec<_>>())?;
    let at: Vec<_> = wanted
        .iter()
        .filter_map(|(place, wheel)| Some((batch.get(*place)?.0.user, wheel.id)))
        .filter(|(user, _)| fans.contains_key(user))
        .collect();
    let mut states = tx.spin_states_of(&at)?;
    let mut due = BTreeMap::new();
    for (place, wheel) in wanted {
        let Some((command, ctx)) = batch.get_mut(place) else { continue };
        let Some(fan) = fans.remove(&command.user) else { continue };
        let state = states.remove(&command.user).unwrap_or_default();
        match DueSpin::new(command, wheel, fan, state, false, ctx) {
            Err(Failure::Refused(refusal)) => drop(results.insert(place, Err(refusal))),
            Err(Failure::Broken(error)) => return Err(error),
            Ok(spin) => {
                let kind = spin.segment.grant.kind();
                if matches!(kind, GrantKind::Points | GrantKind::Coins | GrantKind::Nothing) {
                    let price = spin.price(ctx)?;
                    due.insert(place, (spin, price));
                }
            }
        }
    }
    Ok(due)
}

/// Locks the balances, and refuses the spins that their fans cannot pay.
fn afford<'a>(
    mut due: BTreeMap<usize, Due<'a>>,
    tx: &mut dyn WheelTx,
    results: &mut Results,
) -> Result<BTreeMap<usize, Due<'a>>, StoreError> {
    let payer = |price: &Transfer| Some((price.debit.fan()?, price.kind));
    let prices = due.values().filter_map(|(_, price)| price.as_ref());
    let balances = tx.lock_balances_of(&prices.filter_map(payer).collect::<Vec<_>>())?;
    due.retain(|place, (_, price)| {
        let Some(price) = price else { return true };
        let has = price.debit.fan().and_then(|fan| balances.get(&fan)).copied().unwrap_or(0);
        let is_enough = has >= price.amount.get();
        if !is_enough {
            results.insert(*place, Err(SpinWheelRefusal::Insufficient { has }));
        }
        is_enough
    });
    Ok(due)
}

/// Writes the spins with what is paid and given for them; returns their results by the places of the commands.
fn write(
    mut due: BTreeMap<usize, Due<'_>>,
    batch: &mut [(&SpinWheel, &mut Ctx)],
    tx: &mut dyn WheelTx,
) -> Result<Vec<(usize, WheelSpun)>, StoreError> {
    let changes: Vec<VisitsChange> = due.values().filter_map(|(spin, _)| spin.change.clone()).collect();
    if tx.put_all_visits(&changes)? != changes.len() {
        // The fans are locked, so that no other transaction writes their visits.
        return Err(StoreError::defect("spin wheels", "visits changed under a lock"));
    }
    let prices: Vec<Transfer> = due.values().filter_map(|(_, price)| price.clone()).collect();
    let paid = tx.pay_all(&prices)?;
    let mut events = balance_events(&prices, &paid)?;
    let mut rows = Vec::with_capacity(due.len());
    let mut done = Vec::with_capacity(due.len());
    let mut gifts: Vec<(UserId, _, &mut Ctx)> = Vec::with_capacity(due.len());
    let mut awards = None;
    for (place, (command, ctx)) in batch.iter_mut().enumerate() {
        let Some((due, _)) = due.remove(&place) else { continue };
        let spin = due.spin(due.segment.grant, false, ctx.now());
        rows.push((spin.clone(), due.proof.table.clone(), due.after));
        awards = Some(&command.awards);
        gifts.push((command.user, due.gift(), &mut **ctx));
        done.push((place, due.spun(spin)));
    }
    let Some(awards) = awards else { return Ok(done) };
    events.extend(give_all(tx, &mut gifts, awards)?);
    tx.insert_spins(&rows)?;
    events.extend(rows.iter().map(|(spin, ..)| spin_event(spin)));
    tx.append_all_with_details(&events)?;
    Ok(done)
}
