//! Cursors: opaque, authenticated texts that mark where the next page of a list starts.
//!
//! A cursor contains the sort values of the last row, encrypted and authenticated under the service's secret together
//! with the list's name and its filter. A cursor of another list or filter, a truncated one and a forged one are
//! refused. The values are encrypted because the last row may belong to an account that is hidden from the reader.

use crate::error::ApiError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use terrace_app::CursorSeal;
use terrace_games::StandingKey;
use terrace_kernel::{TimeKey, Timestamp, UserId};
use terrace_ledger::{StatementEnds, StatementPlace, StatementPoint};
use terrace_scoring::{Points, RankKey};
use terrace_social::search::{NameKey, NamePlace, PostPlace};
use terrace_social::{EpochId, Tag, TrendKey};
use uuid::Uuid;

/// The first byte of every cursor, so that the format can change.
const VERSION: u8 = 3;
/// Maximum length of a cursor in bytes.
const LONGEST: usize = 1024;

/// Sort values of a list, as bytes.
pub(crate) trait CursorKey: Sized {
    fn to_bytes(&self) -> Vec<u8>;
    /// `None` if no key has these bytes.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl CursorKey for TimeKey {
    fn to_bytes(&self) -> Vec<u8> {
        [self.at.as_micros().to_be_bytes().as_slice(), self.id.as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (micros, id) = bytes.split_first_chunk::<8>()?;
        let micros = i64::from_be_bytes(*micros);
        let at = Timestamp::from_micros(micros);
        (at.as_micros() == micros).then_some(Self { at, id: Uuid::from_slice(id).ok()? })
    }
}

impl CursorKey for UserId {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_uuid().as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Uuid::from_slice(bytes).ok().map(Self::from_uuid)
    }
}

impl CursorKey for TrendKey {
    fn to_bytes(&self) -> Vec<u8> {
        [self.epoch.0.to_be_bytes(), self.rank.to_be_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (epoch, rank) = bytes.split_first_chunk::<8>()?;
        let rank = i64::from_be_bytes(rank.try_into().ok()?);
        Some(Self { epoch: EpochId(i64::from_be_bytes(*epoch)), rank })
    }
}

impl CursorKey for RankKey {
    fn to_bytes(&self) -> Vec<u8> {
        let Self { points, reached_at, user } = self;
        let numbers = [points.get().to_be_bytes(), reached_at.as_micros().to_be_bytes()].concat();
        [numbers.as_slice(), user.as_uuid().as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (points, rest) = bytes.split_first_chunk::<8>()?;
        let TimeKey { at, id } = TimeKey::from_bytes(rest)?;
        let points = Points::new(i64::from_be_bytes(*points));
        Some(Self { points, reached_at: at, user: UserId::from_uuid(id) })
    }
}

impl CursorKey for StandingKey {
    fn to_bytes(&self) -> Vec<u8> {
        let Self { score, saved, joined_at, user } = self;
        let numbers = [score, saved, &joined_at.as_micros()].map(|number| number.to_be_bytes()).concat();
        [numbers.as_slice(), user.as_uuid().as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (score, rest) = bytes.split_first_chunk::<8>()?;
        let (saved, rest) = rest.split_first_chunk::<8>()?;
        let TimeKey { at, id } = TimeKey::from_bytes(rest)?;
        let (score, saved) = (i64::from_be_bytes(*score), i64::from_be_bytes(*saved));
        Some(Self { score, saved, joined_at: at, user: UserId::from_uuid(id) })
    }
}

/// A place on a board at which a page continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BoardPlace {
    /// The page begins after this line.
    After(RankKey),
    /// The page ends before this line.
    Before(RankKey),
}

impl BoardPlace {
    /// The byte before the key of a page that ends there.
    const BEFORE: u8 = 1;
}

impl CursorKey for BoardPlace {
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::After(key) => key.to_bytes(),
            Self::Before(key) => [[Self::BEFORE].as_slice(), &key.to_bytes()].concat(),
        }
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if let Some(key) = RankKey::from_bytes(bytes) {
            return Some(Self::After(key));
        }
        let (first, key) = bytes.split_first()?;
        (*first == Self::BEFORE).then_some(Self::Before(RankKey::from_bytes(key)?))
    }
}

impl CursorKey for String {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // No key contains NUL, and PostgreSQL rejects text that does.
        String::from_utf8(bytes.to_vec()).ok().filter(|key| !key.contains('\0'))
    }
}

impl CursorKey for NamePlace {
    fn to_bytes(&self) -> Vec<u8> {
        [self.owner.as_bytes(), [u8::from(self.is_part)].as_slice(), self.key.as_str().as_bytes()].concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (owner, rest) = bytes.split_first_chunk::<16>()?;
        let (is_part, key) = rest.split_first()?;
        let is_part = match is_part {
            0 => false,
            1 => true,
            _ => return None,
        };
        let key = NameKey::stored(<String as CursorKey>::from_bytes(key)?);
        Some(Self { key, is_part, owner: Uuid::from_bytes(*owner) })
    }
}

impl CursorKey for PostPlace {
    fn to_bytes(&self) -> Vec<u8> {
        self.0.to_be_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(i64::from_be_bytes(bytes.try_into().ok()?)))
    }
}

impl CursorKey for StatementPlace {
    fn to_bytes(&self) -> Vec<u8> {
        let StatementEnds { opening, closing } = self.ends;
        let numbers = [opening.seq, opening.balance, closing.seq, closing.balance, self.after];
        numbers.map(i64::to_be_bytes).concat()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let numbers: &[u8; 40] = bytes.try_into().ok()?;
        let (numbers, _) = numbers.as_chunks::<8>();
        let mut numbers = numbers.iter().map(|number| i64::from_be_bytes(*number));
        let mut point = || Some(StatementPoint { seq: numbers.next()?, balance: numbers.next()? });
        let ends = StatementEnds { opening: point()?, closing: point()? };
        Some(Self { ends, after: numbers.next()? })
    }
}

