//! Operators add and revoke tills.

use crate::store::{Command, Query};
use std::convert::Infallible;
use terrace_identity::{Secret, Token, TokenKind};
use terrace_kernel::{Ctx, Failure, Outcome, Timestamp};
use terrace_rewards::{Till, TillRead, TillWrite};

/// Adds a till, and returns its token, which is not stored.
#[derive(Debug, Clone)]
pub struct AddTill {
    /// The name, checked by [`terrace_rewards::till_name`].
    pub name: String,
}

/// Why a till is not added or revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TillRefusal {
    /// There is a till with this name.
    #[error("there is a till with this name")]
    NameTaken,
    /// There is no till with this name whose token is valid.
    #[error("there is no till with this name")]
    UnknownTill,
}

impl Command for AddTill {
    const NAME: &'static str = "add_till";
    type Ports = dyn TillWrite;
    type Output = Secret;
    type Refusal = TillRefusal;

    fn run(&self, tx: &mut dyn TillWrite, ctx: &mut Ctx) -> Outcome<Secret, TillRefusal> {
        let (secret, token) = Token::draw(TokenKind::Till, ctx);
        let till =
            Till { id: ctx.new_id(), name: self.name.clone(), created_at: ctx.now(), revoked_at: None };
        if tx.insert_till(&till, token.hash.as_bytes())? {
            Ok(secret)
        } else {
            Err(Failure::Refused(TillRefusal::NameTaken))
        }
    }
}

/// Revokes the token of a till.
#[derive(Debug, Clone)]
pub struct RevokeTill {
    pub name: String,
}

impl Command for RevokeTill {
    const NAME: &'static str = "revoke_till";
    type Ports = dyn TillWrite;
    type Output = ();
    type Refusal = TillRefusal;

    fn run(&self, tx: &mut dyn TillWrite, ctx: &mut Ctx) -> Outcome<(), TillRefusal> {
        if tx.revoke_till(&self.name, ctx.now())? {
            Ok(())
        } else {
            Err(Failure::Refused(TillRefusal::UnknownTill))
        }
    }
}

/// Lists all tills, revoked ones included.
pub struct ListTills;

impl Query for ListTills {
    const NAME: &'static str = "list_tills";
    type Ports = dyn TillRead;
    type Output = Vec<Till>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn TillRead, _now: Timestamp) -> Outcome<Vec<Till>, Infallible> {
        Ok(tx.tills()?)
    }
}
