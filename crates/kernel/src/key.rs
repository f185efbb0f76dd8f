//! Stable keys, which identify content even if its titles change.

/// The text is not a valid key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to 64 of a-z, 0-9, '.', '_' and '-'")]
pub struct MalformedKey;

/// Returns `text` if it is a valid key: 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
pub fn checked_key(text: &str) -> Result<&str, MalformedKey> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte);
    if (1..=64).contains(&text.len()) && text.bytes().all(is_plain) { Ok(text) } else { Err(MalformedKey) }
}

/// Declares types of stable keys that cannot be confused with one another. Domain crates declare their own types with
/// it.
#[macro_export]
macro_rules! stable_keys {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The key as used in tables and responses.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = $crate::MalformedKey;

            fn from_str(text: &str) -> Result<Self, $crate::MalformedKey> {
                $crate::checked_key(text).map(|text| Self(text.to_owned()))
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain() {
        for right in ["a", "welcome", "0.5_x-y", &"k".repeat(64)] {
            assert_eq!(checked_key(right), Ok(right));
        }
        for wrong in ["", "Welcome", "a b", "é", "a/b", " a", &"k".repeat(65)] {
            assert_eq!(checked_key(wrong), Err(MalformedKey), "{wrong}");
        }
    }
}
