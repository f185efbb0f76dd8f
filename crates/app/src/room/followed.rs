//! Feeds assembled for one reader (spec §1 rule 6): of followed users and teams, and of the reader's own teams.

use crate::room::PostPage;
use crate::store::FeedReadTx;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_social::Gathered;

/// Up to this many followed users and teams, a page is gathered from each of them. A reader who follows more is
/// likely to find a full page among the newest posts of all.
const FEW: u32 = 32;

/// A page of the reader's followed feed, in at most four statements; `None` if it would be the first page and the
/// reader follows no one. A reader who pages on stays in this feed, whatever they follow in the meantime.
pub(crate) fn read_followed(
    tx: &mut dyn FeedReadTx,
    reader: UserId,
    limit: Limit,
    after: Option<TimeKey>,
) -> Result<Option<PostPage>, StoreError> {
    let followed = tx.followed_places(reader, FEW + 1)?;
    if after.is_none() && followed.are_none() {
        return Ok(None);
    }
    let newest = if followed.total() > FEW { tx.followed_among_newest(reader, limit, after)? } else { None };
    let places = match newest {
        Some(places) => places,
        None => tx.gather(Gathered::Followed, reader, limit, after)?,
    };
    fill(tx, reader, places).map(Some)
}

/// A page from the rooms of the reader's own teams, in two statements.
pub(crate) fn read_own_teams(
    tx: &mut dyn FeedReadTx,
    reader: UserId,
    limit: Limit,
    after: Option<TimeKey>,
) -> Result<PostPage, StoreError> {
    let places = tx.gather(Gathered::OwnTeams, reader, limit, after)?;
    fill(tx, reader, places)
}

fn fill(tx: &mut dyn FeedReadTx, reader: UserId, picked: Page<TimeKey>) -> Result<PostPage, StoreError> {
    let Page { items: places, next } = picked;
    let items = if places.is_empty() { Vec::new() } else { tx.posts_at(&places, reader)? };
    Ok(Page { items, next })
}
