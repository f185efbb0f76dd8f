//! Profiles.

use crate::store::Query;
use crate::store::ReadTx;
use terrace_identity::{Account, AccountStatus, PublicProfile, Team};
use terrace_kernel::{Failure, Outcome, StoreError, Timestamp, UserId};
use terrace_scoring::Points;
use terrace_social::Relationship;

/// There is no such thing (any more), or none that may be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotFound;

/// One's own profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProfile {
    /// The account.
    pub account: Account,
    /// The favourite team.
    pub favorite_team: Option<Team>,
    /// All points that were ever earned, whatever the season.
    pub points: Points,
}

impl OwnProfile {
    /// Reads the profile of an account, whatever its status; three statements at most.
    pub(crate) fn read<T: ReadTx + ?Sized>(tx: &mut T, user: UserId) -> Result<Option<Self>, StoreError> {
        let Some(account) = tx.account(user)? else {
            return Ok(None);
        };
        let favorite_team = match account.favorite_team {
            Some(team) => tx.team(team)?,
            None => None,
        };
        let points = tx.points_of(user)?;
        Ok(Some(Self { account, favorite_team, points }))
    }
}

/// Finds one's own profile, while the account is active.
#[derive(Debug, Clone)]
pub struct GetOwnProfile {
    /// Whose.
    pub user: UserId,
}

impl Query for GetOwnProfile {
    const NAME: &'static str = "get_own_profile";
    type Output = OwnProfile;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<OwnProfile, NotFound> {
        OwnProfile::read(tx, self.user)?
            .filter(|profile| profile.account.status == AccountStatus::Active)
            .ok_or(Failure::Refused(NotFound))
    }
}

/// What everybody may see of somebody, and how they stand to who looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicView {
    /// The profile.
    pub profile: PublicProfile,
    /// The favourite team.
    pub favorite_team: Option<Team>,
    /// How they stand to who looks; nothing for who is signed out.
    pub ties: Relationship,
}

/// Finds the public profile of an active account that is not hidden from the reader.
#[derive(Debug, Clone)]
pub struct GetPublicProfile {
    /// Whose.
    pub user: UserId,
    /// Who looks.
    pub reader: Option<UserId>,
}

impl Query for GetPublicProfile {
    const NAME: &'static str = "get_public_profile";
    type Output = PublicView;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<PublicView, NotFound> {
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
        Ok(PublicView { profile, favorite_team, ties })
    }
}
