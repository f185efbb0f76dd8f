//! What the rules of this crate need from a store. One call is one round trip to the database; a call that writes
//! reports whether it took.

use crate::{
    ClientSeed, ClientSeedSource, Collectible, CollectibleId, Minted, Opening, Owned, Pack, PackId, PackKey,
    Purchase, PurchaseId, PurchaseState, Rarity, SealedSeed, Stock, StockChange, Transition, UserPack,
    UserPackId, UserPackState,
};
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, Timestamp, UserId};

/// Reads packs and collectibles, and how many there are.
pub trait CatalogueRead {
    /// Every pack, those that were taken out of the content included, in the order of the content.
    fn packs(&mut self) -> Result<Vec<Pack>, StoreError>;

    /// Every collectible that there ever was, in the order of the content.
    fn collectibles(&mut self) -> Result<Vec<Collectible>, StoreError>;

    /// How many copies of these were minted. Read, not locked: what is minted meanwhile is told by
    /// [`OpeningWrite::mint`].
    fn minted(&mut self, of: &[CollectibleId]) -> Result<Minted, StoreError>;

    /// What stands of these packs, in no order; those that are not counted ([`Pack::is_counted`]) are not among it.
    fn stocks(&mut self, of: &[PackId]) -> Result<Vec<(PackId, Stock)>, StoreError>;
}

/// Writes packs and collectibles.
pub trait CatalogueWrite: CatalogueRead {
    /// Writes collectibles, each over the one of the same id if there is one. None is ever removed; how many were minted
    /// stays.
    fn put_collectibles(&mut self, collectibles: &[Collectible]) -> Result<(), StoreError>;

    /// Writes packs with slots and contents, each over the one of the same id if there is one; their stock stays. One that
    /// begins to be counted is counted from what was bought of it so far.
    fn put_packs(&mut self, packs: &[Pack]) -> Result<(), StoreError>;

    /// Retires every pack whose key is not among these; says how many were not retired before.
    fn retire_packs(&mut self, keep: &[PackKey]) -> Result<u64, StoreError>;
}

/// Which of a fan's copies a list is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyList {
    /// All of them, the newest bought first.
    Bought,
    /// Those that were opened, the newest opened first.
    Opened,
}

/// Which of a fan's collectibles a list is of; what is `None` does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnedFilter {
    /// Of this rarity.
    pub rarity: Option<Rarity>,
    /// Of this team.
    pub team: Option<TeamId>,
}

/// What counts of what a fan bought before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bought {
    /// Copies of the pack in pending and completed purchases; refunded ones do not count.
    pub copies: u32,
    /// Purchases of any pack that wait for their payment.
    pub pending: u32,
}

/// Reads what fans bought, opened and own.
pub trait SaleRead {
    /// A fan's purchase.
    fn purchase(&mut self, user: UserId, id: PurchaseId) -> Result<Option<Purchase>, StoreError>;

