//! What the rules of this crate need from a store. One call is one round trip to the database; a call that
//! writes reports whether it took, and never decides by reading first.

use crate::{
    Account, AccountStatus, AuthorCard, DeviceSession, KeptSession, League, NewSession, PasswordHash,
    ProfileChange, PublicProfile, Role, Team, TimeZone, Token, TokenHash, Username, Viewer,
};
use terrace_kernel::{
    LeagueId, Limit, MediaHash, Page, SessionId, StoreError, TeamId, TimeKey, Timestamp, UserId,
};

/// An account that is being registered.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Its id.
    pub id: UserId,
    /// Its name.
    pub username: Username,
    /// The name to show.
    pub display_name: String,
    /// The biography.
    pub bio: String,
    /// The favourite team.
    pub favorite_team: Option<TeamId>,
    /// The fan's zone.
    pub time_zone: TimeZone,
    /// What the account may do.
    pub role: Role,
    /// The hash of its password.
    pub password: PasswordHash,
    /// When it is registered.
    pub created_at: Timestamp,
}

/// What a login is checked against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The account.
    pub user_id: UserId,
    /// The hash of its password.
    pub password: PasswordHash,
    /// Whether the account may sign in.
    pub status: AccountStatus,
}

/// Reads accounts.
pub trait AccountRead {
    /// The account, whatever its status.
    fn account(&mut self, id: UserId) -> Result<Option<Account>, StoreError>;

    /// What everybody may see of an account that is active.
    fn public_profile(&mut self, id: UserId) -> Result<Option<PublicProfile>, StoreError>;

    /// What a login under this username key is checked against; deleted accounts have none.
    fn credentials_by_key(&mut self, username_key: &str) -> Result<Option<Credentials>, StoreError>;

    /// What a proof of one's own password is checked against.
    fn credentials_of(&mut self, id: UserId) -> Result<Option<Credentials>, StoreError>;
}

/// Reads what stands beside whatever a fan does.
pub trait CardRead {
    /// The cards of those of these accounts that are active, in no order.
    fn cards(&mut self, users: &[UserId]) -> Result<Vec<AuthorCard>, StoreError>;
}

/// Writes accounts.
pub trait AccountWrite: AccountRead {
    /// Registers the account with its credentials; `false` when the username's key or its skeleton is taken.
    fn insert_account(&mut self, account: &NewAccount) -> Result<bool, StoreError>;

