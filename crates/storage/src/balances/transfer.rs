//! One transfer: writes the row of the journal and the balances on both sides, or none of them.

use crate::balances::statement::EntryRow;
use crate::balances::{TransferRow, balances};
use crate::conn::{Conn, on};
use crate::error::broken;
use crate::numbered::Numbered;
use crate::schema::{ledger_accounts, ledger_transfers, money_entries, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Nullable, Text};
use terrace_identity::AccountStatus;
use terrace_kernel::{StoreError, UserId};
use terrace_ledger::{Balance, LedgerWrite, Transfer, TransferOutcome};

/// The user account of the receiving fan is locked first, as awards do, so that nothing is credited to an account that
/// is deleted in the meantime. Then the ledger accounts are locked, so the balances read under the locks are current.
/// The journal is written next: of two transfers with the same source, the second waits for the first and changes
/// nothing. An entry of a money account gets its number from the account, under the same lock. Balances are set from the journal's row instead of being incremented, because PostgreSQL first evaluates an
/// update against the row version at the start of the statement, whose balance may violate a check that the current
/// version satisfies.
const TRANSFER: &str = include_str!("transfer.sql");

#[derive(QueryableByName)]
struct Answer {
    #[diesel(sql_type = Bool)]
    is_there: bool,
    #[diesel(sql_type = Nullable<BigInt>)]
    pays: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    gets: Option<i64>,
    #[diesel(sql_type = Bool)]
    is_written: bool,
}

/// The number of a new entry, and when it is booked.
#[derive(QueryableByName)]
struct NumberRow {
    #[diesel(sql_type = BigInt)]
    seq: i64,
    #[diesel(sql_type = Instant)]
    booked_at: At,
}

impl LedgerWrite for DieselTx<'_> {
    fn transfer(&mut self, transfer: &Transfer) -> Result<TransferOutcome, StoreError> {
        if transfer.debit == transfer.credit {
            return Err(StoreError::defect("move an amount", "from an account to itself"));
        }
        if matches!(self.conn, Conn::Sqlite(_)) {
            return self.transfer_in_steps(transfer);
        }
        let mut answer = self.transfer_in_one(transfer)?;
        let payee = transfer.credit.fan().filter(|_| answer.is_there && answer.gets.is_none());
        if let Some(payee) = payee {
            // The receiving fan has no account of this kind yet, or one was created while this statement waited.
            self.open_account(payee, transfer)?;
            answer = self.transfer_in_one(transfer)?;
        }
        let amount = transfer.amount.get();
        if answer.is_written {
            let pays = answer.pays.filter(|_| transfer.debit.fan().is_some());
            let gets = answer.gets.filter(|_| transfer.credit.fan().is_some());
            return Ok(TransferOutcome::Now {
                debit: pays.map(|has| has - amount),
                credit: gets.map(|has| has.saturating_add(amount)),
            });
        }
        // Read under the locks, and therefore after everything that the statement waited for.
        if self.is_paid(transfer)? {
            Ok(TransferOutcome::Before)
        } else if transfer.credit.fan().is_some() && !answer.is_there {
            Ok(TransferOutcome::NoFan)
        } else {
            Ok(TransferOutcome::Insufficient { has: answer.pays.unwrap_or(0) })
        }
    }

    fn lock_balances(&mut self, user: UserId) -> Result<Vec<Balance>, StoreError> {
        let own = ledger_accounts::table
            .filter(ledger_accounts::user_id.eq(Key::of(user)))
            .order(ledger_accounts::unit)
            .select((ledger_accounts::unit, ledger_accounts::balance));
        let rows = match &mut self.conn {
            Conn::Pg(conn) => own.for_update().load(*conn),
            // The SQLite writer has exclusive access to the database.
            Conn::Sqlite(conn) => own.load(*conn),
        };
        balances(rows.map_err(broken("lock a fan's balances"))?)
    }
}

