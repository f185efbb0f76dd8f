//! Registration, sign-in and other operations that verify a password. Hashing runs outside the transaction, the
//! rules inside it.

use crate::App;
use crate::accounts::passwords::PasswordFailure;
use crate::accounts::{
    Device, EndSession, EndSessionRefusal, FindViewer, OpenSession, OpenSessionRefusal, Opened, OwnProfile,
    RefreshSession, Refreshed, Register, RegisterOutcome, RegisterRuleRefusal, ReplacePassword, Tokens,
    TouchSession,
};
use crate::once::KeyedRequest;
use crate::store::{Query, into_infallible};
use std::convert::Infallible;
use terrace_identity::ports::{Credentials, StoredRefresh};
use terrace_identity::{
    AccountRead, Password, PasswordError, Secret, SessionKind, SessionRead, TimeZone, Token, TokenHash,
    TokenKind, Username, Viewer,
};
use terrace_kernel::{Failure, Outcome, SessionId, StoreError, Timestamp, UserId};

/// The data of a registration.
#[derive(Debug, Clone)]
pub struct Registration {
    pub username: Username,
    pub password: Password,
    /// The display name; the username if `None`.
    pub display_name: Option<String>,
    /// The time zone that defines the user's days; UTC if `None`.
    pub time_zone: Option<TimeZone>,
}

/// A signed-in user with the session's secrets.
#[derive(Debug)]
pub struct SignedUp {
    /// The user's own profile.
    pub profile: OwnProfile,
    /// The secrets for the client to keep.
    pub grant: Grant,
    /// Whether an earlier request under the same idempotency key registered the account.
    pub replayed: bool,
}

/// The secrets of a session. They are returned once; the database stores only their hashes.
#[derive(Debug)]
pub enum Grant {
    /// The value of a browser's session cookie.
    Cookie(Secret),
    /// The tokens of a native client.
    Bearer {
        /// Access token, sent with every request.
        access: Secret,
        /// Refresh token, exchanged once for the next pair.
        refresh: Secret,
    },
}

/// Why a registration was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterRefusal {
    /// Another account has or had this username or a look-alike, or it is reserved.
    UsernameTaken,
    /// The password is not allowed for this username.
    WeakPassword(PasswordError),
    /// The idempotency key was used for a different registration, or the password is not that account's.
    KeyReused,
    /// The request was a repeat, and an operator has since suspended the account.
    Suspended,
    /// Too many sign-ins are in progress.
    Busy,
}

/// Why a sign-in was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginRefusal {
    /// The username is unknown or the password is wrong; the response does not distinguish the two.
    InvalidCredentials,
    /// An operator suspended the account. Returned only after the password was verified.
    Suspended,
    /// Too many sign-ins are in progress.
    Busy,
}

/// Why a password was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangePasswordRefusal {
    /// The new password is not allowed for this username.
    WeakPassword(PasswordError),
    /// The current password is wrong.
    WrongPassword,
    /// Too many passwords are being checked concurrently.
    Busy,
}

/// Why a refresh token was not exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshRefusal {
    /// The token is unknown or expired, or its session has ended.
    InvalidToken,
    /// The token had been exchanged before; its whole family is ended now.
    TokenReused,
}

impl App {
    /// Registers an account and opens a browser session. Repeating the request under the same key opens another
    /// session of the same account.
    pub async fn register(
        &self,
        registration: Registration,
        request: Option<KeyedRequest>,
    ) -> Outcome<SignedUp, RegisterRefusal> {
        let Registration { username, password, display_name, time_zone } = registration;
        password
            .check_username(username.key())
            .map_err(|error| Failure::Refused(RegisterRefusal::WeakPassword(error)))?;
        let salt = self.seed().open().random_bytes();
        let hash = self
            .passwords
            .hash(password.clone(), salt)
            .await
            .map_err(|failure| busy_or(failure, RegisterRefusal::Busy))?;
        let outcome = self
            .execute(Register {
                display_name: display_name.unwrap_or_else(|| username.as_str().to_owned()),
                username,
                time_zone: time_zone.unwrap_or(TimeZone::UTC),
                password: hash,
                device: self.browser(),
                request,
                idempotency_life: self.config.idempotency_life,
            })
            .await;
        match outcome {
            Ok(RegisterOutcome::Done(opened)) => Ok(signed_up(*opened)),
            Ok(RegisterOutcome::DoneBefore(user)) => {
                let credentials = into_infallible(self.query(FindCredentials::Of(user)).await)?;
                self.open_session(credentials, password, self.browser())
                    .await
                    .map(|signed_up| SignedUp { replayed: true, ..signed_up })
                    .map_err(|failure| {
                        failure.map(|refusal| match refusal {
                            LoginRefusal::InvalidCredentials => RegisterRefusal::KeyReused,
                            LoginRefusal::Suspended => RegisterRefusal::Suspended,
                            LoginRefusal::Busy => RegisterRefusal::Busy,
                        })
                    })
            }
            Err(failure) => Err(failure.map(|refusal| match refusal {
                RegisterRuleRefusal::UsernameTaken => RegisterRefusal::UsernameTaken,
                RegisterRuleRefusal::KeyReused => RegisterRefusal::KeyReused,
            })),
        }
    }

