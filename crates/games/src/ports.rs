//! The store interface that games need. One call is one round trip to the database, unless its documentation says otherwise.

use crate::{FreeSpin, SegmentKey, SpinId, SpinPrice, SpinTable, Wheel, WheelId, WheelKey};
use std::collections::HashMap;
use terrace_draws::{ClientSeed, Digest};
use terrace_kernel::{Grant, Limit, Page, StoreError, TimeKey, Timestamp, UserId};

/// A fan's standing at a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SpinState {
    /// The spins of local dates.
    pub spins: FreeSpin,
    /// How many spins the fan had; the next one has this number plus one as its nonce.
    pub count: u32,
    /// The last spins in a row without a segment of the guarantee.
    pub pity_count: u32,
}

/// A spin, as stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spin {
    /// Also the source of what was paid and given.
    pub id: SpinId,
    /// The wheel that was spun.
    pub wheel: WheelId,
    /// The fan.
    pub user: UserId,
    /// Number among the fan's spins of the wheel, from 1.
    pub nonce: u32,
    /// The fan's seed; `None` once the account was deleted.
    pub client_seed: Option<ClientSeed>,
    /// The spins before it, in a row, that gave no segment of the guarantee.
    pub pity_count: u32,
    /// The segment that was drawn.
    pub segment: SegmentKey,
    /// Whether the substitute was given in place of the grant.
    pub is_substituted: bool,
    /// What was given.
    pub grant: Grant,
    /// What was paid; `None` for a free spin.
    pub paid: Option<SpinPrice>,
    /// The hash of the table.
    pub table: Digest,
    /// When it was spun.
    pub created_at: Timestamp,
}

/// Reads wheels and spins.
pub trait WheelRead {
    /// All wheels, including retired ones, in the order of the content.
    fn wheels(&mut self) -> Result<Vec<Wheel>, StoreError>;

    /// How often the limited segments of all wheels gave their grants.
    fn segments_given(&mut self) -> Result<Vec<(WheelId, SegmentKey, u32)>, StoreError>;

    /// A fan's standings at the wheels that the fan has spun.
    fn spin_states(&mut self, user: UserId) -> Result<Vec<(WheelId, SpinState)>, StoreError>;

    /// The standings of fans at one wheel each; those of fans who have not spun it are missing. No fan is named twice.
    fn spin_states_of(&mut self, of: &[(UserId, WheelId)]) -> Result<HashMap<UserId, SpinState>, StoreError>;

    /// A fan's spins, the newest first, each with its table.
    fn spins(
        &mut self,
        user: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<(Spin, SpinTable), TimeKey>, StoreError>;
}

/// Writes wheels and spins.
pub trait WheelWrite: WheelRead {
    /// Inserts or overwrites wheels with their segments, by id.
    fn put_wheels(&mut self, wheels: &[Wheel]) -> Result<(), StoreError>;

    /// Retires every wheel whose key is not in `keep`; returns how many were not retired before.
    fn retire_wheels(&mut self, keep: &[WheelKey]) -> Result<u64, StoreError>;

    /// Counts a grant of a limited segment, if its stock is not used up; `false` otherwise.
    fn take_segment(&mut self, wheel: WheelId, segment: &SegmentKey) -> Result<bool, StoreError>;

    /// Takes back what [`take_segment`](Self::take_segment) has counted in this transaction.
    fn return_segment(&mut self, wheel: WheelId, segment: &SegmentKey) -> Result<(), StoreError>;

    /// Inserts spins of different fans with their tables, and stores the fans' standings after them. The caller holds the
    /// locks on the accounts. Two round trips.
    fn insert_spins(&mut self, spins: &[(Spin, SpinTable, SpinState)]) -> Result<(), StoreError>;

    /// Removes the seeds that a fan chose; the spins stay, because what they gave is in the ledger.
    fn erase_spins(&mut self, user: UserId) -> Result<(), StoreError>;
}
