//! Store operations of the maintenance tasks, in addition to the ports of the domains. Each call executes a few
//! statements at most. Rows that are read without a lock are only suspects: a write must lock them first and check
//! them again.

use crate::grants::GivenGrant;
use std::collections::BTreeMap;
use terrace_kernel::{GrantId, PostId, StoreError, TeamId, Timestamp, UserId};
use terrace_packs::{CollectibleId, PackId, PurchaseId, PurchaseStanding, PurchaseState, UserPackId};
use terrace_quests::{Period, QuestId, StepId, Visits};
use terrace_rewards::{ClaimId, Cost, RewardId};
use terrace_scoring::{FavoriteAsOf, SourceKey, TeamBoardId};
use terrace_shop::{OrderId, VariantId};
use uuid::Uuid;

/// Number of rows by kind.
pub type Counts = BTreeMap<&'static str, u64>;

/// A completed step or quest that has no record of points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// Fan who completed it.
    pub user: UserId,
    /// Source key that the record would carry.
    pub source: SourceKey,
    /// Points that it pays.
    pub points: i64,
    /// Title of the step or quest.
    pub title: String,
    /// Team of the quest, if any.
    pub team: Option<TeamId>,
    /// Time of completion.
    pub at: Timestamp,
}

/// A fan's visits whose last paid date has no record of points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnrecordedVisit {
    /// Fan who visited.
    pub user: UserId,
    /// The stored visits.
    pub visits: Visits,
    /// Time at which the account was created.
    pub registered_at: Timestamp,
}

/// A record of points that has a season but names no board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnassignedAward {
    /// Fan who earned the points.
    pub user: UserId,
    /// Source of the points.
    pub source: SourceKey,
    /// Time of the award.
    pub at: Timestamp,
}

/// Completed steps of a fan that belong to a run that does not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrphanProgress {
    /// Fan who completed the steps.
    pub user: UserId,
    /// Quest that the steps belong to.
    pub quest: QuestId,
    /// Period of the missing run.
    pub period: Period,
    /// Completion time of the first of these steps.
    pub first_at: Timestamp,
}

/// Finds facts without a record, and records without a board, for the accounts from `first` to `last` inclusive.
pub trait FactsAudit {
    /// Returns steps that pay and completed quests that have no record. Each comparison is one statement; rows
    /// committed while it runs are not included. Also excluded is everything that was completed before or at the time
    /// of the fan's last imported record (`import:PointsHistory/…`): imported records do not name their source, and
    /// may already have paid for it.
    fn unrecorded_between(&mut self, first: UserId, last: UserId) -> Result<Vec<Unrecorded>, StoreError>;

    /// Same as [`FactsAudit::unrecorded_between`], for exactly these accounts: a few hundred at most.
    fn unrecorded_of(&mut self, fans: &[UserId]) -> Result<Vec<Unrecorded>, StoreError>;

    /// Returns visits whose last paid date has no record.
    fn unrecorded_visits_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<UnrecordedVisit>, StoreError>;

    /// Returns records that have a season and no board.
    fn unassigned_awards_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<UnassignedAward>, StoreError>;

    /// Returns what is known about the past favourite teams of these fans.
    fn favorites_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<(UserId, FavoriteAsOf)>, StoreError>;

    /// Returns the team of each quest by the ids of the quest and of its steps, retired ones included.
    fn teams_of_quests(&mut self) -> Result<Vec<(Uuid, Option<TeamId>)>, StoreError>;

    /// Returns steps without a run.
    fn orphan_progress_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<OrphanProgress>, StoreError>;

    /// Returns the positions of all steps that are not retired, by quest, in quest order.
    fn step_places(&mut self) -> Result<Vec<(QuestId, StepId, u32)>, StoreError>;
}

/// Repairs facts and records.
pub trait FactsRepair: FactsAudit {
    /// Sets the board of a record that has none; returns `false` if the record already names a board. The caller
    /// holds the lock on the account and reconciles the totals.
    fn name_board(
        &mut self,
        user: UserId,
        source: &SourceKey,
        board: TeamBoardId,
    ) -> Result<bool, StoreError>;

    /// Moves a step from position `from` to position `to`; returns `false` and changes nothing if its position is no
    /// longer `from`.
    fn move_step(&mut self, step: StepId, from: u32, to: u32) -> Result<bool, StoreError>;
}

/// Kind of row that carries counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carrier {
    /// Posts that are not deleted: number of comments, and reactions by kind.
    Posts,
    /// Comments of posts that are not deleted: number of likes.
    Comments,
    /// Fans: number of followers, and of fans they follow.
    Users,
    /// Teams: number of followers.
    Teams,
    /// Inboxes of fans: number of notifications, and of unread ones. The ids are those of the fans.
    Inboxes,
    /// Notifications: number of fans who caused them.
    Notifications,
}

