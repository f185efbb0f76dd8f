//! The store operations that the rules of this crate need. One call is one round trip to the database. A call that
//! writes reports whether it took effect, and never decides by reading first.

use crate::{
    Account, AccountStatus, AuthorCard, DeviceSession, KeptSession, League, NewSession, PasswordHash,
    ProfileChange, PublicProfile, Role, Team, TimeZone, Token, TokenHash, Username, Viewer,
};
use terrace_kernel::{
    LeagueId, Limit, MediaHash, Page, SessionId, StoreError, TeamId, TimeKey, Timestamp, UserId,
};

/// A new account to be registered.
#[derive(Debug, Clone)]
pub struct NewAccount {
    /// Id of the account.
    pub id: UserId,
    /// The username, whose key must not belong to another account.
    pub username: Username,
    /// The name that is shown, validated by [`choose_display_name`](crate::choose_display_name).
    pub display_name: String,
    /// The biography; empty if there is none.
    pub bio: String,
    /// Id of the favourite team.
    pub favorite_team: Option<TeamId>,
    /// The fan's time zone.
    pub time_zone: TimeZone,
    /// The permissions of the account.
    pub role: Role,
    /// The password hash.
    pub password: PasswordHash,
    /// The time of registration.
    pub created_at: Timestamp,
}

/// The stored data with which a login is verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Credentials {
    /// Id of the account.
    pub user_id: UserId,
    /// The password hash.
    pub password: PasswordHash,
    /// Whether the account may sign in.
    pub status: AccountStatus,
}

/// Read access to accounts.
pub trait AccountRead {
    /// The account with this id, in any status.
    fn account(&mut self, id: UserId) -> Result<Option<Account>, StoreError>;

    /// The public profile of an active account.
    fn public_profile(&mut self, id: UserId) -> Result<Option<PublicProfile>, StoreError>;

    /// The active account with this username key.
    fn account_named(&mut self, username_key: &str) -> Result<Option<UserId>, StoreError>;

    /// The credentials for a login with this username key; `None` for deleted accounts.
    fn credentials_by_key(&mut self, username_key: &str) -> Result<Option<Credentials>, StoreError>;

    /// The credentials with which a signed-in user's own password is verified.
    fn credentials_of(&mut self, id: UserId) -> Result<Option<Credentials>, StoreError>;
}

/// Read access to author cards.
pub trait CardRead {
    /// The cards of the active accounts among `users`, in no particular order.
    fn cards(&mut self, users: &[UserId]) -> Result<Vec<AuthorCard>, StoreError>;

    /// The cards of at most `limit` active accounts, ordered by their ids, starting from one end of `span`.
    fn next_cards(&mut self, limit: u32, span: &AccountSpan) -> Result<Vec<AuthorCard>, StoreError>;
}

/// A range of account ids; both bounds are exclusive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountSpan {
    /// The lower bound.
    pub after: Option<UserId>,
    /// The upper bound.
    pub before: Option<UserId>,
    /// Whether the range is read in descending order.
    pub backwards: bool,
}

/// Write access to accounts.
pub trait AccountWrite: AccountRead {
    /// Inserts the account and its credentials; `false` if the username's key or skeleton is taken.
    fn insert_account(&mut self, account: &NewAccount) -> Result<bool, StoreError>;

