//! The conditions that complete steps automatically (`docs/spec.md` §4, Quests).

use crate::{FactGroup, Facts};
use std::fmt;
use std::str::FromStr;
use terrace_kernel::num;

/// A condition on a fan's facts that completes a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Check {
    /// Follow this many people.
    FollowUser {
        /// The number of people, 1 or more.
        count: u32,
    },
    /// Have a profile picture.
    UploadProfilePicture,
    /// Have a favourite team.
    ChooseFavoriteTeam,
    /// Have a display name, biography, picture and favourite team.
    CompleteProfile,
    /// Be followed by this many people.
    GetFollowers {
        /// The number of followers, 1 or more.
        count: u32,
    },
    /// Have joined a board.
    JoinLeaderboard,
    /// Have this many points in the active season.
    PointsThreshold {
        /// The number of points, 1 or more.
        points: i64,
    },
    /// Reach this rank on the global board of the active season.
    RankThreshold {
        /// This rank or a better one, 1 or more.
        rank: u32,
    },
}

/// Why a check cannot be created from its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// There is no kind of this name.
    #[error("is no kind of check: there are {}", KINDS.join(", "))]
    UnknownKind,
    /// The parameter of the kind is missing.
    #[error("needs {0:?}")]
    Missing(&'static str),
    /// A parameter was given that the kind does not have.
    #[error("has no parameter {0:?}")]
    Unneeded(&'static str),
    /// The parameter is less than 1, or too large.
    #[error("{0:?} must be 1 to {1}")]
    OutOfBounds(&'static str, i64),
}

/// The text is not a check in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a check such as complete_profile or follow_user:3")]
pub struct MalformedCheck;

/// The names of all kinds of checks.
const KINDS: [&str; 8] = [
    "follow_user",
    "upload_profile_picture",
    "choose_favorite_team",
    "complete_profile",
    "get_followers",
    "join_leaderboard",
    "points_threshold",
    "rank_threshold",
];

impl Check {
    /// The highest count or rank in a check.
    pub const MAX_COUNT: u32 = 1_000_000_000;
    /// The highest number of points in a check.
    pub const MAX_POINTS: i64 = 1_000_000_000_000;

    /// The stable name of the kind, as used in content and responses.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::FollowUser { .. } => "follow_user",
            Self::UploadProfilePicture => "upload_profile_picture",
            Self::ChooseFavoriteTeam => "choose_favorite_team",
            Self::CompleteProfile => "complete_profile",
            Self::GetFollowers { .. } => "get_followers",
            Self::JoinLeaderboard => "join_leaderboard",
            Self::PointsThreshold { .. } => "points_threshold",
            Self::RankThreshold { .. } => "rank_threshold",
        }
    }

    /// The name and value of the kind's parameter, if it has one.
    pub fn parameter(&self) -> Option<(&'static str, i64)> {
        match self {
            Self::FollowUser { count } | Self::GetFollowers { count } => Some(("count", i64::from(*count))),
            Self::PointsThreshold { points } => Some(("points", *points)),
            Self::RankThreshold { rank } => Some(("rank", i64::from(*rank))),
            Self::UploadProfilePicture
            | Self::ChooseFavoriteTeam
            | Self::CompleteProfile
            | Self::JoinLeaderboard => None,
        }
    }

    /// Creates a check from the name of its kind and its named parameters.
    ///
    /// # Errors
    ///
    /// Returns an error if the kind is unknown, its parameter is missing or out of bounds, or another parameter is
    /// given.
    pub fn from_parts(
        kind: &str,
        parameters: impl IntoIterator<Item = (&'static str, i64)>,
    ) -> Result<Self, CheckError> {
        let mut parameters = Parameters(parameters.into_iter().collect());
        let check = match kind {
            "follow_user" => Self::FollowUser { count: parameters.take_count("count")? },
            "upload_profile_picture" => Self::UploadProfilePicture,
            "choose_favorite_team" => Self::ChooseFavoriteTeam,
            "complete_profile" => Self::CompleteProfile,
            "get_followers" => Self::GetFollowers { count: parameters.take_count("count")? },
            "join_leaderboard" => Self::JoinLeaderboard,
            "points_threshold" => {
                Self::PointsThreshold { points: parameters.take("points", Self::MAX_POINTS)? }
            }
            "rank_threshold" => Self::RankThreshold { rank: parameters.take_count("rank")? },
            _ => return Err(CheckError::UnknownKind),
        };
        match parameters.0.first() {
            Some((unneeded, _)) => Err(CheckError::Unneeded(unneeded)),
            None => Ok(check),
        }
    }

    /// The group of facts that the check reads.
    pub const fn facts_needed(&self) -> FactGroup {
        match self {
            Self::UploadProfilePicture | Self::ChooseFavoriteTeam | Self::CompleteProfile => {
                FactGroup::Profile
            }
            Self::FollowUser { .. } | Self::GetFollowers { .. } => FactGroup::Graph,
            Self::JoinLeaderboard => FactGroup::Boards,
            Self::PointsThreshold { .. } => FactGroup::Points,
            Self::RankThreshold { .. } => FactGroup::Rank,
        }
    }

    /// A fan's progress: the current value, capped at the target, and the target. A rank is not a count; its progress
    /// is 0 or 1 of 1.
    pub fn progress(&self, facts: &Facts) -> (u64, u64) {
        let (have, target) = match self {
            Self::FollowUser { count } => (facts.follows, u64::from(*count)),
            Self::UploadProfilePicture => (u64::from(facts.has_picture), 1),
            Self::ChooseFavoriteTeam => (u64::from(facts.has_favorite_team), 1),
            Self::CompleteProfile => (facts.profile_parts(), 4),
            Self::GetFollowers { count } => (facts.followers, u64::from(*count)),
            Self::JoinLeaderboard => (facts.boards_joined, 1),
            Self::PointsThreshold { points } => (num::to_u64(facts.season_points), num::to_u64(*points)),
            Self::RankThreshold { rank } => {
                (u64::from(facts.rank.is_some_and(|held| held <= u64::from(*rank))), 1)
            }
        };
        (have.min(target), target)
    }

    /// Whether the check counts towards a target, so that partial progress can be shown.
    pub const fn counts(&self) -> bool {
        match self {
            Self::FollowUser { .. }
            | Self::GetFollowers { .. }
            | Self::PointsThreshold { .. }
            | Self::CompleteProfile => true,
            Self::UploadProfilePicture
            | Self::ChooseFavoriteTeam
            | Self::JoinLeaderboard
            | Self::RankThreshold { .. } => false,
        }
    }

    /// Whether the condition holds.
    pub fn is_met(&self, facts: &Facts) -> bool {
        let (have, target) = self.progress(facts);
        have >= target
    }
}

/// The parameters that have not been consumed yet.
struct Parameters(Vec<(&'static str, i64)>);

impl Parameters {
    fn take(&mut self, name: &'static str, most: i64) -> Result<i64, CheckError> {
        let place = self.0.iter().position(|(given, _)| *given == name).ok_or(CheckError::Missing(name))?;
        let (_, value) = self.0.remove(place);
        if (1..=most).contains(&value) { Ok(value) } else { Err(CheckError::OutOfBounds(name, most)) }
    }

    fn take_count(&mut self, name: &'static str) -> Result<u32, CheckError> {
        let most = i64::from(Check::MAX_COUNT);
        let value = self.take(name, most)?;
        u32::try_from(value).map_err(|_| CheckError::OutOfBounds(name, most))
    }
}

/// The canonical form: `kind`, or `kind:n` if the kind has a parameter. Stored in a table column.
impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        self.parameter().map_or(Ok(()), |(_, value)| write!(f, ":{value}"))
    }
}

impl FromStr for Check {
    type Err = MalformedCheck;

    fn from_str(text: &str) -> Result<Self, MalformedCheck> {
        let (kind, value) = match text.split_once(':') {
            Some((kind, value)) => (kind, Some(value.parse().map_err(|_| MalformedCheck)?)),
            None => (text, None),
        };
        // A kind has at most one parameter, so its name is omitted.
        let name = match kind {
            "points_threshold" => "points",
            "rank_threshold" => "rank",
            _ => "count",
        };
        let check = Self::from_parts(kind, value.map(|value| (name, value))).map_err(|_| MalformedCheck)?;
        if check.to_string() == text { Ok(check) } else { Err(MalformedCheck) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each check, facts that just meet it, and facts that just fail it.
    fn table() -> [(Check, Facts, Facts); 8] {
        let none = Facts::default();
        let whole = Facts {
            has_picture: true,
            has_favorite_team: true,
            has_display_name: true,
            has_bio: true,
            ..none
        };
        [
            (
                Check::FollowUser { count: 3 },
                Facts { follows: 3, ..none },
                Facts { follows: 2, followers: 9, ..none },
            ),
            (
                Check::UploadProfilePicture,
                Facts { has_picture: true, ..none },
                Facts { has_picture: false, ..whole },
            ),
            (
                Check::ChooseFavoriteTeam,
                Facts { has_favorite_team: true, ..none },
                Facts { has_favorite_team: false, ..whole },
            ),
            (Check::CompleteProfile, whole, Facts { has_bio: false, ..whole }),
            (
                Check::GetFollowers { count: 2 },
                Facts { followers: 2, ..none },
                Facts { followers: 1, follows: 9, ..none },
            ),
            (Check::JoinLeaderboard, Facts { boards_joined: 1, ..none }, none),
            (
                Check::PointsThreshold { points: 100 },
                Facts { season_points: 100, ..none },
                Facts { season_points: 99, ..none },
            ),
            (
                Check::RankThreshold { rank: 10 },
                Facts { rank: Some(10), ..none },
                Facts { rank: Some(11), ..none },
            ),
        ]
    }

    #[test]
    fn each_of_the_eight_checks_holds_from_its_threshold_on() {
        for (check, met, not_met) in table() {
            assert!(check.is_met(&met), "{check}");
            assert!(!check.is_met(&not_met), "{check}");
            assert!(!check.is_met(&Facts::default()), "{check}");
            let (have, target) = check.progress(&met);
            assert_eq!(have, target, "{check}");
            assert!(check.progress(&not_met).0 < target, "{check}");
        }
        let most = Facts {
            follows: u64::MAX,
            followers: u64::MAX,
            has_picture: true,
            has_favorite_team: true,
            has_display_name: true,
            has_bio: true,
            boards_joined: u64::MAX,
            season_points: i64::MAX,
            rank: Some(1),
        };
        for (check, ..) in table() {
            let (have, target) = check.progress(&most);
            assert_eq!(have, target, "{check}");
        }
    }

    #[test]
    fn a_check_that_counts_has_a_target_beyond_yes_or_no() {
        for (check, met, _) in table() {
            assert_eq!(check.counts(), check.progress(&met).1 > 1, "{check}");
        }
        // Also where the target is one.
        assert!(Check::FollowUser { count: 1 }.counts());
    }

    #[test]
    fn a_complete_profile_is_all_four_parts() {
        let part = |n| Facts {
            has_display_name: n & 1 != 0,
            has_bio: n & 2 != 0,
            has_picture: n & 4 != 0,
            has_favorite_team: n & 8 != 0,
            ..Facts::default()
        };
        for n in 0_u32..16 {
            assert_eq!(Check::CompleteProfile.is_met(&part(n)), n == 15);
            assert_eq!(Check::CompleteProfile.progress(&part(n)), (u64::from(n.count_ones()), 4));
        }
    }

    #[test]
    fn progress_goes_by_what_is_left_and_never_below_nothing() {
        let debt = Facts { season_points: -5, follows: 1, ..Facts::default() };
        assert_eq!(Check::PointsThreshold { points: 10 }.progress(&debt), (0, 10));
        assert_eq!(Check::FollowUser { count: 3 }.progress(&debt), (1, 3));
        assert_eq!(Check::RankThreshold { rank: 3 }.progress(&debt), (0, 1));
    }

    #[test]
    fn checks_are_read_as_they_are_written() {
        for ((check, ..), (kind, text)) in table().into_iter().zip(KINDS.into_iter().zip([
            "follow_user:3",
            "upload_profile_picture",
            "choose_favorite_team",
            "complete_profile",
            "get_followers:2",
            "join_leaderboard",
            "points_threshold:100",
            "rank_threshold:10",
        ])) {
            assert_eq!((check.kind(), check.to_string().as_str()), (kind, text));
            assert_eq!(text.parse(), Ok(check));
            assert_eq!(Check::from_parts(kind, check.parameter()), Ok(check));
        }
        for wrong in [
            "",
            "Follow_user:3",
            "follow_user",
            "follow_user:",
            "follow_user:0",
            "follow_user:-1",
            "follow_user:03",
            "follow_user:+3",
            "follow_user:3:3",
            "follow_user:99999999999",
            "points_threshold:1000000000001",
            "complete_profile:1",
            "complete_profile:",
            "rank_threshold: 3",
        ] {
            assert_eq!(wrong.parse::<Check>(), Err(MalformedCheck), "{wrong}");
        }
    }

    #[test]
    fn parameters_are_those_of_the_kind() {
        for (kind, given, wrong) in [
            ("dance", vec![], CheckError::UnknownKind),
            ("follow_user", vec![], CheckError::Missing("count")),
            ("follow_user", vec![("points", 3)], CheckError::Missing("count")),
            ("follow_user", vec![("count", 3), ("rank", 3)], CheckError::Unneeded("rank")),
            ("follow_user", vec![("count", 3), ("count", 3)], CheckError::Unneeded("count")),
            ("join_leaderboard", vec![("count", 1)], CheckError::Unneeded("count")),
            ("get_followers", vec![("count", 0)], CheckError::OutOfBounds("count", 1_000_000_000)),
            ("rank_threshold", vec![("rank", i64::MAX)], CheckError::OutOfBounds("rank", 1_000_000_000)),
            ("points_threshold", vec![("points", -1)], CheckError::OutOfBounds("points", Check::MAX_POINTS)),
        ] {
            assert_eq!(Check::from_parts(kind, given), Err(wrong), "{kind}");
        }
    }

    #[test]
    fn a_check_says_which_facts_it_reads() {
        // A check ignores facts of other groups.
        for (check, met, not_met) in table() {
            let swapped = |into: Facts, from: Facts| match check.facts_needed() {
                FactGroup::Profile => Facts {
                    has_picture: from.has_picture,
                    has_favorite_team: from.has_favorite_team,
                    has_display_name: from.has_display_name,
                    has_bio: from.has_bio,
                    ..into
                },
                FactGroup::Graph => Facts { follows: from.follows, followers: from.followers, ..into },
                FactGroup::Boards => Facts { boards_joined: from.boards_joined, ..into },
                FactGroup::Points => Facts { season_points: from.season_points, ..into },
                FactGroup::Rank => Facts { rank: from.rank, ..into },
            };
            assert!(check.is_met(&swapped(not_met, met)), "{check}");
            assert!(!check.is_met(&swapped(met, not_met)), "{check}");
        }
    }
}
