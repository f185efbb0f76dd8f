//! Sources: unique names for the causes of transfers.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{UserId, Uuid};

/// The cause of a transfer, as a unique name. No two transfers have the same source, so that a retry cannot pay twice.
/// A source is never null and is derived only from what is paid for.
///
/// Its text is `kind:subject`: 3 to 120 characters of `A-Z`, `a-z`, `0-9`, `.`, `_`, `/`, `:` and `-`. Identifiers in
/// it have no hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransferSource(String);

/// The text is not a valid source of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 80 letters, digits, `.`, `_`, `/`, `:` or `-`")]
pub struct MalformedSource;

impl TransferSource {
    /// An action that happens at most once for the resource with this id. `kind` is a name such as `purchase`, of `a-z`
    /// and `_`.
    pub fn of(kind: &'static str, subject: impl Into<Uuid>) -> Self {
        Self(format!("{kind}:{}", subject.into().simple()))
    }

    /// A record of points.
    pub fn award(record: impl Into<Uuid>) -> Self {
        Self::of("award", record)
    }

    /// The points that a record of points had to take back and that the fan no longer had.
    pub fn forgiven(user: UserId, record: impl Into<Uuid>) -> Self {
        Self(format!("forgiven:{}:{}", user.as_uuid().simple(), record.into().simple()))
    }

    /// Something that a fan receives at most once, identified by `what`, such as `2026-05-01`.
    pub fn of_fan(kind: &'static str, user: UserId, what: impl fmt::Display) -> Self {
        Self(format!("{kind}:{}:{what}", user.as_uuid().simple()))
    }

    /// An action of an operator, identified by a key of 1 to 80 characters that the operator chose.
    pub fn operator(key: &str) -> Result<Self, MalformedSource> {
        if (1..=80).contains(&key.len()) && key.bytes().all(is_allowed) {
            Ok(Self(format!("operator:{key}")))
        } else {
            Err(MalformedSource)
        }
    }

    /// The source as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._/:-".contains(&byte)
}

impl fmt::Display for TransferSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for TransferSource {
    type Err = MalformedSource;

    fn from_str(text: &str) -> Result<Self, MalformedSource> {
        let is_whole = text.split_once(':').is_some_and(|(kind, what)| !kind.is_empty() && !what.is_empty());
        let fits = is_whole && text.len() <= 120 && text.bytes().all(is_allowed);
        if fits { Ok(Self(text.to_owned())) } else { Err(MalformedSource) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_they_are_written_and_differ() {
        let id = Uuid::from_u128(u128::MAX);
        let fan = UserId::from_uuid(id);
        let sources = [
            TransferSource::award(id),
            TransferSource::of("purchase", id),
            TransferSource::forgiven(fan, id),
            TransferSource::of_fan("milestone", fan, "2026-05-01"),
            TransferSource::operator("ticket/4711").unwrap(),
        ];
        for source in &sources {
            assert_eq!(source.as_str().parse().as_ref(), Ok(source));
        }
        let texts: std::collections::BTreeSet<_> = sources.iter().collect();
        assert_eq!(texts.len(), sources.len());
    }

    #[test]
    fn what_is_no_source_is_refused() {
        for wrong in ["", "award", "award:", ":x", "award:a b", "award:é"] {
            assert_eq!(wrong.parse::<TransferSource>(), Err(MalformedSource), "{wrong}");
        }
        let long = "x".repeat(81);
        for wrong in ["", "a b", "ü", long.as_str()] {
            assert_eq!(TransferSource::operator(wrong), Err(MalformedSource), "{wrong}");
        }
    }
}
