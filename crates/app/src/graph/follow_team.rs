//! Follows or unfollows a team (spec §1 rule 6). The favourite team of a profile is independent: neither requires or
//! changes the other.

use crate::graph::follow_user::Following;
use crate::store::{Command, TeamFollowTx};
use terrace_kernel::{
    Ctx, EventKind, EventLog, Failure, NewEvent, Outcome, StoreError, TeamId, Topic, UserId,
};

/// Follows a team; no effect if already followed.
#[derive(Debug, Clone)]
pub struct FollowTeam {
    /// The follower.
    pub fan: UserId,
    pub team: TeamId,
}

/// Unfollows a team; no effect if not followed.
#[derive(Debug, Clone)]
pub struct UnfollowTeam {
    /// The follower.
    pub fan: UserId,
    pub team: TeamId,
}

/// Why a team is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowTeamRefusal {
    /// No team has this id.
    UnknownTeam,
    /// The fan's account was deleted or suspended after the request was authenticated.
    NotActive,
}

impl Command for FollowTeam {
    const NAME: &'static str = "follow_team";
    type Ports = dyn TeamFollowTx;
    type Output = Following;
    type Refusal = FollowTeamRefusal;

    fn run(&self, tx: &mut dyn TeamFollowTx, ctx: &mut Ctx) -> Outcome<Following, FollowTeamRefusal> {
        let changed = tx.insert_team_follow(self.fan, self.team, ctx.now())?;
        if !changed && tx.public_profile(self.fan)?.is_none() {
            return Err(Failure::Refused(FollowTeamRefusal::NotActive));
        }
        let event = changed.then_some(EventKind::TeamFollowed);
        Ok(Following { following: true, follower_count: count(tx, ctx, self.fan, self.team, event, 1)? })
    }
}

impl Command for UnfollowTeam {
    const NAME: &'static str = "unfollow_team";
    type Ports = dyn TeamFollowTx;
    type Output = Following;
    type Refusal = FollowTeamRefusal;

    fn run(&self, tx: &mut dyn TeamFollowTx, ctx: &mut Ctx) -> Outcome<Following, FollowTeamRefusal> {
        let changed = tx.delete_team_follow(self.fan, self.team)?;
        let event = changed.then_some(EventKind::TeamUnfollowed);
        Ok(Following { following: false, follower_count: count(tx, ctx, self.fan, self.team, event, -1)? })
    }
}

/// Appends the event, if anything changed, and updates the counter; returns the number of followers. Called last,
/// because it locks the row of a possibly popular team.
fn count(
    tx: &mut dyn TeamFollowTx,
    ctx: &Ctx,
    fan: UserId,
    team: TeamId,
    event: Option<EventKind>,
    by: i64,
) -> Outcome<i64, FollowTeamRefusal> {
    let unknown = || Failure::Refused(FollowTeamRefusal::UnknownTeam);
    let Some(kind) = event else {
        return Ok(tx.team(team)?.ok_or_else(unknown)?.follower_count);
    };
    append_event(tx, ctx, kind, fan, team)?;
    tx.add_to_team_followers(team, by)?.ok_or_else(unknown)
}

fn append_event(
    tx: &mut dyn EventLog,
    ctx: &Ctx,
    kind: EventKind,
    fan: UserId,
    team: TeamId,
) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Graph,
        kind,
        actor: Some(fan),
        team: None,
        subject: team.as_uuid(),
        object: None,
    };
    tx.append(&event, ctx.now())
}
