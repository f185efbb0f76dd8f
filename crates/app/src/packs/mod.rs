//! Packs and collectibles: content and sale. The rules are in `terrace-packs`; this module combines them with the
//! ledger and the secret key.
//!
//! # Content and draws
//!
//! `terrace_packs::plan` validates `crates/app/content/packs.toml` as a whole. A slot is drawn in two stages with small
//! integer weights: a rarity by the slot's weights, then a collectible by the pack's weights among the remaining ones
//! of that rarity. The draw, the published odds and the proof all use one `Table`, so they cannot differ.
//!
//! The weight of an exhausted edition goes to the other collectibles of its rarity; the odds of rarities never change.
//! If all collectibles of a rarity in a pack are limited editions, that rarity is a *closed pool*. A closed pool
//! belongs to one pack only, also counting retired packs, and copies are sold only while sealed copies × slots that may
//! draw from the pool ≤ editions left. A pack is *counted* if it has a limited supply or a closed pool; sales and
//! openings of other packs write no shared row. Once a pack was on sale, what it is drawn from never changes. A
//! collectible keeps its rarity and edition: a different one needs a new key.
//!
//! A state changes by a `Transition`, which only the methods of `PurchaseState` and `UserPackState` create, each from
//! the states in which it is legal. Ports take the transition: storage writes `to` only if `from` is stored, and
//! returns whether it did.
//!
//! # Selling
//!
//! `PurchasePack` transfers the price, writes the purchase and its copies, and locks the stock last. Under that lock it
//! reads the stock and the minted editions and applies `can_sell` again; a refusal rolls everything back. Each copy
//! gets a seed of 32 random bytes from the command's context. The database stores the seed encrypted with
//! `XChaCha20-Poly1305`, under a key derived from the service's secret, with the copy's id as associated data
//! (`SeedCipher`). It is removed when the copy is opened. See `payments` for purchases with money.
//!
//! Purchases for points and coins that wait at the same time are done by `purchase_batch` on PostgreSQL: it locks the
//! fans, balances and stocks of all of them, distributes the stock in the order of their arrival, and writes what is sold.
//!
//! # Opening
//!
//! `OpenPack` locks the fan's account and the copy, draws with the editions that are left, and takes serials in
//! ascending order of collectibles. If a concurrent opening took the last serial of an edition, it returns the serials
//! taken in this transaction and draws again; the proof contains the table of the last draw. Opening a copy again
//! returns the stored result. In `open_batch` the copies are drawn one after another, each from what the copies before
//! it left, and the serials of all are taken at once.
//!
//! # Stock
//!
//! Only counted packs have a row in `pack_stock`. If content later limits the supply of a pack, the copies sold so far
//! are counted.

mod content;
mod copies;
pub mod export;
mod load_packs;
mod open_batch;
mod open_pack;
mod purchase_batch;
mod purchase_pack;
mod queries;
mod seed_cipher;
mod settle;

pub use load_packs::LoadPacks;
pub use open_pack::{OpenPack, OpenPackRefusal, OpenPackRequest, PackOpened};
pub use purchase_pack::{PackPurchased, PurchasePack, PurchasePackRefusal};
pub(crate) use queries::ReadPackBook;
pub use queries::{
    GetPurchase, ListCopies, ListOwned, ListOwnedOf, ListPurchases, ReadCollected, ReadHeld, ReadSupply,
    Supply,
};

pub use content::{PackContent, PackSummary};
pub use copies::new_copy;
pub(crate) use copies::sealed_copies;
pub use seed_cipher::SeedCipher;
pub use settle::publish_purchase;
pub(crate) use settle::{cancel_purchase, complete_purchase, expire_purchase, refund_purchase};

use crate::App;
use crate::content::ContentFaults;

use crate::store::into_infallible;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use terrace_kernel::{Outcome, StoreError, Timestamp, UserId, distinct};
use terrace_packs::{Collectible, CollectibleId, Pack, PackId, Quantity};

/// All packs and collectibles.
#[derive(Debug, Clone, Default)]
pub struct PackBook {
    packs: Vec<Pack>,
    collectibles: Vec<Collectible>,
    /// The places of the collectibles.
    places: HashMap<CollectibleId, usize>,
}

