//! Wallets for which the provider is asked.

use super::WalletRow;
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::packs::count;
use crate::schema::wallets;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer};
use std::collections::HashMap;
use terrace_kernel::{StoreError, Timestamp, num};
use terrace_ledger::{Provisioning, WalletId};

#[derive(QueryableByName)]
struct TakenRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = Integer)]
    attempts: i32,
    #[diesel(sql_type = Integer)]
    failures: i32,
}

impl DieselTx<'_> {
    pub(super) fn take_due_wallets(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Provisioning>, StoreError> {
        let fail = broken("take wallets to provide");
        let take = format!(
            "WITH due AS MATERIALIZED (SELECT id FROM wallets WHERE due_at IS NOT NULL AND due_at <= $1 \
                ORDER BY due_at, id LIMIT $2{}) \
             UPDATE wallets SET due_at = $3, attempts = attempts + 1 WHERE id IN (SELECT id FROM due) \
             RETURNING id, attempts, failures",
            self.skip_locked_wallets()
        );
        let taken: Vec<TakenRow> = on!(self.conn, |conn| {
            Numbered::new(
                take,
                (
                    At(now).into_sql::<Instant>(),
                    i64::from(limit).into_sql::<BigInt>(),
                    At(until).into_sql::<Instant>(),
                ),
            )
            .load(conn)
        })
        .map_err(&fail)?;
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        let ids: Vec<Key> = taken.iter().map(|row| row.id).collect();
        let rows: Vec<WalletRow> = on!(self.conn, |conn| {
            wallets::table
                .filter(wallets::id.eq_any(ids))
                .order(wallets::id)
                .select(WalletRow::as_select())
                .load(conn)
        })
        .map_err(fail)?;
        let tries: HashMap<Key, (i32, i32)> =
            taken.into_iter().map(|row| (row.id, (row.attempts, row.failures))).collect();
        let provisioning = |row: WalletRow| {
            let (attempts, failures) = tries.get(&row.id).copied().unwrap_or_default();
            Ok(Provisioning {
                wallet: row.into_wallet()?,
                attempt: count("wallets", "attempts", attempts)?,
                failures: count("wallets", "failures", failures)?,
            })
        };
        rows.into_iter().map(provisioning).collect()
    }

    pub(super) fn note_fault_of_wallet(
        &mut self,
        id: WalletId,
        attempt: u32,
        is_refusal: bool,
        words: &str,
        due_at: Timestamp,
    ) -> Result<Option<u32>, StoreError> {
        let this = wallets::table
            .find(Key::of(id))
            .filter(wallets::status.eq("requested"))
            .filter(wallets::attempts.eq(num::to_i32(attempt)));
        let refusals: Option<i32> = on!(self.conn, |conn| {
            diesel::update(this)
                .set((
                    wallets::failures.eq(wallets::failures + 1),
                    wallets::refusals.eq(wallets::refusals + i32::from(is_refusal)),
                    wallets::fault.eq(Some(words)),
                    wallets::due_at.eq(Some(At(due_at))),
                ))
                .returning(wallets::refusals)
                .get_result(conn)
                .optional()
        })
        .map_err(broken("note a fault of the wallet provider"))?;
        refusals.map(|number| count("wallets", "refusals", number)).transpose()
    }

    /// SQLite has a single writer.
    fn skip_locked_wallets(&self) -> &'static str {
        match self.conn {
            Conn::Pg(_) => " FOR UPDATE SKIP LOCKED",
            Conn::Sqlite(_) => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::harness::{Database, at, plans_of, uuid};
    use terrace_kernel::UserId;
    use terrace_ledger::{WalletId, WalletRead, WalletWrite};

    /// What is due is found among the wallets that are not ready, whatever the number of ready ones.
    #[test]
    fn wallets_that_are_due_are_found_by_an_index_of_their_own() {
        let mut database = Database::sqlite();
        let plans = plans_of(&mut database, |tx| {
            let (fan, wallet) = (UserId::from(uuid(1)), WalletId::from(uuid(2)));
            tx.is_wallet_due(at(0)).unwrap();
            tx.take_wallets(at(0), at(1), 8).unwrap();
            tx.wallet_standing().unwrap();
            tx.wallets(fan).unwrap();
            tx.wallet(fan, wallet).unwrap();
            tx.wallet_balances(wallet).unwrap();
        });
        for plan in plans {
            let scans = plan.split(" | ").filter(|step| step.starts_with("SCAN wallet"));
            let found: Vec<_> = scans.filter(|step| !step.contains("INDEX wallets_")).collect();
            assert!(found.is_empty(), "{found:?} in {plan}");
        }
    }
}
