//! What the tasks of maintenance need from a store, beside the ports of the domains. One call is a few statements at most.
//! What is read without a lock is a suspicion: whoever writes has locked first and has looked again.

use std::collections::BTreeMap;
use terrace_kernel::{PostId, StoreError, TeamId, Timestamp, UserId};
use terrace_packs::{CollectibleId, PackId, PurchaseId, PurchaseStanding, PurchaseState, UserPackId};
use terrace_quests::{Period, QuestId, StepId, Visits};
use terrace_scoring::{FavoriteAsOf, SourceKey, TeamBoardId};
use uuid::Uuid;

/// How many rows of which kind.
pub type Counts = BTreeMap<&'static str, u64>;

/// Something that a fan completed and that has no record of points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// Who.
    pub user: UserId,
    /// The fact, as the record would name it.
    pub source: SourceKey,
    /// What it pays.
    pub points: i64,
    /// The title of the step or quest.
    pub title: String,
    /// The quest's team.
    pub team: Option<TeamId>,
    /// When it was completed.
    pub at: Timestamp,
}

/// A fan's visits whose last paid date has no record of points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedVisit {
    /// Who.
    pub user: UserId,
    /// Their visits.
    pub visits: Visits,
    /// Since when there is the account.
    pub registered_at: Timestamp,
}

/// A record of points of a season that names no board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnassignedAward {
    /// Whose.
    pub user: UserId,
    /// What it is for.
    pub source: SourceKey,
    /// When that happened.
    pub at: Timestamp,
}

/// Steps that a fan did in a run that there is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrphanProgress {
    /// Who.
    pub user: UserId,
    /// Of which quest.
    pub quest: QuestId,
    /// Which run of it.
    pub period: Period,
    /// The first of the steps.
    pub first_at: Timestamp,
}

/// Looks for facts without a record, and records without a board, of the accounts from `first` to `last`, both included.
pub trait FactsAudit {
    /// Steps that pay and quests that are completed without a record. Each comparison is one statement: what is
    /// committed beside it is not among it. Nor is what was completed up to the last record that was brought in for the
    /// fan from elsewhere (`import:PointsHistory/…`): such records do not say what they are for, and have paid it.
    fn unrecorded_between(&mut self, first: UserId, last: UserId) -> Result<Vec<Unrecorded>, StoreError>;

    /// The same of a few hundred accounts at most, and of nobody between them.
    fn unrecorded_of(&mut self, fans: &[UserId]) -> Result<Vec<Unrecorded>, StoreError>;

    /// Visits whose last paid date has no record.
    fn unrecorded_visits_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<UnrecordedVisit>, StoreError>;

    /// Records that have a season and no board.
    fn boardless_between(&mut self, first: UserId, last: UserId) -> Result<Vec<UnassignedAward>, StoreError>;

    /// What is known of the favourite teams that these fans had.
    fn favorites_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<(UserId, FavoriteAsOf)>, StoreError>;

    /// The teams of quests by the ids of the quests and of their steps, retired or not.
    fn teams_of_quests(&mut self) -> Result<Vec<(Uuid, Option<TeamId>)>, StoreError>;

    /// Steps without a run.
    fn runless_between(&mut self, first: UserId, last: UserId) -> Result<Vec<OrphanProgress>, StoreError>;

    /// The places of the steps that are not retired, by quest, in the order of a quest.
    fn step_places(&mut self) -> Result<Vec<(QuestId, StepId, u32)>, StoreError>;
}

/// Mends facts and records.
pub trait FactsRepair: FactsAudit {
    /// Has a record without a board name this one; `false` where it names one. The caller holds the account and brings the
    /// totals in line.
    fn name_board(
        &mut self,
        user: UserId,
        source: &SourceKey,
        board: TeamBoardId,
    ) -> Result<bool, StoreError>;

    /// Gives a step another place, unless it has another one than `from` by now; says whether it took.
    fn move_step(&mut self, step: StepId, from: u32, to: u32) -> Result<bool, StoreError>;
}

/// What carries counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Posts that are not deleted: their comments, and their reactions by kind.
    Posts,
    /// Fans: who follows them, and whom they follow.
    Users,
    /// Teams: who follows them.
    Teams,
}

/// Rows that were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookedAt {
    /// How many.
    pub rows: u64,
    /// The last of them.
    pub last: Option<Uuid>,
    /// Those that look wrong, in the order of their ids.
    pub suspects: Vec<Uuid>,
}

/// Deleted accounts that were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Those that have left something, and how much of it by table.
    pub accounts: Vec<(UserId, Counts)>,
    /// The last that was looked at.
    pub last: Option<UserId>,
}

