//! The numbered entries of money accounts.

use crate::conn::on;
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{ledger_accounts, money_entries};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use terrace_kernel::{Currency, Limit, StoreError, Timestamp, UserId};
use terrace_ledger::{Booking, Period, StatementEnds, StatementEntry, StatementPoint};

/// Rows of one statement when entries are written anew.
const INSERTED: usize = 500;

/// The last entries before two instants, each from the index by time.
const ENDS: &str = "\
    SELECT * FROM (SELECT CAST(0 AS bigint) AS nth, seq, balance_after FROM money_entries \
        WHERE user_id = $1 AND unit = $2 AND booked_at < $3 ORDER BY booked_at DESC, seq DESC LIMIT 1) AS opening \
    UNION ALL SELECT * FROM (SELECT CAST(1 AS bigint) AS nth, seq, balance_after FROM money_entries \
        WHERE user_id = $1 AND unit = $2 AND booked_at < $4 ORDER BY booked_at DESC, seq DESC LIMIT 1) AS closing";

/// The transfers of a money account in the journal.
const BOOKINGS: &str = "\
    SELECT moved.id, moved.change, moved.reason, moved.created_at, entries.seq, entries.booked_at FROM ( \
        SELECT id, amount AS change, reason, created_at FROM ledger_transfers WHERE credit_user = $1 AND unit = $2 \
        UNION ALL SELECT id, -amount, reason, created_at FROM ledger_transfers WHERE debit_user = $1 AND unit = $2 \
    ) AS moved LEFT JOIN money_entries AS entries \
        ON entries.user_id = $1 AND entries.unit = $2 AND entries.transfer_id = moved.id";

/// A row of the table.
#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = money_entries, treat_none_as_default_value = false)]
pub(super) struct EntryRow {
    pub(super) user_id: Key,
    pub(super) unit: String,
    pub(super) seq: i64,
    pub(super) transfer_id: Key,
    pub(super) change: i64,
    pub(super) balance_after: i64,
    pub(super) reason: String,
    pub(super) booked_at: At,
}

impl EntryRow {
    fn into_entry(self) -> StatementEntry {
        StatementEntry {
            seq: self.seq,
            id: self.transfer_id.id(),
            change: self.change,
            balance_after: self.balance_after,
            reason: self.reason,
            at: self.booked_at.0,
        }
    }
}

#[derive(QueryableByName)]
struct EndRow {
    #[diesel(sql_type = BigInt)]
    nth: i64,
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = BigInt)]
    balance_after: i64,
}

#[derive(QueryableByName)]
struct BookingRow {
    #[diesel(sql_type = Uid)]
    id: Key,
    #[diesel(sql_type = BigInt)]
    change: i64,
    #[diesel(sql_type = Text)]
    reason: String,
    #[diesel(sql_type = Instant)]
    created_at: At,
    #[diesel(sql_type = Nullable<BigInt>)]
    seq: Option<i64>,
    #[diesel(sql_type = Nullable<Instant>)]
    booked_at: Option<At>,
}

