//! The steps of the graph in the erasure of an account. Each step updates the counters of the other accounts and appends
//! an event for each edge, as if it had been ended, so that the log alone is enough to derive the graph.

use crate::account_data::{ErasureStep, append_events};
use crate::store::ErasureTx;
use terrace_kernel::{Ctx, EventKind, NewEvent, StoreError, TeamId, Topic, UserId};
use terrace_social::{Erased, ErasedFollow};

/// The follows of teams are last, because that step locks teams.
pub(crate) const ERASURE: &[ErasureStep] = &[followed, followers, blocks, dismissals, teams];

fn followed(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let followed = tx.erase_followed(user, limit)?;
    append_unfollowed(tx, ctx, followed, limit)
}

fn followers(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let followers = tx.erase_followers(user, limit)?;
    append_unfollowed(tx, ctx, followers, limit)
}

/// Appends the events of a step that locks other accounts. A transaction locks other accounts only once; a second set of
/// locks would break the lock order.
fn append_unfollowed(
    tx: &mut dyn ErasureTx,
    ctx: &Ctx,
    edges: Erased<ErasedFollow>,
    limit: u32,
) -> Result<u32, StoreError> {
    append_events(tx, ctx, edges.reported.into_iter().map(unfollowed))?;
    Ok(if edges.found > 0 { limit } else { 0 })
}

fn blocks(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.erase_blocks(user, limit)
}

fn dismissals(tx: &mut dyn ErasureTx, _ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    tx.erase_dismissals(user, limit)
}

fn teams(tx: &mut dyn ErasureTx, ctx: &Ctx, user: UserId, limit: u32) -> Result<u32, StoreError> {
    let teams = tx.erase_team_follows(user, limit)?;
    append_events(tx, ctx, teams.reported.into_iter().map(|team| team_unfollowed(user, team)))?;
    Ok(teams.found)
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
