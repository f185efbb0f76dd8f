//! Wallets of fans, and what they hold according to their provider.

mod provision;
pub(crate) mod schema;

use crate::conn::on;
use crate::error::broken;
use crate::rows::{corrupt, named};
use crate::schema::{wallet_balances, wallets};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key};
use diesel::dsl::exists;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use terrace_kernel::{StoreError, Timestamp, UserId, num};
use terrace_ledger::{
    ChainName, Network, Token, TokenBalance, Wallet, WalletId, WalletRead, WalletRepair, WalletStanding,
    WalletStatus, WalletWrite,
};
use terrace_ledger::{Custody, Provisioning};

/// The columns of a wallet that the rules know.
#[derive(Queryable, Selectable)]
#[diesel(table_name = wallets)]
struct WalletRow {
    id: Key,
    user_id: Key,
    network: String,
    status: String,
    address: Option<String>,
    custody: Option<String>,
    balances_at: Option<At>,
}

impl WalletRow {
    fn into_wallet(self) -> Result<Wallet, StoreError> {
        Ok(Wallet {
            id: self.id.id(),
            user: self.user_id.id(),
            network: named::<Network>("wallets", "network", &self.network)?,
            status: named::<WalletStatus>("wallets", "status", &self.status)?,
            address: self
                .address
                .as_deref()
                .map(|text| named::<ChainName>("wallets", "address", text))
                .transpose()?,
            custody: self
                .custody
                .as_deref()
                .map(|text| named::<Custody>("wallets", "custody", text))
                .transpose()?,
            balances_at: self.balances_at.map(|at| at.0),
        })
    }
}

#[derive(Insertable)]
#[diesel(table_name = wallets, treat_none_as_default_value = false)]
struct NewWalletRow<'a> {
    id: Key,
    user_id: Key,
    network: &'a str,
    status: &'static str,
    due_at: Option<At>,
    attempts: i32,
    failures: i32,
    refusals: i32,
    created_at: At,
    changed_at: At,
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = wallet_balances, treat_none_as_default_value = false)]
struct BalanceRow {
    wallet_id: Key,
    place: i32,
    token_key: String,
    symbol: String,
    decimals: i32,
    amount: String,
}

impl BalanceRow {
    fn into_balance(self) -> Result<TokenBalance, StoreError> {
        const TABLE: &str = "wallet_balances";
        let decimals = u8::try_from(self.decimals).map_err(|error| corrupt(TABLE, "decimals", &error))?;
        let token = Token::new(&self.token_key, &self.symbol, decimals)
            .map_err(|error| corrupt(TABLE, "token_key", &error))?;
        TokenBalance::new(token, &self.amount).map_err(|error| corrupt(TABLE, "amount", &error))
    }
}

/// How many wallets are in a state, and when the oldest of them came into it.
#[derive(QueryableByName)]
struct StandingRow {
    #[diesel(sql_type = BigInt)]
    number: i64,
    #[diesel(sql_type = Nullable<Instant>)]
    oldest: Option<At>,
}

