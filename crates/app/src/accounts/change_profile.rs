//! Changes the caller's own profile.

use crate::accounts::OwnProfile;
use crate::execute::present;
use crate::store::{Command, ProfileTx};
use terrace_identity::ProfileChange;
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, Topic, UserId};

/// Changes the fields set in `change` and leaves the rest.
#[derive(Debug, Clone)]
pub struct ChangeProfile {
    /// Owner of the profile.
    pub user: UserId,
    /// The fields to change.
    pub change: ProfileChange,
}

/// Why a profile was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeProfileRefusal {
    /// No team has this id.
    UnknownTeam,
    /// The account was deleted or suspended.
    NoAccount,
}

impl Command for ChangeProfile {
    const NAME: &'static str = "change_profile";
    type Ports = dyn ProfileTx;
    type Output = OwnProfile;
    type Refusal = ChangeProfileRefusal;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn ProfileTx, ctx: &mut Ctx) -> Outcome<OwnProfile, ChangeProfileRefusal> {
        if let Some(Some(team)) = self.change.favorite_team
            && tx.team(team)?.is_none_or(|team| team.is_retired)
        {
            return Err(Failure::Refused(ChangeProfileRefusal::UnknownTeam));
        }
        if !self.change.is_empty() {
            if !tx.change_profile(self.user, &self.change, ctx.now())? {
                return Err(Failure::Refused(ChangeProfileRefusal::NoAccount));
            }
            if let Some(zone) = self.change.time_zone
                && let Some((_, Some(visits))) = tx.visits_and_zone(self.user)?
            {
                // The new time zone takes effect at the next midnight of the old one.
                tx.put_visits(self.user, &visits.in_zone(zone.tz(), ctx.now()), visits.last_paid)?;
            }
            if self.change.leaderboard_visible.is_some() {
                tx.relist(self.user, ctx.now())?;
            }
            tx.append(
                &NewEvent {
                    topic: Topic::Account,
                    kind: EventKind::ProfileChanged,
                    actor: Some(self.user),
                    team: None,
                    subject: self.user.as_uuid(),
                    object: None,
                },
                ctx.now(),
            )?;
        }
        present(OwnProfile::read(tx, self.user)?, "read a profile")
    }
}
