//! Typed identifiers. Each is a `UUIDv7` in canonical text form (RFC 9562), with a type of its own for each resource.

use crate::hex;
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

/// The text is not a UUID in canonical form (36 characters, hyphenated).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an identifier: expected a UUID such as 0190a6f2-7c1e-7000-8000-000000000000")]
pub struct MalformedId;

/// Parses a UUID in canonical form. The braced, URN and unhyphenated spellings are rejected, so that each resource has
/// exactly one address.
pub fn uuid_from_canonical(text: &str) -> Result<Uuid, MalformedId> {
    if text.len() != 36 {
        return Err(MalformedId);
    }
    Uuid::try_parse(text).map_err(|_| MalformedId)
}

/// Declares types of identifiers, each a UUID in canonical form that cannot be confused with another type. Domain
/// crates declare their own types with it.
#[macro_export]
macro_rules! typed_ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($crate::Uuid);

        impl $name {
            /// Wraps the UUID of an existing resource, or one that `Ctx` generated for a new resource.
            pub const fn from_uuid(uuid: $crate::Uuid) -> Self {
                Self(uuid)
            }

            /// The untyped UUID, for storage and for wire formats.
            pub const fn as_uuid(self) -> $crate::Uuid {
                self.0
            }
        }

        impl From<$crate::Uuid> for $name {
            fn from(uuid: $crate::Uuid) -> Self {
                Self(uuid)
            }
        }

        impl From<$name> for $crate::Uuid {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0.hyphenated(), f)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::MalformedId;

            fn from_str(text: &str) -> Result<Self, $crate::MalformedId> {
                $crate::uuid_from_canonical(text).map(Self)
            }
        }
    )*};
}

typed_ids! {
    /// Id of an account.
    UserId;
    /// Id of a session: a signed-in device of an account.
    SessionId;
    /// Id of a league in which teams play.
    LeagueId;
    /// Id of a team that fans support.
    TeamId;
    /// Id of a post in the locker room.
    PostId;
    /// Id of a comment on a post.
    CommentId;
    /// Id of an uploaded picture that its uploader can attach to a post.
    MediaId;
}

/// SHA-256 of a stored picture, which is also its address under `/media/`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MediaHash([u8; 32]);

impl MediaHash {
    /// Wraps the bytes of a digest.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for MediaHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

/// The text is not a SHA-256 in the form that addresses use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not the address of a picture: expected 64 lower-case hexadecimal digits")]
pub struct MalformedHash;

/// Accepts lower-case digits only, so that each picture has exactly one address and the text cannot contain a path.
impl FromStr for MediaHash {
    type Err = MalformedHash;

    fn from_str(text: &str) -> Result<Self, MalformedHash> {
        hex::read_32(text).map(Self).ok_or(MalformedHash)
    }
}

impl fmt::Debug for MediaHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MediaHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_in_the_form_in_which_it_is_written() {
        let hash = MediaHash::from_bytes(std::array::from_fn(|n| u8::try_from(n * 8 + 3).unwrap()));
        assert_eq!(hash.to_string().parse(), Ok(hash));
        let text = "0f".repeat(32);
        for wrong in [
            "",
            "..",
            &text[1..],
            &text.to_uppercase(),
            &text.replacen("0f", "é", 1),
            &text.replacen("0f", "/.", 1),
            &format!("{text}0f"),
            &format!("{text} "),
        ] {
            assert_eq!(wrong.parse::<MediaHash>(), Err(MalformedHash), "{wrong}");
        }
    }

    #[test]
    fn only_the_canonical_form_names_a_resource() {
        let text = "0190a6f2-7c1e-7abc-8def-0123456789ab";
        assert_eq!(text.parse::<PostId>().map(|id| id.to_string()), Ok(text.to_owned()));
        for wrong in [
            "",
            "0190a6f27c1e7abc8def0123456789ab",
            "{0190a6f2-7c1e-7abc-8def-0123456789ab}",
            "urn:uuid:0190a6f2-7c1e-7abc-8def-0123456789ab",
            "0190a6f2-7c1e-7abc-8def-0123456789ag",
            "0190a6f2-7c1e-7abc-8def-0123456789ab ",
            "ééééééééééééééééé-",
        ] {
            assert_eq!(wrong.parse::<PostId>(), Err(MalformedId), "{wrong}");
        }
    }
}
