//! Feeds: the posts that they contain, and the port that reads them (spec §1 rules 1 and 6).

use crate::{PostView, Tag};
use terrace_kernel::{Limit, Page, StoreError, TeamId, TimeKey, UserId};

/// The posts of a feed that a single index serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedFilter {
    /// The posts of all authors.
    All,
    /// The posts in the room of a team.
    Team(TeamId),
}

/// A reader's own feed, which is merged from several sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathered {
    /// The posts of people that the reader follows, the posts in the rooms of teams that the reader follows, and the
    /// reader's own posts.
    Followed,
    /// The posts in the rooms of the reader's own teams: those that the reader follows, and the favourite.
    OwnTeams,
}

/// The number of sources of a reader's followed feed; each kind is counted up to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowedPlaces {
    /// How many followed people have active accounts.
    pub people: u32,
    /// How many teams are followed.
    pub teams: u32,
}

impl FollowedPlaces {
    /// Whether the reader follows neither people nor teams.
    pub const fn are_none(self) -> bool {
        self.people == 0 && self.teams == 0
    }

    /// The number of sources, not counting the reader's own posts.
    pub const fn total(self) -> u32 {
        self.people.saturating_add(self.teams)
    }
}

/// Reads lists of posts, newest first, after `after`, with `reader`'s own reactions. `A` is the card of an author. A list
/// contains posts that are not deleted, by active authors.
pub trait PostListRead<A> {
    /// The posts with a tag whose authors are not hidden from `reader`.
    fn posts_tagged(
        &mut self,
        tag: &Tag,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<A>>, StoreError>;

    /// The posts of an author, who is not hidden from `reader`.
    fn posts_by(
        &mut self,
        author: UserId,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<A>>, StoreError>;
}

/// Reads feeds. `A` is the card of an author. A feed contains posts that are not deleted, by active authors that no
/// block hides from the reader, newest first. Other posts are filtered before the page is cut, so that pages are full.
pub trait FeedRead<A> {
    /// A page after `after`, including `reader`'s own reactions.
    fn feed(
        &mut self,
        filter: FeedFilter,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<A>>, StoreError>;

    /// The keys after `after` of posts that are not deleted, newest first, at most `most`, whether or not their authors are
    /// active or hidden from a reader.
    fn feed_keys(
        &mut self,
        filter: FeedFilter,
        most: u16,
        after: Option<TimeKey>,
    ) -> Result<Vec<TimeKey>, StoreError>;

    /// How many people and teams `reader` follows, each counted up to `most`.
    fn followed_places(&mut self, reader: UserId, most: u32) -> Result<FollowedPlaces, StoreError>;

    /// A page of [`Gathered::Followed`] after `after`, if the few hundred newest posts of all authors after it fill
    /// one; otherwise `None`, which does not imply that there are no further posts. Cheap for readers who follow many
    /// active authors.
    fn followed_among_newest(
        &mut self,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Option<Page<TimeKey>>, StoreError>;

    /// A page after `after`, merged from all sources: one index lookup for each source.
    fn gather(
        &mut self,
        from: Gathered,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<TimeKey>, StoreError>;

    /// The posts at these keys, in the order of the feed, with `reader`'s own reactions. Posts that were removed
    /// meanwhile are left out.
    fn posts_at(&mut self, places: &[TimeKey], reader: UserId) -> Result<Vec<PostView<A>>, StoreError>;
}
