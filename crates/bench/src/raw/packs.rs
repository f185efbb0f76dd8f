//! The statements that buying and opening a pack execute on SQLite, in the order of the service: the request's key, the
//! fan, the transfer, the purchase and its copy; then the copy, the tables that it is drawn from and its collectibles.

use super::awards::{ledger_accounts, ledger_transfers};
use super::steps::read_fan;
use super::{connect, in_groups, now};
use crate::rows::boards;
use crate::rows::packs::{Example, Ids, Offer, reason};
use anyhow::{Context, Result, ensure};
use diesel::prelude::*;
use diesel::query_dsl::methods;
use std::path::Path;
use std::time::Duration;
use uuid::Uuid;

diesel::table! {
    idempotency_keys (scope, idempotency_key) {
        scope -> Text,
        idempotency_key -> Text,
        account_id -> Nullable<Binary>,
        fingerprint -> Binary,
        status -> Nullable<Integer>,
        location -> Nullable<Text>,
        body -> Nullable<Text>,
        created_at -> BigInt,
    }
}

diesel::table! {
    pack_stock (pack_id) {
        pack_id -> Binary,
        sold -> Integer,
        sealed -> Integer,
    }
}

diesel::table! {
    pack_purchases (id) {
        id -> Binary,
        user_id -> Binary,
        pack_id -> Binary,
        quantity -> Integer,
        price_kind -> Text,
        price_amount -> BigInt,
        price_currency -> Nullable<Text>,
        state -> Text,
        checkout_url -> Nullable<Text>,
        created_at -> BigInt,
        expires_at -> Nullable<BigInt>,
        changed_at -> BigInt,
    }
}

diesel::table! {
    user_packs (id) {
        id -> Binary,
        user_id -> Binary,
        pack_id -> Binary,
        purchase_id -> Binary,
        nonce -> Integer,
        state -> Text,
        seed_hash -> Binary,
        sealed_seed -> Nullable<Binary>,
        bought_at -> BigInt,
        opened_at -> Nullable<BigInt>,
        changed_at -> BigInt,
    }
}

diesel::table! {
    pack_openings (copy_id) {
        copy_id -> Binary,
        algorithm -> Text,
        server_seed -> Binary,
        client_seed -> Text,
        client_seed_source -> Text,
        tables -> Text,
        table_hash -> Binary,
    }
}

diesel::table! {
    owned_collectibles (id) {
        id -> Binary,
        user_id -> Binary,
        collectible_id -> Binary,
        serial -> Nullable<Integer>,
        acquired_at -> BigInt,
        copy_id -> Binary,
        slot -> Integer,
        revoked_at -> Nullable<BigInt>,
    }
}

#[derive(Insertable)]
#[diesel(table_name = owned_collectibles, treat_none_as_default_value = false)]
struct NewOwned {
    id: Vec<u8>,
    user_id: Vec<u8>,
    collectible_id: Vec<u8>,
    serial: Option<i32>,
    acquired_at: i64,
    copy_id: Vec<u8>,
    slot: i32,
    revoked_at: Option<i64>,
}

/// A copy and its seed.
type CopyRow = (Vec<u8>, Vec<u8>, Vec<u8>, Vec<u8>, i32, String, Vec<u8>, i64, Option<i64>, Option<Vec<u8>>);

const PURCHASE: &str = "POST /api/packs/{id}/purchase";
const OPENING: &str = "POST /api/packs/{id}/open";
/// How long a key is stored, in microseconds.
const KEPT: i64 = 24 * 3_600 * 1_000_000;
/// A hash or seed, and an encrypted seed of a sealed copy.
const DIGEST: [u8; 32] = [0xa7; 32];
const SEALED: [u8; 73] = [0xa7; 73];

/// The loop on one database. Numbers continue from run to run, so that no purchase is repeated.
pub(crate) struct PackLoop {
    conn: SqliteConnection,
    next: u64,
    fans: u64,
    example: Example,
}

impl PackLoop {
    /// Opens the database with the pragmas of the service's writer; `fans` is the number of bulk fans, who can pay.
    /// Numbers start at `first`.
    pub(crate) fn open(file: &Path, fans: u64, first: u64, example: Example) -> Result<Self> {
        Ok(Self { conn: connect(file)?, next: 2 * first, fans, example })
    }

    /// Commands per second over `duration`, after `warm_up`, with `group` commands per commit on average: purchases and
    /// openings of the bought copies alternate.
    pub(crate) fn run(&mut self, group: f64, warm_up: Duration, duration: Duration) -> Result<f64> {
        let Self { conn, next, fans, example } = self;
        in_groups(conn, group, warm_up, duration, |conn| {
            let number = *next / 2;
            let user = Uuid::from_u128(boards::fan(number, *fans));
            let command = Step { user, ids: Ids::of(number), at: now()?, example };
            let done = if next.is_multiple_of(2) { command.buy(conn) } else { command.open(conn) };
            *next += 1;
            done
        })
    }
}

