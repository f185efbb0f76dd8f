//! Accounts, profiles and sessions.

use crate::dto::{IdText, Time, UserCard, given, media_url, names, nullable};
use crate::teams::dto::Team;
use serde::{Deserialize, Serialize};
use terrace_app::accounts::{OwnProfile as OwnProfileView, PublicView};
use terrace_identity::{DeviceSession, Role};
use terrace_kernel::{SessionId, TeamId, Timestamp};
use terrace_ledger::{AccountKind, Balance};
use terrace_quests::{Achievement, AchievementKey};
use terrace_scoring::{Levels, Points, Standing};
use utoipa::ToSchema;
use uuid::Uuid;

/// A registration.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegisterBody {
    /// 3 to 30 letters, digits, `.`, `_`, `-`; unique after NFKC and case folding.
    #[schema(example = "mia", min_length = 3, max_length = 30)]
    pub(crate) username: String,
    /// 8 to 128 characters; no common password, no run such as `12345678`, and not the username.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    pub(crate) password: String,
    /// 1 to 50 characters; defaults to the username.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_length = 1, max_length = 50)]
    pub(crate) display_name: Option<String>,
    /// A time zone of the IANA database; defaults to UTC.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "Europe/Lisbon")]
    pub(crate) time_zone: Option<String>,
}

/// Credentials for signing in.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LoginBody {
    /// The username.
    #[schema(example = "mia")]
    pub(crate) username: String,
    /// The password.
    #[schema(format = Password)]
    pub(crate) password: String,
}

/// Credentials for signing in from a native client.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MobileLoginBody {
    /// The username.
    #[schema(example = "mia")]
    pub(crate) username: String,
    /// The password.
    #[schema(format = Password)]
    pub(crate) password: String,
    /// The name of the device in the account's list of sessions: 1 to 100 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "Mia's phone", min_length = 1, max_length = 100)]
    pub(crate) device_name: Option<String>,
}

/// A refresh token to exchange.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefreshBody {
    /// The token. It is valid for one exchange.
    pub(crate) refresh_token: String,
}

/// A new password and the proof of the current one.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangePasswordBody {
    /// The current password.
    #[schema(format = Password)]
    pub(crate) current_password: String,
    /// The new password: 8 to 128 characters; no common password, no run such as `12345678`, and not the username.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    pub(crate) new_password: String,
}

/// A change to the caller's profile. Omitted fields keep their values.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangeProfileBody {
    /// 1 to 50 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_length = 1, max_length = 50)]
    pub(crate) display_name: Option<String>,
    /// Up to 500 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, max_length = 500)]
    pub(crate) bio: Option<String>,
    /// A zone of the IANA database.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "Europe/Lisbon")]
    pub(crate) time_zone: Option<String>,
    /// The id of a team, or null to remove the favourite team.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    #[expect(
        clippy::option_option,
        reason = "an omitted field, null and a team are three different requests"
    )]
    pub(crate) favorite_team_id: Option<Option<IdText<TeamId>>>,
    /// Whether leaderboards list the fan.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    pub(crate) leaderboard_visible: Option<bool>,
    /// Whether other fans see the fan's collectibles.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    pub(crate) collection_visible: Option<bool>,
}

/// The account that registered or signed in.
#[derive(Serialize, ToSchema)]
pub(crate) struct UserEnvelope {
    /// The profile of the account.
    pub(crate) user: UserCard,
}

names! {
    /// How a device signed in: a browser with a cookie, or a native client with tokens.
    SessionKind(terrace_identity::SessionKind): terrace_identity::SessionKind::ALL, terrace_identity::SessionKind::as_str
}

/// The type of a token (RFC 6750).
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
pub(crate) enum TokenType {
    /// Sent as `Authorization: Bearer …`.
    Bearer,
}

/// The tokens of a native client.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenPair {
    /// The access token, sent with every request: `Authorization: Bearer …`.
    pub(crate) access_token: String,
    /// The refresh token, valid for one exchange for the next pair.
    pub(crate) refresh_token: String,
    /// The type of the access token.
    pub(crate) token_type: TokenType,
    /// Lifetime of the access token in seconds.
    #[schema(example = 900)]
    pub(crate) expires_in: u64,
    /// The account that the tokens belong to.
    pub(crate) user: UserCard,
}

