//! Erases what a deleted account left behind. Nothing of it is shown in the meantime.

use crate::platform::{PORTION, Progress};
use crate::store::Tx;
use terrace_kernel::{Ctx, Event, EventKind, NewEvent, StoreError, TeamId, Topic, UserId};
use terrace_social::{ErasedComment, ErasedFollow, ErasedPost};

/// Removes one portion of the account's data. Appends the same event for each row as an ordinary removal would, so
/// that clients which show the row are notified. Posts are marked as deleted; the job that removes deleted posts
/// then removes them with everything that refers to them. Reports are removed too: their reasons are text written
/// by the reporter.
pub(crate) fn erase_account(tx: &mut dyn Tx, ctx: &mut Ctx, event: &Event) -> Result<Progress, StoreError> {
    let user = UserId::from_uuid(event.what.subject);
    Ok(if erase_left(tx, ctx, user)? { Progress::Done } else { Progress::More })
}

/// Removes one portion of a deleted account's data; returns whether nothing is left.
pub(crate) fn erase_left(tx: &mut dyn Tx, ctx: &mut Ctx, user: UserId) -> Result<bool, StoreError> {
    let mut portion = Portion { left: PORTION };

    let posts = tx.erase_posts(user, portion.left, ctx.now())?;
    append_events(tx, ctx, posts.reported.into_iter().map(|post| post_deleted(user, post)))?;
    if portion.is_spent(posts.found) {
        return Ok(false);
    }
    let comments = tx.erase_comments(user, portion.left)?;
    append_events(tx, ctx, comments.reported.into_iter().map(|comment| comment_deleted(user, comment)))?;
    if portion.is_spent(comments.found) {
        return Ok(false);
    }
    let reactions = tx.erase_reactions(user, portion.left)?;
    append_events(tx, ctx, reactions.reported.into_iter().map(|post| reaction_changed(user, post)))?;
    if portion.is_spent(reactions.found) {
        return Ok(false);
    }
    let reports = tx.erase_reports(user, portion.left)?;
    if portion.is_spent(reports) {
        return Ok(false);
    }
    if erase_graph(tx, ctx, user, &mut portion)? {
        return Ok(false);
    }
    let sessions = tx.remove_sessions_of(user, portion.left)?;
    if portion.is_spent(u32::try_from(sessions).unwrap_or(u32::MAX)) {
        return Ok(false);
    }
    let keys = tx.remove_keys_of(user, portion.left)?;
    if portion.is_spent(u32::try_from(keys).unwrap_or(u32::MAX)) {
        return Ok(false);
    }
    // An upload may have been in progress when the account was closed.
    tx.remove_uploads_of(user)?;
    Ok(true)
}

/// Removes the account's edges of the graph and updates the counters of the other accounts; returns whether the
/// portion is used up. Appends an event for each edge, as if it had been ended, so that the log alone is enough to
/// derive the graph.
fn erase_graph(tx: &mut dyn Tx, ctx: &Ctx, user: UserId, portion: &mut Portion) -> Result<bool, StoreError> {
    let followed = tx.erase_followed(user, portion.left)?;
    append_events(tx, ctx, followed.reported.into_iter().map(unfollowed))?;
    // A transaction locks other accounts only once; a second set of locks would break the lock order.
    if followed.found > 0 {
        return Ok(true);
    }
    let followers = tx.erase_followers(user, portion.left)?;
    append_events(tx, ctx, followers.reported.into_iter().map(unfollowed))?;
    if followers.found > 0 {
        return Ok(true);
    }
    let blocks = tx.erase_blocks(user, portion.left)?;
    if portion.is_spent(blocks) {
        return Ok(true);
    }
    let dismissals = tx.erase_dismissals(user, portion.left)?;
    if portion.is_spent(dismissals) {
        return Ok(true);
    }
    // Last, because it locks teams.
    let teams = tx.erase_team_follows(user, portion.left)?;
    append_events(tx, ctx, teams.reported.into_iter().map(|team| team_unfollowed(user, team)))?;
    Ok(portion.is_spent(teams.found))
}

/// Rows that this transaction may still remove.
struct Portion {
    left: u32,
}

impl Portion {
    /// Subtracts the removed rows. If the limit is reached there may be more rows of this kind.
    fn is_spent(&mut self, removed: u32) -> bool {
        self.left = self.left.saturating_sub(removed);
        self.left == 0
    }
}

fn append_events(
    tx: &mut dyn Tx,
    ctx: &Ctx,
    events: impl Iterator<Item = NewEvent>,
) -> Result<(), StoreError> {
    tx.append_all(&events.collect::<Vec<_>>(), ctx.now())
}

fn post_deleted(actor: UserId, ErasedPost { post, team }: ErasedPost) -> NewEvent {
    NewEvent {
        topic: Topic::LockerRoom,
        kind: EventKind::PostDeleted,
        actor: Some(actor),
        team,
        subject: post.as_uuid(),
        object: None,
    }
}

fn comment_deleted(actor: UserId, ErasedComment { post, team, comment }: ErasedComment) -> NewEvent {
    NewEvent {
        kind: EventKind::CommentDeleted,
        object: Some(comment.as_uuid()),
        ..post_deleted(actor, ErasedPost { post, team })
    }
}

fn reaction_changed(actor: UserId, post: ErasedPost) -> NewEvent {
    NewEvent { kind: EventKind::ReactionChanged, ..post_deleted(actor, post) }
}

fn unfollowed(ErasedFollow { follower, followee }: ErasedFollow) -> NewEvent {
    NewEvent {
        topic: Topic::Graph,
        kind: EventKind::UserUnfollowed,
        actor: Some(follower),
        team: None,
        subject: followee.as_uuid(),
        object: None,
    }
}

fn team_unfollowed(fan: UserId, team: TeamId) -> NewEvent {
    NewEvent {
        topic: Topic::Graph,
        kind: EventKind::TeamUnfollowed,
        actor: Some(fan),
        team: None,
        subject: team.as_uuid(),
        object: None,
    }
}
