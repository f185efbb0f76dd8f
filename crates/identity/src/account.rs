//! Accounts and the profiles that other users see.

use crate::TimeZone;
use terrace_kernel::{MediaHash, TeamId, Timestamp, UnknownName, UserId};

macro_rules! stored_names {
    ($name:ident { $($variant:ident = $text:literal,)* }) => {
        impl $name {
            /// The stable name, as used in tables.
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

/// The permissions of an account beyond those of a fan. The routes for fans do not check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The default: no additional permissions.
    Fan,
    /// Manages the pages of a team.
    TeamManager,
    /// Operates the service.
    Admin,
    /// Appoints administrators.
    SuperAdmin,
}

stored_names!(Role {
    Fan = "fan",
    TeamManager = "team_manager",
    Admin = "admin",
    SuperAdmin = "super_admin",
});

/// Whether an account may act and is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountStatus {
    /// May act and is visible.
    Active,
    /// Suspended by an operator: it cannot sign in, and its content is hidden.
    Suspended,
    /// Deleted: only an anonymous shell remains, to which its records belong.
    Deleted,
}

stored_names!(AccountStatus {
    Active = "active",
    Suspended = "suspended",
    Deleted = "deleted",
});

/// The name under which a deleted account is shown. It distinguishes deleted accounts without identifying the former
/// owner: it uses the random end of the id, not the beginning, which contains the time of registration.
pub fn deleted_name(id: UserId) -> String {
    let hex = id.as_uuid().simple().to_string();
    format!("deleted-{}", hex.get(20..).unwrap_or(&hex))
}

/// The author's summary that is shown with everything that a user wrote (`user` in responses).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthorCard {
    /// Id of the account.
    pub id: UserId,
    /// The username as its owner wrote it.
    pub username: String,
    /// The name that is shown, as its owner wrote it.
    pub display_name: String,
    /// The profile picture, if there is one.
    pub picture: Option<MediaHash>,
}

/// All data of an account that its owner sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The summary that others see next to its posts.
    pub card: AuthorCard,
    /// The biography; empty if there is none.
    pub bio: String,
    /// Id of the favourite team.
    pub favorite_team: Option<TeamId>,
    /// The time zone in which the fan's days begin and end.
    pub time_zone: TimeZone,
    /// Whether the fan is listed on boards.
    pub leaderboard_visible: bool,
    /// Whether others see the fan's collectibles.
    pub collection_visible: bool,
    /// The number of fans who follow this account.
    pub follower_count: i64,
    /// The number of fans that this account follows.
    pub following_count: i64,
    /// The permissions of the account.
    pub role: Role,
    /// Whether the account may act.
    pub status: AccountStatus,
    /// The time of registration.
    pub created_at: Timestamp,
}

/// The data of an account that is public.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicProfile {
    /// The summary that is shown next to its posts.
    pub card: AuthorCard,
    /// The biography; empty if there is none.
    pub bio: String,
    /// Id of the favourite team.
    pub favorite_team: Option<TeamId>,
    /// Whether others see the fan's collectibles.
    pub collection_visible: bool,
    /// The number of fans who follow this account.
    pub follower_count: i64,
    /// The number of fans that this account follows.
    pub following_count: i64,
    /// The time of registration.
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
