//! What a minter is told, and how.

use crate::store::BoxFuture;
use serde_json::json;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{Timestamp, UnknownName, UserId};
use terrace_packs::{CollectibleId, CollectibleKey, OwnedId, UserPackId};

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

/// Why a minter gave no receipt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MintFault {
    /// It was not reached, or could not just then: the same message may be taken later.
    #[error("{0}")]
    Passing(String),
    /// It says that the message itself is wrong.
    #[error("{0}")]
    Refused(String),
}

/// Somebody else who mints what fans own, on a chain or in a register of their own. What a fan owns does not depend on it.
pub trait Minter: Send + Sync + 'static {
    /// Hands one message over; `Ok` is the receipt, and may mean that it had come before ([`MintNotice::id`]). Gives up
    /// within some seconds. Called outside of any transaction, for one fan never twice at a time by the same process.
    fn tell<'m>(&'m self, notice: &'m MintNotice, now: Timestamp) -> BoxFuture<'m, Result<(), MintFault>>;
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