    /// Opens a browser session.
    pub async fn login(&self, username: &str, password: Password) -> Outcome<SignedUp, LoginRefusal> {
        self.sign_in(username, password, self.browser()).await
    }

    /// Opens a session for a native client.
    pub async fn mobile_login(
        &self,
        username: &str,
        password: Password,
        device_name: Option<String>,
    ) -> Outcome<SignedUp, LoginRefusal> {
        self.sign_in(username, password, self.mobile(device_name)).await
    }

    /// The owner of a refresh token that can be exchanged, or whose family must end because the token was exchanged
    /// before. Only reads, so that a flood of invalid tokens causes no writes.
    pub async fn refresh_owner(&self, presented: &str) -> Outcome<UserId, RefreshRefusal> {
        let refused = |refusal| Err(Failure::Refused(refusal));
        let Some(token) = Token::present(TokenKind::Refresh, presented) else {
            return refused(RefreshRefusal::InvalidToken);
        };
        match into_infallible(self.query(FindRefreshToken { presented: token.hash }).await)? {
            Some(token) if token.is_live(self.now()) => Ok(token.user_id),
            Some(token) if token.used && token.session_ended => refused(RefreshRefusal::TokenReused),
            Some(token) if token.used => Ok(token.user_id),
            Some(_) | None => refused(RefreshRefusal::InvalidToken),
        }
    }

    /// Exchanges a refresh token for a new pair.
    pub async fn refresh(&self, presented: &str) -> Outcome<SignedUp, RefreshRefusal> {
        let token = Token::present(TokenKind::Refresh, presented)
            .ok_or(Failure::Refused(RefreshRefusal::InvalidToken))?;
        let command = RefreshSession { presented: token.hash, device: self.mobile(None) };
        match into_infallible(self.execute(command).await)? {
            Refreshed::Fresh { session, profile, tokens } => {
                self.viewers.forget_session(session);
                Ok(SignedUp { profile: *profile, grant: grant(tokens), replayed: false })
            }
            Refreshed::Reused { user } => {
                self.viewers.forget_user(user);
                Err(Failure::Refused(RefreshRefusal::TokenReused))
            }
            Refreshed::Invalid => Err(Failure::Refused(RefreshRefusal::InvalidToken)),
        }
    }

    /// Replaces the viewer's own password and ends the viewer's other sessions.
    pub async fn change_password(
        &self,
        viewer: &Viewer,
        current: Password,
        new: Password,
    ) -> Outcome<(), ChangePasswordRefusal> {
        let wrong = || Failure::Refused(ChangePasswordRefusal::WrongPassword);
        let busy = |failure| busy_or(failure, ChangePasswordRefusal::Busy);
        let find = FindOwnCredentials { user: viewer.user_id };
        let (username, credentials) = into_infallible(self.query(find).await)?.ok_or_else(wrong)?;
        new.check_username(&Username::key_of(&username))
            .map_err(|error| Failure::Refused(ChangePasswordRefusal::WeakPassword(error)))?;
        if !self.passwords.verify(current, Some(credentials.password.clone())).await.map_err(busy)? {
            return Err(wrong());
        }
        let salt = self.seed().open().random_bytes();
        let new = self.passwords.hash(new, salt).await.map_err(busy)?;
        self.execute(ReplacePassword {
            user: viewer.user_id,
            session: viewer.session_id,
            old: credentials.password,
            new,
        })
        .await
        .map_err(|failure| failure.map(|_| ChangePasswordRefusal::WrongPassword))?;
        self.viewers.forget_user(viewer.user_id);
        Ok(())
    }

    /// Ends one of the user's own sessions, with all its tokens.
    pub async fn end_session(&self, user: UserId, session: SessionId) -> Outcome<(), EndSessionRefusal> {
        self.execute(EndSession { user, session }).await?;
        self.viewers.forget_session(session);
        Ok(())
    }

