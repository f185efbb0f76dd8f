//! Exchanges a refresh token for a new pair of tokens.

use crate::accounts::sign_in::{Device, Tokens, give_tokens};
use crate::accounts::{OwnProfile, SEEN_TO};
use crate::store::{Command, SignInTx};
use std::convert::Infallible;
use terrace_identity::TokenHash;
use terrace_kernel::{Ctx, Outcome, SessionId, UserId};

/// Exchanges a refresh token, once. A token that is presented a second time was copied: its whole token family
/// ends, for the attacker and the owner alike (RFC 9700 §4.14.2). The exchange ends the previous access token and
/// extends the session, up to its absolute end.
pub(crate) struct RefreshSession {
    pub(crate) presented: TokenHash,
    pub(crate) device: Device,
}

/// The outcome of an exchange. Ending a token family must be committed, so it is an outcome and not a refusal.
pub(crate) enum Refreshed {
    /// A new pair was issued.
    Fresh {
        /// The session; its previous access tokens are ended.
        session: SessionId,
        profile: Box<OwnProfile>,
        tokens: Tokens,
    },
    /// The token had been exchanged before; its family is ended.
    Reused {
        /// Owner of the family.
        user: UserId,
    },
    /// The token is unknown or expired, or its session or account has ended.
    Invalid,
}

impl Command for RefreshSession {
    const NAME: &'static str = "refresh_session";
    type Ports = dyn SignInTx;
    type Output = Refreshed;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn SignInTx, ctx: &mut Ctx) -> Outcome<Refreshed, Infallible> {
        let Some(token) = tx.lock_refresh_token(&self.presented)? else {
            return Ok(Refreshed::Invalid);
        };
        if token.used {
            tx.end_session(token.user_id, token.session_id, ctx.now())?;
            return Ok(Refreshed::Reused { user: token.user_id });
        }
        if !token.is_live(ctx.now()) {
            return Ok(Refreshed::Invalid);
        }
        let session_end = self.device.session_end(token.opened_at, ctx.now());
        if session_end.is_over(ctx.now()) {
            return Ok(Refreshed::Invalid);
        }
        tx.mark_refresh_used(&self.presented, ctx.now())?;
        tx.end_access_tokens(token.session_id, ctx.now())?;
        tx.touch_session(token.session_id, ctx.now(), Some(session_end))?;
        tx.note_use(token.user_id, ctx.now(), ctx.now().minus(SEEN_TO))?;
        let tokens = give_tokens(tx, ctx, token.session_id, &self.device, session_end)?;
        let Some(profile) = OwnProfile::read(tx, token.user_id)? else {
            return Ok(Refreshed::Invalid);
        };
        Ok(Refreshed::Fresh { session: token.session_id, profile: Box::new(profile), tokens })
    }
}
