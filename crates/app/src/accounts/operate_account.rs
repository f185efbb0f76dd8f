//! What operators do to accounts: suspend, restore, reset the password, give a role.

use crate::store::Command;
use crate::store::Tx;
use terrace_identity::ports::Credentials;
use terrace_identity::{AccountStatus, PasswordHash, Role, Username};
use terrace_kernel::{Ctx, EventKind, Failure, NewEvent, Outcome, StoreError, Topic, UserId};

/// No account of this name can be operated on: there is none, or it was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownAccount;

/// What an operator's command came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operated {
    /// The account.
    pub user: UserId,
    /// `false` when it was so already.
    pub changed: bool,
    /// How many sessions ended.
    pub sessions_ended: u64,
}

/// The account of this name, however it is written, unless it was deleted.
pub(crate) fn find_named(tx: &mut dyn Tx, username: &str) -> Result<Option<Credentials>, StoreError> {
    let key = Username::key_of(username);
    // No account has such a name, and PostgreSQL takes no such text.
    if key.contains('\0') { Ok(None) } else { tx.credentials_by_key(&key) }
}

/// The account of this name, locked until the transaction ends.
pub(crate) fn lock_named(tx: &mut dyn Tx, username: &str) -> Outcome<Credentials, UnknownAccount> {
    let locked = match find_named(tx, username)? {
        Some(credentials) => tx.lock_credentials(credentials.user_id)?,
        None => None,
    };
    locked
        .filter(|credentials| credentials.status != AccountStatus::Deleted)
        .ok_or(Failure::Refused(UnknownAccount))
}

/// Nobody acts who is known to the service, so the account itself stands for its operator.
fn tell(tx: &mut dyn Tx, ctx: &Ctx, kind: EventKind, user: UserId) -> Result<(), StoreError> {
    let event = NewEvent {
        topic: Topic::Account,
        kind,
        actor: Some(user),
        team: None,
        subject: user.as_uuid(),
        object: None,
    };
    tx.append(&event, ctx.now())
}

/// Puts an account aside: its sessions end, nobody can sign in to it, and nothing of it is shown until it is restored.
/// Nothing of it is removed.
#[derive(Debug, Clone)]
pub struct SuspendAccount {
    /// The username, however it is spelled.
    pub username: String,
}

impl Command for SuspendAccount {
    const NAME: &'static str = "suspend_account";
    type Output = Operated;
    type Refusal = UnknownAccount;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let user = lock_named(tx, &self.username)?.user_id;
        let changed = tx.set_status(user, AccountStatus::Active, AccountStatus::Suspended, ctx.now())?;
        if changed {
            tell(tx, ctx, EventKind::AccountSuspended, user)?;
            tx.relist(user, ctx.now())?;
        }
        let sessions_ended = tx.end_other_sessions(user, None, ctx.now())?;
        Ok(Operated { user, changed, sessions_ended })
    }
}

/// Takes a suspended account back in: what it wrote is shown again, and its owner can sign in.
#[derive(Debug, Clone)]
pub struct RestoreAccount {
    /// The username, however it is spelled.
    pub username: String,
}

impl Command for RestoreAccount {
    const NAME: &'static str = "restore_account";
    type Output = Operated;
    type Refusal = UnknownAccount;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let user = lock_named(tx, &self.username)?.user_id;
        let changed = tx.set_status(user, AccountStatus::Suspended, AccountStatus::Active, ctx.now())?;
        if changed {
            tell(tx, ctx, EventKind::AccountRestored, user)?;
            tx.relist(user, ctx.now())?;
        }
        Ok(Operated { user, changed, sessions_ended: 0 })
    }
}

/// Replaces a password whose owner has lost it, or that somebody else has; every session ends.
pub(crate) struct ResetPassword {
    pub(crate) username: String,
    pub(crate) new: PasswordHash,
}

impl Command for ResetPassword {
    const NAME: &'static str = "reset_password";
    type Output = Operated;
    type Refusal = UnknownAccount;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let Credentials { user_id: user, password, .. } = lock_named(tx, &self.username)?;
        let changed = tx.replace_password(user, &password, &self.new, ctx.now())?;
        let sessions_ended = tx.end_other_sessions(user, None, ctx.now())?;
        Ok(Operated { user, changed, sessions_ended })
    }
}

/// Says what an account may do.
#[derive(Debug, Clone)]
pub struct GrantRole {
    /// The username, however it is spelled.
    pub username: String,
    /// The role.
    pub role: Role,
}

impl Command for GrantRole {
    const NAME: &'static str = "grant_role";
    type Output = Operated;
    type Refusal = UnknownAccount;

    fn run(&self, tx: &mut dyn Tx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let user = lock_named(tx, &self.username)?.user_id;
        let changed = tx.set_role(user, self.role, ctx.now())?;
        Ok(Operated { user, changed, sessions_ended: 0 })
    }
}
