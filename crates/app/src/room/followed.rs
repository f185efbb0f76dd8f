//! Feeds that are put together for one reader (spec §1 rule 6): of whom and what they follow, and of their own teams.

use crate::room::PostPage;
use crate::store::ReadTx;
use terrace_kernel::{Limit, Page, StoreError, TimeKey, UserId};
use terrace_social::Gathered;

/// From so few places a page is gathered at once. Who follows more likely finds one among everybody's newest posts.
const FEW: u32 = 32;

/// A page of what the reader follows, in at most four statements; none when it would be the first and they follow
/// nobody. A reader who pages on stays in the feed that they began with, whatever they follow meanwhile.
pub(crate) fn read_followed(
    tx: &mut dyn ReadTx,
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

/// A page of the reader's own teams' rooms, in two statements.
pub(crate) fn read_own_teams(
    tx: &mut dyn ReadTx,
    reader: UserId,
    limit: Limit,
    after: Option<TimeKey>,
) -> Result<PostPage, StoreError> {
    let places = tx.gather(Gathered::OwnTeams, reader, limit, after)?;
    fill(tx, reader, places)
}

fn fill(tx: &mut dyn ReadTx, reader: UserId, picked: Page<TimeKey>) -> Result<PostPage, StoreError> {
    let Page { items: places, next } = picked;
    let items = if places.is_empty() { Vec::new() } else { tx.posts_at(&places, reader)? };
    Ok(Page { items, next })
}
