//! Facts about a fan, which the conditions of steps and achievements read.

/// The current facts about a fan. Counts are of distinct, existing things: unfollowing and following the same person
/// again counts once, and a removed picture does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the facts are independent of each other")]
pub struct Facts {
    /// How many people the fan follows.
    pub follows: u64,
    /// How many people follow the fan.
    pub followers: u64,
    /// Whether the fan has a profile picture.
    pub has_picture: bool,
    /// Whether the fan has a favourite team.
    pub has_favorite_team: bool,
    /// Whether the fan has a display name.
    pub has_display_name: bool,
    /// Whether the fan has a biography that is not empty.
    pub has_bio: bool,
    /// How many boards the fan joined and did not leave.
    pub boards_joined: u64,
    /// The fan's points in the active season.
    pub season_points: i64,
    /// The fan's rank on the global board of the active season; `None` if the fan is not listed there, or if it was not
    /// looked up ([`crate::Check::facts_needed`]).
    pub rank: Option<u64>,
}

impl Facts {
    /// How many of the four parts of a complete profile exist: display name, biography, picture, favourite team.
    pub fn profile_parts(&self) -> u64 {
        [self.has_display_name, self.has_bio, self.has_picture, self.has_favorite_team]
            .into_iter()
            .map(u64::from)
            .sum()
    }
}

/// Groups of facts that change together. A caller that knows which group an event changed, or which group is expensive
/// to look up, need not evaluate every check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactGroup {
    /// Display name, biography, picture, favourite team.
    Profile,
    /// Counts of follows and followers.
    Graph,
    /// Joined boards.
    Boards,
    /// Points in the active season.
    Points,
    /// Rank, which may also change by the actions of others.
    Rank,
}