impl WalletRead for DieselTx<'_> {
    fn wallets(&mut self, user: UserId) -> Result<Vec<Wallet>, StoreError> {
        let rows: Vec<WalletRow> = on!(self.conn, |conn| {
            wallets::table
                .filter(wallets::user_id.eq(Key::of(user)))
                .order((wallets::created_at, wallets::id))
                .select(WalletRow::as_select())
                .load(conn)
        })
        .map_err(broken("list a fan's wallets"))?;
        rows.into_iter().map(WalletRow::into_wallet).collect()
    }

    fn wallet(&mut self, user: UserId, id: WalletId) -> Result<Option<Wallet>, StoreError> {
        let row: Option<WalletRow> = on!(self.conn, |conn| {
            wallets::table
                .find(Key::of(id))
                .filter(wallets::user_id.eq(Key::of(user)))
                .select(WalletRow::as_select())
                .first(conn)
                .optional()
        })
        .map_err(broken("read a wallet"))?;
        row.map(WalletRow::into_wallet).transpose()
    }

    fn wallet_balances(&mut self, id: WalletId) -> Result<Vec<TokenBalance>, StoreError> {
        let rows: Vec<BalanceRow> = on!(self.conn, |conn| {
            wallet_balances::table
                .filter(wallet_balances::wallet_id.eq(Key::of(id)))
                .order(wallet_balances::place)
                .select(BalanceRow::as_select())
                .load(conn)
        })
        .map_err(broken("read what a wallet holds"))?;
        rows.into_iter().map(BalanceRow::into_balance).collect()
    }

    fn is_wallet_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let due = wallets::table.filter(wallets::due_at.is_not_null()).filter(wallets::due_at.le(At(now)));
        on!(self.conn, |conn| diesel::select(exists(due)).get_result(conn))
            .map_err(broken("look for wallets to provide"))
    }

    fn sleeping_wallets(
        &mut self,
        latest: Timestamp,
        after: Option<WalletId>,
        limit: u32,
    ) -> Result<Vec<WalletId>, StoreError> {
        let ids: Vec<Key> = on!(self.conn, |conn| {
            let mut query =
                wallets::table.filter(wallets::due_at.gt(At(latest))).select(wallets::id).into_boxed();
            if let Some(after) = after {
                query = query.filter(wallets::id.gt(Key::of(after)));
            }
            query.order(wallets::id).limit(i64::from(limit)).load(conn)
        })
        .map_err(broken("find wallets that sleep"))?;
        Ok(ids.into_iter().map(Key::id).collect())
    }

    fn wallet_standing(&mut self) -> Result<WalletStanding, StoreError> {
        const REQUESTED: &str =
            "SELECT count(*) AS number, min(changed_at) AS oldest FROM wallets WHERE due_at IS NOT NULL";
        const FAILED: &str =
            "SELECT count(*) AS number, min(changed_at) AS oldest FROM wallets WHERE status = 'failed'";
        let mut count = |sql: &'static str| -> Result<StandingRow, StoreError> {
            on!(self.conn, |conn| diesel::sql_query(sql).get_result(conn))
                .map_err(broken("count wallets that are not ready"))
        };
        let (requested, failed) = (count(REQUESTED)?, count(FAILED)?);
        Ok(WalletStanding {
            requested: num::to_u64(requested.number),
            oldest: requested.oldest.map(|at| at.0),
            failed: num::to_u64(failed.number),
        })
    }
}