impl PackBook {
    pub(crate) fn new(packs: Vec<Pack>, collectibles: Vec<Collectible>) -> Self {
        let places = collectibles.iter().enumerate().map(|(place, collectible)| (collectible.id, place));
        Self { places: places.collect(), packs, collectibles }
    }

    /// All packs in the order of the content, including retired ones.
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// The pack with this id.
    pub fn pack(&self, id: PackId) -> Option<&Pack> {
        self.packs.iter().find(|pack| pack.id == id)
    }

    /// The collectible with this key, and its number in the order of the content, from 1.
    pub fn numbered(&self, key: &str) -> Option<(u32, &Collectible)> {
        (1..).zip(&self.collectibles).find(|(_, collectible)| collectible.key.as_str() == key)
    }

    /// The collectible with this id.
    pub fn collectible(&self, id: CollectibleId) -> Option<&Collectible> {
        self.collectibles.get(*self.places.get(&id)?)
    }

    /// The collectibles that packs whose sale has begun may give, of all of these packs or of one, with their numbers in
    /// the order of the content, from 1. Of retired packs, only those that the reader owns.
    pub fn album(
        &self,
        pack: Option<PackId>,
        now: Timestamp,
        is_owned: impl Fn(CollectibleId) -> bool,
    ) -> impl Iterator<Item = (u32, &Collectible)> {
        let packs =
            self.packs.iter().filter(|known| pack.is_none_or(|id| known.id == id) && known.was_on_sale(now));
        let contents =
            packs.flat_map(|pack| pack.contents.iter().map(|content| (pack.is_retired, content.collectible)));
        let shown = contents.filter(|(is_retired, collectible)| !is_retired || is_owned(*collectible));
        let shown: HashSet<CollectibleId> = shown.map(|(_, collectible)| collectible).collect();
        (1..).zip(&self.collectibles).filter(move |(_, collectible)| shown.contains(&collectible.id))
    }
}

/// The limited collectibles of these packs, without duplicates.
pub(crate) fn limited<'p>(packs: impl IntoIterator<Item = &'p Pack>) -> Vec<CollectibleId> {
    let contents = packs.into_iter().flat_map(|pack| &pack.contents);
    distinct(contents.filter(|content| content.edition.is_some()).map(|content| content.collectible))
}

impl App {
    /// All packs and collectibles, at most one second old, and current if this process has changed them.
    pub async fn pack_book(&self) -> Result<Arc<PackBook>, StoreError> {
        if let Some(book) = self.pack_books.get(&()) {
            return Ok(book);
        }
        let book = Arc::new(into_infallible(self.query(ReadPackBook).await)?);
        self.pack_books.insert((), Arc::clone(&book));
        Ok(book)
    }

    /// Drops the cached packs, so that they are read again.
    pub fn forget_pack_book(&self) {
        self.pack_books.invalidate_all();
    }

    /// Loads packs and collectibles by key; packs that the content no longer contains are retired.
    ///
    /// # Errors
    ///
    /// Refuses content that is invalid on its own or together with the existing content, and changes nothing.
    pub async fn load_packs(&self, content: PackContent) -> Outcome<PackSummary, ContentFaults> {
        let loaded = self.execute(LoadPacks { content }).await;
        self.forget_pack_book();
        loaded
    }

    /// Builds the command by which a fan buys copies of a pack.
    ///
    /// # Errors
    ///
    /// If the packs cannot be read, or this process has no secret key.
    pub async fn purchase_pack(
        &self,
        user: UserId,
        pack: PackId,
        quantity: Quantity,
    ) -> Result<PurchasePack, StoreError> {
        let (book, safe) = (self.pack_book().await?, self.seed_cipher()?);
        let provider = self.payments.as_ref().map(|payments| payments.provider.name());
        let new_account_age = self.config.new_account_age;
        Ok(PurchasePack { user, pack, quantity, book, safe, provider, new_account_age })
    }

    /// Builds the command by which a fan opens a copy of a pack.
    ///
    /// # Errors
    ///
    /// If the packs cannot be read, or this process has no secret key.
    pub async fn open_pack(&self, user: UserId, request: OpenPackRequest) -> Result<OpenPack, StoreError> {
        let (book, safe) = (self.pack_book().await?, self.seed_cipher()?);
        Ok(OpenPack { user, request, book, safe, has_minter: self.has_minter() })
    }
}