    /// The next accounts after `after` whose names have no skeleton, with their username keys, in the order of their
    /// ids.
    fn names_without_skeleton(
        &mut self,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<Vec<(UserId, String)>, StoreError>;

    /// Sets the skeleton of a name that has none; `false` if another account has the same skeleton.
    fn set_name_skeleton(&mut self, id: UserId, skeleton: &str) -> Result<bool, StoreError>;

    /// Applies the change to an active account; `false` if there is no such account.
    fn change_profile(
        &mut self,
        id: UserId,
        change: &ProfileChange,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Sets or removes the picture of an active account; `false` if there is no such account.
    fn set_picture(
        &mut self,
        id: UserId,
        picture: Option<MediaHash>,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Like [`AccountRead::credentials_of`], and locks the row until the transaction ends. A session that is opened
    /// with a verified password therefore cannot miss a concurrent change of that password.
    fn lock_credentials(&mut self, id: UserId) -> Result<Option<Credentials>, StoreError>;

    /// Replaces the password hash if it still is `old`; `false` if it is not.
    fn replace_password(
        &mut self,
        id: UserId,
        old: &PasswordHash,
        new: &PasswordHash,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Permanently closes an active account: its credentials are removed, its profile is cleared, it is shown as
    /// `shown`, and its username's key and skeleton remain taken. `false` if there is no such account. A concurrent
    /// write by the account either has committed before this returns, or finds the account closed when it reads the
    /// account again.
    fn close_account(&mut self, id: UserId, shown: &str, at: Timestamp) -> Result<bool, StoreError>;

    /// Changes the status of an account if it is `from`; `false` if it is not.
    fn set_status(
        &mut self,
        id: UserId,
        from: AccountStatus,
        to: AccountStatus,
        at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Sets the role of an account that is not deleted; `false` if there is no such account.
    fn set_role(&mut self, id: UserId, role: Role, at: Timestamp) -> Result<bool, StoreError>;
}

/// Read access to sessions.
pub trait SessionRead {
    /// The viewer who presents `token`: an active account whose session and token are live at `now`.
    fn viewer(&mut self, token: &Token, now: Timestamp) -> Result<Option<Viewer>, StoreError>;

    /// The sessions among `sessions` that are live at `now` and whose accounts are active, in no particular order.
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

    /// Up to `limit` stored sessions of an account after `after`, newest first, including those that have ended.
    fn kept_sessions_of(
        &mut self,
        user: UserId,
        limit: u32,
        after: Option<TimeKey>,
    ) -> Result<Vec<KeptSession>, StoreError>;
}

/// The stored state of a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredRefresh {
    /// Id of the session. All tokens of one session form one family.
    pub session_id: SessionId,
    /// Id of the account that owns the session.
    pub user_id: UserId,
    /// The time at which the session was opened.
    pub opened_at: Timestamp,
    /// Whether the token has already been exchanged.
    pub used: bool,
    /// The time at which the token expires.
    pub expires_at: Timestamp,
    /// Whether its session has been ended.
    pub session_ended: bool,
    /// Status of the account.
    pub account: AccountStatus,
}

impl StoredRefresh {
    /// Whether the session, the account and the token's own expiry allow an exchange at `now`.
    pub fn is_live(&self, now: Timestamp) -> bool {
        !self.session_ended && !self.expires_at.is_over(now) && self.account == AccountStatus::Active
    }
}

/// Write access to sessions and tokens.
pub trait SessionWrite: SessionRead {
    /// Inserts a session.
    fn insert_session(&mut self, session: &NewSession) -> Result<(), StoreError>;

    /// Adds a token that is valid until `expires_at` to a session.
    fn insert_token(
        &mut self,
        session: SessionId,
        token: &Token,
        expires_at: Timestamp,
    ) -> Result<(), StoreError>;

    /// The refresh token with this hash, locked until the transaction ends.
    fn lock_refresh_token(&mut self, hash: &TokenHash) -> Result<Option<StoredRefresh>, StoreError>;

    /// Marks a refresh token as exchanged.
    fn mark_refresh_used(&mut self, hash: &TokenHash, at: Timestamp) -> Result<(), StoreError>;

    /// Ends all access tokens of a session that are live at `at`.
    fn end_access_tokens(&mut self, session: SessionId, at: Timestamp) -> Result<(), StoreError>;

    /// Ends a live session of `user`; `false` if there is none with this id.
    fn end_session(&mut self, user: UserId, session: SessionId, at: Timestamp) -> Result<bool, StoreError>;

    /// Ends all live sessions of `user` except `keep`; returns their number.
    fn end_other_sessions(
        &mut self,
        user: UserId,
        keep: Option<SessionId>,
        at: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Records that a session was used at `at`, and extends it if `expires_at` is given.
    fn touch_session(
        &mut self,
        session: SessionId,
        at: Timestamp,
        expires_at: Option<Timestamp>,
    ) -> Result<(), StoreError>;

    /// Deletes up to `limit` sessions and tokens that ended before `before`; returns the number of deleted rows.
    fn remove_ended_sessions(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError>;

    /// Deletes up to `limit` tokens and sessions of `user`, including live ones; returns the number of deleted rows.
    fn remove_sessions_of(&mut self, user: UserId, limit: u32) -> Result<u64, StoreError>;
}

/// Write access to the time at which an account was last seen: exact for a sign-in, to the day for use of a session. It
/// is stored apart from sessions, which are deleted soon after they end.
pub trait PresenceWrite {
    /// Records a sign-in. Has no effect on an account that is not active.
    fn note_sign_in(&mut self, user: UserId, at: Timestamp) -> Result<(), StoreError>;

    /// Records that a session was used at `at`, if the stored time was recorded at `since` or before; returns whether
    /// it was updated.
    fn note_use(&mut self, user: UserId, at: Timestamp, since: Timestamp) -> Result<bool, StoreError>;

    /// Deletes the time at which an account was last seen.
    fn remove_presence(&mut self, user: UserId) -> Result<(), StoreError>;
}

/// Read access to leagues and teams.
pub trait TeamRead {
    /// Id of the team with this key.
    fn team_by_key(&mut self, key: &str) -> Result<Option<TeamId>, StoreError>;

    /// The leagues after the key `after`, in the order of their keys, without those that have no team or only retired ones.
    fn leagues(&mut self, limit: Limit, after: Option<&str>) -> Result<Page<League, String>, StoreError>;

    /// Every league, in the order of their keys.
    fn all_leagues(&mut self) -> Result<Vec<League>, StoreError>;

    /// The league with this id.
    fn league(&mut self, id: LeagueId) -> Result<Option<League>, StoreError>;

    /// The teams after the key `after`, of one league or of all, in the order of their keys, without retired ones.
    fn teams(
        &mut self,
        league: Option<LeagueId>,
        limit: Limit,
        after: Option<&str>,
    ) -> Result<Page<Team, String>, StoreError>;

    /// Every team, including retired ones, in the order of their keys.
    fn all_teams(&mut self) -> Result<Vec<Team>, StoreError>;

    /// The team with this id.
    fn team(&mut self, id: TeamId) -> Result<Option<Team>, StoreError>;
}

/// Write access to leagues and teams, identified by their stable keys.
pub trait TeamWrite: TeamRead {
    /// Inserts the league, or updates it if its key exists; returns its stored id.
    fn upsert_league(&mut self, league: &League, at: Timestamp) -> Result<LeagueId, StoreError>;

    /// Inserts the team, or updates all of it except its counters if its key exists; returns its stored id.
    fn upsert_team(&mut self, team: &Team, at: Timestamp) -> Result<TeamId, StoreError>;

    /// Retires every team whose key is not in `keep`; returns how many were not retired before.
    fn retire_teams(&mut self, keep: &[&str]) -> Result<u64, StoreError>;
}
