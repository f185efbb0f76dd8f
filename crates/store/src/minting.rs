//! Store operations of the minting outbox. Each call is one round trip to the database on PostgreSQL; on SQLite,
//! which has no round trips, it may be several statements.

use serde_json::json;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{StoreError, Timestamp, UnknownName, UserId};
use terrace_packs::{
    CollectibleId, CollectibleKey, MintedToken, OwnedId, ReportStatus, TokenState, UserPackId,
};
use uuid::Uuid;

/// What happened to a collectible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MintKind {
    /// A fan received it.
    Minted,
    /// It was revoked. Sent only for collectibles whose minting was sent before.
    Revoked,
}

impl MintKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Minted, Self::Revoked];

    /// The stable name, as stored in rows and sent in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Minted => "minted",
            Self::Revoked => "revoked",
        }
    }
}

impl fmt::Display for MintKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for MintKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// One message to the minter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintNotice {
    /// Sequence number: of two messages about the same fan, the later one has the higher number.
    pub sequence: i64,
    /// What happened.
    pub kind: MintKind,
    /// Id of the owned copy of the collectible.
    pub owned: OwnedId,
    /// Fan who owns or owned it.
    pub user: UserId,
    /// Collectible that it is a copy of.
    pub collectible: CollectibleId,
    /// The collectible's stable key.
    pub key: CollectibleKey,
    /// Serial number within a limited edition, from 1; `None` for an open edition.
    pub serial: Option<u32>,
    /// Opened copy of the pack that yielded it, and the slot, from 0; `None` if it was granted without a pack.
    pub drawn: Option<(UserPackId, u32)>,
    /// Time of the event.
    pub at: Timestamp,
}

impl MintNotice {
    /// Deduplication key for the receiver: identical for every delivery of the message, across attempts, processes
    /// and database restores. Visible ASCII.
    pub fn id(&self) -> String {
        format!("{}:{}", self.kind, self.owned)
    }

    /// The message as JSON, identical for every attempt.
    pub fn body(&self) -> Vec<u8> {
        let body = json!({
            "id": self.id(),
            "type": format!("collectible.{}", self.kind),
            "sequence": self.sequence,
            "userId": self.user.as_uuid(),
            "ownedId": self.owned.as_uuid(),
            "collectible": { "id": self.collectible.as_uuid(), "key": self.key.as_str() },
            "serial": self.serial,
            "userPackId": self.drawn.map(|(copy, _)| copy.as_uuid()),
            "slot": self.drawn.map(|(_, slot)| slot),
            "at": self.at.to_string(),
        });
        body.to_string().into_bytes()
    }
}

/// State of the outbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MintingStanding {
    /// Number of pending messages, including those being delivered.
    pub pending: u64,
    /// Event time of the oldest pending message.
    pub oldest: Option<Timestamp>,
    /// Number of messages set aside as failed.
    pub failed: u64,
    /// Error that the minter returned for the oldest failed message.
    pub fault: Option<String>,
}

/// Failed delivery attempts of a message so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MintTries {
    /// Number of failed attempts.
    pub attempts: u32,
    /// Number of these attempts that the minter rejected as invalid.
    pub refusals: u32,
}

/// Reads the outbox.
pub trait MintingRead {
    /// Returns whether any fan's messages may be sent now.
    fn is_minting_due(&mut self, now: Timestamp) -> Result<bool, StoreError>;

    /// Returns the number of pending and of failed messages. Reads the index of all pending ones.
    fn minting_standing(&mut self) -> Result<MintingStanding, StoreError>;

    /// Returns the next copies, in ascending order of id, whose tokens are behind what the minter reported of them.
    fn tokens_behind(&mut self, after: Option<OwnedId>, limit: u32) -> Result<Vec<OwnedId>, StoreError>;

    /// Returns the next fans, in ascending order of id, who own a collectible for which no message was written.
    fn fans_without_messages(&mut self, after: Option<UserId>, limit: u32)
    -> Result<Vec<UserId>, StoreError>;
}

/// Writes messages to the outbox, in the transaction of the event that they report. The caller must hold the lock on
/// the fan's account: it makes the order of the fan's messages the order of events. Revocations are written by
/// `OpeningWrite::revoke_owned` itself, for collectibles whose minting was reported.
pub trait MintingWrite: MintingRead {
    /// Writes messages for the collectibles that copies of different fans have just yielded, in slot order; returns how
    /// many.
    fn hand_to_minter(&mut self, copies: &[UserPackId], now: Timestamp) -> Result<u64, StoreError>;

    /// Writes messages for up to `limit` collectibles of these fans that have none yet, each fan's oldest first;
    /// returns how many.
    fn hand_earlier_to_minter(
        &mut self,
        fans: &[UserId],
        limit: u32,
        now: Timestamp,
    ) -> Result<u64, StoreError>;
}

/// Delivers messages. The messages of one fan form a lane; the holder of a lane sends its messages until it releases
/// the lane.
pub trait MintingDelivery: MintingRead {
    /// Assigns up to `limit` ready lanes to `holder` until `until` and returns their fans. Lanes that another
    /// transaction is assigning are skipped.
    fn take_lanes(
        &mut self,
        holder: Uuid,
        now: Timestamp,
        until: Timestamp,
        limit: u32,
    ) -> Result<Vec<UserId>, StoreError>;