/// A page of checked rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LookedAt {
    /// Number of rows checked.
    pub rows: u64,
    /// Last row checked; `None` if there was none.
    pub last: Option<Uuid>,
    /// Rows that appear to be wrong, in ascending order of id.
    pub suspects: Vec<Uuid>,
}

/// A page of checked deleted accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftBehind {
    /// Accounts that still own rows, with the number of rows by table.
    pub accounts: Vec<(UserId, Counts)>,
    /// Last account checked; `None` if there was none.
    pub last: Option<UserId>,
}

/// Finds rows that should have been removed, and counters that are wrong. Lists are in ascending order of id and
/// start after `after`.
pub trait RowsAudit {
    /// Checks up to `limit` rows; suspects are those with any counter that differs from the number of rows it counts.
    fn miscounted(
        &mut self,
        carrier: Carrier,
        after: Option<Uuid>,
        limit: u32,
    ) -> Result<LookedAt, StoreError>;

    /// Returns up to `limit` fans who block an account while a follow exists between the two, in either direction.
    fn blockers_with_follows(&mut self, after: Option<UserId>, limit: u32)
    -> Result<Vec<UserId>, StoreError>;

    /// Returns the follows, in either direction, between these fans and the accounts they block, as (follower,
    /// followee).
    fn follows_beside_blocks(&mut self, blockers: &[UserId]) -> Result<Vec<(UserId, UserId)>, StoreError>;

    /// Checks up to `limit` deleted accounts and returns what each of them still owns.
    fn left_by_deleted(&mut self, after: Option<UserId>, limit: u32) -> Result<LeftBehind, StoreError>;

    /// Returns up to `limit` posts that were deleted before `before` and still exist, each with its dependent rows by
    /// table.
    fn deleted_posts(
        &mut self,
        before: Timestamp,
        after: Option<PostId>,
        limit: u32,
    ) -> Result<Vec<(PostId, Counts)>, StoreError>;

    /// Returns up to `limit` fans who have pending messages to the minter but no lane to send them on.
    fn fans_without_lane(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError>;
}

/// Removes and repairs such rows.
pub trait RowsRepair: RowsAudit {
    /// Locks the rows in ascending order of id, recounts their counters, and returns how often each counter was
    /// wrong.
    fn recount(&mut self, carrier: Carrier, ids: &[Uuid]) -> Result<Counts, StoreError>;

    /// Removes up to `limit` notices of payments from before `before`, except those of payments that are still open;
    /// returns how many.
    fn sweep_notices(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Opens the missing lanes of those of these fans who have pending messages; returns how many. The caller holds
    /// the locks on the accounts, so that no message is added concurrently.
    fn open_missing_lanes(&mut self, fans: &[UserId], now: Timestamp) -> Result<u64, StoreError>;
}

/// Checks purchases together with their copies and with the payment history in the journal.
pub trait PacksAudit {
    /// Returns the ids of up to `limit` purchases after `after`.
    fn purchases_after(
        &mut self,
        after: Option<PurchaseId>,
        limit: u32,
    ) -> Result<Vec<PurchaseId>, StoreError>;

    /// Returns the state of these purchases.
    fn standings_of(&mut self, purchases: &[PurchaseId]) -> Result<Vec<PurchaseStanding>, StoreError>;

    /// Returns counted packs whose stock does not match their purchases and copies.
    fn misstocked(&mut self) -> Result<Vec<PackId>, StoreError>;