impl DieselTx<'_> {
    pub(super) fn ends_of_statement(
        &mut self,
        user: UserId,
        currency: Currency,
        period: Period,
    ) -> Result<StatementEnds, StoreError> {
        // No entry is before the first instant, and all are before the last one.
        let from = period.from.unwrap_or(Timestamp::from_micros(i64::MIN));
        let to = period.to.unwrap_or(Timestamp::from_micros(i64::MAX));
        let rows: Vec<EndRow> = on!(self.conn, |conn| {
            Numbered::new(
                ENDS,
                (
                    Key::of(user).into_sql::<Uid>(),
                    currency.as_str().into_sql::<Text>(),
                    At(from).into_sql::<Instant>(),
                    At(to).into_sql::<Instant>(),
                ),
            )
            .load(conn)
        })
        .map_err(broken("find the ends of a statement"))?;
        let end = |nth| {
            let row = rows.iter().find(|row| row.nth == nth);
            row.map_or(StatementPoint::default(), |row| StatementPoint {
                seq: row.seq,
                balance: row.balance_after,
            })
        };
        Ok(StatementEnds { opening: end(0), closing: end(1) })
    }

    pub(super) fn entries_of_statement(
        &mut self,
        user: UserId,
        currency: Currency,
        after: i64,
        last: i64,
        limit: Limit,
    ) -> Result<Vec<StatementEntry>, StoreError> {
        let rows: Vec<EntryRow> = on!(self.conn, |conn| {
            money_entries::table
                .filter(money_entries::user_id.eq(Key::of(user)))
                .filter(money_entries::unit.eq(currency.as_str()))
                .filter(money_entries::seq.gt(after))
                .filter(money_entries::seq.le(last))
                .order(money_entries::seq)
                .limit(crate::rows::overfull(limit))
                .select(EntryRow::as_select())
                .load(conn)
        })
        .map_err(broken("list the entries of a statement"))?;
        Ok(rows.into_iter().map(EntryRow::into_entry).collect())
    }

    pub(super) fn bookings_of(
        &mut self,
        user: UserId,
        currency: Currency,
    ) -> Result<Vec<Booking>, StoreError> {
        let rows: Vec<BookingRow> = on!(self.conn, |conn| {
            Numbered::new(BOOKINGS, (Key::of(user).into_sql::<Uid>(), currency.as_str().into_sql::<Text>()))
                .load(conn)
        })
        .map_err(broken("read the transfers of an account"))?;
        let booking = |row: BookingRow| Booking {
            id: row.id.id(),
            change: row.change,
            reason: row.reason,
            at: row.created_at.0,
            booked: row.seq.zip(row.booked_at.map(|at| at.0)),
        };
        Ok(rows.into_iter().map(booking).collect())
    }

    pub(super) fn replace_entries(
        &mut self,
        user: UserId,
        currency: Currency,
        entries: &[StatementEntry],
    ) -> Result<(), StoreError> {
        let fail = broken("number the entries of an account");
        let (user_id, unit) = (Key::of(user), currency.as_str());
        let old = money_entries::table
            .filter(money_entries::user_id.eq(user_id))
            .filter(money_entries::unit.eq(unit));
        on!(self.conn, |conn| diesel::delete(old).execute(conn)).map_err(&fail)?;
        for part in entries.chunks(INSERTED) {
            let row = |entry: &StatementEntry| EntryRow {
                user_id,
                unit: unit.to_owned(),
                seq: entry.seq,
                transfer_id: Key::of(entry.id),
                change: entry.change,
                balance_after: entry.balance_after,
                reason: entry.reason.clone(),
                booked_at: At(entry.at),
            };
            let rows: Vec<_> = part.iter().map(row).collect();
            on!(self.conn, |conn| diesel::insert_into(money_entries::table).values(&rows).execute(conn))
                .map_err(&fail)?;
        }
        let last = entries.last();
        let account = ledger_accounts::table.find((user_id, unit));
        let values = (
            ledger_accounts::entry_count.eq(last.map_or(0, |entry| entry.seq)),
            ledger_accounts::booked_at.eq(last.map(|entry| At(entry.at))),
        );
        on!(self.conn, |conn| diesel::update(account).set(values).execute(conn)).map(drop).map_err(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, at, plans_of, uuid};
    use terrace_ledger::LedgerRead;

    /// Contract part 2 §4: the ends of a statement and its pages are found by indexes, so that the number of entries of the
    /// account, and the place of the page among them, do not matter.
    #[test]
    fn spec_4_a_page_of_a_statement_reads_only_its_own_entries() {
        let mut database = Database::sqlite();
        let plans = plans_of(&mut database, |tx| {
            let fan = UserId::from(uuid(1));
            let period = Period::new(Some(at(1)), Some(at(2))).unwrap();
            tx.statement_ends(fan, Currency::EUR, period).unwrap();
            tx.statement_entries(fan, Currency::EUR, 9_000_000, 10_000_000, Limit::MAX).unwrap();
        });
        assert_eq!(plans.len(), 2, "{plans:?}");
        let [ends, page] = [&plans[0], &plans[1]];
        let searches = ends.matches("money_entries_by_time (user_id=? AND unit=? AND booked_at<?)").count();
        assert_eq!(searches, 2, "{ends}");
        assert!(page.contains("PRIMARY KEY (user_id=? AND unit=? AND seq>? AND seq<?)"), "{page}");
        for plan in plans {
            assert!(!plan.contains("TEMP B-TREE") && !plan.contains("SCAN money_entries"), "{plan}");
        }
    }
}