impl WalletWrite for DieselTx<'_> {
    fn request_wallet(
        &mut self,
        id: WalletId,
        user: UserId,
        network: &Network,
        now: Timestamp,
    ) -> Result<(Wallet, bool), StoreError> {
        let fail = broken("request a wallet");
        let row = NewWalletRow {
            id: Key::of(id),
            user_id: Key::of(user),
            network: network.as_str(),
            status: WalletStatus::Requested.as_str(),
            due_at: Some(At(now)),
            attempts: 0,
            failures: 0,
            refusals: 0,
            created_at: At(now),
            changed_at: At(now),
        };
        let inserted = on!(self.conn, |conn| {
            diesel::insert_into(wallets::table)
                .values(&row)
                .on_conflict((wallets::user_id, wallets::network))
                .do_nothing()
                .execute(conn)
        })
        .map_err(&fail)?;
        let found: WalletRow = on!(self.conn, |conn| {
            wallets::table
                .filter(wallets::user_id.eq(Key::of(user)))
                .filter(wallets::network.eq(network.as_str()))
                .select(WalletRow::as_select())
                .first(conn)
        })
        .map_err(fail)?;
        Ok((found.into_wallet()?, inserted > 0))
    }

    fn request_again(&mut self, id: WalletId, now: Timestamp) -> Result<bool, StoreError> {
        let failed = wallets::table.find(Key::of(id)).filter(wallets::status.eq("failed"));
        let values = (
            wallets::status.eq(WalletStatus::Requested.as_str()),
            wallets::due_at.eq(Some(At(now))),
            wallets::failures.eq(0),
            wallets::refusals.eq(0),
            wallets::changed_at.eq(At(now)),
        );
        on!(self.conn, |conn| diesel::update(failed).set(values).execute(conn))
            .map(|rows| rows > 0)
            .map_err(broken("request a wallet again"))
    }

    fn take_wallets(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<Provisioning>, StoreError> {
        self.take_due_wallets(now, until, limit)
    }

    fn settle_wallet(
        &mut self,
        id: WalletId,
        address: &ChainName,
        custody: Custody,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let requested = wallets::table.find(Key::of(id)).filter(wallets::status.eq("requested"));
        let values = (
            wallets::status.eq(WalletStatus::Ready.as_str()),
            wallets::address.eq(Some(address.as_str())),
            wallets::custody.eq(Some(custody.as_str())),
            wallets::due_at.eq(None::<At>),
            wallets::fault.eq(None::<String>),
            wallets::changed_at.eq(At(now)),
        );
        on!(self.conn, |conn| diesel::update(requested).set(values).execute(conn))
            .map(|rows| rows > 0)
            .map_err(broken("settle a wallet"))
    }

    fn note_wallet_fault(
        &mut self,
        id: WalletId,
        attempt: u32,
        is_refusal: bool,
        words: &str,
        due_at: Timestamp,
    ) -> Result<Option<u32>, StoreError> {
        self.note_fault_of_wallet(id, attempt, is_refusal, words, due_at)
    }

    fn fail_wallet(&mut self, id: WalletId, words: &str, now: Timestamp) -> Result<bool, StoreError> {
        let requested = wallets::table.find(Key::of(id)).filter(wallets::status.eq("requested"));
        let values = (
            wallets::status.eq(WalletStatus::Failed.as_str()),
            wallets::due_at.eq(None::<At>),
            wallets::fault.eq(Some(words)),
            wallets::changed_at.eq(At(now)),
        );
        on!(self.conn, |conn| diesel::update(requested).set(values).execute(conn))
            .map(|rows| rows > 0)
            .map_err(broken("fail a wallet"))
    }

    fn put_wallet_balances(
        &mut self,
        id: WalletId,
        balances: &[TokenBalance],
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let fail = broken("store what a wallet holds");
        // The update locks the wallet, so that of two reports the later one stays.
        let older = wallets::table
            .find(Key::of(id))
            .filter(wallets::status.eq("ready"))
            .filter(wallets::balances_at.is_null().or(wallets::balances_at.lt(At(at))));
        let is_newer = on!(self.conn, |conn| {
            diesel::update(older).set(wallets::balances_at.eq(Some(At(at)))).execute(conn)
        })
        .map_err(&fail)?
            > 0;
        if !is_newer {
            return Ok(false);
        }
        let own = wallet_balances::table.filter(wallet_balances::wallet_id.eq(Key::of(id)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map_err(&fail)?;
        let row = |(place, balance): (i32, &TokenBalance)| BalanceRow {
            wallet_id: Key::of(id),
            place,
            token_key: balance.token.key.clone(),
            symbol: balance.token.symbol.clone(),
            decimals: i32::from(balance.token.decimals),
            amount: balance.amount.clone(),
        };
        let rows: Vec<_> = (0..).zip(balances).map(row).collect();
        if !rows.is_empty() {
            on!(self.conn, |conn| diesel::insert_into(wallet_balances::table).values(&rows).execute(conn))
                .map_err(fail)?;
        }
        Ok(true)
    }

    fn erase_wallets(&mut self, user: UserId) -> Result<u64, StoreError> {
        let fail = broken("remove a fan's wallets");
        let own = wallets::table.filter(wallets::user_id.eq(Key::of(user)));
        // Locked first: a report that is being stored would add rows meanwhile.
        let ids: Vec<Key> = match &mut self.conn {
            crate::conn::Conn::Pg(conn) => own.select(wallets::id).for_update().load(*conn),
            crate::conn::Conn::Sqlite(conn) => own.select(wallets::id).load(*conn),
        }
        .map_err(&fail)?;
        let held = wallet_balances::table.filter(wallet_balances::wallet_id.eq_any(&ids));
        on!(self.conn, |conn| diesel::delete(held).execute(conn)).map_err(&fail)?;
        let own = wallets::table.filter(wallets::id.eq_any(&ids));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map(num::to_u64).map_err(fail)
    }
}

impl WalletRepair for DieselTx<'_> {
    fn wake_wallets(
        &mut self,
        ids: &[WalletId],
        latest: Timestamp,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let ids: Vec<Key> = ids.iter().map(|id| Key::of(*id)).collect();
        let asleep = wallets::table.filter(wallets::id.eq_any(ids)).filter(wallets::due_at.gt(At(latest)));
        on!(self.conn, |conn| diesel::update(asleep).set(wallets::due_at.eq(Some(At(now)))).execute(conn))
            .map(num::to_u64)
            .map_err(broken("wake wallets"))
    }
}
