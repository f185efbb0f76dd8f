//! Gives points and coins to several fans at once.

use super::give::{Gift, coins_due, defect, game_award, rows};
use crate::balances::balance_events;
use crate::boards::{AwardPoints, Awards};
use crate::store::GameGrantTx;
use crate::store::grants::GivenGrant;
use terrace_kernel::{Ctx, Grant, NewEvent, StoreError, Timestamp, UserId};
use terrace_ledger::Transfer;
use terrace_scoring::Writer;

/// Gives different fans, whose accounts the caller has locked, one grant of points or coins each, for sources that have given
/// nothing yet. Returns the events of the balances of coins, which the caller appends. The number of statements is fixed.
///
/// # Errors
///
/// Also where a fan must be given points alone, for instance the first ones on the board of a team.
pub(crate) fn give_all(
    tx: &mut dyn GameGrantTx,
    gifts: &mut [(UserId, Gift, &mut Ctx)],
    awards: &Awards,
) -> Result<Vec<(NewEvent, String, Timestamp)>, StoreError> {
    let mut given: Vec<GivenGrant> = Vec::with_capacity(gifts.len());
    let mut dues: Vec<Transfer> = Vec::new();
    let mut orders: Vec<Option<AwardPoints>> = Vec::with_capacity(gifts.len());
    for (fan, gift, ctx) in &mut *gifts {
        let mut points = 0_i64;
        for row in rows(ctx, *fan, std::slice::from_ref(gift))? {
            match row.grant {
                Grant::Coins(amount) => dues.push(coins_due(ctx, &row, (amount, &gift.reason))?),
                Grant::Points(amount) => points = points.saturating_add(amount),
                Grant::Pack(..)
                | Grant::Collectible(..)
                | Grant::Code(_)
                | Grant::Product(..)
                | Grant::Nothing => return Err(defect("goods are given one by one")),
            }
            given.push(row);
        }
        orders.push((points > 0).then(|| AwardPoints {
            awards: awards.clone(),
            award: game_award(*fan, points, gift, ctx.now()),
            team: None,
            by: Writer::Service,
        }));
    }
    if tx.insert_grants(&given)?.len() != given.len() {
        return Err(defect("a new source has given before"));
    }
    let credited = tx.credit_all(&dues)?;
    let events = balance_events(&dues, &credited)?;
    let mut awarded: Vec<(&AwardPoints, &mut Ctx)> = gifts
        .iter_mut()
        .zip(&orders)
        .filter_map(|((.., ctx), order)| Some((order.as_ref()?, &mut **ctx)))
        .collect();
    Awards::give_all(tx, &mut awarded)?;
    Ok(events)
}
