//! The store interface that the rules of this crate need. One call is one round trip to the database; a call that
//! writes conditionally returns whether it wrote.

use crate::{
    ClientSeed, ClientSeedSource, Collectible, CollectibleId, Minted, Opening, Owned, Pack, PackId, PackKey,
    Purchase, PurchaseId, PurchaseState, Rarity, SealedSeed, Stock, StockChange, Transition, UserPack,
    UserPackId, UserPackState,
};
use std::collections::HashMap;
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// Reads packs, collectibles and their stock.
pub trait CatalogueRead {
    /// All packs, including retired ones, in the order of the content.
    fn packs(&mut self) -> Result<Vec<Pack>, StoreError>;

    /// All collectibles that ever existed, in the order of the content.
    fn collectibles(&mut self) -> Result<Vec<Collectible>, StoreError>;

    /// How many copies of these collectibles were minted. The read takes no lock; [`OpeningWrite::mint`] detects copies
    /// minted meanwhile.
    fn minted(&mut self, of: &[CollectibleId]) -> Result<Minted, StoreError>;

    /// The stock of these packs, in no order. Packs that are not counted ([`Pack::is_counted`]) are left out.
    fn stocks(&mut self, of: &[PackId]) -> Result<Vec<(PackId, Stock)>, StoreError>;
}

/// Writes packs and collectibles.
pub trait CatalogueWrite: CatalogueRead {
    /// Inserts or overwrites collectibles by id. No collectible is ever removed, and minted counts do not change.
    fn put_collectibles(&mut self, collectibles: &[Collectible]) -> Result<(), StoreError>;

    /// Inserts or overwrites packs with slots and contents, by id; their stock does not change. The stock of a pack
    /// that becomes counted is initialised from its earlier purchases.
    fn put_packs(&mut self, packs: &[Pack]) -> Result<(), StoreError>;

    /// Retires every pack whose key is not in `keep`; returns how many were not retired before.
    fn retire_packs(&mut self, keep: &[PackKey]) -> Result<u64, StoreError>;
}

/// Selects and orders a list of a fan's copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyList {
    /// All copies, or those in one state, most recently bought first.
    Bought(Option<UserPackState>),
    /// Opened copies, most recently opened first.
    Opened,
}

/// Filter for a list of a fan's collectibles; `None` matches everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnedFilter {
    /// Only this rarity.
    pub rarity: Option<Rarity>,
    /// Only this team.
    pub team: Option<TeamId>,
}

/// Earlier purchases of a fan that count towards limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bought {
    /// Copies of the pack in pending and completed purchases; refunded ones do not count.
    pub copies: u32,
    /// Purchases of any pack, and orders, that are waiting for payment.
    pub pending: u32,
}

/// What a fan has of a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Copies, sealed or opened, without revoked ones.
    pub owned: u32,
    /// Copies that count towards the limit of a fan: those of pending and completed purchases.
    pub bought: u32,
}

/// What a fan has of a collectible, without revoked copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Collected {
    /// Id of a collectible of which the fan has a copy.
    pub collectible: CollectibleId,
    /// How many copies, 1 or more.
    pub copies: u32,
    /// When the fan received the first of them.
    pub first_at: Timestamp,
}

/// Reads purchases, copies and collectibles of fans.
pub trait SaleRead {
    /// What a fan has of each pack; packs of which the fan has nothing are left out.
    fn held(&mut self, user: UserId) -> Result<Vec<(PackId, Held)>, StoreError>;

    /// What a fan has of each collectible; collectibles that the fan does not own are left out.
    fn collected(&mut self, user: UserId) -> Result<Vec<Collected>, StoreError>;

    /// A fan's purchase.
    fn purchase(&mut self, user: UserId, id: PurchaseId) -> Result<Option<Purchase>, StoreError>;

