//! The ledger of points, coins and money.

mod audit;
mod batch;
mod read;
pub(crate) mod schema;
mod statement;
mod transfer;

use crate::conn::on;
use crate::error::broken;
use crate::fixed::{Between, Fixed};
use crate::rows::{corrupt, named};
use crate::schema::{ledger_accounts, ledger_transfers};
use crate::tx::DieselTx;
use crate::types::{At, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_ledger::{
    AccountKind, Amount, Balance, Entry, Holder, House, Transfer, TransferId, TransferSource,
};

/// A row of the journal.
#[derive(Queryable, QueryableByName, Selectable, Insertable)]
#[diesel(table_name = ledger_transfers, treat_none_as_default_value = false)]
struct TransferRow {
    source_key: String,
    id: Key,
    unit: String,
    amount: i64,
    debit_user: Option<Key>,
    debit_house: Option<String>,
    debit_balance: Option<i64>,
    credit_user: Option<Key>,
    credit_house: Option<String>,
    credit_balance: Option<i64>,
    reason: String,
    created_at: At,
}

impl TransferRow {
    fn of(transfer: &Transfer, debit_balance: Option<i64>, credit_balance: Option<i64>) -> Self {
        let house = |holder: Holder| holder.house().map(|house| house.as_str().to_owned());
        Self {
            source_key: transfer.source.to_string(),
            id: Key::of(transfer.id),
            unit: transfer.kind.to_string(),
            amount: transfer.amount.get(),
            debit_user: transfer.debit.fan().map(Key::of),
            debit_house: house(transfer.debit),
            debit_balance,
            credit_user: transfer.credit.fan().map(Key::of),
            credit_house: house(transfer.credit),
            credit_balance,
            reason: transfer.reason.clone(),
            created_at: At(transfer.at),
        }
    }

    fn into_transfer(self) -> Result<Transfer, StoreError> {
        Ok(Transfer {
            id: self.id.id(),
            kind: kind(&self.unit)?,
            debit: holder(self.debit_user, self.debit_house.as_deref())?,
            credit: holder(self.credit_user, self.credit_house.as_deref())?,
            amount: Amount::new(self.amount)
                .map_err(|error| corrupt("ledger_transfers", "amount", &error))?,
            reason: self.reason,
            source: named("ledger_transfers", "source_key", &self.source_key)?,
            at: self.created_at.0,
        })
    }

    /// Converts the row to an entry from the point of view of one of its two holders.
    fn into_entry(self, fan: Key) -> Result<Entry, StoreError> {
        let (change, balance) = if self.credit_user == Some(fan) {
            (self.amount, self.credit_balance)
        } else {
            (-self.amount, self.debit_balance)
        };
        Ok(Entry {
            id: self.id.id(),
            kind: kind(&self.unit)?,
            change,
            balance_after: balance
                .ok_or_else(|| corrupt("ledger_transfers", "credit_balance", &"null beside a fan"))?,
            reason: self.reason,
            source: named("ledger_transfers", "source_key", &self.source_key)?,
            at: self.created_at.0,
        })
    }
}

fn kind(unit: &str) -> Result<AccountKind, StoreError> {
    named("ledger_accounts", "unit", unit)
}

fn holder(user: Option<Key>, house: Option<&str>) -> Result<Holder, StoreError> {
    match (user, house) {
        (Some(user), _) => Ok(Holder::Fan(user.id())),
        (None, Some(house)) => named("ledger_transfers", "debit_house", house).map(Holder::House),
        (None, None) => Err(corrupt("ledger_transfers", "debit_house", &"null without a fan")),
    }
}

fn balances(rows: Vec<(String, i64)>) -> Result<Vec<Balance>, StoreError> {
    let balance = |(unit, amount): (String, i64)| Ok(Balance { kind: kind(&unit)?, amount });
    let mut balances = rows.into_iter().map(balance).collect::<Result<Vec<_>, StoreError>>()?;
    balances.sort_unstable();
    Ok(balances)
}

/// A change of a fan's spendable points that accompanies a record of points.
pub(crate) struct Issue<'a> {
    pub(crate) user: UserId,
    /// Negative if points are taken back.
    pub(crate) points: i64,
    /// Id of the record, or an id in its place.
    pub(crate) id: TransferId,
    pub(crate) source: TransferSource,
    pub(crate) reason: &'a str,
    pub(crate) at: Timestamp,
}

