//! Audit and repair of all balances.

use crate::balances::{Issue, kind};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::rows::corrupt;
use crate::schema::ledger_accounts;
use crate::tx::DieselTx;
use crate::types::{Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use std::collections::BTreeMap;
use terrace_kernel::{Currency, StoreError, Timestamp, UserId};
use terrace_ledger::{
    AccountEntries, AccountKind, Balance, Booking, FanLedger, LedgerAudit, LedgerRepair, LedgerRepairWrite,
    StatementEntry, TransferId, TransferSource,
};
use uuid::Uuid;

/// The sums of the journal, computed only from the columns of its rows.
const SUMS: &str = "\
    SELECT user_id, unit, count(*) AS transfers, CAST(sum(change) AS bigint) AS sum, \
        CAST(sum(issued) AS bigint) AS issued FROM ( \
        SELECT credit_user AS user_id, unit, amount AS change, \
            CASE WHEN debit_house = 'issuance' THEN amount ELSE 0 END AS issued \
        FROM ledger_transfers WHERE credit_user >= $1 AND credit_user <= $2 \
        UNION ALL \
        SELECT debit_user, unit, -amount, CASE WHEN credit_house = 'issuance' THEN -amount ELSE 0 END \
        FROM ledger_transfers WHERE debit_user >= $1 AND debit_user <= $2 \
    ) AS moved GROUP BY user_id, unit";

const RECORDS: &str = "\
    SELECT user_id, CAST(sum(amount) AS bigint) AS sum FROM points_history \
    WHERE user_id >= $1 AND user_id <= $2 GROUP BY user_id";

/// Amounts written off. The source contains the digits of the fan's id: the 32 characters after the prefix.
const WRITTEN_OFF: &str = "\
    SELECT substr(source_key, 10, 32) AS fan, CAST(sum(amount) AS bigint) AS sum FROM ledger_transfers \
    WHERE source_key >= $1 AND source_key < $2 GROUP BY substr(source_key, 10, 32)";

/// The entries of money accounts. An entry is broken if its balance does not follow from the previous one, or if it is
/// earlier.
const ENTRIES: &str = "\
    SELECT user_id, unit, count(*) AS entries, max(seq) AS last, CAST(sum(change) AS bigint) AS sum, \
        CAST(sum(CASE WHEN balance_after <> before + change OR booked_at < earlier THEN 1 ELSE 0 END) AS bigint) AS broken \
    FROM (SELECT user_id, unit, seq, change, balance_after, booked_at, \
            coalesce(lag(balance_after) OVER account, 0) AS before, lag(booked_at) OVER account AS earlier \
        FROM money_entries WHERE user_id >= $1 AND user_id <= $2 \
        WINDOW account AS (PARTITION BY user_id, unit ORDER BY seq)) AS entries GROUP BY user_id, unit";

#[derive(QueryableByName)]
struct EntriesRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Text)]
    unit: String,
    #[diesel(sql_type = BigInt)]
    entries: i64,
    #[diesel(sql_type = BigInt)]
    last: i64,
    #[diesel(sql_type = BigInt)]
    sum: i64,
    #[diesel(sql_type = BigInt)]
    broken: i64,
}

#[derive(QueryableByName)]
struct SumRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Text)]
    unit: String,
    #[diesel(sql_type = BigInt)]
    transfers: i64,
    #[diesel(sql_type = BigInt)]
    sum: i64,
    #[diesel(sql_type = BigInt)]
    issued: i64,
}

#[derive(QueryableByName)]
struct RecordSum {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = BigInt)]
    sum: i64,
}

#[derive(QueryableByName)]
struct WrittenOff {
    #[diesel(sql_type = Text)]
    fan: String,
    #[diesel(sql_type = BigInt)]
    sum: i64,
}

/// The entry of a fan; the map is ordered by their ids.
fn of(fans: &mut BTreeMap<UserId, FanLedger>, user: UserId) -> &mut FanLedger {
    fans.entry(user).or_insert_with(|| FanLedger {
        user,
        balances: Vec::new(),
        sums: Vec::new(),
        issued: 0,
        written_off: 0,
        recorded: 0,
        entries: Vec::new(),
    })
}

/// The entries of a fan's money account; nothing for points and coins.
fn entries_of(fan: &mut FanLedger, kind: AccountKind) -> Option<&mut AccountEntries> {
    let currency = kind.currency()?;
    if !fan.entries.iter().any(|account| account.currency == currency) {
        fan.entries.push(AccountEntries {
            currency,
            counted: 0,
            entries: 0,
            last: 0,
            sum: 0,
            broken: 0,
            transfers: 0,
            moved: 0,
        });
    }
    fan.entries.iter_mut().find(|account| account.currency == currency)
}

