//! Packs: what is for sale, purchases, and the results of opening copies.

mod batch;
mod catalogue;
mod marks;
mod opening;
mod read;
mod repair;
mod sale;
pub(crate) mod schema;

pub(crate) use opening::NewOwnedRow;

use crate::rows::{corrupt, digest, named};
use crate::schema::{owned_collectibles, pack_purchases, user_packs};
use crate::types::{At, Key};
use diesel::prelude::*;
use terrace_kernel::StoreError;
use terrace_kernel::{PricePart, num};
use terrace_packs::{
    CopyOrigin, Digest, Owned, OwnedSource, Purchase, PurchaseState, Quantity, UserPack, UserPackState,
};

/// Converts a non-negative number from a column.
pub(crate) fn count(table: &'static str, column: &'static str, number: i32) -> Result<u32, StoreError> {
    u32::try_from(number).map_err(|_| corrupt(table, column, &number))
}

fn price(
    table: &'static str,
    kind: &str,
    amount: i64,
    currency: Option<String>,
) -> Result<PricePart, StoreError> {
    let currency = currency.map(|code| named(table, "price_currency", &code)).transpose()?;
    PricePart::new(named(table, "price_kind", kind)?, amount, currency)
        .map_err(|error| corrupt(table, "price_amount", &error))
}

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = pack_purchases, treat_none_as_default_value = false)]
pub(crate) struct PurchaseRow {
    id: Key,
    user_id: Key,
    pack_id: Key,
    quantity: i32,
    price_kind: String,
    price_amount: i64,
    price_currency: Option<String>,
    state: String,
    checkout_url: Option<String>,
    created_at: At,
    expires_at: Option<At>,
    changed_at: At,
}

impl PurchaseRow {
    pub(crate) fn of(purchase: &Purchase) -> Self {
        Self {
            id: Key::of(purchase.id),
            user_id: Key::of(purchase.user),
            pack_id: Key::of(purchase.pack),
            quantity: num::to_i32(purchase.quantity.copies()),
            price_kind: purchase.price.kind().to_string(),
            price_amount: purchase.price.amount(),
            price_currency: purchase.price.currency().map(|currency| currency.to_string()),
            state: purchase.state.to_string(),
            checkout_url: purchase.checkout_url.clone(),
            created_at: At(purchase.created_at),
            expires_at: purchase.expires_at.map(At),
            changed_at: At(purchase.changed_at),
        }
    }

    pub(crate) fn into_purchase(self) -> Result<Purchase, StoreError> {
        const TABLE: &str = "pack_purchases";
        Ok(Purchase {
            id: self.id.id(),
            user: self.user_id.id(),
            pack: self.pack_id.id(),
            quantity: Quantity::new(i64::from(self.quantity))
                .map_err(|error| corrupt(TABLE, "quantity", &error))?,
            price: price(TABLE, &self.price_kind, self.price_amount, self.price_currency)?,
            state: named::<PurchaseState>(TABLE, "state", &self.state)?,
            checkout_url: self.checkout_url,
            created_at: self.created_at.0,
            expires_at: self.expires_at.map(|at| at.0),
            changed_at: self.changed_at.0,
        })
    }
}

/// A copy, without its seed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = user_packs)]
pub(crate) struct CopyRow {
    id: Key,
    user_id: Key,
    pack_id: Key,
    purchase_id: Option<Key>,
    grant_id: Option<Key>,
    nonce: i32,
    state: String,
    seed_hash: Vec<u8>,
    bought_at: At,
    opened_at: Option<At>,
}

impl CopyRow {
    pub(crate) fn into_copy(self) -> Result<UserPack, StoreError> {
        const TABLE: &str = "user_packs";
        Ok(UserPack {
            id: self.id.id(),
            user: self.user_id.id(),
            pack: self.pack_id.id(),
            origin: match (self.purchase_id, self.grant_id) {
                (Some(purchase), None) => CopyOrigin::Purchase(purchase.id()),
                (None, Some(grant)) => CopyOrigin::Grant(grant.id()),
                _ => return Err(corrupt(TABLE, "grant_id", &"neither or both of purchase and grant")),
            },
            nonce: count(TABLE, "nonce", self.nonce)?,
            state: named::<UserPackState>(TABLE, "state", &self.state)?,
            seed_hash: Digest::from_bytes(digest(TABLE, "seed_hash", self.seed_hash)?),
            bought_at: self.bought_at.0,
            opened_at: self.opened_at.map(|at| at.0),
        })
    }
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = owned_collectibles)]
pub(crate) struct OwnedRow {
    id: Key,
    user_id: Key,
    collectible_id: Key,
    serial: Option<i32>,
    acquired_at: At,
    copy_id: Option<Key>,
    grant_id: Option<Key>,
    slot: i32,
    token_state: Option<String>,
    token_network: Option<String>,
    token_contract: Option<String>,
    token_id: Option<String>,
    token_transaction: Option<String>,
}

impl OwnedRow {
    pub(crate) fn into_owned(self) -> Result<Owned, StoreError> {
        const TABLE: &str = "owned_collectibles";
        let token = match self.token_state.as_deref() {
            Some("minted") => {
                let names = [self.token_network, self.token_contract, self.token_id, self.token_transaction];
                crate::minting::token(TABLE, names)?
            }
            _ => None,
        };
        let number = count(TABLE, "slot", self.slot)?;
        let source = match (self.copy_id, self.grant_id) {
            (Some(copy), None) => OwnedSource::Pack { copy: copy.id(), slot: number },
            (None, Some(grant)) => OwnedSource::Grant { grant: grant.id(), number },
            _ => return Err(corrupt(TABLE, "grant_id", &"neither or both of copy and grant")),
        };
        Ok(Owned {
            id: self.id.id(),
            user: self.user_id.id(),
            collectible: self.collectible_id.id(),
            serial: self.serial.map(|serial| count(TABLE, "serial", serial)).transpose()?,
            acquired_at: self.acquired_at.0,
            source,
            token,
        })
    }
}