/// The journal in single steps, for callers with exclusive access to the fan's accounts: the SQLite writer, and
/// maintenance, which has locked them.
const ADD: &str = "INSERT INTO ledger_accounts (user_id, unit, balance) VALUES (";
const TO_BALANCE: &str = "\
    ) ON CONFLICT (user_id, unit) DO UPDATE SET balance = ledger_accounts.balance + excluded.balance RETURNING balance";

impl DieselTx<'_> {
    /// Issues points, or takes back those that are left and writes off the rest. Does nothing for zero points.
    pub(crate) fn issue_points(&mut self, issue: &Issue<'_>) -> Result<(), StoreError> {
        let Issue { user, points, id, ref source, reason, at } = *issue;
        let transfer = |debit, credit, amount, source| {
            let amount = Amount::new(amount).map_err(|error| StoreError::defect("issue points", error))?;
            let (kind, reason) = (AccountKind::Points, reason.to_owned());
            Ok::<_, StoreError>(Transfer { id, kind, debit, credit, amount, reason, source, at })
        };
        let (fan, issuance) = (Holder::Fan(user), Holder::House(House::Issuance));
        if points > 0 {
            let transfer = transfer(issuance, fan, points, source.clone())?;
            let left = self.add_to_balance(user, transfer.kind, points)?;
            return self.insert_transfer(&TransferRow::of(&transfer, None, Some(left)));
        }
        if points == 0 {
            return Ok(());
        }
        let wanted = points.saturating_neg();
        let has = self.balance_of(user, AccountKind::Points)?.unwrap_or(0);
        let taken = wanted.min(has);
        if taken > 0 {
            let transfer = transfer(fan, issuance, taken, source.clone())?;
            let left = self.add_to_balance_that_is_there(user, transfer.kind, -taken)?;
            self.insert_transfer(&TransferRow::of(&transfer, Some(left), None))?;
        }
        if taken < wanted {
            let written_off = Holder::House(House::WrittenOff);
            let source = TransferSource::forgiven(user, id);
            let transfer = transfer(written_off, issuance, wanted - taken, source)?;
            self.insert_transfer(&TransferRow::of(&transfer, None, None))?;
        }
        Ok(())
    }

    fn balance_of(&mut self, user: UserId, kind: AccountKind) -> Result<Option<i64>, StoreError> {
        on!(self.conn, |conn| {
            ledger_accounts::table
                .find((Key::of(user), kind.to_string()))
                .select(ledger_accounts::balance)
                .first(conn)
                .optional()
        })
        .map_err(broken("read a balance"))
    }

    /// Adds a positive amount, and creates the account if necessary; returns the new balance.
    fn add_to_balance(&mut self, user: UserId, kind: AccountKind, amount: i64) -> Result<i64, StoreError> {
        let kind = kind.to_string();
        let values =
            (Key::of(user).into_sql::<Uid>(), kind.as_str().into_sql::<Text>(), amount.into_sql::<BigInt>());
        let add = Fixed::<_, BigInt>::new(ADD, values, TO_BALANCE);
        on!(self.conn, |conn| add.get_result(conn)).map_err(broken("add to a balance"))
    }

    fn add_to_balance_that_is_there(
        &mut self,
        user: UserId,
        kind: AccountKind,
        change: i64,
    ) -> Result<i64, StoreError> {
        let kind = kind.to_string();
        let values = Between(
            change.into_sql::<BigInt>(),
            " WHERE user_id = ",
            Between(Key::of(user).into_sql::<Uid>(), " AND unit = ", kind.as_str().into_sql::<Text>()),
        );
        let add = Fixed::<_, BigInt>::new(
            "UPDATE ledger_accounts SET balance = balance + ",
            values,
            " RETURNING balance",
        );
        on!(self.conn, |conn| add.get_result(conn)).map_err(broken("change a balance"))
    }

    fn insert_transfer(&mut self, row: &TransferRow) -> Result<(), StoreError> {
        on!(self.conn, |conn| diesel::insert_into(ledger_transfers::table).values(row).execute(conn))
            .map(drop)
            .map_err(broken("write a transfer"))
    }
}