impl DieselTx<'_> {
    fn transfer_in_one(&mut self, transfer: &Transfer) -> Result<Answer, StoreError> {
        let row = TransferRow::of(transfer, None, None);
        on!(self.conn, |conn| {
            Numbered::new(
                TRANSFER,
                (
                    row.credit_user.into_sql::<Nullable<Uid>>(),
                    row.debit_user.into_sql::<Nullable<Uid>>(),
                    row.unit.into_sql::<Text>(),
                    row.amount.into_sql::<BigInt>(),
                    row.source_key.into_sql::<Text>(),
                    row.id.into_sql::<Uid>(),
                    row.debit_house.into_sql::<Nullable<Text>>(),
                    row.credit_house.into_sql::<Nullable<Text>>(),
                    row.reason.into_sql::<Text>(),
                    row.created_at.into_sql::<Instant>(),
                ),
            )
            .get_result(conn)
        })
        .map_err(broken("move an amount"))
    }

    /// The same transfer on SQLite, in single steps.
    fn transfer_in_steps(&mut self, transfer: &Transfer) -> Result<TransferOutcome, StoreError> {
        if self.is_paid(transfer)? {
            return Ok(TransferOutcome::Before);
        }
        let (from, to) = (transfer.debit.fan(), transfer.credit.fan());
        if let Some(fan) = to
            && !self.is_there(fan)?
        {
            return Ok(TransferOutcome::NoFan);
        }
        let amount = transfer.amount.get();
        let mut debit = None;
        if let Some(payer) = from {
            let has = self.balance_of(payer, transfer.kind)?.unwrap_or(0);
            if has < amount {
                return Ok(TransferOutcome::Insufficient { has });
            }
            debit = Some(self.add_to_balance_that_is_there(payer, transfer.kind, -amount)?);
        }
        let credit = to.map(|fan| self.add_to_balance(fan, transfer.kind, amount)).transpose()?;
        self.insert_transfer(&TransferRow::of(transfer, debit, credit))?;
        if transfer.kind.currency().is_some() {
            for (fan, change, balance) in [(from, -amount, debit), (to, amount, credit)] {
                if let Some((fan, balance)) = fan.zip(balance) {
                    self.enter(fan, transfer, change, balance)?;
                }
            }
        }
        Ok(TransferOutcome::Now { debit, credit })
    }

    /// Numbers the entry of a money account.
    fn enter(
        &mut self,
        user: UserId,
        transfer: &Transfer,
        change: i64,
        balance_after: i64,
    ) -> Result<(), StoreError> {
        const NUMBER: &str = "\
            UPDATE ledger_accounts SET entry_count = entry_count + 1, booked_at = max(coalesce(booked_at, $1), $1) \
            WHERE user_id = $2 AND unit = $3 RETURNING entry_count AS seq, booked_at";
        let fail = broken("number an entry");
        let unit = transfer.kind.to_string();
        let number: NumberRow = on!(self.conn, |conn| {
            Numbered::new(
                NUMBER,
                (
                    At(transfer.at).into_sql::<Instant>(),
                    Key::of(user).into_sql::<Uid>(),
                    unit.as_str().into_sql::<Text>(),
                ),
            )
            .get_result(conn)
        })
        .map_err(&fail)?;
        let row = EntryRow {
            user_id: Key::of(user),
            unit,
            seq: number.seq,
            transfer_id: Key::of(transfer.id),
            change,
            balance_after,
            reason: transfer.reason.clone(),
            booked_at: number.booked_at,
        };
        on!(self.conn, |conn| diesel::insert_into(money_entries::table).values(&row).execute(conn))
            .map(drop)
            .map_err(fail)
    }

    fn is_paid(&mut self, transfer: &Transfer) -> Result<bool, StoreError> {
        let source = ledger_transfers::table.find(transfer.source.as_str());
        on!(self.conn, |conn| diesel::select(diesel::dsl::exists(source)).get_result(conn))
            .map_err(broken("look for a transfer"))
    }

    fn is_there(&mut self, user: UserId) -> Result<bool, StoreError> {
        let there =
            users::table.find(Key::of(user)).filter(users::status.ne(AccountStatus::Deleted.as_str()));
        on!(self.conn, |conn| diesel::select(diesel::dsl::exists(there)).get_result(conn))
            .map_err(broken("look for a fan"))
    }

    /// Creates an account with a balance of zero, unless it exists.
    fn open_account(&mut self, user: UserId, transfer: &Transfer) -> Result<(), StoreError> {
        on!(self.conn, |conn| {
            diesel::insert_into(ledger_accounts::table)
                .values((
                    ledger_accounts::user_id.eq(Key::of(user)),
                    ledger_accounts::unit.eq(transfer.kind.to_string()),
                    ledger_accounts::balance.eq(0_i64),
                ))
                .on_conflict_do_nothing()
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("open an account"))
    }
}
