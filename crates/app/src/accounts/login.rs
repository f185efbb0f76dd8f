//! Registration, sign-in and what else needs a password's proof: hashing outside the transaction, the rule
//! inside it.

use crate::App;
use crate::accounts::passwords::PasswordFailure;
use crate::accounts::{
    Device, EndSession, EndSessionRefusal, FindViewer, OpenSession, OpenSessionRefusal, Opened, OwnProfile,
    RefreshSession, Refreshed, Register, RegisterOutcome, RegisterRuleRefusal, ReplacePassword, Tokens,
    TouchSession,
};
use crate::execute::KeyedRequest;
use crate::store::ReadTx;
use crate::store::{Query, into_infallible};
use std::convert::Infallible;
use terrace_identity::ports::{Credentials, StoredRefresh};
use terrace_identity::{
    Password, PasswordError, Secret, SessionKind, TimeZone, Token, TokenHash, TokenKind, Username, Viewer,
};
use terrace_kernel::{Failure, Outcome, SessionId, StoreError, Timestamp, UserId};

/// What somebody registers with.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The name.
    pub username: Username,
    /// The password.
    pub password: Password,
    /// The name to show; the username when none is given.
    pub display_name: Option<String>,
    /// The zone of their days; UTC when none is given.
    pub time_zone: Option<TimeZone>,
}

/// Somebody who signed in, and the secrets that prove it.
#[derive(Debug)]
pub struct SignedUp {
    /// Their profile.
    pub profile: OwnProfile,
    /// What the client keeps.
    pub grant: Grant,
    /// Whether the account was registered before, by the same request under the same key.
    pub replayed: bool,
}

/// The secrets of a session. They are shown once and kept nowhere.
#[derive(Debug)]
pub enum Grant {
    /// For a browser's cookie.
    Cookie(Secret),
    /// For a native client.
    Bearer {
        /// Goes with every request.
        access: Secret,
        /// Is exchanged, once, for the next pair.
        refresh: Secret,
    },
}

/// Why nobody was registered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegisterRefusal {
    /// Somebody has this name, or had it.
    UsernameTaken,
    /// The username does not allow this password.
    WeakPassword(PasswordError),
    /// The idempotency key was used for another registration.
    KeyReused,
    /// An operator put the account aside.
    Suspended,
    /// Too many sign-ins at once.
    Busy,
}

/// Why nobody was signed in, or a proof was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginRefusal {
    /// The name is unknown or the password is wrong; which of the two is not said.
    InvalidCredentials,
    /// An operator put the account aside. Only who knows the password is told.
    Suspended,
    /// Too many sign-ins at once.
    Busy,
}

/// Why a password was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangePasswordRefusal {
    /// The username does not allow the new password.
    WeakPassword(PasswordError),
    /// The current password is wrong.
    WrongPassword,
    /// Too many passwords are being checked at once.
    Busy,
}

/// Why a refresh token was not exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshRefusal {
    /// It is unknown, over, or of a session that was ended.
    InvalidToken,
    /// It had been exchanged before; its whole family is ended now.
    TokenReused,
}

impl App {
    /// Registers an account and signs its first browser in. The same request under the same key signs the same
    /// account in again.
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

    /// Signs a browser in.
    pub async fn login(&self, username: &str, password: Password) -> Outcome<SignedUp, LoginRefusal> {
        self.sign_in(username, password, self.browser()).await
    }

    /// Signs a native client in.
    pub async fn mobile_login(
        &self,
        username: &str,
        password: Password,
        device_name: Option<String>,
    ) -> Outcome<SignedUp, LoginRefusal> {
        self.sign_in(username, password, self.mobile(device_name)).await
    }

    /// Whose refresh token this is, if it can be exchanged, or if its family has to end because it was exchanged before.
    /// Only reads, so that a flood of tokens that are not valid writes nothing.
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

    /// Replaces one's own password and ends one's other sessions.
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

    /// Ends one of one's own sessions, with all its tokens.
    pub async fn end_session(&self, user: UserId, session: SessionId) -> Outcome<(), EndSessionRefusal> {
        self.execute(EndSession { user, session }).await?;
        self.viewers.forget_session(session);
        Ok(())
    }

    /// Who presents `token`: an active account with a live session, or nobody. Notes that the session is in
    /// use, now and then.
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

    /// Checks the password, at the same cost when there are no credentials, and opens a session.
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

/// Finds a refresh token.
struct FindRefreshToken {
    presented: TokenHash,
}

impl Query for FindRefreshToken {
    const NAME: &'static str = "find_refresh_token";
    type Output = Option<StoredRefresh>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Option<StoredRefresh>, Infallible> {
        Ok(tx.refresh_token(&self.presented)?)
    }
}

/// Finds what a password is checked against.
pub(crate) enum FindCredentials {
    Named(String),
    Of(UserId),
}

impl Query for FindCredentials {
    const NAME: &'static str = "find_credentials";
    type Output = Option<Credentials>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Option<Credentials>, Infallible> {
        Ok(match self {
            // No account has such a name, and PostgreSQL takes no such text.
            Self::Named(key) if key.contains('\0') => None,
            Self::Named(key) => tx.credentials_by_key(key)?,
            Self::Of(user) => tx.credentials_of(*user)?,
        })
    }
}

/// Finds the username of an account and the hash that its password is checked against.
struct FindOwnCredentials {
    user: UserId,
}

impl Query for FindOwnCredentials {
    const NAME: &'static str = "find_own_credentials";
    type Output = Option<(String, Credentials)>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ReadTx, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        let Some(credentials) = tx.credentials_of(self.user)? else { return Ok(None) };
        Ok(tx.account(self.user)?.map(|account| (account.card.username, credentials)))
    }
}