/// The role of an account.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AccountRole {
    /// No permissions beyond those of a fan.
    Fan,
    /// Manages the pages of a team.
    TeamManager,
    /// Operates the service.
    Admin,
    /// Appoints administrators.
    SuperAdmin,
}

impl From<Role> for AccountRole {
    fn from(role: Role) -> Self {
        match role {
            Role::Fan => Self::Fan,
            Role::TeamManager => Self::TeamManager,
            Role::Admin => Self::Admin,
            Role::SuperAdmin => Self::SuperAdmin,
        }
    }
}

/// What a fan can spend.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnBalances {
    /// Spendable points.
    points: i64,
    /// Coins.
    coins: i64,
}

impl From<&[Balance]> for OwnBalances {
    fn from(balances: &[Balance]) -> Self {
        let of = |kind: AccountKind| {
            balances.iter().find(|balance| balance.kind == kind).map_or(0, |balance| balance.amount)
        };
        Self { points: of(AccountKind::Points), coins: of(AccountKind::Coins) }
    }
}

/// A level of a fan, by all points ever earned.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FanLevel {
    /// The number of the level, from 1.
    #[schema(minimum = 1)]
    number: usize,
    /// The name of the level.
    #[schema(example = "Regular")]
    name: String,
    /// The points from which a fan has the level.
    from: i64,
    /// The points from which the next level begins; null on the highest one.
    #[schema(required)]
    next: Option<i64>,
}

impl FanLevel {
    pub(crate) fn of(points: Points, levels: &Levels) -> Self {
        let reached = levels.of(points);
        let (name, from) = (reached.level.name.clone(), reached.level.from);
        Self { number: reached.number, name, from, next: reached.next }
    }
}

/// The caller's own profile.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnProfile {
    /// The id of the account.
    id: Uuid,
    /// The username.
    username: String,
    /// The display name.
    display_name: String,
    /// The biography; empty if there is none.
    bio: String,
    /// The URL of the picture, if there is one.
    #[schema(required)]
    picture_url: Option<String>,
    /// The id of the favourite team, if one was chosen.
    #[schema(required)]
    favorite_team: Option<Team>,
    /// The time zone that determines the fan's dates.
    time_zone: String,
    /// Whether leaderboards list the fan.
    leaderboard_visible: bool,
    /// Whether other fans see the fan's collectibles.
    collection_visible: bool,
    /// The number of followers.
    follower_count: i64,
    /// The number of fans that the fan follows.
    following_count: i64,
    /// The sum of all points ever earned.
    points: i64,
    /// The level of the fan.
    level: FanLevel,
    /// The role of the account.
    role: AccountRole,
    /// What the fan can spend.
    balances: OwnBalances,
    /// The number of unread notifications.
    unread_notifications: i64,
    /// When the account was registered.
    created_at: Time,
}

impl OwnProfile {
    pub(crate) fn new(view: &OwnProfileView, levels: &Levels) -> Self {
        let account = &view.account;
        Self {
            id: account.card.id.as_uuid(),
            username: account.card.username.clone(),
            display_name: account.card.display_name.clone(),
            bio: account.bio.clone(),
            picture_url: account.card.picture.as_ref().map(media_url),
            favorite_team: view.favorite_team.as_ref().map(Team::from),
            time_zone: account.time_zone.name().to_owned(),
            leaderboard_visible: account.leaderboard_visible,
            collection_visible: account.collection_visible,
            follower_count: account.follower_count,
            following_count: account.following_count,
            points: view.points.get(),
            level: FanLevel::of(view.points, levels),
            role: account.role.into(),
            balances: OwnBalances::from(view.balances.as_slice()),
            unread_notifications: view.unread,
            created_at: Time(account.created_at),
        }
    }
}

