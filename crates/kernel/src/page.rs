//! Pages of lists whose order is total.

use crate::Timestamp;
use uuid::Uuid;

/// How many rows a page may hold: 1 to 100, 25 unless asked otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(u8);

/// A page holds 1 to 100 rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("limit must be 1 to 100")]
pub struct LimitOutOfRange;

impl Limit {
    /// As many rows as a page may hold.
    pub const MAX: Self = Self(100);

    /// Accepts 1 to 100.
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

/// The sort values of a row in a list ordered by time of creation, with the id as the last tie-breaker. Both
/// never change, so a reader who pages by them sees every row that existed at the first page exactly once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeKey {
    /// When the row was created.
    pub at: Timestamp,
    /// The row's id.
    pub id: Uuid,
}

/// Some rows of a list, and where the next page starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, K = TimeKey> {
    /// The rows in the list's order.
    pub items: Vec<T>,
    /// The sort values of the last row here, when more rows follow it.
    pub next: Option<K>,
}

impl<T, K> Page<T, K> {
    /// Makes a page from up to `limit + 1` rows: the extra one only tells that more follow.
    pub fn from_overfull(mut rows: Vec<T>, limit: Limit, key: impl Fn(&T) -> K) -> Self {
        let limit = usize::from(limit.rows());
        let more = rows.len() > limit;
        rows.truncate(limit);
        let next = if more { rows.last().map(key) } else { None };
        Self { items: rows, next }
    }

    /// The same page with each row converted.
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