impl LedgerAudit for DieselTx<'_> {
    fn ledger_between(&mut self, first: UserId, last: UserId) -> Result<Vec<FanLedger>, StoreError> {
        let fail = broken("read balances and what they come from");
        let mut fans = BTreeMap::new();
        let kept: Vec<(Key, String, i64, i64)> = on!(self.conn, |conn| {
            ledger_accounts::table
                .filter(ledger_accounts::user_id.ge(Key::of(first)))
                .filter(ledger_accounts::user_id.le(Key::of(last)))
                .select((
                    ledger_accounts::user_id,
                    ledger_accounts::unit,
                    ledger_accounts::balance,
                    ledger_accounts::entry_count,
                ))
                .load(conn)
        })
        .map_err(&fail)?;
        for (user, unit, amount, counted) in kept {
            let (fan, kind) = (of(&mut fans, user.id()), kind(&unit)?);
            fan.balances.push(Balance { kind, amount });
            if let Some(account) = entries_of(fan, kind) {
                account.counted = counted;
            }
        }
        let sums: Vec<SumRow> = on!(self.conn, |conn| {
            diesel::sql_query(SUMS).bind::<Uid, _>(Key::of(first)).bind::<Uid, _>(Key::of(last)).load(conn)
        })
        .map_err(&fail)?;
        for row in sums {
            let fan = of(&mut fans, row.user_id.id());
            let kind = kind(&row.unit)?;
            fan.sums.push(Balance { kind, amount: row.sum });
            if kind == AccountKind::Points {
                fan.issued = row.issued;
            }
            if let Some(account) = entries_of(fan, kind) {
                (account.transfers, account.moved) = (row.transfers, row.sum);
            }
        }
        let entries: Vec<EntriesRow> = on!(self.conn, |conn| {
            diesel::sql_query(ENTRIES).bind::<Uid, _>(Key::of(first)).bind::<Uid, _>(Key::of(last)).load(conn)
        })
        .map_err(&fail)?;
        for row in entries {
            let (fan, kind) = (of(&mut fans, row.user_id.id()), kind(&row.unit)?);
            if let Some(account) = entries_of(fan, kind) {
                let EntriesRow { entries, last, sum, broken, .. } = row;
                *account = AccountEntries { entries, last, sum, broken, ..*account };
            }
        }
        let records: Vec<RecordSum> = on!(self.conn, |conn| {
            diesel::sql_query(RECORDS).bind::<Uid, _>(Key::of(first)).bind::<Uid, _>(Key::of(last)).load(conn)
        })
        .map_err(&fail)?;
        for row in records {
            of(&mut fans, row.user_id.id()).recorded = row.sum;
        }
        // The character after the colon bounds the sources of the last fan.
        let from = format!("forgiven:{}:", first.as_uuid().simple());
        let to = format!("forgiven:{};", last.as_uuid().simple());
        let written_off: Vec<WrittenOff> = on!(self.conn, |conn| {
            diesel::sql_query(WRITTEN_OFF).bind::<Text, _>(&from).bind::<Text, _>(&to).load(conn)
        })
        .map_err(&fail)?;
        for row in written_off {
            let user = Uuid::try_parse(&row.fan)
                .map_err(|error| corrupt("ledger_transfers", "source_key", &error))?;
            of(&mut fans, UserId::from_uuid(user)).written_off = row.sum;
        }
        Ok(fans.into_values().collect())
    }
}

impl LedgerRepairWrite for DieselTx<'_> {
    fn hold_balances(&mut self, fans: &[UserId]) -> Result<(), StoreError> {
        let Conn::Pg(conn) = &mut self.conn else {
            // The SQLite writer has exclusive access to the database.
            return Ok(());
        };
        let fans: Vec<Key> = fans.iter().map(|fan| Key::of(*fan)).collect();
        ledger_accounts::table
            .filter(ledger_accounts::user_id.eq_any(fans))
            .order((ledger_accounts::user_id, ledger_accounts::unit))
            .select(ledger_accounts::user_id)
            .for_update()
            .load::<Key>(*conn)
            .map(drop)
            .map_err(broken("hold balances"))
    }

    fn bookings(&mut self, user: UserId, currency: Currency) -> Result<Vec<Booking>, StoreError> {
        self.bookings_of(user, currency)
    }

    fn write_entries(
        &mut self,
        user: UserId,
        currency: Currency,
        entries: &[StatementEntry],
    ) -> Result<(), StoreError> {
        self.replace_entries(user, currency, entries)
    }

    fn write_ledger_repair(
        &mut self,
        repair: &LedgerRepair,
        id: TransferId,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let user = Key::of(repair.user);
        for balance in &repair.balances {
            on!(self.conn, |conn| {
                diesel::insert_into(ledger_accounts::table)
                    .values((
                        ledger_accounts::user_id.eq(user),
                        ledger_accounts::unit.eq(balance.kind.to_string()),
                        ledger_accounts::balance.eq(balance.amount),
                    ))
                    .on_conflict((ledger_accounts::user_id, ledger_accounts::unit))
                    .do_update()
                    .set(ledger_accounts::balance.eq(balance.amount))
                    .execute(conn)
            })
            .map_err(broken("repair a balance"))?;
        }
        let source = TransferSource::of("mended", id);
        let issue = Issue { user: repair.user, points: repair.points, id, source, reason: "Set right", at };
        self.issue_points(&issue)
    }
}
