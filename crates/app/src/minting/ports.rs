//! What the outbox of minting needs from a store. One call is one round trip to the database, or a few on SQLite, which has
//! none to make.

use crate::minting::notice::MintNotice;
use terrace_kernel::{StoreError, Timestamp, UserId};
use terrace_packs::UserPackId;
use uuid::Uuid;

/// How the outbox stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MintingStanding {
    /// Messages that wait, those included that are on their way.
    pub pending: u64,
    /// When that happened of which the oldest of these tells.
    pub oldest: Option<Timestamp>,
    /// Messages that were set aside.
    pub failed: u64,
    /// Why the oldest of those was, in the minter's words.
    pub fault: Option<String>,
}

/// What became of the attempts at a message so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MintTries {
    /// How often it was sent in vain.
    pub attempts: u32,
    /// How often of those it was refused as wrong.
    pub refusals: u32,
}

/// Looks at the outbox.
pub trait MintingRead {
    /// Whether the messages of any fan may be sent now.
    fn is_minting_due(&mut self, now: Timestamp) -> Result<bool, StoreError>;

    /// How many messages wait and how many were set aside. Reads the index of all that do.
    fn minting_standing(&mut self) -> Result<MintingStanding, StoreError>;

    /// The next fans, by their ids, who own something that no minter was told of.
    fn fans_not_told(&mut self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, StoreError>;
}

/// Writes messages to the outbox, in the transaction of what they tell. Hold the account of the fan: that makes the order of
/// their messages the order in which things happened. That something was taken back is written by
/// `OpeningWrite::revoke_owned` itself, for what the minter was told of.
pub trait MintingWrite: MintingRead {
    /// What a copy has just given, by slot; says how many messages that makes.
    fn hand_to_minter(&mut self, copy: UserPackId, now: Timestamp) -> Result<u64, StoreError>;

    /// Up to `limit` of the collectibles of these fans of which no minter was told, each fan's oldest first; says how many.
    fn hand_earlier_to_minter(
        &mut self,
        fans: &[UserId],
        limit: u32,
        now: Timestamp,
    ) -> Result<u64, StoreError>;
}

/// Takes messages out. A fan's messages are a lane: who holds it sends them, until it is ready for others again.
pub trait MintingDelivery: MintingRead {
    /// Makes `holder` the holder of up to `limit` lanes that are ready, until `until`, and says whose these are; those that
    /// others are just taking are left out.
    fn take_lanes(
        &mut self,
        holder: Uuid,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<UserId>, StoreError>;

    /// Locks a fan's lane until the transaction ends: who adds a message to it waits. Whether it is the holder's still.
    fn lock_lane(&mut self, user: UserId, holder: Uuid) -> Result<bool, StoreError>;

    /// The fan's first message that waits.
    fn next_notice(&mut self, user: UserId) -> Result<Option<MintNotice>, StoreError>;

    /// Notes that there is a receipt for a message.
    fn note_receipt(&mut self, sequence: i64, now: Timestamp) -> Result<(), StoreError>;

    /// Notes that a message that waits was sent in vain, and why; says how often it was, by now. Nothing where it does not
    /// wait any more.
    fn note_fault(
        &mut self,
        sequence: i64,
        is_refusal: bool,
        words: &str,
    ) -> Result<Option<MintTries>, StoreError>;

    /// Sets a message aside that waits.
    fn set_aside(&mut self, sequence: i64, now: Timestamp) -> Result<(), StoreError>;

    /// Keeps a locked lane for its holder until then.
    fn keep_lane(&mut self, user: UserId, until: Timestamp) -> Result<(), StoreError>;

    /// Gives a locked lane back, ready from then on.
    fn leave_lane(&mut self, user: UserId, ready_at: Timestamp) -> Result<(), StoreError>;

    /// Removes a locked lane that has no messages any more.
    fn close_lane(&mut self, user: UserId) -> Result<(), StoreError>;
}

/// Looks after the outbox, in bounded portions.
pub trait MintingUpkeep: MintingRead {
    /// Lets up to `limit` messages that were set aside wait again, as if they had never been sent; says how many.
    fn retry_set_aside(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Makes up to `limit` lanes ready now that pause; says how many.
    fn hasten_lanes(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` messages whose receipt is from before `before`; says how many.
    fn sweep_minting(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}
