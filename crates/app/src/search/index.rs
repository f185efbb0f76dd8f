//! Keeps the search index in line with accounts and posts.

use crate::platform::{Consumer, Handle};
use crate::store::EventRead;
use terrace_kernel::{EventKind, PostId, StoreError, Timestamp, UserId};

/// Indexes the names of the accounts that are the subjects of these events, as they are now.
pub const INDEX_NAMES: Consumer = Consumer {
    name: "index-names",
    follows: &[EventKind::AccountRegistered, EventKind::ProfileChanged, EventKind::AccountDeleted],
    handle: Handle::Many(|tx, _, events| {
        let users: Vec<UserId> = events.iter().map(|event| UserId::from_uuid(event.what.subject)).collect();
        tx.index_users(&users).map(drop)
    }),
};

/// Indexes the posts that are the subjects of these events, as they are now.
pub const INDEX_POSTS: Consumer = Consumer {
    name: "index-posts",
    follows: &[EventKind::PostCreated, EventKind::PostEdited, EventKind::PostDeleted],
    handle: Handle::Many(|tx, _, events| {
        let posts: Vec<PostId> = events.iter().map(|event| PostId::from_uuid(event.what.subject)).collect();
        tx.index_posts(&posts).map(drop)
    }),
};

/// The time of the first event that the consumer has yet to process: what changed from then on may not be indexed.
///
/// # Errors
///
/// When the store is unavailable.
pub fn changed_since(tx: &mut dyn EventRead, consumer: Consumer) -> Result<Option<Timestamp>, StoreError> {
    let (after, head) = tx.consumer_position_and_head(consumer.name)?;
    Ok(tx.events_of(consumer.follows, after, head, 1)?.first().map(|event| event.at))
}
