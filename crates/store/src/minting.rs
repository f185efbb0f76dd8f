//! What the outbox of minting needs from a store. One call is one round trip to the database, or a few on SQLite, which has
//! none to make.

use serde_json::json;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{StoreError, Timestamp, UnknownName, UserId};
use terrace_packs::{CollectibleId, CollectibleKey, OwnedId, UserPackId};
use uuid::Uuid;

/// What happened to a collectible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MintKind {
    /// It became a fan's.
    Minted,
    /// It was taken back. Only told of what was told to be minted.
    Revoked,
}

impl MintKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Minted, Self::Revoked];

    /// The stable name, as rows and messages hold it.
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
    /// Its place: of two messages about the same fan the later one has the higher number.
    pub sequence: i64,
    /// What happened.
    pub kind: MintKind,
    /// The copy of the collectible.
    pub owned: OwnedId,
    /// Whose it is, or was.
    pub user: UserId,
    /// What it is a copy of.
    pub collectible: CollectibleId,
    /// The collectible's stable key.
    pub key: CollectibleKey,
    /// Its number within a limited edition, from 1; none of an open one.
    pub serial: Option<u32>,
    /// The copy of the pack that gave it.
    pub copy: UserPackId,
    /// Which slot of the pack, from 0.
    pub slot: u32,
    /// When it happened.
    pub at: Timestamp,
}

impl MintNotice {
    /// What the receiver knows a repeat by: the same however often, by whichever process and after whatever was restored the
    /// message is sent. Visible ASCII.
    pub fn id(&self) -> String {
        format!("{}:{}", self.kind, self.owned)
    }

    /// The message as JSON, the same at each attempt.
    pub fn body(&self) -> Vec<u8> {
        let body = json!({
            "id": self.id(),
            "type": format!("collectible.{}", self.kind),
            "sequence": self.sequence,
            "userId": self.user.as_uuid(),
            "ownedId": self.owned.as_uuid(),
            "collectible": { "id": self.collectible.as_uuid(), "key": self.key.as_str() },
            "serial": self.serial,
            "userPackId": self.copy.as_uuid(),
            "slot": self.slot,
            "at": self.at.to_string(),
        });
        body.to_string().into_bytes()
    }
}

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
            copy: UserPackId::from_uuid(Uuid::from_u128(4)),
            slot: 1,
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