impl CursorKey for Tag {
    fn to_bytes(&self) -> Vec<u8> {
        self.as_str().as_bytes().to_vec()
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        <String as CursorKey>::from_bytes(bytes).map(Self::stored)
    }
}

/// A cursor into `list` under `filter` that continues after `key`. `filter` is any text that differs for
/// different lists.
pub(crate) fn encode(seal: &CursorSeal, list: &str, filter: &str, key: &impl CursorKey) -> String {
    let sealed = seal.seal(&context(list, filter), &key.to_bytes());
    URL_SAFE_NO_PAD.encode([[VERSION].as_slice(), &sealed].concat())
}

/// The key in a cursor that [`encode`] made for the same list and filter; else 400 `invalid_request`.
pub(crate) fn decode<K: CursorKey>(
    seal: &CursorSeal,
    list: &str,
    filter: &str,
    text: &str,
) -> Result<K, ApiError> {
    parse(seal, list, filter, text)
        .ok_or_else(|| ApiError::invalid_part("/cursor", "not a cursor of this list and filter"))
}

fn parse<K: CursorKey>(seal: &CursorSeal, list: &str, filter: &str, text: &str) -> Option<K> {
    if text.len() > LONGEST {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (version, sealed) = bytes.split_first()?;
    if *version != VERSION {
        return None;
    }
    K::from_bytes(&seal.open(&context(list, filter), sealed)?)
}

/// The context that a cursor is bound to. No list's name contains NUL.
fn context(list: &str, filter: &str) -> Vec<u8> {
    [list.as_bytes(), &[0], filter.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use terrace_app::SecretKey;

    fn seal() -> CursorSeal {
        CursorSeal::new(&SecretKey::from_bytes([3; 32]))
    }

    fn time_key() -> impl Strategy<Value = TimeKey> {
        (any::<i64>(), any::<u128>())
            .prop_map(|(at, id)| TimeKey { at: Timestamp::from_micros(at), id: Uuid::from_u128(id) })
    }

    proptest! {
        #[test]
        fn a_cursor_is_read_back_by_its_own_list_and_filter_only(key in time_key(), filter in ".{0,20}") {
            let text = encode(&seal(), "feed", &filter, &key);
            prop_assert_eq!(decode::<TimeKey>(&seal(), "feed", &filter, &text).ok(), Some(key));
            prop_assert!(decode::<TimeKey>(&seal(), "comments", &filter, &text).is_err());
            let other = filter + "x";
            prop_assert!(decode::<TimeKey>(&seal(), "feed", &other, &text).is_err());
        }

        #[test]
        fn a_changed_cursor_is_refused(key in "[a-z]{1,30}", at in any::<prop::sample::Index>(), by in 1_u8..=255) {
            let text = encode(&seal(), "teams", "", &key);
            let mut bytes = URL_SAFE_NO_PAD.decode(&text).unwrap();
            let at = at.index(bytes.len());
            bytes[at] ^= by;
            prop_assert!(decode::<String>(&seal(), "teams", "", &URL_SAFE_NO_PAD.encode(&bytes)).is_err());
            let end = text.len() - 1;
            prop_assert!(decode::<String>(&seal(), "teams", "", &text[..end]).is_err());
        }

        #[test]
        fn any_text_is_refused_without_a_panic(text in ".{0,60}") {
            prop_assert!(decode::<TimeKey>(&seal(), "feed", "", &text).is_err());
        }

        /// Any bytes decode to a key that encodes to the same bytes, or to none.
        #[test]
        fn any_bytes_are_a_canonical_key_or_none(bytes in prop::collection::vec(any::<u8>(), 0..48)) {
            fn held<K: CursorKey>(bytes: &[u8]) -> bool {
                K::from_bytes(bytes).is_none_or(|key| key.to_bytes() == bytes)
            }
            let whole = |length: usize| bytes.get(..length).unwrap_or(&bytes).to_vec();
            for bytes in [bytes.clone(), whole(8), whole(16), whole(24), whole(32), whole(33), whole(40)] {
                prop_assert!(held::<TimeKey>(&bytes) && held::<UserId>(&bytes), "{:?}", bytes);
                prop_assert!(held::<TrendKey>(&bytes) && held::<RankKey>(&bytes), "{:?}", bytes);
                prop_assert!(held::<String>(&bytes) && held::<BoardPlace>(&bytes), "{:?}", bytes);
                prop_assert!(held::<Tag>(&bytes), "{:?}", bytes);
                prop_assert!(held::<StatementPlace>(&bytes), "{:?}", bytes);
                prop_assert!(held::<NamePlace>(&bytes) && held::<PostPlace>(&bytes), "{:?}", bytes);
            }
        }
    }

    #[test]
    fn a_cursor_of_another_kind_of_key_is_refused() {
        assert!(
            decode::<String>(&seal(), "teams", "", &encode(&seal(), "teams", "", &"a\0".to_owned())).is_err()
        );
        assert!(
            decode::<TimeKey>(&seal(), "feed", "", &encode(&seal(), "feed", "", &"short".to_owned()))
                .is_err()
        );
    }

    #[test]
    fn a_long_text_is_refused() {
        let error = decode::<String>(&seal(), "teams", "", &"A".repeat(5000)).unwrap_err();
        assert_eq!(
            (error.code().as_str(), error.errors()[0].pointer.as_str()),
            ("invalid_request", "/cursor")
        );
    }
}
