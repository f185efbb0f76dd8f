//! Reads of the ledger.

use crate::balances::{TransferRow, balances};
use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::rows::overfull;
use crate::schema::{ledger_accounts, ledger_transfers};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use terrace_kernel::{Currency, Limit, Page, StoreError, TimeKey, Timestamp, UserId};
use terrace_ledger::{
    Balance, Entry, LedgerRead, Period, StatementEnds, StatementEntry, Transfer, TransferSource,
};
use uuid::Uuid;

/// Incoming and outgoing transfers, each from its own index, merged. `$2` and `$3` are the sort key after which the
/// page starts, `$4` is the number of rows.
const ENTRIES: &str = "\
    SELECT * FROM (SELECT * FROM (SELECT * FROM ledger_transfers \
        WHERE credit_user = $1 AND created_at <= $2 AND (created_at < $2 OR id < $3) \
        ORDER BY created_at DESC, id DESC LIMIT $4) AS came \
    UNION ALL SELECT * FROM (SELECT * FROM ledger_transfers \
        WHERE debit_user = $1 AND created_at <= $2 AND (created_at < $2 OR id < $3) \
        ORDER BY created_at DESC, id DESC LIMIT $4) AS went) AS entries \
    ORDER BY created_at DESC, id DESC LIMIT $4";

impl LedgerRead for DieselTx<'_> {
    fn balances(&mut self, user: UserId) -> Result<Vec<Balance>, StoreError> {
        let rows = on!(self.conn, |conn| {
            ledger_accounts::table
                .filter(ledger_accounts::user_id.eq(Key::of(user)))
                .select((ledger_accounts::unit, ledger_accounts::balance))
                .load(conn)
        })
        .map_err(broken("read a fan's balances"))?;
        balances(rows)
    }

    fn entries(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Entry, TimeKey>, StoreError> {
        // Later than the time of any entry.
        let end = TimeKey { at: Timestamp::from_micros(i64::MAX), id: Uuid::max() };
        let TimeKey { at, id } = after.unwrap_or(end);
        let fan = Key::of(user);
        let rows: Vec<TransferRow> = on!(self.conn, |conn| {
            Numbered::new(
                ENTRIES,
                (
                    fan.into_sql::<Uid>(),
                    At(at).into_sql::<Instant>(),
                    Key(id).into_sql::<Uid>(),
                    overfull(limit).into_sql::<BigInt>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("list what was moved on a fan's accounts"))?;
        let entries = rows.into_iter().map(|row| row.into_entry(fan)).collect::<Result<Vec<_>, _>>()?;
        Ok(Page::from_overfull(entries, limit, |entry| TimeKey { at: entry.at, id: entry.id.as_uuid() }))
    }

    fn statement_ends(
        &mut self,
        user: UserId,
        currency: Currency,
        period: Period,
    ) -> Result<StatementEnds, StoreError> {
        self.ends_of_statement(user, currency, period)
    }

    fn statement_entries(
        &mut self,
        user: UserId,
        currency: Currency,
        after: i64,
        last: i64,
        limit: Limit,
    ) -> Result<Vec<StatementEntry>, StoreError> {
        self.entries_of_statement(user, currency, after, last, limit)
    }

    fn transfer_of(&mut self, source: &TransferSource) -> Result<Option<Transfer>, StoreError> {
        let row: Option<TransferRow> = on!(self.conn, |conn| {
            ledger_transfers::table
                .find(source.as_str())
                .select(TransferRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a transfer"))?;
        row.map(TransferRow::into_transfer).transpose()
    }
}
