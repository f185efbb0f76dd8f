//! Opens a session for somebody whose password was checked.

use crate::accounts::OwnProfile;
use crate::store::Command;
use crate::store::Tx;
use std::time::Duration;
use terrace_identity::{AccountStatus, NewSession, PasswordHash, Secret, SessionKind, Token, TokenKind};
use terrace_kernel::{Ctx, Failure, Outcome, SessionId, StoreError, Timestamp, UserId};

/// Opens a session and draws its tokens.
pub(crate) struct OpenSession {
    pub(crate) user: UserId,
    /// The hash that the password was checked against: if it is not the account's any more, nor is the proof.
    pub(crate) proved: PasswordHash,
    pub(crate) device: Device,
}

/// How a device signs in, and for how long.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) kind: SessionKind,
    pub(crate) name: Option<String>,
    /// How long the session lasts (a mobile one: until it is refreshed).
    pub(crate) life: Duration,
    /// How long an access token lasts.
    pub(crate) access_life: Duration,
    /// How long after it was opened the session ends, however it is used.
    pub(crate) longest: Duration,
}

impl Device {
    /// When a session that was opened at `opened_at` and is used at `now` ends unless it is prolonged.
    pub(crate) fn session_end(&self, opened_at: Timestamp, now: Timestamp) -> Timestamp {
        now.plus(self.life).min(opened_at.plus(self.longest))
    }
}

/// The tokens of a session that was opened or refreshed.
pub(crate) enum Tokens {
    Browser { cookie: Secret },
    Mobile { access: Secret, refresh: Secret },
}

/// A session that was opened.
pub(crate) struct Opened {
    pub(crate) profile: OwnProfile,
    pub(crate) tokens: Tokens,
}

/// Why no session was opened.
pub(crate) enum OpenSessionRefusal {
    /// The password was changed, or the account deleted, since it was checked.
    ProofIsStale,
    /// An operator put the account aside.
    Suspended,
}

impl Command for OpenSession {
    const NAME: &'static str = "open_session";
    type Output = Opened;
    type Refusal = OpenSessionRefusal;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Opened, OpenSessionRefusal> {
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

/// Opens a session of `user` on `device` with fresh tokens.
pub(crate) fn open_session(
    tx: &mut dyn Tx,
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

/// Draws the tokens of a session that ends at `session_end`: a cookie, or a pair.
pub(crate) fn give_tokens(
    tx: &mut dyn Tx,
    ctx: &mut Ctx,
    session: SessionId,
    device: &Device,
    session_end: Timestamp,
) -> Result<Tokens, StoreError> {
    let access_end = ctx.now().plus(device.access_life).min(session_end);
    let mut give = |kind, end| {
        let (secret, token) = Token::draw(kind, ctx);
        tx.insert_token(session, &token, end)?;
        Ok::<_, StoreError>(secret)
    };
    Ok(match device.kind {
        SessionKind::Browser => Tokens::Browser { cookie: give(TokenKind::Cookie, session_end)? },
        SessionKind::Mobile => Tokens::Mobile {
            access: give(TokenKind::Access, access_end)?,
            refresh: give(TokenKind::Refresh, session_end)?,
        },
    })
}