/// One command.
struct Step<'a> {
    user: Uuid,
    ids: Ids,
    at: i64,
    example: &'a Example,
}

impl Step<'_> {
    fn buy(&self, conn: &mut SqliteConnection) -> Result<()> {
        let (user, at, offer) = (self.user.as_bytes().as_slice(), self.at, self.example.offer);
        let (id, pack) = (self.ids.purchase, offer.id());
        let (id, pack) = (id.as_bytes().as_slice(), pack.as_bytes().as_slice());
        let key = self.claim(conn, PURCHASE)?;
        read_fan(conn, user)?;
        self.pay(conn)?;
        diesel::insert_into(pack_purchases::table)
            .values((
                pack_purchases::id.eq(id),
                pack_purchases::user_id.eq(user),
                pack_purchases::pack_id.eq(pack),
                pack_purchases::quantity.eq(1),
                pack_purchases::price_kind.eq("points"),
                pack_purchases::price_amount.eq(i64::try_from(offer.price())?),
                pack_purchases::price_currency.eq(None::<&str>),
                pack_purchases::state.eq("completed"),
                pack_purchases::checkout_url.eq(None::<&str>),
                pack_purchases::created_at.eq(at),
                pack_purchases::expires_at.eq(None::<i64>),
                pack_purchases::changed_at.eq(at),
            ))
            .execute(conn)?;
        diesel::insert_into(user_packs::table)
            .values((
                user_packs::id.eq(self.ids.copy.as_bytes().as_slice()),
                user_packs::user_id.eq(user),
                user_packs::pack_id.eq(pack),
                user_packs::purchase_id.eq(id),
                user_packs::nonce.eq(1),
                user_packs::state.eq("sealed"),
                user_packs::seed_hash.eq(DIGEST.as_slice()),
                user_packs::sealed_seed.eq(Some(SEALED.as_slice())),
                user_packs::bought_at.eq(at),
                user_packs::changed_at.eq(at),
            ))
            .execute(conn)?;
        if offer == Offer::Counted {
            let _stands: (i32, i32) =
                pack_stock::table.find(pack).select((pack_stock::sold, pack_stock::sealed)).first(conn)?;
            self.count(conn, 1, 1)?;
        }
        self.answer(conn, PURCHASE, &key, 201, &self.example.purchase)
    }

    fn pay(&self, conn: &mut SqliteConnection) -> Result<()> {
        let user = self.user.as_bytes().as_slice();
        let price = i64::try_from(self.example.offer.price())?;
        let source = format!("purchase:{}", self.ids.purchase.simple());
        let paid = diesel::select(diesel::dsl::exists(ledger_transfers::table.find(&source)));
        ensure!(!paid.get_result::<bool>(conn)?, "it was paid before");
        let own = ledger_accounts::table.find((user, "points"));
        let has: i64 = own.select(ledger_accounts::balance).first(conn)?;
        ensure!(has >= price, "the fan has not enough");
        let balance: i64 = diesel::update(own)
            .set(ledger_accounts::balance.eq(ledger_accounts::balance - price))
            .returning(ledger_accounts::balance)
            .get_result(conn)?;
        diesel::insert_into(ledger_transfers::table)
            .values((
                ledger_transfers::source_key.eq(&source),
                ledger_transfers::id.eq(self.ids.transfer.as_bytes().as_slice()),
                ledger_transfers::unit.eq("points"),
                ledger_transfers::amount.eq(price),
                ledger_transfers::debit_user.eq(Some(user)),
                ledger_transfers::debit_house.eq(None::<&str>),
                ledger_transfers::debit_balance.eq(Some(balance)),
                ledger_transfers::credit_user.eq(None::<&[u8]>),
                ledger_transfers::credit_house.eq(Some("revenue")),
                ledger_transfers::credit_balance.eq(None::<i64>),
                ledger_transfers::reason.eq(reason()),
                ledger_transfers::created_at.eq(self.at),
            ))
            .execute(conn)?;
        Ok(())
    }

    fn open(&self, conn: &mut SqliteConnection) -> Result<()> {
        let (user, at, offer) = (self.user.as_bytes().as_slice(), self.at, self.example.offer);
        let pack = offer.id();
        let key = self.claim(conn, OPENING)?;
        read_fan(conn, user)?;
        let sealed = user_packs::table
            .filter(user_packs::user_id.eq(user))
            .filter(user_packs::pack_id.eq(pack.as_bytes().as_slice()))
            .filter(user_packs::state.eq("sealed"))
            .order((user_packs::bought_at, user_packs::nonce, user_packs::id));
        let copy: CopyRow = sealed
            .limit(1)
            .select((
                user_packs::id,
                user_packs::user_id,
                user_packs::pack_id,
                user_packs::purchase_id,
                user_packs::nonce,
                user_packs::state,
                user_packs::seed_hash,
                user_packs::bought_at,
                user_packs::opened_at,
                user_packs::sealed_seed,
            ))
            .first(conn)
            .context("the fan has no sealed copy")?;
        let copy = copy.0.as_slice();
        let standing = user_packs::table.find(copy).filter(user_packs::state.eq("sealed"));
        let opened = diesel::update(standing)
            .set((
                user_packs::state.eq("opened"),
                user_packs::sealed_seed.eq(None::<&[u8]>),
                user_packs::changed_at.eq(at),
                user_packs::opened_at.eq(Some(at)),
            ))
            .execute(conn)?;
        ensure!(opened == 1, "the copy was opened before");
        diesel::insert_into(pack_openings::table)
            .values((
                pack_openings::copy_id.eq(copy),
                pack_openings::algorithm.eq("hmac-sha256-v1"),
                pack_openings::server_seed.eq(DIGEST.as_slice()),
                pack_openings::client_seed.eq("goal"),
                pack_openings::client_seed_source.eq("client"),
                pack_openings::tables.eq(&self.example.tables),
                pack_openings::table_hash.eq(DIGEST.as_slice()),
            ))
            .execute(conn)?;
        let bytes = |id: &Uuid| id.as_bytes().to_vec();
        let ([first, second, third], [one, two, three]) = (&self.ids.owned, &self.example.collectibles);
        let rows = [(first, one, 0), (second, two, 1), (third, three, 2)];
        let rows = rows.map(|(id, collectible, slot)| NewOwned {
            id: bytes(id),
            user_id: user.to_vec(),
            collectible_id: bytes(collectible),
            serial: None,
            acquired_at: at,
            copy_id: copy.to_vec(),
            slot,
            revoked_at: None,
        });
        diesel::insert_into(owned_collectibles::table).values(&rows).execute(conn)?;
        if offer == Offer::Counted {
            self.count(conn, 0, -1)?;
        }
        self.answer(conn, OPENING, &key, 200, &self.example.opening)
    }

    fn count(&self, conn: &mut SqliteConnection, sold: i32, sealed: i32) -> Result<()> {
        let pack = self.example.offer.id();
        diesel::update(pack_stock::table.find(pack.as_bytes().as_slice()))
            .set((
                pack_stock::sold.eq(pack_stock::sold + sold),
                pack_stock::sealed.eq(pack_stock::sealed + sealed),
            ))
            .execute(conn)?;
        Ok(())
    }

    fn scope(&self, route: &str) -> String {
        format!("{} {route}", self.user)
    }

    fn claim(&self, conn: &mut SqliteConnection, route: &str) -> Result<String> {
        let key = self.ids.copy.to_string();
        let claim = (
            idempotency_keys::fingerprint.eq(DIGEST.as_slice()),
            idempotency_keys::created_at.eq(self.at),
            idempotency_keys::status.eq(None::<i32>),
            idempotency_keys::location.eq(None::<&str>),
            idempotency_keys::body.eq(None::<&str>),
            idempotency_keys::account_id.eq(None::<&[u8]>),
        );
        let insert = diesel::insert_into(idempotency_keys::table)
            .values((
                idempotency_keys::scope.eq(self.scope(route)),
                idempotency_keys::idempotency_key.eq(&key),
                claim,
            ))
            .on_conflict((idempotency_keys::scope, idempotency_keys::idempotency_key))
            .do_update()
            .set(claim);
        let claimed = methods::FilterDsl::filter(insert, idempotency_keys::created_at.le(self.at - KEPT))
            .execute(conn)?;
        ensure!(claimed == 1, "the key was used before");
        Ok(key)
    }

    fn answer(
        &self,
        conn: &mut SqliteConnection,
        route: &str,
        key: &str,
        status: i32,
        body: &str,
    ) -> Result<()> {
        let location = (status == 201).then(|| format!("/api/user/purchases/{}", self.ids.purchase));
        diesel::update(idempotency_keys::table.find((self.scope(route), key)))
            .set((
                idempotency_keys::status.eq(status),
                idempotency_keys::location.eq(location),
                idempotency_keys::body.eq(body),
                idempotency_keys::account_id.eq(Some(self.user.as_bytes().as_slice())),
            ))
            .execute(conn)?;
        Ok(())
    }
}