    /// The viewer of `token`: an active account with a live session, or `None`. Records the session's use at most
    /// once per `touch_after`.
    pub async fn viewer(&self, token: Token) -> Result<Option<Viewer>, StoreError> {
        let key = (token.kind, token.hash);
        if let Some(viewer) = self.viewers.get(key, self.now()) {
            return Ok(Some(viewer));
        }
        let since = self.viewers.since();
        let found = into_infallible(self.query(FindViewer { token }).await)?;
        if let Some(viewer) = found {
            self.viewers.remember(since, key, viewer);
        }
        if let Some(viewer) = &found
            && self.now().since(viewer.last_seen_at) >= self.config.touch_after
        {
            self.execute_detached(TouchSession { user: viewer.user_id, session: viewer.session_id });
        }
        Ok(found)
    }

    async fn sign_in(
        &self,
        username: &str,
        password: Password,
        device: Device,
    ) -> Outcome<SignedUp, LoginRefusal> {
        let credentials =
            into_infallible(self.query(FindCredentials::Named(Username::key_of(username))).await)?;
        self.open_session(credentials, password, device).await
    }

    /// Verifies the password, at the same cost if there are no credentials, and opens a session.
    async fn open_session(
        &self,
        credentials: Option<Credentials>,
        password: Password,
        device: Device,
    ) -> Outcome<SignedUp, LoginRefusal> {
        let hash = credentials.as_ref().map(|credentials| credentials.password.clone());
        let right = self
            .passwords
            .verify(password, hash)
            .await
            .map_err(|failure| busy_or(failure, LoginRefusal::Busy))?;
        let credentials =
            credentials.filter(|_| right).ok_or(Failure::Refused(LoginRefusal::InvalidCredentials))?;
        let command = OpenSession { user: credentials.user_id, proved: credentials.password, device };
        let opened = self.execute(command).await.map_err(|failure| {
            failure.map(|refusal| match refusal {
                OpenSessionRefusal::ProofIsStale => LoginRefusal::InvalidCredentials,
                OpenSessionRefusal::Suspended => LoginRefusal::Suspended,
            })
        })?;
        Ok(signed_up(opened))
    }

    fn browser(&self) -> Device {
        Device {
            kind: SessionKind::Browser,
            name: None,
            life: self.config.session_life,
            access_life: self.config.access_life,
            longest: self.config.session_longest,
        }
    }

    fn mobile(&self, name: Option<String>) -> Device {
        Device {
            kind: SessionKind::Mobile,
            name,
            life: self.config.refresh_life,
            access_life: self.config.access_life,
            longest: self.config.session_longest,
        }
    }
}

fn signed_up(opened: Opened) -> SignedUp {
    SignedUp { profile: opened.profile, grant: grant(opened.tokens), replayed: false }
}

fn grant(tokens: Tokens) -> Grant {
    match tokens {
        Tokens::Browser { cookie } => Grant::Cookie(cookie),
        Tokens::Mobile { access, refresh } => Grant::Bearer { access, refresh },
    }
}

pub(crate) fn busy_or<R>(failure: PasswordFailure, busy: R) -> Failure<R> {
    match failure {
        PasswordFailure::Busy => Failure::Refused(busy),
        PasswordFailure::Broken(error) => Failure::Broken(error),
    }
}

/// Reads a refresh token.
struct FindRefreshToken {
    presented: TokenHash,
}

impl Query for FindRefreshToken {
    const NAME: &'static str = "find_refresh_token";
    type Ports = dyn SessionRead;
    type Output = Option<StoredRefresh>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SessionRead, _now: Timestamp) -> Outcome<Option<StoredRefresh>, Infallible> {
        Ok(tx.refresh_token(&self.presented)?)
    }
}

/// Reads the credentials of an account, by the key of its username or by its id.
pub(crate) enum FindCredentials {
    Named(String),
    Of(UserId),
}

impl Query for FindCredentials {
    const NAME: &'static str = "find_credentials";
    type Ports = dyn AccountRead;
    type Output = Option<Credentials>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn AccountRead, _now: Timestamp) -> Outcome<Option<Credentials>, Infallible> {
        Ok(match self {
            // No username contains a NUL, and PostgreSQL rejects it in text.
            Self::Named(key) if key.contains('\0') => None,
            Self::Named(key) => tx.credentials_by_key(key)?,
            Self::Of(user) => tx.credentials_of(*user)?,
        })
    }
}

/// Reads the username of an account and its credentials.
struct FindOwnCredentials {
    user: UserId,
}

impl Query for FindOwnCredentials {
    const NAME: &'static str = "find_own_credentials";
    type Ports = dyn AccountRead;
    type Output = Option<(String, Credentials)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn AccountRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some(credentials) = tx.credentials_of(self.user)? else { return Ok(None) };
        Ok(tx.account(self.user)?.map(|account| (account.card.username, credentials)))
    }
}
