//! Transfers with the events of the balances that they change.

use crate::store::TransferTx;
use std::collections::HashMap;
use terrace_kernel::{EventKind, NewEvent, StoreError, Timestamp, Topic, UserId};
use terrace_ledger::{LedgerWrite, Transfer, TransferOutcome};

/// Applies a transfer, and appends an event for each balance of a fan that it changed.
pub(crate) fn transfer(tx: &mut dyn TransferTx, transfer: &Transfer) -> Result<TransferOutcome, StoreError> {
    let moved = LedgerWrite::transfer(tx, transfer)?;
    let TransferOutcome::Now { debit, credit } = moved else { return Ok(moved) };
    for (holder, balance) in [(transfer.debit, debit), (transfer.credit, credit)] {
        let Some((fan, balance)) = holder.fan().zip(balance) else { continue };
        let (event, detail, at) = balance_event(fan, transfer, balance);
        tx.append_with_detail(&event, &detail, at)?;
    }
    Ok(moved)
}

/// The event for a fan's new balance after a transfer, with its detail and its time.
fn balance_event(fan: UserId, transfer: &Transfer, balance: i64) -> (NewEvent, String, Timestamp) {
    let event = NewEvent {
        topic: Topic::Packs,
        kind: EventKind::BalanceChanged,
        actor: Some(fan),
        team: None,
        subject: fan.as_uuid(),
        object: None,
    };
    (event, format!("{}/{balance}", transfer.kind), transfer.at)
}

/// The events of transfers between the service and fans, whose new balances are these.
pub(crate) fn balance_events(
    moved: &[Transfer],
    balances: &HashMap<UserId, i64>,
) -> Result<Vec<(NewEvent, String, Timestamp)>, StoreError> {
    let event = |moved: &Transfer| {
        let fan = moved.debit.fan().or(moved.credit.fan())?;
        Some(balance_event(fan, moved, *balances.get(&fan)?))
    };
    let events = moved.iter().map(event).collect::<Option<Vec<_>>>();
    // The balances are locked.
    events.ok_or_else(|| StoreError::defect("move amounts at once", "a balance changed under a lock"))
}
