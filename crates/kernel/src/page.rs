//! Pages of lists that have a total order.

use crate::Timestamp;
use uuid::Uuid;

/// The maximum number of rows in a page: 1 to 100, 25 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(u8);

/// The requested limit is not between 1 and 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("limit must be 1 to 100")]
pub struct LimitOutOfRange;

impl Limit {
    /// The highest limit, 100 rows.
    pub const MAX: Self = Self(100);

    /// Creates a limit of 1 to 100 rows.
    pub fn new(rows: i64) -> Result<Self, LimitOutOfRange> {
        match u8::try_from(rows) {
            Ok(rows) if (1..=100).contains(&rows) => Ok(Self(rows)),
            _ => Err(LimitOutOfRange),
        }
    }

    /// The number of rows.
    pub const fn rows(self) -> u8 {
        self.0
    }
}

impl Default for Limit {
    fn default() -> Self {
        Self(25)
    }
}

/// The sort key of a row in a list ordered by creation time, with the id as the tie-breaker. Neither value ever
/// changes, so a reader who pages by this key sees every row that existed at the first page exactly once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeKey {
    /// The time at which the row was created.
    pub at: Timestamp,
    /// Id of the row.
    pub id: Uuid,
}

/// A part of a list, with the key at which the next page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, K = TimeKey> {
    /// The rows, in the order of the list.
    pub items: Vec<T>,
    /// The sort key of the last row of this page if more rows follow.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// Creates a page from up to `limit + 1` rows. The extra row only shows that more rows follow, and is dropped.
    pub fn from_overfull(mut rows: Vec<T>, limit: Limit, key: impl Fn(&T) -> K) -> Self {
        let limit = usize::from(limit.rows());
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = if more { rows.last().map(key) } else { None };
        Self { items: rows, next }
    }

    /// Converts each row and keeps the key of the next page.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U, K> {
        Page { items: self.items.into_iter().map(convert).collect(), next: self.next }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_points_on_only_when_more_follows() {
        let limit = Limit::new(2).unwrap();
        let full = Page::from_overfull(vec![1, 2, 3], limit, |row| *row);
        assert_eq!(full, Page { items: vec![1, 2], next: Some(2) });
        let last = Page::from_overfull(vec![1, 2], limit, |row| *row);
        assert_eq!(last, Page { items: vec![1, 2], next: None });
    }

    #[test]
    fn limits_are_1_to_100() {
        assert!(Limit::new(0).is_err() && Limit::new(101).is_err() && Limit::new(-1).is_err());
        assert_eq!(Limit::new(100).map(Limit::rows), Ok(100));
        assert_eq!(Limit::default().rows(), 25);
    }
}
