//! Operators' commands on accounts: suspend, restore, reset the password, set the role.

use crate::store::{AccountTx, Command};
use terrace_identity::ports::Credentials;
use terrace_identity::{AccountRead, AccountStatus, AccountWrite, PasswordHash, Role, Username};
use terrace_kernel::{Ctx, EventKind, EventLog, Failure, NewEvent, Outcome, StoreError, Topic, UserId};

/// No account has this name, or it was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownAccount;

/// The outcome of an operator's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operated {
    /// Id of the account.
    pub user: UserId,
    /// `false` if the account already was in the requested state.
    pub changed: bool,
    /// Number of sessions that were ended.
    pub sessions_ended: u64,
}

/// The account with this username in any spelling; `None` if there is none or it was deleted.
pub fn find_named(tx: &mut dyn AccountRead, username: &str) -> Result<Option<Credentials>, StoreError> {
    let key = Username::key_of(username);
    // No username contains a NUL, and PostgreSQL rejects it in text.
    if key.contains('\0') { Ok(None) } else { tx.credentials_by_key(&key) }
}

/// The account with this username in any spelling, locked until the transaction ends. Refused if it was deleted.
pub(crate) fn lock_named(tx: &mut dyn AccountWrite, username: &str) -> Outcome<Credentials, UnknownAccount> {
    let locked = match find_named(tx, username)? {
        Some(credentials) => tx.lock_credentials(credentials.user_id)?,
        None => None,
    };
    locked
        .filter(|credentials| credentials.status != AccountStatus::Deleted)
        .ok_or(Failure::Refused(UnknownAccount))
}

/// Appends an account event. An operator has no account, so the actor is the account itself.
fn append_event(tx: &mut dyn EventLog, ctx: &Ctx, kind: EventKind, user: UserId) -> Result<(), StoreError> {
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

/// Suspends an account: its sessions end, sign-in is refused, and nothing of it is shown until it is restored. No
/// data is removed.
#[derive(Debug, Clone)]
pub struct SuspendAccount {
    /// The username, in any spelling.
    pub username: String,
}

impl Command for SuspendAccount {
    const NAME: &'static str = "suspend_account";
    type Ports = dyn AccountTx;
    type Output = Operated;
    type Refusal = UnknownAccount;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn AccountTx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let user = lock_named(tx, &self.username)?.user_id;
        let changed = tx.set_status(user, AccountStatus::Active, AccountStatus::Suspended, ctx.now())?;
        if changed {
            append_event(tx, ctx, EventKind::AccountSuspended, user)?;
            tx.relist(user, ctx.now())?;
        }
        let sessions_ended = tx.end_other_sessions(user, None, ctx.now())?;
        Ok(Operated { user, changed, sessions_ended })
    }
}

/// Restores a suspended account: its content is shown again, and its owner can sign in.
#[derive(Debug, Clone)]
pub struct RestoreAccount {
    /// The username, in any spelling.
    pub username: String,
}

impl Command for RestoreAccount {
    const NAME: &'static str = "restore_account";
    type Ports = dyn AccountTx;
    type Output = Operated;
    type Refusal = UnknownAccount;
    const AFFECTS_LEADERBOARD: bool = true;

    fn run(&self, tx: &mut dyn AccountTx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let user = lock_named(tx, &self.username)?.user_id;
        let changed = tx.set_status(user, AccountStatus::Suspended, AccountStatus::Active, ctx.now())?;
        if changed {
            append_event(tx, ctx, EventKind::AccountRestored, user)?;
            tx.relist(user, ctx.now())?;
        }
        Ok(Operated { user, changed, sessions_ended: 0 })
    }
}

/// Replaces a lost or compromised password and ends every session.
pub(crate) struct ResetPassword {
    pub(crate) username: String,
    pub(crate) new: PasswordHash,
}

impl Command for ResetPassword {
    const NAME: &'static str = "reset_password";
    type Ports = dyn AccountTx;
    type Output = Operated;
    type Refusal = UnknownAccount;

    fn run(&self, tx: &mut dyn AccountTx, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let Credentials { user_id: user, password, .. } = lock_named(tx, &self.username)?;
        let changed = tx.replace_password(user, &password, &self.new, ctx.now())?;
        let sessions_ended = tx.end_other_sessions(user, None, ctx.now())?;
        Ok(Operated { user, changed, sessions_ended })
    }
}

/// Sets the role of an account.
#[derive(Debug, Clone)]
pub struct GrantRole {
    /// The username, in any spelling.
    pub username: String,
    /// The new role.
    pub role: Role,
}

impl Command for GrantRole {
    const NAME: &'static str = "grant_role";
    type Ports = dyn AccountWrite;
    type Output = Operated;
    type Refusal = UnknownAccount;

    fn run(&self, tx: &mut dyn AccountWrite, ctx: &mut Ctx) -> Outcome<Operated, UnknownAccount> {
        let user = lock_named(tx, &self.username)?.user_id;
        let changed = tx.set_role(user, self.role, ctx.now())?;
        Ok(Operated { user, changed, sessions_ended: 0 })
    }
}
