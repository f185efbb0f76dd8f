//! Sources: the name of what a transfer is for.

use std::fmt;
use std::str::FromStr;
use terrace_kernel::{UserId, Uuid};

/// The name of what a transfer is for. No two transfers have one source, so that whatever is tried again pays once; it is
/// never null and is made of what is paid for and nothing else.
///
/// As text, `kind:subject`: 3 to 120 characters of `A-Z`, `a-z`, `0-9`, `.`, `_`, `/`, `:` and `-`. Identifiers stand in
/// it without hyphens.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TransferSource(String);

/// The text names no source of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 80 letters, digits, `.`, `_`, `/`, `:` or `-`")]
pub struct MalformedSource;

impl TransferSource {
    /// What was done once to the thing with this id: a `kind` such as `purchase`, of `a-z` and `_`.
    pub fn of(kind: &'static str, subject: impl Into<Uuid>) -> Self {
        Self(format!("{kind}:{}", subject.into().simple()))
    }

    /// A record of points.
    pub fn award(record: impl Into<Uuid>) -> Self {
        Self::of("award", record)
    }

    /// What a record of points was to take back and the fan did not have any more.
    pub fn forgiven(user: UserId, record: impl Into<Uuid>) -> Self {
        Self(format!("forgiven:{}:{}", user.as_uuid().simple(), record.into().simple()))
    }

    /// What a fan gets once for something, such as `2026-05-01`.
    pub fn of_fan(kind: &'static str, user: UserId, what: impl fmt::Display) -> Self {
        Self(format!("{kind}:{}:{what}", user.as_uuid().simple()))
    }

    /// What an operator did, by the key that they chose for it: 1 to 80 characters.
    pub fn operator(key: &str) -> Result<Self, MalformedSource> {
        if (1..=80).contains(&key.len()) && key.bytes().all(is_allowed) {
            Ok(Self(format!("operator:{key}")))
        } else {
            Err(MalformedSource)
        }
    }

    /// The text.
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