    /// A fan's purchases, the newest first.
    fn purchases(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Purchase>, StoreError>;

    /// The copies of a purchase, ordered by nonce.
    fn copies_of(&mut self, purchase: PurchaseId) -> Result<Vec<UserPack>, StoreError>;

    /// A page of a fan's copies of packs; the cursor keys match the order of the list.
    fn copies(
        &mut self,
        user: UserId,
        list: CopyList,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<UserPack>, StoreError>;

    /// The proof of an opened copy and its collectibles by slot, including revoked ones.
    fn opening(&mut self, copy: UserPackId) -> Result<Option<Opening>, StoreError>;

    /// The client seed of each of these copies that was opened, and its source; in no order.
    fn client_seeds(
        &mut self,
        of: &[UserPackId],
    ) -> Result<Vec<(UserPackId, ClientSeed, ClientSeedSource)>, StoreError>;

    /// A page of a fan's collectibles, newest first, without revoked ones.
    fn owned(
        &mut self,
        user: UserId,
        filter: OwnedFilter,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Owned>, StoreError>;
}

/// Writes purchases and copies. To prevent deadlocks, rows are locked in one order: the fan's account, the purchase,
/// the copies, the limited editions by ascending id, and the pack's stock last, because every buyer of the pack waits
/// for it. [`CatalogueRead::minted`], read while the stock is locked, is consistent with the stock: an opening that
/// minted has updated the stock before it commits.
pub trait SaleWrite: SaleRead {
    /// Earlier purchases of a fan that count towards limits. The caller must hold the lock on the fan's account;
    /// otherwise the counts may be stale.
    fn bought(&mut self, user: UserId, pack: PackId) -> Result<Bought, StoreError>;

    /// Start times, after `since`, of the fan's purchases for money of counted packs that expired, or that were
    /// cancelled after their checkout had begun: up to `limit`, newest first. The caller must hold the lock on the
    /// fan's account.
    fn abandoned(&mut self, user: UserId, since: Timestamp, limit: u32)
    -> Result<Vec<Timestamp>, StoreError>;

    /// How many purchases of counted packs of the fan are waiting for payment. The caller must hold the lock on the
    /// fan's account.
    fn pending_holds(&mut self, user: UserId) -> Result<u32, StoreError>;

    /// How many copies of a pack are waiting for payment by accounts that were registered after `since`. The caller
    /// must hold the lock on the pack's stock.
    fn new_account_holds(&mut self, pack: PackId, since: Timestamp) -> Result<u32, StoreError>;

    /// Returns the stock of a counted pack ([`Pack::is_counted`]) and locks it until the transaction ends: no other
    /// transaction can sell or open a copy meanwhile. Read [`CatalogueRead::minted`] after this call.
    fn lock_stock(&mut self, pack: PackId) -> Result<Stock, StoreError>;

    /// Adds to the stock of a counted pack. Neither number may become negative.
    fn count_stock(&mut self, pack: PackId, change: StockChange) -> Result<(), StoreError>;

    /// Inserts a purchase.
    fn insert_purchase(&mut self, purchase: &Purchase) -> Result<(), StoreError>;

    /// Inserts copies with their sealed seeds.
    fn insert_copies(&mut self, copies: &[(UserPack, SealedSeed)]) -> Result<(), StoreError>;

    /// A purchase of any fan, locked until the transaction ends.
    fn lock_purchase(&mut self, id: PurchaseId) -> Result<Option<Purchase>, StoreError>;

    /// Changes the state of a purchase and removes its checkout URL; `false` if the stored state differs from `from`.
    fn move_purchase(
        &mut self,
        id: PurchaseId,
        change: Transition<PurchaseState>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Writes the results of opening copies.
pub trait OpeningWrite: SaleRead {
    /// A fan's copy and its seed, locked until the transaction ends. The seed is present while the copy is sealed.
    fn lock_copy(
        &mut self,
        user: UserId,
        copy: UserPackId,
    ) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError>;

    /// The same for a fan's oldest sealed copy of a pack.
    fn lock_oldest_sealed(
        &mut self,
        user: UserId,
        pack: PackId,
    ) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError>;

    /// Changes the state of a copy and deletes its sealed seed; `false` if the stored state differs from `from`.
    fn move_copy(
        &mut self,
        copy: UserPackId,
        change: Transition<UserPackState>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Takes the next serial of a limited edition; `None` if none is left. The draw was then made from stale counts:
    /// return what was taken ([`OpeningWrite::unmint`]) and draw again.
    fn mint(&mut self, collectible: CollectibleId) -> Result<Option<u32>, StoreError>;

    /// Returns the serial that this transaction last took of a limited edition; no other transaction has seen it.
    fn unmint(&mut self, collectible: CollectibleId) -> Result<(), StoreError>;

    /// Inserts the result of opening a copy: the proof, and the collectibles that the fan now owns.
    fn insert_opening(&mut self, copy: UserPackId, opening: &Opening) -> Result<(), StoreError>;

    /// Revokes the collectibles of a copy and returns how many. Their serials are not reused. The caller must hold the
    /// lock on the fan's account: if a minter was notified of the collectibles, the revocation is queued for it in the
    /// same transaction, in the order of the fan's events.
    fn revoke_owned(&mut self, copy: UserPackId, at: Timestamp) -> Result<u64, StoreError>;
}

/// A copy to open: the fan, the pack, and the copy, or `None` for the oldest sealed one.
pub type CopyWanted = (UserId, PackId, Option<UserPackId>);

/// Purchases and openings of several fans at once. No list names a fan, a pack, a copy or a collectible twice. On
/// PostgreSQL each method is one statement. Rows are locked in the order of [`SaleWrite`].
pub trait PackBatch {
    /// How many copies of the pack each of these fans has bought, as in [`Bought::copies`]. The fans must be locked.
    fn copies_bought(&mut self, of: &[(UserId, PackId)]) -> Result<HashMap<UserId, u32>, StoreError>;

    /// [`SaleWrite::lock_stock`] for several packs, in the order of their ids. Packs that are not counted are missing.
    fn lock_stocks(&mut self, packs: &[PackId]) -> Result<HashMap<PackId, Stock>, StoreError>;

    /// [`SaleWrite::count_stock`] for several packs, in the order of their ids.
    fn count_stocks(&mut self, changes: &[(PackId, StockChange)]) -> Result<(), StoreError>;

    /// [`SaleWrite::insert_purchase`] for several purchases.
    fn insert_purchases(&mut self, purchases: &[Purchase]) -> Result<(), StoreError>;

    /// [`OpeningWrite::lock_copy`] and [`OpeningWrite::lock_oldest_sealed`] for several fans, who must be locked: no other
    /// transaction changes their copies. Fans who have no such copy are missing.
    fn copies_to_open(
        &mut self,
        wanted: &[CopyWanted],
    ) -> Result<HashMap<UserId, (UserPack, Option<SealedSeed>)>, StoreError>;

    /// Takes so many serials of each of these limited editions, in the order of their ids. Returns the last serial taken
    /// of each; the others before it are taken too. An edition is missing if fewer are left; none of it is taken then.
    fn mint_all(
        &mut self,
        wanted: &[(CollectibleId, u32)],
    ) -> Result<HashMap<CollectibleId, u32>, StoreError>;

    /// [`OpeningWrite::unmint`] for several editions, so many of each.
    fn unmint_all(&mut self, taken: &[(CollectibleId, u32)]) -> Result<(), StoreError>;

    /// [`OpeningWrite::move_copy`] from sealed to opened, and [`OpeningWrite::insert_opening`], for several copies, each
    /// with the time of its opening. Returns how many were sealed; nothing may be committed if it is fewer than all.
    fn open_copies(&mut self, opened: &[(UserPackId, Timestamp, &Opening)]) -> Result<usize, StoreError>;
}
