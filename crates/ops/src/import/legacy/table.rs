//! The tables of an older system and their columns.

use std::fmt;

/// A table that can be imported, in reading order: a table is read before the tables that refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LegacyTable {
    Season,
    Team,
    /// Boards.
    Leaderboard,
    Quest,
    QuestStep,
    /// Fans.
    User,
    /// Records of points.
    PointsHistory,
    /// Runs through quests.
    UserQuestStatus,
    /// Completed steps.
    UserStepStatus,
    /// Entries of boards.
    LeaderboardEntry,
    /// Follows of fans and of teams.
    Follow,
}

impl LegacyTable {
    /// All tables, in reading order.
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

    /// Name of the table and of its file.
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

    /// Returns the table whose file has this name, such as `User.csv`.
    pub fn of_file(name: &str) -> Option<Self> {
        let stem = name.strip_suffix(".csv")?;
        Self::ALL.into_iter().find(|table| table.as_str() == stem)
    }

    /// Required and optional columns. Optional ones include columns that are not read but that an export is likely to
    /// contain; all other columns are rejected, because a misspelt one would otherwise be lost.
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

    /// Required columns.
    pub(super) fn required(self) -> impl Iterator<Item = &'static str> {
        self.layout().0.iter().copied()
    }

    /// Returns the column of this name; accepts both spellings of the favourite team's column.
    pub(super) fn column(self, name: &str) -> Option<&'static str> {
        let name = if name == "favouriteTeamId" { "favoriteTeamId" } else { name };
        let (required, others) = self.layout();
        required.iter().chain(others).copied().find(|column| *column == name)
    }

    /// Required columns as text.
    pub(super) fn needed(self) -> String {
        self.layout().0.join(", ")
    }

    /// All columns as text.
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