/// A profile as other fans see it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublicProfile {
    /// The id of the account.
    id: Uuid,
    /// The username.
    username: String,
    /// The display name.
    display_name: String,
    /// The biography; empty if there is none.
    bio: String,
    /// The URL of the picture, if there is one.
    #[schema(required)]
    picture_url: Option<String>,
    /// The id of the favourite team, if one was chosen.
    #[schema(required)]
    favorite_team: Option<Team>,
    /// The number of followers.
    follower_count: i64,
    /// The number of fans that the fan follows.
    following_count: i64,
    /// Whether the caller follows the fan; false for signed-out callers.
    following: bool,
    /// Whether the fan follows the caller; false for signed-out callers.
    follows_you: bool,
    /// The fan's points in the season that is shown; null if the leaderboard does not list the fan.
    #[schema(required)]
    points: Option<i64>,
    /// The fan's rank on the global leaderboard of the season; null if the leaderboard does not list the fan.
    #[schema(minimum = 1, required)]
    rank: Option<usize>,
    /// The level of the fan; null if the leaderboard does not list the fan.
    #[schema(required)]
    level: Option<FanLevel>,
    /// The achievements that the fan unlocked last, at most three, latest first; secret ones are left out.
    achievements: Vec<UnlockedAchievement>,
    /// When the account was registered.
    created_at: Time,
}

/// An achievement that a fan has unlocked.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct UnlockedAchievement {
    /// The key of the achievement.
    #[schema(example = "first-quest")]
    key: String,
    /// The title of the achievement.
    title: String,
    /// The description of the achievement.
    description: String,
    /// When the fan unlocked it.
    unlocked_at: Time,
}

/// The number of achievements in a profile.
const SHOWN_ACHIEVEMENTS: usize = 3;

impl PublicProfile {
    pub(crate) fn new(
        view: &PublicView,
        standing: Option<&Standing>,
        known: &[Achievement],
        levels: &Levels,
    ) -> Self {
        let profile = &view.profile;
        let unlocked = |(key, at): &(AchievementKey, Timestamp)| {
            let found = known.iter().find(|achievement| achievement.key == *key && !achievement.is_secret)?;
            Some(UnlockedAchievement {
                key: key.to_string(),
                title: found.title.clone(),
                description: found.description.clone(),
                unlocked_at: Time(*at),
            })
        };
        let ranked = standing.map(|standing| &standing.ranked);
        Self {
            id: profile.card.id.as_uuid(),
            username: profile.card.username.clone(),
            display_name: profile.card.display_name.clone(),
            bio: profile.bio.clone(),
            picture_url: profile.card.picture.as_ref().map(media_url),
            favorite_team: view.favorite_team.as_ref().map(Team::from),
            follower_count: profile.follower_count,
            following_count: profile.following_count,
            following: view.ties.following,
            follows_you: view.ties.follows_you,
            points: ranked.map(|ranked| ranked.points.get()),
            rank: ranked.map(|ranked| ranked.rank),
            level: ranked.map(|_| FanLevel::of(view.points, levels)),
            achievements: view.achievements.iter().filter_map(unlocked).take(SHOWN_ACHIEVEMENTS).collect(),
            created_at: Time(profile.created_at),
        }
    }
}

/// A signed-in device of the caller.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    /// The id of the session.
    id: Uuid,
    /// How the device signed in.
    kind: SessionKind,
    /// The name of the device, as its owner entered it.
    #[schema(required)]
    device_name: Option<String>,
    /// When the session was started.
    created_at: Time,
    /// When the session was last used, to within some minutes.
    last_seen_at: Time,
    /// When the session expires unless it is extended.
    expires_at: Time,
    /// Whether this request uses the session.
    current: bool,
}

impl Session {
    /// The session as the one that is `current` sees it.
    pub(crate) fn new(session: &DeviceSession, current: SessionId) -> Self {
        Self {
            id: session.id.as_uuid(),
            kind: SessionKind(session.kind),
            device_name: session.device_name.clone(),
            created_at: Time(session.created_at),
            last_seen_at: Time(session.last_seen_at),
            expires_at: Time(session.expires_at),
            current: session.id == current,
        }
    }
}

/// A page of the caller's sessions, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionList {
    /// The sessions.
    pub(crate) sessions: Vec<Session>,
    /// The cursor of the next page; null on the last page.
    #[schema(required)]
    pub(crate) next_cursor: Option<String>,
}

/// The caller's proof of identity for deleting the account.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct DeleteAccountBody {
    /// The current password.
    #[schema(format = Password)]
    pub(crate) password: String,
}
