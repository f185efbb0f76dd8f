//! The tables of an older system, and their columns.

use std::fmt;

/// A table that can be brought in, in the order in which they are read: what a row names is read before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LegacyTable {
    /// Seasons.
    Season,
    /// Teams.
    Team,
    /// Boards.
    Leaderboard,
    /// Quests.
    Quest,
    /// Their steps.
    QuestStep,
    /// Fans.
    User,
    /// Records of points.
    PointsHistory,
    /// Ways through quests.
    UserQuestStatus,
    /// Completed steps.
    UserStepStatus,
    /// Who is on which board.
    LeaderboardEntry,
    /// Who follows whom, or which team.
    Follow,
}

impl LegacyTable {
    /// Every table, in the order in which they are read.
    pub const ALL: [Self; 11] = [
        Self::Season,
        Self::Team,
        Self::Leaderboard,
        Self::Quest,
        Self::QuestStep,
        Self::User,
        Self::PointsHistory,
        Self::UserQuestStatus,
        Self::UserStepStatus,
        Self::LeaderboardEntry,
        Self::Follow,
    ];

    /// Its name, which is that of its file.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Season => "Season",
            Self::Team => "Team",
            Self::Leaderboard => "Leaderboard",
            Self::Quest => "Quest",
            Self::QuestStep => "QuestStep",
            Self::User => "User",
            Self::PointsHistory => "PointsHistory",
            Self::UserQuestStatus => "UserQuestStatus",
            Self::UserStepStatus => "UserStepStatus",
            Self::LeaderboardEntry => "LeaderboardEntry",
            Self::Follow => "Follow",
        }
    }

    /// The table whose file has this name, such as `User.csv`.
    pub fn of_file(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".csv")?;
        Self::ALL.into_iter().find(|table| table.as_str() == stem)
    }

    /// The columns that there must be, and those that there may be. What is not read is named too, where an export is likely
    /// to have it; any other column is refused, because one that is misspelt would be lost.
    const fn layout(self) -> (&'static [&'static str], &'static [&'static str]) {
        match self {
            Self::Season => {
                (&["id", "key", "name", "startsAt", "endsAt"], &["isActive", "createdAt", "updatedAt"])
            }
            Self::Team => (&["id", "name"], &["key", "shortName", "leagueId", "createdAt", "updatedAt"]),
            Self::Leaderboard => (&["id", "teamId"], &["seasonId", "name", "createdAt", "updatedAt"]),
            Self::Quest => {
                (&["id", "title"], &["description", "points", "isActive", "createdAt", "updatedAt"])
            }
            Self::QuestStep => {
                (&["id", "questId", "title"], &["description", "order", "points", "createdAt", "updatedAt"])
            }
            Self::User => (
                &["id", "username", "displayName", "createdAt"],
                &["email", "bio", "favoriteTeamId", "timeZone", "updatedAt"],
            ),
            Self::PointsHistory => (
                &["id", "userId", "amount", "reason", "seasonId", "leaderboardId", "createdAt"],
                &["updatedAt"],
            ),
            Self::UserQuestStatus => (
                &["userId", "questId", "status", "startedAt", "completedAt"],
                &["id", "createdAt", "updatedAt"],
            ),
            Self::UserStepStatus => {
                (&["userId", "questStepId", "completedAt"], &["id", "status", "createdAt", "updatedAt"])
            }
            Self::LeaderboardEntry => {
                (&["leaderboardId", "userId", "points", "createdAt"], &["id", "rank", "updatedAt"])
            }
            Self::Follow => (&["followerId", "followedId", "createdAt"], &["id", "teamId", "updatedAt"]),
        }
    }

    /// The columns that there must be.
    pub(super) fn required(self) -> impl Iterator<Item = &'static str> {
        self.layout().0.iter().copied()
    }

    /// The column of this name, in either spelling of the favourite team's.
    pub(super) fn column(self, name: &str) -> Option<&'static str> {
        let name = if name == "favouriteTeamId" { "favoriteTeamId" } else { name };
        let (required, others) = self.layout();
        required.iter().chain(others).copied().find(|column| *column == name)
    }

    /// The columns that there must be, in words.
    pub(super) fn needed(self) -> String {
        self.layout().0.join(", ")
    }

    /// Every column, in words.
    pub(super) fn columns(self) -> String {
        let (required, others) = self.layout();
        [required, others].concat().join(", ")
    }
}

impl fmt::Display for LegacyTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_names() {
        for table in LegacyTable::ALL {
            assert_eq!(LegacyTable::of_file(&format!("{table}.csv")), Some(table));
            assert!(table.required().all(|column| table.column(column) == Some(column)));
        }
        for unknown in ["User", "user.csv", "Users.csv", "User.csv.bak", ".csv", ""] {
            assert_eq!(LegacyTable::of_file(unknown), None, "{unknown}");
        }
        assert!(LegacyTable::ALL.is_sorted());
        assert_eq!(LegacyTable::User.column("favouriteTeamId"), Some("favoriteTeamId"));
    }
}
