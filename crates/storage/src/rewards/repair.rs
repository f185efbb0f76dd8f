//! Compares the stock of rewards with claims and codes, and claims with codes and the journal; repairs differences.

use super::cost_columns;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::schema::{ledger_transfers, reward_claims, reward_codes, reward_stock};
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::Integer;
use std::collections::HashSet;
use terrace_kernel::StoreError;
use terrace_ledger::TransferSource;
use terrace_rewards::{ClaimId, Cost, RewardId};
use terrace_store::repair::{ClaimFault, RewardAudit, RewardRepair};

/// What the stock of a reward should be: the number of its codes, if it is a pool, and of its claims.
const DUE: &str = "\
    SELECT CASE WHEN rewards.codes = 'pool' \
            THEN (SELECT CAST(count(*) AS integer) FROM reward_codes WHERE reward_id = rewards.id) \
            ELSE coalesce(rewards.stock, 0) END AS supply, \
        (SELECT CAST(count(*) AS integer) FROM reward_claims WHERE reward_id = rewards.id) AS taken \
    FROM rewards WHERE rewards.id = $1";

#[derive(QueryableByName)]
struct DueRow {
    #[diesel(sql_type = Integer)]
    supply: i32,
    #[diesel(sql_type = Integer)]
    taken: i32,
}

impl DieselTx<'_> {
    fn due_stock(&mut self, reward: Key) -> Result<(i32, i32), StoreError> {
        let row: DueRow =
            on!(self.conn, |conn| diesel::sql_query(DUE).bind::<Uid, _>(reward).get_result(conn))
                .map_err(broken("count the claims of a reward"))?;
        Ok((row.supply, row.taken))
    }
}

impl RewardAudit for DieselTx<'_> {
    fn misstocked_rewards(&mut self) -> Result<Vec<RewardId>, StoreError> {
        let kept: Vec<(Key, i32, i32)> =
            on!(self.conn, |conn| reward_stock::table.order(reward_stock::reward_id).load(conn))
                .map_err(broken("read the stock of rewards"))?;
        let mut wrong = Vec::new();
        for (reward, supply, taken) in kept {
            if self.due_stock(reward)? != (supply, taken) {
                wrong.push(reward.id());
            }
        }
        Ok(wrong)
    }

    fn claims_after(&mut self, after: Option<ClaimId>, limit: u32) -> Result<Vec<ClaimId>, StoreError> {
        let ids: Vec<Key> = on!(self.conn, |conn| {
            let mut query = reward_claims::table.select(reward_claims::id).into_boxed();
            if let Some(after) = after {
                query = query.filter(reward_claims::id.gt(Key::of(after)));
            }
            query.order(reward_claims::id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("walk the claims"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn faulty_claims(&mut self, of: &[ClaimId]) -> Result<Vec<(ClaimId, ClaimFault)>, StoreError> {
        type Row = (Key, Key, String, Option<String>, Option<i64>, bool);
        let fail = broken("compare claims with codes and the journal");
        let ids: Vec<Key> = of.iter().map(|id| Key::of(*id)).collect();
        let claims: Vec<Row> = on!(self.conn, |conn| {
            reward_claims::table
                .filter(reward_claims::id.eq_any(&ids))
                .order(reward_claims::id)
                .select((
                    reward_claims::id,
                    reward_claims::reward_id,
                    reward_claims::status,
                    reward_claims::codes,
                    reward_claims::cost_amount,
                    reward_claims::is_returned,
                ))
                .load(conn)
        })
        .map_err(&fail)?;
        let owners: Vec<_> = ids.iter().map(|id| Some(*id)).collect();
        let codes: Vec<(Option<Key>, Key)> = on!(self.conn, |conn| {
            reward_codes::table
                .filter(reward_codes::claim_id.eq_any(&owners))
                .select((reward_codes::claim_id, reward_codes::reward_id))
                .load(conn)
        })
        .map_err(&fail)?;
        let codes: HashSet<(Option<Key>, Key)> = codes.into_iter().collect();
        let source = |kind, id: Key| TransferSource::of(kind, id.0).to_string();
        let sources: Vec<String> =
            ids.iter().flat_map(|id| [source("claim", *id), source("claim_return", *id)]).collect();
        let journal: Vec<(String, i64)> = on!(self.conn, |conn| {
            ledger_transfers::table
                .filter(ledger_transfers::source_key.eq_any(&sources))
                .select((ledger_transfers::source_key, ledger_transfers::amount))
                .load(conn)
        })
        .map_err(&fail)?;
        let journal: HashSet<(String, i64)> = journal.into_iter().collect();
        let has = |kind, id, cost: i64| journal.contains(&(source(kind, id), cost));
        let fault = |(id, reward, status, kind, cost, is_returned): Row| {
            let has_code = codes.contains(&(Some(id), reward));
            let fault = match cost {
                Some(cost) if !has("claim", id, cost) => ClaimFault::Unpaid,
                Some(cost) if is_returned && !has("claim_return", id, cost) => ClaimFault::NotReturned,
                _ if kind.is_some() && !has_code && status == "issued" => ClaimFault::WithoutCode,
                _ => return None,
            };
            Some((id.id(), fault))
        };
        Ok(claims.into_iter().filter_map(fault).collect())
    }
}

impl RewardRepair for DieselTx<'_> {
    fn restock_reward(&mut self, reward: RewardId) -> Result<bool, StoreError> {
        let fail = broken("repair the stock of a reward");
        let id = Key::of(reward);
        let own = reward_stock::table.find(id).select((reward_stock::supply, reward_stock::taken));
        let kept: Option<(i32, i32)> = match &mut self.conn {
            Conn::Pg(conn) => own.for_no_key_update().first(*conn).optional(),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(conn) => own.first(*conn).optional(),
        }
        .map_err(&fail)?;
        let Some(kept) = kept else { return Ok(false) };
        // In a statement after the lock, as for the stock of variants.
        let due = self.due_stock(id)?;
        if kept == due {
            return Ok(false);
        }
        let (supply, taken) = due;
        on!(self.conn, |conn| {
            diesel::update(reward_stock::table.find(id))
                .set((reward_stock::supply.eq(supply), reward_stock::taken.eq(taken)))
                .execute(conn)
        })
        .map(|rows| rows == 1)
        .map_err(fail)
    }

    fn put_claim_cost(
        &mut self,
        claim: ClaimId,
        cost: Option<Cost>,
        is_returned: bool,
    ) -> Result<(), StoreError> {
        let (kind, amount) = cost_columns(cost);
        let values = (
            reward_claims::cost_kind.eq(kind),
            reward_claims::cost_amount.eq(amount),
            reward_claims::is_returned.eq(is_returned),
        );
        let own = reward_claims::table.find(Key::of(claim));
        on!(self.conn, |conn| diesel::update(own).set(values).execute(conn))
            .map(drop)
            .map_err(broken("repair the cost of a claim"))
    }
}
