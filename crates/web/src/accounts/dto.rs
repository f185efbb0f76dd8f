//! Accounts, profiles and sessions.

use crate::dto::{IdText, Time, UserCard, given, media_url, nullable};
use crate::teams::dto::Team;
use serde::{Deserialize, Serialize};
use terrace_app::accounts::{OwnProfile as OwnProfileView, PublicView};
use terrace_identity::DeviceSession;
use terrace_kernel::{SessionId, TeamId};
use utoipa::ToSchema;
use uuid::Uuid;

/// What somebody registers with.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RegisterBody {
    /// 3 to 30 letters, digits, `.`, `_`, `-`; unique after NFKC and case folding.
    #[schema(example = "mia", min_length = 3, max_length = 30)]
    pub(crate) username: String,
    /// 8 to 128 characters; no common password, no run such as `12345678`, and not the username.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    pub(crate) password: String,
    /// 1 to 50 characters; the username when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, min_length = 1, max_length = 50)]
    pub(crate) display_name: Option<String>,
    /// A zone of the IANA database; UTC when left out.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "Europe/Lisbon")]
    pub(crate) time_zone: Option<String>,
}

/// What somebody signs in with.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct LoginBody {
    /// The name.
    #[schema(example = "mia")]
    pub(crate) username: String,
    /// The password.
    #[schema(format = Password)]
    pub(crate) password: String,
}

/// What somebody signs a native client in with.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct MobileLoginBody {
    /// The name.
    #[schema(example = "mia")]
    pub(crate) username: String,
    /// The password.
    #[schema(format = Password)]
    pub(crate) password: String,
    /// What the device is called in the list of one's sessions: 1 to 100 characters.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false, example = "Mia's phone", min_length = 1, max_length = 100)]
    pub(crate) device_name: Option<String>,
}

/// A refresh token that is to be exchanged.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RefreshBody {
    /// The token. It is good for one exchange.
    pub(crate) refresh_token: String,
}

/// A new password and the proof of the current one.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ChangePasswordBody {
    /// The password as it is.
    #[schema(format = Password)]
    pub(crate) current_password: String,
    /// The password as it is to be: 8 to 128 characters; no common password, no run such as `12345678`, and not the
    /// username.
    #[schema(format = Password, min_length = 8, max_length = 128)]
    pub(crate) new_password: String,
}

/// A change to one's profile: what is left out stays.
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
    /// A team, or null for none any more.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<Uuid>)]
    #[expect(clippy::option_option, reason = "left out, null and a team are three different wishes")]
    pub(crate) favorite_team_id: Option<Option<IdText<TeamId>>>,
    /// Whether boards list the fan.
    #[serde(default, deserialize_with = "given")]
    #[schema(nullable = false)]
    pub(crate) leaderboard_visible: Option<bool>,
}

/// Somebody who registered or signed in.
#[derive(Serialize, ToSchema)]
pub(crate) struct UserEnvelope {
    /// Who.
    pub(crate) user: UserCard,
}

/// What a native client keeps.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TokenPair {
    /// Goes with every request: `Authorization: Bearer …`.
    pub(crate) access_token: String,
    /// Is exchanged, once, for the next pair.
    pub(crate) refresh_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub(crate) token_type: &'static str,
    /// Seconds that the access token is good for.
    #[schema(example = 900)]
    pub(crate) expires_in: u64,
    /// Whose they are.
    pub(crate) user: UserCard,
}

/// One's own profile.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OwnProfile {
    /// The account.
    id: Uuid,
    /// The name to sign in with.
    username: String,
    /// The name to show.
    display_name: String,
    /// The biography; empty when none was written.
    bio: String,
    /// Where the picture is, if there is one.
    picture_url: Option<String>,
    /// The favourite team, if one was chosen.
    favorite_team: Option<Team>,
    /// The zone in which one's days begin and end.
    time_zone: String,
    /// Whether boards list the fan.
    leaderboard_visible: bool,
    /// How many fans follow.
    follower_count: i64,
    /// How many fans are followed.
    following_count: i64,
    /// All points that were ever earned.
    points: i64,
    /// When the account was registered.
    created_at: Time,
}

impl From<&OwnProfileView> for OwnProfile {
    fn from(view: &OwnProfileView) -> Self {
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
            follower_count: account.follower_count,
            following_count: account.following_count,
            points: view.points.get(),
            created_at: Time(account.created_at),
        }
    }
}

/// What everybody may see of somebody.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PublicProfile {
    /// The account.
    id: Uuid,
    /// The name to sign in with.
    username: String,
    /// The name to show.
    display_name: String,
    /// The biography; empty when none was written.
    bio: String,
    /// Where the picture is, if there is one.
    picture_url: Option<String>,
    /// The favourite team, if one was chosen.
    favorite_team: Option<Team>,
    /// How many fans follow.
    follower_count: i64,
    /// How many fans are followed.
    following_count: i64,
    /// Whether one follows them; false for who is signed out.
    following: bool,
    /// Whether they follow the one who looks; false for who is signed out.
    follows_you: bool,
    /// When the account was registered.
    created_at: Time,
}

impl From<&PublicView> for PublicProfile {
    fn from(view: &PublicView) -> Self {
        let profile = &view.profile;
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
            created_at: Time(profile.created_at),
        }
    }
}

/// A signed-in device of one's own.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Session {
    /// The session.
    id: Uuid,
    /// `browser` or `mobile`.
    #[schema(example = "browser")]
    kind: &'static str,
    /// What its owner calls the device.
    device_name: Option<String>,
    /// When it was signed in.
    created_at: Time,
    /// When it was last used, to some minutes.
    last_seen_at: Time,
    /// When it ends unless it is prolonged.
    expires_at: Time,
    /// Whether it is the one that asks.
    current: bool,
}

impl Session {
    /// The session as the one that is `current` sees it.
    pub(crate) fn new(session: &DeviceSession, current: SessionId) -> Self {
        Self {
            id: session.id.as_uuid(),
            kind: session.kind.as_str(),
            device_name: session.device_name.clone(),
            created_at: Time(session.created_at),
            last_seen_at: Time(session.last_seen_at),
            expires_at: Time(session.expires_at),
            current: session.id == current,
        }
    }
}

/// A page of one's own sessions, newest first.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionList {
    /// The sessions.
    pub(crate) sessions: Vec<Session>,
    /// Where the next page starts; null on the last.
    pub(crate) next_cursor: Option<String>,
}
