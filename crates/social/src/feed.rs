//! Feeds: which posts they hold, and the port through which they are read (spec §1 rules 1 and 6).

use crate::{PostView, ReactionKind};
use terrace_kernel::{Limit, Page, PostId, StoreError, TeamId, TimeKey, UserId};

/// Which posts a feed holds that lies ready in one index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedFilter {
    /// Everybody's.
    All,
    /// Those in the room of a team.
    Team(TeamId),
}

/// Whose posts a reader's own feed gathers from many places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathered {
    /// Those of the people whom the reader follows, those in the rooms of the teams that they follow, and their own.
    Followed,
    /// Those in the rooms of the reader's own teams: those that they follow, and their favourite.
    OwnTeams,
}

/// From how many places the feed of whom somebody follows is gathered, each kind counted up to a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FollowedPlaces {
    /// How many people whose accounts are active.
    pub people: u32,
    /// How many teams.
    pub teams: u32,
}

impl FollowedPlaces {
    /// Whether they follow neither people nor teams.
    pub const fn are_none(self) -> bool {
        self.people == 0 && self.teams == 0
    }

    /// How many, beside their own posts.
    pub const fn total(self) -> u32 {
        self.people.saturating_add(self.teams)
    }
}

/// What of a page that is the same for everybody is not the same for one reader.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SeenBy {
    /// Their own reactions to its posts.
    pub reactions: Vec<(PostId, ReactionKind)>,
    /// Whether one of its authors is hidden from them, so that the page is not theirs.
    pub hides: bool,
}

/// Reads feeds. `A` is the card of an author. A feed holds posts that are not deleted, of authors who are active and
/// not hidden from the reader by a block, newest first; what it does not hold is passed over before the page is cut, so
/// that pages are full.
pub trait FeedRead<A> {
    /// A page after `after`, with `reader`'s own reactions.
    fn feed(
        &mut self,
        filter: FeedFilter,
        reader: Option<UserId>,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<PostView<A>>, StoreError>;

    /// How much `reader` follows, people and teams each counted up to `most`.
    fn followed_places(&mut self, reader: UserId, most: u32) -> Result<FollowedPlaces, StoreError>;

    /// A page of [`Gathered::Followed`] after `after`, if the few hundred newest posts of everybody after it fill one;
    /// else none, which says nothing of what lies further down. Cheap for who follows many who write much.
    fn followed_among_newest(
        &mut self,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Option<Page<TimeKey>>, StoreError>;

    /// A page after `after`, from wherever its posts lie: one look for each place that the feed is gathered from.
    fn gather(
        &mut self,
        from: Gathered,
        reader: UserId,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<TimeKey>, StoreError>;

    /// The posts at these places of a feed, in the feed's order, with `reader`'s own reactions. One that went meanwhile
    /// is left out.
    fn posts_at(&mut self, places: &[TimeKey], reader: UserId) -> Result<Vec<PostView<A>>, StoreError>;

    /// What `reader` sees otherwise than others of a page that holds these posts by these authors.
    fn seen_by(&mut self, reader: UserId, posts: &[PostId], authors: &[UserId])
    -> Result<SeenBy, StoreError>;
}