    /// Returns limited collectibles whose minted count is lower than the highest serial that was assigned.
    fn underminted(&mut self) -> Result<Vec<CollectibleId>, StoreError>;
}

/// Repairs purchases and copies. Before a write, the caller has locked the fan and the purchase.
pub trait PacksRepair: PacksAudit {
    /// Overwrites the state of a purchase and clears its checkout URL.
    fn put_purchase_state(
        &mut self,
        purchase: PurchaseId,
        state: PurchaseState,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Marks a sealed copy as opened at `opened_at` and removes its seed; returns `false` if the copy is not sealed.
    fn put_copy_opened(
        &mut self,
        copy: UserPackId,
        opened_at: Timestamp,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the serials of a limited collectible, up to its minted count, that no fan owns, in ascending order.
    fn lost_serials(&mut self, collectible: CollectibleId) -> Result<Vec<u32>, StoreError>;

    /// Inserts a collectible that an opened copy yielded; returns `false` if the slot of the copy already has one.
    fn insert_owned(&mut self, owned: &terrace_packs::Owned) -> Result<bool, StoreError>;

    /// Locks the stock of a counted pack and recomputes it from purchases and copies; returns whether it changed.
    fn restock(&mut self, pack: PackId) -> Result<bool, StoreError>;

    /// Raises the minted count of a limited collectible to its highest serial; returns whether it was lower.
    fn raise_minted(&mut self, collectible: CollectibleId) -> Result<bool, StoreError>;

    /// Schedules an open payment that has no due time for processing at `at`; returns whether there was one.
    fn wake_payment(&mut self, purchase: PurchaseId, at: Timestamp) -> Result<bool, StoreError>;
}

/// Checks orders together with their holds and payments, and the stock of variants.
pub trait ShopAudit {
    /// Returns the ids of up to `limit` orders after `after`.
    fn orders_after(&mut self, after: Option<OrderId>, limit: u32) -> Result<Vec<OrderId>, StoreError>;

    /// Returns those of these orders that have ended with a hold that is not settled, or whose open payment has no due time.
    fn stuck_orders(&mut self, of: &[OrderId]) -> Result<Vec<OrderId>, StoreError>;

    /// Returns limited variants whose stock does not match the lines of orders.
    fn misstocked_variants(&mut self) -> Result<Vec<VariantId>, StoreError>;
}

/// Repairs orders and stocks. Before a write, the caller has locked the fan and the order.
pub trait ShopRepair: ShopAudit {
    /// Locks the stock of a limited variant and recomputes it from the lines of orders; returns whether it changed.
    fn restock_variant(&mut self, variant: VariantId) -> Result<bool, StoreError>;

    /// Schedules an open payment that has no due time for processing at `at`; returns whether there was one.
    fn wake_order(&mut self, order: OrderId, at: Timestamp) -> Result<bool, StoreError>;
}

/// What disagrees about a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimFault {
    /// The journal has no payment of its cost.
    Unpaid,
    /// The fan should have the cost back, and the journal has no such transfer.
    NotReturned,
    /// It is issued, and has no code.
    WithoutCode,
}

/// Checks the stock of rewards, and claims together with their codes and the journal.
pub trait RewardAudit {
    /// Returns limited rewards whose stock does not match their claims and codes.
    fn misstocked_rewards(&mut self) -> Result<Vec<RewardId>, StoreError>;

    /// Returns the ids of up to `limit` claims after `after`.
    fn claims_after(&mut self, after: Option<ClaimId>, limit: u32) -> Result<Vec<ClaimId>, StoreError>;

    /// Returns those of these claims that disagree with their codes or with the journal, in ascending order.
    fn faulty_claims(&mut self, of: &[ClaimId]) -> Result<Vec<(ClaimId, ClaimFault)>, StoreError>;
}

/// Repairs claims and the stock of rewards. Before a write to a claim, the caller has locked the fan.
pub trait RewardRepair: RewardAudit {
    /// Locks the stock of a limited reward and recomputes it from claims and codes; returns whether it changed.
    fn restock_reward(&mut self, reward: RewardId) -> Result<bool, StoreError>;

    /// Overwrites what a claim cost, and whether the fan has it back.
    fn put_claim_cost(
        &mut self,
        claim: ClaimId,
        cost: Option<Cost>,
        is_returned: bool,
    ) -> Result<(), StoreError>;
}

/// Checks what was given together with the goods, and with the lines of orders.
pub trait GrantsAudit {
    /// Returns the ids of up to `limit` grants after `after`.
    fn grants_after(&mut self, after: Option<GrantId>, limit: u32) -> Result<Vec<GrantId>, StoreError>;

    /// Returns those of these grants whose coins, copies or collectibles are not all there, or of which some are left although
    /// it was taken back.
    fn incomplete_grants(&mut self, of: &[GrantId]) -> Result<Vec<GivenGrant>, StoreError>;

    /// Returns those of these orders that have a line that was delivered and has not given all that it grants, or that was
    /// revoked and whose grants were not taken back.
    fn misgranted_orders(&mut self, of: &[OrderId]) -> Result<Vec<OrderId>, StoreError>;

    /// Returns the grant by which the journal has given a fan so many coins, if there is none of this id.
    fn unrecorded_coins(&mut self, user: UserId, amount: i64) -> Result<Option<GrantId>, StoreError>;

    /// Returns the numbers of the collectibles of a grant, revoked or not.
    fn granted_numbers(&mut self, grant: GrantId) -> Result<Vec<u32>, StoreError>;
}

/// Everything that repair tasks may read.
pub trait RepairRead: FactsAudit + RowsAudit + PacksAudit + ShopAudit + GrantsAudit + RewardAudit {}

impl<T: FactsAudit + RowsAudit + PacksAudit + ShopAudit + GrantsAudit + RewardAudit> RepairRead for T {}

/// Everything that repair tasks may write.
pub trait RepairWrite: FactsRepair + RowsRepair + PacksRepair + ShopRepair + RewardRepair {}

impl<T: FactsRepair + RowsRepair + PacksRepair + ShopRepair + RewardRepair> RepairWrite for T {}
