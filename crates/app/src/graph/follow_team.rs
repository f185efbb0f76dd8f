//! Follows a team, or does so no more (spec §1 rule 6). The favourite team of a profile is another thing: neither
//! needs or changes the other.

use crate::graph::follow_user::Following;
use crate::store::Command;
use crate::store::Tx;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, TeamId, Topic, UserId};

/// Follows a team; who does so already goes on, and nothing happens.
#[derive(Debug, Clone)]
pub struct FollowTeam {
    /// Who follows.
    pub fan: UserId,
    /// Which team.
    pub team: TeamId,
}

/// Follows a team no more; who does not follow it goes on like that, and nothing happens.
#[derive(Debug, Clone)]
pub struct UnfollowTeam {
    /// Who followed.
    pub fan: UserId,
    /// Which team.
    pub team: TeamId,
}

/// Why a team is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowTeamRefusal {
    /// No team has this id.
    UnknownTeam,
    /// The fan's account was deleted or suspended meanwhile.
    NotActive,
}

impl Command for FollowTeam {
    const NAME: &'static str = "follow_team";
    type Output = Following;
    type Refusal = FollowTeamRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Following, FollowTeamRefusal> {
        let changed = tx.insert_team_follow(self.fan, self.team, ctx.now())?;
        if !changed && tx.public_profile(self.fan)?.is_none() {
            return Err(Failure::Refused(FollowTeamRefusal::NotActive));
        }
        let told = changed.then_some(EventKind::TeamFollowed);
        Ok(Following { following: true, follower_count: count(tx, ctx, self.fan, self.team, told, 1)? })
    }
}

impl Command for UnfollowTeam {
    const NAME: &'static str = "unfollow_team";
    type Output = Following;
    type Refusal = FollowTeamRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Following, FollowTeamRefusal> {
        let changed = tx.delete_team_follow(self.fan, self.team)?;
        let told = changed.then_some(EventKind::TeamUnfollowed);
        Ok(Following { following: false, follower_count: count(tx, ctx, self.fan, self.team, told, -1)? })
    }
}

/// Tells what changed, if anything did, and counts it: last, because a popular team's row is locked by it. Says how
/// many follow now.
fn count(
    tx: &mut dyn Tx,
    ctx: &Ctx,
    fan: UserId,
    team: TeamId,
    told: Option<EventKind>,
    by: i64,
) -> Outcome<i64, FollowTeamRefusal> {
    let unknown = || Failure::Refused(FollowTeamRefusal::UnknownTeam);
    let Some(kind) = told else {
        return Ok(tx.team(team)?.ok_or_else(unknown)?.follower_count);
    };
    tell(tx, ctx, kind, fan, team)?;
    tx.add_to_team_followers(team, by)?.ok_or_else(unknown)
}

fn tell(tx: &mut dyn Tx, ctx: &Ctx, kind: EventKind, fan: UserId, team: TeamId) -> Result<(), StoreError> {
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
