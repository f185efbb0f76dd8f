//! Exchanges a refresh token for a new pair.

use crate::accounts::sign_in::{Device, Tokens, give_tokens};
use crate::accounts::{OwnProfile, SEEN_TO};
use crate::store::Command;
use crate::store::Tx;
use std::convert::Infallible;
use terrace_identity::TokenHash;
use terrace_kernel::{Ctx, Outcome, SessionId, UserId};

/// Exchanges a refresh token, once. A token that comes a second time was copied: its whole family ends, the
/// thief's part and the owner's alike (RFC 9700 §4.14.2). The access token of the pair before ends with the exchange. The
/// session is prolonged, up to its absolute end.
pub(crate) struct RefreshSession {
    pub(crate) presented: TokenHash,
    pub(crate) device: Device,
}

/// What became of a refresh token. The end of a family is an effect that must be kept, so it is no refusal.
pub(crate) enum Refreshed {
    /// A new pair.
    Fresh {
        /// The session, whose access tokens from before are ended.
        session: SessionId,
        profile: Box<OwnProfile>,
        tokens: Tokens,
    },
    /// It had been exchanged before; its family is ended.
    Reused {
        /// Whose family it was.
        user: UserId,
    },
    /// It is unknown, over, or of a session or account that is ended.
    Invalid,
}

impl Command for RefreshSession {
    const NAME: &'static str = "refresh_session";
    type Output = Refreshed;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Refreshed, Infallible> {
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
