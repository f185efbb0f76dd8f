//! Payments of several fans at once. On PostgreSQL each method is one statement.

use crate::balances::TransferRow;
use crate::conn::Conn;
use crate::error::broken;
use crate::fixed::{Fixed, GIVEN, column};
use crate::tx::DieselTx;
use crate::types::{Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Nullable, Text};
use std::collections::HashMap;
use terrace_kernel::{StoreError, UserId};
use terrace_ledger::{AccountKind, LedgerBatch, LedgerWrite, Transfer, TransferOutcome};

const LOCK: &str = "SELECT a.user_id, a.balance FROM unnest(";
const LOCK_END: &str = ") AS given (user_id, unit) JOIN ledger_accounts AS a USING (user_id, unit) \
    ORDER BY a.user_id FOR UPDATE OF a";

/// The balances are locked, so that no concurrent change makes the update violate their check.
const PAY: &str = ") AS given (source_key, id, unit, amount, user_id, house, reason, created_at)), paid AS ( \
    UPDATE ledger_accounts AS a SET balance = a.balance - given.amount FROM given \
    WHERE a.user_id = given.user_id AND a.unit = given.unit AND a.balance >= given.amount \
    RETURNING a.user_id, a.balance) \
    INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_user, debit_balance, credit_house, reason, \
        created_at) \
    SELECT given.source_key, given.id, given.unit, given.amount, given.user_id, paid.balance, given.house, \
        given.reason, given.created_at FROM given JOIN paid ON paid.user_id = given.user_id \
    RETURNING debit_user, debit_balance";

const CREDIT: &str = ") AS given (source_key, id, unit, amount, user_id, house, reason, created_at)), paid AS ( \
    INSERT INTO ledger_accounts (user_id, unit, balance) SELECT user_id, unit, amount FROM given ORDER BY user_id \
    ON CONFLICT (user_id, unit) DO UPDATE SET balance = ledger_accounts.balance + excluded.balance \
    RETURNING user_id, balance) \
    INSERT INTO ledger_transfers (source_key, id, unit, amount, debit_house, credit_user, credit_balance, reason, \
        created_at) \
    SELECT given.source_key, given.id, given.unit, given.amount, given.house, given.user_id, paid.balance, given.reason, \
        given.created_at FROM given JOIN paid ON paid.user_id = given.user_id \
    RETURNING credit_user, credit_balance";

impl LedgerBatch for DieselTx<'_> {
    fn lock_balances_of(
        &mut self,
        accounts: &[(UserId, AccountKind)],
    ) -> Result<HashMap<UserId, i64>, StoreError> {
        let mut balances = HashMap::new();
        if accounts.is_empty() {
            return Ok(balances);
        }
        let Conn::Pg(conn) = &mut self.conn else {
            for (fan, kind) in accounts {
                balances.extend(self.balance_of(*fan, *kind)?.map(|balance| (*fan, balance)));
            }
            return Ok(balances);
        };
        let fans: Vec<Key> = accounts.iter().map(|(fan, _)| Key::of(*fan)).collect();
        let units: Vec<String> = accounts.iter().map(|(_, kind)| kind.to_string()).collect();
        let values = (fans.into_sql::<Array<Uid>>(), units.into_sql::<Array<Text>>());
        let rows: Vec<(Key, i64)> = Fixed::<_, (Uid, BigInt)>::new(LOCK, values, LOCK_END)
            .load(*conn)
            .map_err(broken("lock balances of fans"))?;
        balances.extend(rows.into_iter().map(|(fan, balance)| (fan.id(), balance)));
        Ok(balances)
    }

    fn pay_all(&mut self, transfers: &[Transfer]) -> Result<HashMap<UserId, i64>, StoreError> {
        self.move_all(transfers, PAY)
    }

    fn credit_all(&mut self, transfers: &[Transfer]) -> Result<HashMap<UserId, i64>, StoreError> {
        self.move_all(transfers, CREDIT)
    }
}

impl DieselTx<'_> {
    /// Makes transfers, each between a fan and an account of the service, on PostgreSQL by this statement; returns the new
    /// balances of those that were made.
    fn move_all(
        &mut self,
        transfers: &[Transfer],
        sql: &'static str,
    ) -> Result<HashMap<UserId, i64>, StoreError> {
        if transfers.is_empty() {
            return Ok(HashMap::new());
        }
        let Conn::Pg(conn) = &mut self.conn else {
            let mut moved = HashMap::new();
            for transfer in transfers {
                let TransferOutcome::Now { debit, credit } = self.transfer(transfer)? else { continue };
                let fan = transfer.debit.fan().or(transfer.credit.fan());
                moved.extend(fan.zip(debit.or(credit)));
            }
            return Ok(moved);
        };
        let rows: Vec<_> = transfers.iter().map(|transfer| TransferRow::of(transfer, None, None)).collect();
        let values = (
            column(&rows, |row| row.source_key.as_str()).into_sql::<Array<Text>>(),
            column(&rows, |row| row.id).into_sql::<Array<Uid>>(),
            column(&rows, |row| row.unit.as_str()).into_sql::<Array<Text>>(),
            column(&rows, |row| row.amount).into_sql::<Array<BigInt>>(),
            column(&rows, |row| row.debit_user.or(row.credit_user)).into_sql::<Array<Nullable<Uid>>>(),
            column(&rows, |row| row.debit_house.as_deref().or(row.credit_house.as_deref()))
                .into_sql::<Array<Nullable<Text>>>(),
            column(&rows, |row| row.reason.as_str()).into_sql::<Array<Text>>(),
            column(&rows, |row| row.created_at).into_sql::<Array<Instant>>(),
        );
        let statement = Fixed::<_, (Nullable<Uid>, Nullable<BigInt>)>::new(GIVEN, values, sql);
        let rows: Vec<(Option<Key>, Option<i64>)> =
            statement.load(*conn).map_err(broken("move amounts at once"))?;
        Ok(rows.into_iter().filter_map(|(fan, balance)| Some((fan?.id(), balance?))).collect())
    }
}
