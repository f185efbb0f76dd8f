//! Packs and collectibles: content and sale. The rules are in `terrace-packs`; this module combines them with the
//! ledger and the secret key.

mod content;
mod copies;
mod load_packs;
mod open_pack;
mod purchase_pack;
mod queries;
mod safe;

pub(crate) use load_packs::LoadPacks;
pub use open_pack::{OpenPack, OpenPackRefusal, OpenPackRequest, PackOpened};
pub use purchase_pack::{PackPurchased, PurchasePack, PurchasePackRefusal};
pub(crate) use queries::ReadPackBook;
pub use queries::{GetPurchase, ListCopies, ListOwned, ListPurchases, ReadSupply, Supply};

pub use content::{PackContent, PackContentError, PackSummary};
pub(crate) use copies::{new_copy, sealed_copies};
pub use safe::SeedCipher;

use crate::App;

use crate::store::into_infallible;

use std::collections::HashMap;
use std::sync::Arc;
use terrace_kernel::{Outcome, StoreError, UserId};
use terrace_packs::{Collectible, CollectibleId, Pack, PackId, Quantity};

/// All packs and collectibles.
#[derive(Debug, Clone, Default)]
pub struct PackBook {
    packs: Vec<Pack>,
    collectibles: HashMap<CollectibleId, Collectible>,
}

impl PackBook {
    pub(crate) fn new(packs: Vec<Pack>, collectibles: Vec<Collectible>) -> Self {
        let collectibles = collectibles.into_iter().map(|collectible| (collectible.id, collectible));
        Self { packs, collectibles: collectibles.collect() }
    }

    /// All packs in the order of the content, including retired ones.
    pub fn packs(&self) -> &[Pack] {
        &self.packs
    }

    /// The pack with this id.
    pub fn pack(&self, id: PackId) -> Option<&Pack> {
        self.packs.iter().find(|pack| pack.id == id)
    }

    /// The collectible with this id.
    pub fn collectible(&self, id: CollectibleId) -> Option<&Collectible> {
        self.collectibles.get(&id)
    }
}

/// The limited collectibles of these packs, without duplicates.
pub(crate) fn limited<'p>(packs: impl IntoIterator<Item = &'p Pack>) -> Vec<CollectibleId> {
    let contents = packs.into_iter().flat_map(|pack| &pack.contents);
    let mut ids: Vec<_> =
        contents.filter(|content| content.edition.is_some()).map(|content| content.collectible).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
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
    pub(crate) fn forget_pack_book(&self) {
        self.pack_books.invalidate_all();
    }

    /// Loads packs and collectibles by key; packs that the content no longer contains are retired.
    ///
    /// # Errors
    ///
    /// Refuses content that is invalid on its own or together with the existing content, and changes nothing.
    pub async fn load_packs(&self, content: PackContent) -> Outcome<PackSummary, PackContentError> {
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
    pub async fn open_pack(&self, user: UserId, wish: OpenPackRequest) -> Result<OpenPack, StoreError> {
        let (book, safe) = (self.pack_book().await?, self.seed_cipher()?);
        Ok(OpenPack { user, wish, book, safe, tells_minter: self.tells_minter() })
    }
}