    /// A fan's purchases, the newest first.
    fn purchases(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Purchase>, StoreError>;

    /// The copies that came with a purchase, by nonce.
    fn copies_of(&mut self, purchase: PurchaseId) -> Result<Vec<UserPack>, StoreError>;

    /// A fan's copies of packs; the keys are those of the list's order.
    fn copies(
        &mut self,
        user: UserId,
        list: CopyList,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<UserPack>, StoreError>;

    /// What came of an opened copy, with the collectibles by slot; those that were taken back stay in it.
    fn opening(&mut self, copy: UserPackId) -> Result<Option<Opening>, StoreError>;

    /// The fan's half of the draw of each of these copies that was opened, and who gave it; in no order.
    fn client_seeds(
        &mut self,
        of: &[UserPackId],
    ) -> Result<Vec<(UserPackId, ClientSeed, ClientSeedSource)>, StoreError>;

    /// A fan's collectibles, the newest first; those that were taken back are not among them.
    fn owned(
        &mut self,
        user: UserId,
        filter: OwnedFilter,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<Owned>, StoreError>;
}

/// Writes purchases and what they bring. Rows are locked in one order, so that no two transactions wait for each other: the
/// fan's account, the purchase, the copies, the limited editions by ascending ids, and last, because everybody who buys
/// the pack waits for it, the pack's stock. Whoever reads [`CatalogueRead::minted`] with the stock locked sees both as they
/// go together: an opening that minted has not committed before it counted itself in the stock.
pub trait SaleWrite: SaleRead {
    /// What counts of what a fan bought before. Hold the fan's account locked, or the count may be of yesterday.
    fn bought(&mut self, user: UserId, pack: PackId) -> Result<Bought, StoreError>;

    /// When the fan's purchases for money of counted packs were started, after `since`, that expired, or that were
    /// cancelled after their checkout was begun: up to `limit`, the newest first. Hold the fan's account locked.
    fn abandoned(&mut self, user: UserId, since: Timestamp, limit: u32)
    -> Result<Vec<Timestamp>, StoreError>;

    /// How many purchases of counted packs of the fan wait for their payment. Hold the fan's account locked.
    fn pending_holds(&mut self, user: UserId) -> Result<u32, StoreError>;

    /// How many copies of a pack wait for their payment by accounts that were registered after `since`. Hold the pack's
    /// stock locked.
    fn new_account_holds(&mut self, pack: PackId, since: Timestamp) -> Result<u32, StoreError>;

    /// What stands of a counted pack ([`Pack::is_counted`]), and lets nobody else sell or open a copy of it until the
    /// transaction ends; read [`CatalogueRead::minted`] after it.
    fn lock_stock(&mut self, pack: PackId) -> Result<Stock, StoreError>;

    /// Adds to a counted pack's stock, neither number of which may come below zero.
    fn count_stock(&mut self, pack: PackId, change: StockChange) -> Result<(), StoreError>;

    /// Writes a purchase that is new.
    fn insert_purchase(&mut self, purchase: &Purchase) -> Result<(), StoreError>;

    /// Writes copies that are new, with their seeds.
    fn insert_copies(&mut self, copies: &[(UserPack, SealedSeed)]) -> Result<(), StoreError>;

    /// A purchase, whoever's, locked until the transaction ends.
    fn lock_purchase(&mut self, id: PurchaseId) -> Result<Option<Purchase>, StoreError>;

    /// Changes the state of a purchase, which has no checkout any more; `false` where another one stands.
    fn move_purchase(
        &mut self,
        id: PurchaseId,
        change: Transition<PurchaseState>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;
}

/// Writes what comes of opening copies.
pub trait OpeningWrite: SaleRead {
    /// A fan's copy and its seed, locked until the transaction ends; the seed is there as long as the copy is sealed.
    fn lock_copy(
        &mut self,
        user: UserId,
        copy: UserPackId,
    ) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError>;

    /// The same of a fan's oldest sealed copy of a pack.
    fn lock_oldest_sealed(
        &mut self,
        user: UserId,
        pack: PackId,
    ) -> Result<Option<(UserPack, Option<SealedSeed>)>, StoreError>;

    /// Changes the state of a copy, and forgets its sealed seed; `false` where another state stands.
    fn move_copy(
        &mut self,
        copy: UserPackId,
        change: Transition<UserPackState>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Takes the next serial of a limited edition; `None` where none is left. Then the draw was made with what is not so
    /// any more: give back what was taken ([`OpeningWrite::unmint`]), and draw again with what is left.
    fn mint(&mut self, collectible: CollectibleId) -> Result<Option<u32>, StoreError>;

    /// Gives the serial back that this transaction took last of a limited edition: nobody else has seen it.
    fn unmint(&mut self, collectible: CollectibleId) -> Result<(), StoreError>;

    /// Writes what a copy gave: the proof, and the collectibles as the fan's own.
    fn insert_opening(&mut self, copy: UserPackId, opening: &Opening) -> Result<(), StoreError>;

    /// Takes the collectibles of a copy back; says how many. Their serials are not used again. Hold the fan's account: where
    /// a minter was told of them, it is told of this in the same transaction, in the order of what happens to the fan.
    fn revoke_owned(&mut self, copy: UserPackId, at: Timestamp) -> Result<u64, StoreError>;
}
