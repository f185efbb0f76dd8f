//! Lists of followers, follows and blocks (spec §1 rule 4).

use crate::accounts::NotFound;
use crate::store::{FollowingReadTx, GraphReadTx, Query};
use std::convert::Infallible;
use terrace_identity::{AuthorCard, PublicProfile, Team};
use terrace_kernel::{Failure, Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_social::{Blocked, FollowEdge, FollowedTeam};

/// The profile of `of`, if the reader may see it.
fn seen(tx: &mut dyn GraphReadTx, of: UserId, reader: UserId) -> Outcome<PublicProfile, NotFound> {
    let profile = tx.public_profile(of)?.ok_or(Failure::Refused(NotFound))?;
    if of != reader && tx.ties(reader, of)?.hidden {
        return Err(Failure::Refused(NotFound));
    }
    Ok(profile)
}

/// Lists a user's followers, newest first: two statements for the reader's own list, three for another user's.
#[derive(Debug, Clone)]
pub struct ListFollowers {
    /// The followed user.
    pub of: UserId,
    pub reader: UserId,
    /// Maximum number of followers.
    pub limit: Limit,
    /// Keyset position after which the page starts.
    pub after: Option<TimeKey>,
}

/// A page of followers, or of followed users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowPage {
    /// The users of this page.
    pub page: Page<FollowEdge<AuthorCard>>,
    /// Followed teams: all of them on the first page, none on later pages.
    pub teams: Vec<FollowedTeam<Team>>,
    /// Total number of users, including those hidden from the reader.
    pub total: i64,
}

impl Query for ListFollowers {
    const NAME: &'static str = "list_followers";
    type Ports = dyn GraphReadTx;
    type Output = FollowPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn GraphReadTx, _now: Timestamp) -> Outcome<FollowPage, NotFound> {
        let total = seen(tx, self.of, self.reader)?.follower_count;
        let page = tx.list_followers(self.of, self.reader, self.limit, self.after)?;
        Ok(FollowPage { page, teams: Vec::new(), total })
    }
}

/// Lists the users that a user follows, newest first, and the followed teams: one statement more than
/// [`ListFollowers`] on the first page.
#[derive(Debug, Clone)]
pub struct ListFollowing {
    /// The follower.
    pub of: UserId,
    pub reader: UserId,
    /// Maximum number of users.
    pub limit: Limit,
    /// Keyset position after which the page starts.
    pub after: Option<TimeKey>,
}

impl Query for ListFollowing {
    const NAME: &'static str = "list_following";
    type Ports = dyn FollowingReadTx;
    type Output = FollowPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn FollowingReadTx, _now: Timestamp) -> Outcome<FollowPage, NotFound> {
        let total = seen(tx, self.of, self.reader)?.following_count;
        let page = tx.list_followed(self.of, self.reader, self.limit, self.after)?;
        let teams = match self.after {
            None => tx.list_followed_teams(self.of)?,
            Some(_) => Vec::new(),
        };
        Ok(FollowPage { page, teams, total })
    }
}

/// Lists the users that a user blocks.
#[derive(Debug, Clone)]
pub struct ListBlocks {
    /// The user who blocks.
    pub fan: UserId,
    /// Maximum number of blocks.
    pub limit: Limit,
    /// Id of the blocked user after which the page starts.
    pub after: Option<UserId>,
}

impl Query for ListBlocks {
    const NAME: &'static str = "list_blocks";
    type Ports = dyn GraphReadTx;
    type Output = Page<Blocked<AuthorCard>, UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn GraphReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.list_blocked(self.fan, self.limit, self.after)?)
    }
}
