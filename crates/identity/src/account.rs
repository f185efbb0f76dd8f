//! Accounts and what others see of them.

use crate::TimeZone;
use terrace_kernel::{MediaHash, TeamId, Timestamp, UnknownName, UserId};

macro_rules! stored_names {
    ($name:ident { $($variant:ident = $text:literal,)* }) => {
        impl $name {
            /// The stable name, as tables hold it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = UnknownName;

            fn from_str(text: &str) -> Result<Self, UnknownName> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    other => Err(UnknownName(other.to_owned())),
                }
            }
        }
    };
}

/// What an account may do besides being a fan. The routes of fans do not use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everybody.
    Fan,
    /// Runs a team's pages.
    TeamManager,
    /// Runs the service.
    Admin,
    /// Names administrators.
    SuperAdmin,
}

stored_names!(Role {
    Fan = "fan",
    TeamManager = "team_manager",
    Admin = "admin",
    SuperAdmin = "super_admin",
});

/// Whether an account may act and is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountStatus {
    /// In use.
    Active,
    /// Put aside by an operator: it cannot sign in, and nothing that it wrote is shown.
    Suspended,
    /// Gone; only an anonymous shell keeps its records.
    Deleted,
}

stored_names!(AccountStatus {
    Active = "active",
    Suspended = "suspended",
    Deleted = "deleted",
});

/// The name that a deleted account is shown under. It tells deleted accounts apart and says nothing of who they
/// were: the id's random end, not its beginning, which is the time of registration.
pub fn deleted_name(id: UserId) -> String {
    let hex = id.as_uuid().simple().to_string();
    format!("deleted-{}", hex.get(20..).unwrap_or(&hex))
}

/// What stands beside everything that somebody wrote (`user` in the answers).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorCard {
    /// Whose card it is.
    pub id: UserId,
    /// The username as its owner wrote it.
    pub username: String,
    /// The name to show.
    pub display_name: String,
    /// The picture, when there is one.
    pub picture: Option<MediaHash>,
}

/// A whole account as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// What others see beside a post.
    pub card: AuthorCard,
    /// The biography; empty when none was written.
    pub bio: String,
    /// The favourite team.
    pub favorite_team: Option<TeamId>,
    /// The zone in which the fan's days begin and end.
    pub time_zone: TimeZone,
    /// Whether boards list the fan.
    pub leaderboard_visible: bool,
    /// How many fans follow this one.
    pub follower_count: i64,
    /// How many fans this one follows.
    pub following_count: i64,
    /// What the account may do.
    pub role: Role,
    /// Whether the account may act.
    pub status: AccountStatus,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// What everybody may see of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicProfile {
    /// What stands beside a post.
    pub card: AuthorCard,
    /// The biography; empty when none was written.
    pub bio: String,
    /// The favourite team.
    pub favorite_team: Option<TeamId>,
    /// How many fans follow this one.
    pub follower_count: i64,
    /// How many fans this one follows.
    pub following_count: i64,
    /// When the account was registered.
    pub created_at: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_account_is_named_by_the_end_of_its_id() {
        let id: UserId = "0190a6f2-7c1e-7abc-8def-0123456789ab".parse().unwrap();
        assert_eq!(deleted_name(id), "deleted-0123456789ab");
    }
}