/// Looks for rows that nothing should have left, and for counters that are off. Lists are in the order of ids and begin after
/// `after`.
pub trait RowsAudit {
    /// Looks at up to `limit` carriers: those of which any counter is another number than there are rows.
    fn miscounted(
        &mut self,
        carrier: Carrier,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<LookedAt, StoreError>;

    /// Up to `limit` fans who block somebody with whom there is a follow, in either direction.
    fn blockers_with_follows(&mut self, after: Option<UserId>, limit: u32)
    -> Result<Vec<UserId>, StoreError>;

    /// The follows between these fans and those whom they block: who follows whom.
    fn follows_beside_blocks(&mut self, blockers: &[UserId]) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Looks at up to `limit` accounts that are deleted, and says what each has left.
    fn left_by_deleted(&mut self, after: Option<UserId>, limit: u32) -> Result<LeftBehind, StoreError>;

    /// Up to `limit` posts that were deleted before `before` and are still there, each with what belongs to it, by table.
    fn deleted_posts(
        &mut self,
        before: Timestamp,
        after: Option<PostId>,
        limit: u32,
    ) -> Result<Vec<(PostId, Counts)>, StoreError>;

    /// Up to `limit` fans who have messages to the minter that wait, and no lane on which they would go out.
    fn fans_without_lane(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError>;
}

/// Removes and mends such rows.
pub trait RowsRepair: RowsAudit {
    /// Locks carriers in the order of their ids, counts again what they carry, and says how often which counter was off.
    fn recount(&mut self, carrier: Carrier, ids: &[Uuid]) -> Result<Counts, StoreError>;

    /// Removes up to `limit` notices of payments from before `before`, but those of payments of which something is open; says
    /// how many.
    fn sweep_notices(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Opens lanes for those of these fans who have messages that wait, where there are none; says how many. The caller
    /// holds the accounts, so that nobody adds a message meanwhile.
    fn open_missing_lanes(&mut self, fans: &[UserId], now: Timestamp) -> Result<u64, StoreError>;
}

/// Looks at purchases as a whole, with their copies, and with what the journal says of their payment.
pub trait PacksAudit {
    /// The ids of up to `limit` purchases after `after`.
    fn purchases_after(
        &mut self,
        after: Option<PurchaseId>,
        limit: u32,
    ) -> Result<Vec<PurchaseId>, StoreError>;

    /// How these purchases stand.
    fn standings_of(&mut self, purchases: &[PurchaseId]) -> Result<Vec<PurchaseStanding>, StoreError>;

    /// Of the counted packs, those whose stock is another one than their purchases and copies come to.
    fn misstocked(&mut self) -> Result<Vec<PackId>, StoreError>;

    /// Limited collectibles of which fewer are said to be minted than the highest serial that was given.
    fn underminted(&mut self) -> Result<Vec<CollectibleId>, StoreError>;
}

/// Mends purchases and copies. Whoever writes has locked the fan and the purchase.
pub trait PacksRepair: PacksAudit {
    /// Writes the state of a purchase over the one that stands, and forgets its checkout.
    fn put_purchase_state(
        &mut self,
        purchase: PurchaseId,
        state: PurchaseState,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Notes that a sealed copy was opened, then, and forgets its seed; `false` where it is not sealed.
    fn put_copy_opened(
        &mut self,
        copy: UserPackId,
        opened_at: Timestamp,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The serials of a limited collectible that were given and that nobody has, the lowest first.
    fn lost_serials(&mut self, collectible: CollectibleId) -> Result<Vec<u32>, StoreError>;

    /// Writes a collectible that an opened copy gave; `false` where the slot of the copy has one.
    fn insert_owned(&mut self, owned: &terrace_packs::Owned) -> Result<bool, StoreError>;

    /// Locks the stock of a counted pack and makes it what purchases and copies come to; says whether it was another.
    fn restock(&mut self, pack: PackId) -> Result<bool, StoreError>;

    /// Makes as many of a limited collectible minted as the highest serial says; says whether there were fewer.
    fn raise_minted(&mut self, collectible: CollectibleId) -> Result<bool, StoreError>;

    /// Has a payment that is open looked at now, which nobody was to look at; says whether it was so.
    fn wake_payment(&mut self, purchase: PurchaseId, at: Timestamp) -> Result<bool, StoreError>;
}

/// All that the tasks that mend may look at.
pub trait RepairRead: FactsAudit + RowsAudit + PacksAudit {}

impl<T: FactsAudit + RowsAudit + PacksAudit> RepairRead for T {}

/// All that they may do.
pub trait RepairWrite: FactsRepair + RowsRepair + PacksRepair {}

impl<T: FactsRepair + RowsRepair + PacksRepair> RepairWrite for T {}
