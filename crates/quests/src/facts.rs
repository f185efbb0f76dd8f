//! What is known of a fan, for the conditions of steps and achievements.

/// What holds of a fan now. Distinct and surviving things are counted: who unfollows somebody and follows them again
/// follows one, and a picture that was removed is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own, and any may hold without the others"
)]
pub struct Facts {
    /// People that the fan follows.
    pub follows: u64,
    /// People who follow the fan.
    pub followers: u64,
    /// Whether there is a profile picture.
    pub has_picture: bool,
    /// Whether there is a favourite team.
    pub has_favorite_team: bool,
    /// Whether there is a display name.
    pub has_display_name: bool,
    /// Whether there is a biography that is not empty.
    pub has_bio: bool,
    /// Boards that the fan joined and did not leave.
    pub boards_joined: u64,
    /// The fan's points in the active season.
    pub season_points: i64,
    /// The fan's rank on the global board of the active season; none for who is not listed there, and where it was not
    /// looked up ([`crate::Check::facts_needed`]).
    pub rank: Option<u64>,
}

impl Facts {
    /// How many of the four parts of a complete profile are there: display name, biography, picture, favourite team.
    pub fn profile_parts(&self) -> u64 {
        [self.has_display_name, self.has_bio, self.has_picture, self.has_favorite_team]
            .into_iter()
            .map(u64::from)
            .sum()
    }
}

/// Facts that change together. Who knows which of them an event touched, or which are dear to look up, need not
/// evaluate every check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactGroup {
    /// Display name, biography, picture, favourite team.
    Profile,
    /// Follows, followers.
    Graph,
    /// Boards that were joined.
    Boards,
    /// Points in the active season.
    Points,
    /// Rank. It may change by what others do.
    Rank,
}
