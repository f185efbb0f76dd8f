//! The order of the newest posts of the shared feeds, so that reading a page takes no statement.
//!
//! An order is read from the tables when pages of the feed are asked for often enough. It then follows the posts that
//! [`Changes`](terrace_app::store::Changes) notes as created. Posts that are no longer shown are found when a page is put
//! together, and removed then. After any other change the order is dropped.

use crate::error::ApiError;
use crate::platform::AsOf;
use crate::room::encoded_posts::EncodedPosts;
use crate::room::pages::LONGEST;
use moka::sync::Cache;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use terrace_app::App;
use terrace_app::room::ReadFeedKeys;
use terrace_app::store::into_infallible;
use terrace_kernel::TimeKey;
use terrace_social::FeedFilter;
use tokio::sync::Mutex;

/// Maximum number of feeds whose order is kept.
const MOST_FEEDS: u64 = 64;
/// The number of posts that are read of a feed. The order may grow by a quarter before its oldest posts are dropped.
const POSTS: u16 = 20_000;
/// An order is read after this many pages whose keys were read one page at a time, which takes about as long. So a feed that
/// is rarely read, or an order that is dropped often, does not cost much more than without orders.
const PAGES: u32 = 64;

/// The orders of feeds.
pub(super) struct FeedOrders(Cache<FeedFilter, Arc<FeedOrder>>);

impl FeedOrders {
    pub(super) fn new() -> Self {
        Self(Cache::new(MOST_FEEDS))
    }

    pub(super) fn of(&self, filter: FeedFilter) -> Arc<FeedOrder> {
        self.0.get_with(filter, || {
            let (order, pages, busy) = (RwLock::default(), AtomicU32::default(), Mutex::default());
            Arc::new(FeedOrder { filter, order, pages, busy })
        })
    }
}

/// The order of one feed.
pub(super) struct FeedOrder {
    filter: FeedFilter,
    order: RwLock<Option<Order>>,
    /// The number of pages that were read without an order since there was one.
    pages: AtomicU32,
    /// Held while the order is read or follows new posts.
    busy: Mutex<()>,
}

#[derive(Debug)]
struct Order {
    /// The oldest first.
    keys: Vec<TimeKey>,
    /// Whether the feed has no older posts.
    is_whole: bool,
    as_of: AsOf,
    /// The number of created posts that it has followed.
    created: u64,
}

/// Part of an order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Keys {
    /// The newest first.
    pub(super) keys: Vec<TimeKey>,
    /// The number of the last change before the order was read.
    pub(super) changes: u64,
}

impl FeedOrder {
    /// Up to `most` keys after `after`; fewer mean the end of the feed. `None` if they have to be read.
    pub(super) async fn keys(
        &self,
        app: &App,
        posts: &EncodedPosts,
        most: usize,
        after: Option<TimeKey>,
    ) -> Result<Option<Keys>, ApiError> {
        let current = self.read(|order| order.is_current(app).then(|| order.keys(most, after)));
        if let Some(keys) = current {
            return Ok(keys);
        }
        // Another request is at it, and this one does not wait.
        let Ok(_busy) = self.busy.try_lock() else { return Ok(None) };
        if !self.follow(app, posts).await? {
            if self.pages.fetch_add(1, Ordering::Relaxed) < PAGES {
                return Ok(None);
            }
            self.load(app).await?;
        }
        Ok(self.read(|order| order.keys(most, after)))
    }

    /// Removes posts that are not shown. They are only shown again after a change that makes the order stale.
    pub(super) fn remove(&self, gone: &[TimeKey], changes: u64) {
        self.write(|order| {
            if let Some(order) = order.as_mut().filter(|order| order.as_of.changes == changes) {
                for key in gone {
                    order.remove(*key);
                }
            }
        });
    }

    /// Adds the posts that were created since; returns whether the order is current then.
    async fn follow(&self, app: &App, posts: &EncodedPosts) -> Result<bool, ApiError> {
        let known = self.read(|order| order.is_readable(app).then_some(order.created));
        let Some((ids, created)) = known.and_then(|known| app.changes().created_after(known)) else {
            return Ok(false);
        };
        let team = match self.filter {
            FeedFilter::All => None,
            FeedFilter::Team(team) => Some(team),
        };
        let shown = posts.among(app, ids.into_iter()).await?.into_iter().flatten();
        let own = shown.filter(|post| team.is_none() || post.team == team);
        self.write(|order| {
            if let Some(order) = order {
                own.for_each(|post| order.add(post.key));
                order.created = created;
            }
        });
        Ok(true)
    }

