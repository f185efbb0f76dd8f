//! Opens a session for a user whose password was verified.

use crate::accounts::OwnProfile;
use crate::store::{Command, SessionTx, SignInTx};
use std::time::Duration;
use terrace_identity::{
    AccountStatus, NewSession, PasswordHash, Secret, SessionKind, SessionWrite, Token, TokenKind,
};
use terrace_kernel::{Ctx, Failure, Outcome, SessionId, StoreError, Timestamp, UserId};

/// Opens a session and issues its tokens.
pub(crate) struct OpenSession {
    pub(crate) user: UserId,
    /// The hash that the password was verified against. The command is refused if it is no longer the account's
    /// hash.
    pub(crate) proved: PasswordHash,
    pub(crate) device: Device,
}

/// Kind, name and lifetimes of a session to open.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) kind: SessionKind,
    pub(crate) name: Option<String>,
    /// Lifetime of the session (of a mobile session: until its next refresh).
    pub(crate) life: Duration,
    /// Lifetime of an access token.
    pub(crate) access_life: Duration,
    /// Absolute lifetime of the session, counted from its opening, however it is used.
    pub(crate) longest: Duration,
}

impl Device {
    /// Expiry of a session that was opened at `opened_at` and last used or refreshed at `now`.
    pub(crate) fn session_end(&self, opened_at: Timestamp, now: Timestamp) -> Timestamp {
        now.plus(self.life).min(opened_at.plus(self.longest))
    }
}

/// The tokens issued when a session is opened or refreshed.
pub(crate) enum Tokens {
    Browser { cookie: Secret },
    Mobile { access: Secret, refresh: Secret },
}

/// A newly opened session.
pub(crate) struct Opened {
    pub(crate) profile: OwnProfile,
    pub(crate) tokens: Tokens,
}

/// Why no session was opened.
pub(crate) enum OpenSessionRefusal {
    /// The password was changed, or the account deleted, since the password was verified.
    ProofIsStale,
    /// An operator suspended the account.
    Suspended,
}

impl Command for OpenSession {
    const NAME: &'static str = "open_session";
    type Ports = dyn SignInTx;
    type Output = Opened;
    type Refusal = OpenSessionRefusal;

    fn run(&self, tx: &mut dyn SignInTx, ctx: &mut Ctx) -> Outcome<Opened, OpenSessionRefusal> {
        let credentials = tx
            .lock_credentials(self.user)?
            .filter(|credentials| credentials.password == self.proved)
            .ok_or(Failure::Refused(OpenSessionRefusal::ProofIsStale))?;
        match credentials.status {
            AccountStatus::Active => {}
            AccountStatus::Suspended => return Err(Failure::Refused(OpenSessionRefusal::Suspended)),
            AccountStatus::Deleted => return Err(Failure::Refused(OpenSessionRefusal::ProofIsStale)),
        }
        let tokens = open_session(tx, ctx, self.user, &self.device)?;
        let profile =
            OwnProfile::read(tx, self.user)?.ok_or(Failure::Refused(OpenSessionRefusal::ProofIsStale))?;
        Ok(Opened { profile, tokens })
    }
}

/// Opens a session of `user` on `device` with new tokens.
pub(crate) fn open_session(
    tx: &mut dyn SessionTx,
    ctx: &mut Ctx,
    user: UserId,
    device: &Device,
) -> Result<Tokens, StoreError> {
    let session = NewSession {
        id: ctx.new_id(),
        user_id: user,
        kind: device.kind,
        device_name: device.name.clone(),
        created_at: ctx.now(),
        expires_at: device.session_end(ctx.now(), ctx.now()),
    };
    tx.insert_session(&session)?;
    tx.note_sign_in(user, ctx.now())?;
    give_tokens(tx, ctx, session.id, device, session.expires_at)
}

/// Issues the tokens of a session that ends at `session_end`: a cookie, or an access and refresh pair.
pub(crate) fn give_tokens(
    tx: &mut dyn SessionWrite,
    ctx: &mut Ctx,
    session: SessionId,
    device: &Device,
    session_end: Timestamp,
) -> Result<Tokens, StoreError> {
    let access_end = ctx.now().plus(device.access_life).min(session_end);
    let mut issue = |kind, end| {
        let (secret, token) = Token::draw(kind, ctx);
        tx.insert_token(session, &token, end)?;
        Ok::<_, StoreError>(secret)
    };
    Ok(match device.kind {
        SessionKind::Browser => Tokens::Browser { cookie: issue(TokenKind::Cookie, session_end)? },
        SessionKind::Mobile => Tokens::Mobile {
            access: issue(TokenKind::Access, access_end)?,
            refresh: issue(TokenKind::Refresh, session_end)?,
        },
    })
}