    /// Locks a fan's lane until the transaction ends, which blocks writers that add messages to it. Returns whether
    /// `holder` still holds the lane.
    fn lock_lane(&mut self, user: UserId, holder: Uuid) -> Result<bool, StoreError>;

    /// Returns the fan's first pending message.
    fn next_notice(&mut self, user: UserId) -> Result<Option<MintNotice>, StoreError>;

    /// Marks a message as delivered.
    fn note_receipt(&mut self, sequence: i64, now: Timestamp) -> Result<(), StoreError>;

    /// Records a failed attempt of a pending message with its error; returns the attempts so far. `None` if the
    /// message is no longer pending.
    fn note_fault(
        &mut self,
        sequence: i64,
        is_refusal: bool,
        words: &str,
    ) -> Result<Option<MintTries>, StoreError>;

    /// Sets a pending message aside as failed.
    fn set_aside(&mut self, sequence: i64, now: Timestamp) -> Result<(), StoreError>;

    /// Extends the holder's claim on a locked lane until `until`.
    fn keep_lane(&mut self, user: UserId, until: Timestamp) -> Result<(), StoreError>;

    /// Releases a locked lane, which becomes ready at `ready_at`.
    fn leave_lane(&mut self, user: UserId, ready_at: Timestamp) -> Result<(), StoreError>;

    /// Deletes a locked lane that has no messages left.
    fn close_lane(&mut self, user: UserId) -> Result<(), StoreError>;
}

/// Maintains the outbox, in bounded batches.
pub trait MintingUpkeep: MintingRead {
    /// Makes up to `limit` failed messages pending again, with their attempts reset; returns how many.
    fn retry_set_aside(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Makes up to `limit` paused lanes ready now; returns how many.
    fn hasten_lanes(&mut self, now: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` messages that were delivered before `before`; returns how many.
    fn sweep_minting(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;
}

/// What the minter reports of a copy. It may arrive more than once, late, and in any order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MintReport {
    /// Id that the minter assigns to the event: 1 to 255 visible ASCII characters; a redelivery carries the same id.
    pub event_id: String,
    /// The copy.
    pub owned: OwnedId,
    /// What happened.
    pub status: ReportStatus,
    /// The token; always there if one was minted.
    pub token: Option<MintedToken>,
}

/// Result of processing a report, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MintReportOutcome {
    /// The report changed the token of the copy.
    Applied,
    /// The report carried no new information.
    Nothing,
    /// The report names no copy, or another token than an earlier one; nothing was changed.
    Mismatch,
}

impl MintReportOutcome {
    /// The stable name, as stored in tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Nothing => "nothing",
            Self::Mismatch => "mismatch",
        }
    }
}

/// Writes what the minter reports.
pub trait MintReportWrite {
    /// What was reported of a copy before, locked until the transaction ends; `None` if there is no such copy.
    fn lock_token(&mut self, owned: OwnedId) -> Result<Option<TokenState>, StoreError>;

    /// Stores what is known of a locked copy.
    fn put_token(&mut self, owned: OwnedId, state: &TokenState) -> Result<(), StoreError>;

    /// Stores a report with its outcome; `false` if its event was stored before.
    fn insert_mint_report(
        &mut self,
        report: &MintReport,
        outcome: MintReportOutcome,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// The stored report with this event.
    fn mint_report(&mut self, event: &str) -> Result<Option<MintReport>, StoreError>;

    /// The stored reports of a copy that fit it, in the order in which they were received.
    fn reports_of(&mut self, owned: OwnedId) -> Result<Vec<MintReport>, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[test]
    fn a_message_says_what_happened_in_the_documented_form() {
        let notice = MintNotice {
            sequence: 7,
            kind: MintKind::Revoked,
            owned: OwnedId::from_uuid(Uuid::from_u128(1)),
            user: UserId::from_uuid(Uuid::from_u128(2)),
            collectible: CollectibleId::from_uuid(Uuid::from_u128(3)),
            key: "golden-cup".parse().unwrap(),
            serial: Some(9),
            drawn: Some((UserPackId::from_uuid(Uuid::from_u128(4)), 1)),
            at: Timestamp::from_micros(1_777_636_800_000_000),
        };
        assert_eq!(notice.id(), "revoked:00000000-0000-0000-0000-000000000001");
        let said: serde_json::Value = serde_json::from_slice(&notice.body()).unwrap();
        assert_eq!(
            said,
            json!({
                "id": "revoked:00000000-0000-0000-0000-000000000001",
                "type": "collectible.revoked",
                "sequence": 7,
                "userId": "00000000-0000-0000-0000-000000000002",
                "ownedId": "00000000-0000-0000-0000-000000000001",
                "collectible": { "id": "00000000-0000-0000-0000-000000000003", "key": "golden-cup" },
                "serial": 9,
                "userPackId": "00000000-0000-0000-0000-000000000004",
                "slot": 1,
                "at": "2026-05-01T12:00:00.000Z",
            })
        );
        for kind in MintKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
    }
}