    /// The next accounts behind `after` whose names have no skeleton, with the names' keys, in the order of their ids.
    fn names_without_skeleton(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<(UserId, String)>, StoreError>;

    /// Sets the skeleton of a name that has none; `false` when another account has the same skeleton.
    fn set_name_skeleton(&mut self, id: UserId, skeleton: &str) -> Result<bool, StoreError>;

    /// Applies the change to an active account; `false` when there is none.
    fn change_profile(
        &mut self,
        id: UserId,
        change: &ProfileChange,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Sets or takes away the picture of an active account; `false` when there is none.
    fn set_picture(
        &mut self,
        id: UserId,
        picture: Option<MediaHash>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// What [`AccountRead::credentials_of`] says, locked against change until the transaction ends: a session
    /// that is opened on a verified password cannot slip past a change of that password.
    fn lock_credentials(&mut self, id: UserId) -> Result<Option<Credentials>, StoreError>;

    /// Replaces the password's hash if it still is `old`; `false` when it is not.
    fn replace_password(
        &mut self,
        id: UserId,
        old: &PasswordHash,
        new: &PasswordHash,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Closes an active account for good: its credentials go, its profile is blanked, it is shown as `shown`, and
    /// its username's key and skeleton stay taken. `false` when there is none. Whoever writes under the account at the same
    /// time has committed before this returns, or finds the account closed when they read it back.
    fn close_account(&mut self, id: UserId, shown: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Changes an account's status if it is `from`; `false` when it is not.
    fn set_status(
        &mut self,
        id: UserId,
        from: AccountStatus,
        to: AccountStatus,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Says what an account that is not deleted may do; `false` when there is none.
    fn set_role(&mut self, id: UserId, role: Role, at: Timestamp) -> Result<bool, StoreError>;
}

/// Reads sessions.
pub trait SessionRead {
    /// Who presents `token`: an active account whose session and token are live at `now`.
    fn viewer(&mut self, token: &Token, now: Timestamp) -> Result<Option<Viewer>, StoreError>;

    /// Those of these sessions that are live at `now` and whose accounts are active, in no order.
    fn live_among(&mut self, sessions: &[SessionId], now: Timestamp) -> Result<Vec<SessionId>, StoreError>;

    /// The live sessions of an account, newest first.
    fn sessions_of(
        &mut self,
        user: UserId,
        now: Timestamp,
        limit: Limit,
        after: Option<TimeKey>,
    ) -> Result<Page<DeviceSession>, StoreError>;

    /// The refresh token with this hash.
    fn refresh_token(&mut self, hash: &TokenHash) -> Result<Option<StoredRefresh>, StoreError>;

    /// Up to `limit` of an account's sessions that are kept, those that ended too, newest first, after `after`.
    fn kept_sessions_of(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<KeptSession>, StoreError>;
}

/// A refresh token as it is found when it is presented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRefresh {
    /// The session that it belongs to: all tokens of one session are one family.
    pub session_id: SessionId,
    /// Whose session it is.
    pub user_id: UserId,
    /// When the session was opened.
    pub opened_at: Timestamp,
    /// Whether it was exchanged before.
    pub used: bool,
    /// When it ends.
    pub expires_at: Timestamp,
    /// Whether its session was ended.
    pub session_ended: bool,
    /// Whether the account may act.
    pub account: AccountStatus,
}

impl StoredRefresh {
    /// Whether its session, its account and its own life allow an exchange at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        !self.session_ended && !self.expires_at.is_over(now) && self.account == AccountStatus::Active
    }
}

/// Writes sessions and tokens.
pub trait SessionWrite: SessionRead {
    /// Opens a session.
    fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError>;

    /// Gives a session a token that is good until `expires_at`.
    fn insert_token(
        &mut self,
        session: SessionId,
        token: &Token,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// The refresh token with this hash, locked until the transaction ends.
    fn lock_refresh_token(&mut self, hash: &TokenHash) -> Result<Option<StoredRefresh>, StoreError>;

    /// Notes that a refresh token was exchanged.
    fn mark_refresh_used(&mut self, hash: &TokenHash, at: Timestamp) -> Result<(), StoreError>;

    /// Ends every access token of a session that is live at `at`.
    fn end_access_tokens(&mut self, session: SessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Ends a live session of `user`; `false` when there is none with this id.
    fn end_session(&mut self, user: UserId, session: SessionId, at: Timestamp) -> Result<bool, StoreError>;

    /// Ends every live session of `user` but `keep`; says how many.
    fn end_other_sessions(
        &mut self,
        user: UserId,
        keep: Option<SessionId>,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Notes that a session was used at `at` and, when given, prolongs it.
    fn touch_session(
        &mut self,
        session: SessionId,
        at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), StoreError>;

    /// Removes up to `limit` sessions and tokens that ended before `before`; says how many rows went.
    fn remove_ended_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Removes up to `limit` tokens and sessions of `user`, live ones too; says how many rows went.
    fn remove_sessions_of(&mut self, user: UserId, limit: u32) -> Result<u64, StoreError>;
}

/// Writes when an account was last seen: at a sign-in exactly, in use of a session to the day. Apart from the sessions,
/// which go soon after they end.
pub trait PresenceWrite {
    /// Notes that somebody signed in. Nothing is noted of an account that is not active.
    fn note_sign_in(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError>;

    /// Notes that a session was used at `at`, if what stands there was noted at `since` or before; says whether it
    /// was moved.
    fn note_use(&mut self, user: UserId, at: Timestamp, since: Timestamp) -> Result<bool, StoreError>;

    /// Forgets when an account was last seen.
    fn remove_presence(&mut self, user: UserId) -> Result<(), StoreError>;
}

/// Reads leagues and teams.
pub trait TeamRead {
    /// The team of a key.
    fn team_by_key(&mut self, key: &str) -> Result<Option<TeamId>, StoreError>;

    /// Leagues in the order of their keys, after the key `after`.
    fn leagues(&mut self, limit: Limit, after: Option<&str>) -> Result<Page<League, String>, StoreError>;

    /// The league with this id.
    fn league(&mut self, id: LeagueId) -> Result<Option<League>, StoreError>;

    /// Teams, of one league or of all, in the order of their keys, after the key `after`.
    fn teams(
        &mut self,
        league: Option<LeagueId>,
        limit: Limit,
        after: Option<&str>,
    ) -> Result<Page<Team, String>, StoreError>;

    /// The team with this id.
    fn team(&mut self, id: TeamId) -> Result<Option<Team>, StoreError>;
}

/// Writes leagues and teams, by their stable keys.
pub trait TeamWrite: TeamRead {
    /// Inserts the league or, where its key exists, updates it; says the id that it has.
    fn upsert_league(&mut self, league: &League, at: Timestamp) -> Result<LeagueId, StoreError>;

    /// Inserts the team or, where its key exists, updates all but its counters; says the id that it has.
    fn upsert_team(&mut self, team: &Team, at: Timestamp) -> Result<TeamId, StoreError>;
}
