//! Stable keys: what content is known by, whatever its titles become.

use std::fmt;
use std::str::FromStr;

/// The text is no key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key is 1 to 64 of a-z, 0-9, '.', '_' and '-'")]
pub struct MalformedKey;

fn is_key(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-".contains(&byte))
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The key as tables and answers hold it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = MalformedKey;

            fn from_str(text: &str) -> Result<Self, MalformedKey> {
                if is_key(text) { Ok(Self(text.to_owned())) } else { Err(MalformedKey) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

keys! {
    /// A quest's key; no two quests share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    QuestKey;
    /// A step's key; no two steps of a quest share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    StepKey;
    /// An achievement's key; no two achievements share one. 1 to 64 of `a-z`, `0-9`, `.`, `_` and `-`.
    AchievementKey;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_plain() {
        for right in ["a", "welcome", "0.5_x-y", &"k".repeat(64)] {
            assert_eq!(right.parse::<QuestKey>().map(|key| key.to_string()), Ok(right.to_owned()));
        }
        for wrong in ["", "Welcome", "a b", "é", "a/b", " a", &"k".repeat(65)] {
            assert_eq!(wrong.parse::<StepKey>(), Err(MalformedKey), "{wrong}");
        }
    }
}
