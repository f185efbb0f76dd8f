//! Who follows whom, and whom one blocks (spec §1 rule 4).

use crate::accounts::NotFound;
use crate::store::Query;
use crate::store::ReadTx;
use std::convert::Infallible;
use terrace_identity::{AuthorCard, PublicProfile, Team};
use terrace_kernel::{Failure, Limit, Outcome, Page, TimeKey, Timestamp, UserId};
use terrace_social::{Blocked, FollowEdge, FollowedTeam};

/// Somebody's profile, if the reader may see it.
fn seen(tx: &mut dyn ReadTx, of: UserId, reader: UserId) -> Outcome<PublicProfile, NotFound> {
    let profile = tx.public_profile(of)?.ok_or(Failure::Refused(NotFound))?;
    if of != reader && tx.ties(reader, of)?.hidden {
        return Err(Failure::Refused(NotFound));
    }
    Ok(profile)
}

/// Reads who follows somebody, the newest first: two statements for one's own, three for another's.
#[derive(Debug, Clone)]
pub struct ListFollowers {
    /// Whose followers.
    pub of: UserId,
    /// Who reads.
    pub reader: UserId,
    /// How many.
    pub limit: Limit,
    /// After whom.
    pub after: Option<TimeKey>,
}

/// A page of followers, or of those who are followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FollowPage {
    /// Fans.
    pub page: Page<FollowEdge<AuthorCard>>,
    /// Teams: all on the first page, none on others.
    pub teams: Vec<FollowedTeam<Team>>,
    /// How many fans there are, those that the reader does not see included.
    pub total: i64,
}

impl Query for ListFollowers {
    const NAME: &'static str = "list_followers";
    type Output = FollowPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<FollowPage, NotFound> {
        let total = seen(tx, self.of, self.reader)?.follower_count;
        let page = tx.list_followers(self.of, self.reader, self.limit, self.after)?;
        Ok(FollowPage { page, teams: Vec::new(), total })
    }
}

/// Reads whom somebody follows, the newest first, and which teams: one statement more than [`ListFollowers`] on the
/// first page.
#[derive(Debug, Clone)]
pub struct ListFollowing {
    /// Whose.
    pub of: UserId,
    /// Who reads.
    pub reader: UserId,
    /// How many fans.
    pub limit: Limit,
    /// After whom.
    pub after: Option<TimeKey>,
}

impl Query for ListFollowing {
    const NAME: &'static str = "list_following";
    type Output = FollowPage;
    type Refusal = NotFound;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<FollowPage, NotFound> {
        let total = seen(tx, self.of, self.reader)?.following_count;
        let page = tx.list_followed(self.of, self.reader, self.limit, self.after)?;
        let teams = match self.after {
            None => tx.list_followed_teams(self.of)?,
            Some(_) => Vec::new(),
        };
        Ok(FollowPage { page, teams, total })
    }
}

/// Reads whom one blocks.
#[derive(Debug, Clone)]
pub struct ListBlocks {
    /// Who blocks.
    pub fan: UserId,
    /// How many.
    pub limit: Limit,
    /// After whom.
    pub after: Option<UserId>,
}

impl Query for ListBlocks {
    const NAME: &'static str = "list_blocks";
    type Output = Page<Blocked<AuthorCard>, UserId>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.list_blocked(self.fan, self.limit, self.after)?)
    }
}
