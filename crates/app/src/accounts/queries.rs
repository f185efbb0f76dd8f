//! Queries for own and public profiles.

use crate::store::{ProfileReadTx, PublicProfileReadTx, Query};
use terrace_identity::{Account, AccountStatus, PublicProfile, Team};
use terrace_kernel::{Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_ledger::Balance;
use terrace_quests::AchievementKey;
use terrace_scoring::Points;
use terrace_social::Relationship;

/// The resource does not exist (any more), or the reader may not see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotFound;

/// A user's own profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProfile {
    pub account: Account,
    /// The favourite team.
    pub favorite_team: Option<Team>,
    /// Sum of all points ever earned, across all seasons.
    pub points: Points,
    /// The balances; accounts that never received anything are left out.
    pub balances: Vec<Balance>,
    /// The number of unread notifications.
    pub unread: i64,
}

impl OwnProfile {
    /// Reads the profile of an account, whatever its status, in at most five statements.
    pub(crate) fn read(tx: &mut dyn ProfileReadTx, user: UserId) -> Result<Option<Self>, StoreError> {
        let Some(account) = tx.account(user)? else {
            return Ok(None);
        };
        let favorite_team = match account.favorite_team {
            Some(team) => tx.team(team)?,
            None => None,
        };
        let points = tx.points_of(user)?;
        let (balances, unread) = (tx.balances(user)?, tx.unread_notifications(user)?);
        Ok(Some(Self { account, favorite_team, points, balances, unread }))
    }
}

/// Reads a user's own profile. Refused if the account is not active.
#[derive(Debug, Clone)]
pub struct GetOwnProfile {
    /// The account to read.
    pub user: UserId,
}

impl Query for GetOwnProfile {
    const NAME: &'static str = "get_own_profile";
    type Ports = dyn ProfileReadTx;
    type Output = OwnProfile;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ProfileReadTx, _now: Timestamp) -> Outcome<OwnProfile, NotFound> {
        OwnProfile::read(tx, self.user)?
            .filter(|profile| profile.account.status == AccountStatus::Active)
            .ok_or(Failure::Refused(NotFound))
    }
}

/// The public profile of a user, and the reader's relationship to that user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicView {
    pub profile: PublicProfile,
    /// The favourite team.
    pub favorite_team: Option<Team>,
    /// The reader's relationship to the user; the default for a signed-out reader and for the user's own profile.
    pub ties: Relationship,
    /// Sum of all points ever earned, across all seasons.
    pub points: Points,
    /// The unlocked achievements, latest first.
    pub achievements: Vec<(AchievementKey, Timestamp)>,
}

/// Reads the public profile of an active account that is not hidden from the reader.
#[derive(Debug, Clone)]
pub struct GetPublicProfile {
    /// The account to read.
    pub user: UserId,
    /// The reader; `None` if signed out.
    pub reader: Option<UserId>,
}

impl Query for GetPublicProfile {
    const NAME: &'static str = "get_public_profile";
    type Ports = dyn PublicProfileReadTx;
    type Output = PublicView;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn PublicProfileReadTx, _now: Timestamp) -> Outcome<PublicView, NotFound> {
        let profile = tx.public_profile(self.user)?.ok_or(Failure::Refused(NotFound))?;
        let ties = match self.reader {
            Some(reader) if reader != self.user => tx.ties(reader, self.user)?,
            Some(_) | None => Relationship::default(),
        };
        if ties.hidden {
            return Err(Failure::Refused(NotFound));
        }
        let favorite_team = match profile.favorite_team {
            Some(team) => tx.team(team)?,
            None => None,
        };
        let mut achievements = tx.achievements_of(self.user)?;
        achievements.sort_unstable_by(|(key, at), (other, then)| {
            then.cmp(at).then_with(|| key.as_str().cmp(other.as_str()))
        });
        let points = tx.points_of(self.user)?;
        Ok(PublicView { profile, favorite_team, ties, points, achievements })
    }
}