    async fn load(&self, app: &App) -> Result<(), ApiError> {
        let (as_of, created) = (AsOf::now(app.changes().latest()), app.changes().created());
        let read = ReadFeedKeys { filter: self.filter, most: POSTS, after: None };
        let mut keys = into_infallible(app.query(read).await)?;
        let is_whole = keys.len() < usize::from(POSTS);
        keys.reverse();
        self.write(|order| *order = Some(Order { keys, is_whole, as_of, created }));
        self.pages.store(0, Ordering::Relaxed);
        Ok(())
    }

    fn read<T>(&self, ask: impl FnOnce(&Order) -> Option<T>) -> Option<T> {
        self.order.read().unwrap_or_else(PoisonError::into_inner).as_ref().and_then(ask)
    }

    fn write(&self, change: impl FnOnce(&mut Option<Order>)) {
        change(&mut self.order.write().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Order {
    /// Whether everything that was not followed yet is created posts.
    fn is_readable(&self, app: &App) -> bool {
        app.changes().is_order_current(self.as_of.changes) && self.as_of.is_within(LONGEST)
    }

    fn is_current(&self, app: &App) -> bool {
        self.is_readable(app) && app.changes().created() == self.created
    }

    fn keys(&self, most: usize, after: Option<TimeKey>) -> Option<Keys> {
        let end = after.map_or(self.keys.len(), |after| self.keys.partition_point(|key| *key < after));
        let keys = self.keys.get(end.saturating_sub(most)..end)?;
        (self.is_whole || keys.len() == most)
            .then(|| Keys { keys: keys.iter().rev().copied().collect(), changes: self.as_of.changes })
    }

    fn add(&mut self, key: TimeKey) {
        if let Err(place) = self.keys.binary_search(&key)
            // Other posts may lie between this one and the oldest that was read.
            && (place > 0 || self.is_whole)
        {
            self.keys.insert(place, key);
            let posts = usize::from(POSTS);
            if self.keys.len() > posts + posts / 4 {
                self.keys.drain(..self.keys.len() - posts);
                self.is_whole = false;
            }
        }
    }

    fn remove(&mut self, key: TimeKey) {
        if let Ok(place) = self.keys.binary_search(&key) {
            self.keys.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_kernel::{Timestamp, Uuid};

    fn key(number: u16) -> TimeKey {
        TimeKey { at: Timestamp::from_micros(i64::from(number / 10)), id: Uuid::from_u128(number.into()) }
    }

    fn order(numbers: impl IntoIterator<Item = u16>, is_whole: bool) -> Order {
        let keys = numbers.into_iter().map(key).collect();
        Order { keys, is_whole, as_of: AsOf::now(0), created: 0 }
    }

    fn read(order: &Order, most: usize, after: Option<u16>) -> Option<Vec<u128>> {
        let keys = order.keys(most, after.map(key))?.keys;
        Some(keys.into_iter().map(|key| key.id.as_u128()).collect())
    }

    #[test]
    fn a_part_is_as_long_as_asked_for_and_shorter_at_the_end() {
        let whole = order([1, 2, 3, 12, 25], true);
        assert_eq!(read(&whole, 3, None).unwrap(), [25, 12, 3]);
        assert_eq!(read(&whole, 3, Some(3)).unwrap(), [2, 1]);
        assert_eq!(read(&whole, 3, Some(4)).unwrap(), [3, 2, 1], "the post of the cursor may be gone");
        assert_eq!(read(&whole, 3, Some(1)).unwrap(), []);
        let part = order([1, 2, 3, 12, 25], false);
        assert_eq!(read(&part, 3, Some(12)).unwrap(), [3, 2, 1]);
        assert_eq!(read(&part, 3, Some(3)), None, "older posts were not read");
        assert_eq!(read(&order([], true), 3, None).unwrap(), []);
    }

    #[test]
    fn posts_are_added_once_in_their_place_and_removed() {
        let mut whole = order([2, 12], true);
        for number in [25, 5, 12, 1, 25] {
            whole.add(key(number));
        }
        assert_eq!(read(&whole, 10, None).unwrap(), [25, 12, 5, 2, 1]);
        [5, 7].map(key).into_iter().for_each(|key| whole.remove(key));
        assert_eq!(read(&whole, 10, None).unwrap(), [25, 12, 2, 1]);
        let mut part = order([2, 12], false);
        part.add(key(1));
        part.add(key(3));
        assert_eq!(read(&part, 3, None).unwrap(), [12, 3, 2], "what is older than all was not read");
    }

    #[test]
    fn an_order_that_grows_drops_its_oldest_posts() {
        let mut whole = order(0..POSTS, true);
        (POSTS..2 * POSTS).for_each(|number| whole.add(key(number)));
        assert!((usize::from(POSTS)..=usize::from(POSTS) * 5 / 4).contains(&whole.keys.len()));
        assert_eq!(read(&whole, 2, None).unwrap(), [39_999, 39_998]);
        assert_eq!(read(&whole, 2, Some(100)), None);
    }
}
