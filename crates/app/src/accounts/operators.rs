//! Deletion of an account by its owner, and operators' actions on accounts.

use crate::App;
use crate::accounts::login::{FindCredentials, busy_or};
use crate::accounts::{
    DeleteAccount, DeleteAccountRuleRefusal, GrantRole, Operated, ResetPassword, RestoreAccount,
    SuspendAccount, UnknownAccount,
};
use crate::balances::{CoinsMoved, MoveCoins, MoveCoinsRefusal};
use crate::store::{Command, into_infallible};
use terrace_identity::{Password, PasswordError, Role, Secret, Username, Viewer};
use terrace_kernel::{Failure, Outcome};

/// Why an account was not deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteAccountRefusal {
    /// The account is already deleted, or suspended, so the caller is no longer authenticated.
    NotActive,
    /// The password is wrong.
    WrongPassword,
    /// One of the user's ledger accounts still holds money.
    BalanceLeft,
    /// An order that is paid is still to be sent or on its way.
    OrderOpen,
    /// Too many passwords are being checked concurrently.
    Busy,
}

/// Why a password was not reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResetPasswordRefusal {
    /// No account has this name, or it was deleted.
    UnknownAccount,
    /// The password is not allowed for this username.
    WeakPassword(PasswordError),
    /// Too many passwords are being hashed concurrently.
    Busy,
}

impl App {
    /// Deletes the viewer's own account permanently, after checking the password.
    pub async fn delete_account(
        &self,
        viewer: &Viewer,
        password: Password,
    ) -> Outcome<(), DeleteAccountRefusal> {
        let user = viewer.user_id;
        let proved = into_infallible(self.query(FindCredentials::Of(user)).await)?
            .ok_or(Failure::Refused(DeleteAccountRefusal::NotActive))?
            .password;
        let right = self
            .passwords
            .verify(password, Some(proved.clone()))
            .await
            .map_err(|failure| busy_or(failure, DeleteAccountRefusal::Busy))?;
        if !right {
            return Err(Failure::Refused(DeleteAccountRefusal::WrongPassword));
        }
        let deleted = self.execute(DeleteAccount { user, proved }).await.map_err(|failure| {
            failure.map(|refusal| match refusal {
                DeleteAccountRuleRefusal::NotActive => DeleteAccountRefusal::NotActive,
                DeleteAccountRuleRefusal::ProofIsStale => DeleteAccountRefusal::WrongPassword,
                DeleteAccountRuleRefusal::BalanceLeft => DeleteAccountRefusal::BalanceLeft,
                DeleteAccountRuleRefusal::OrderOpen => DeleteAccountRefusal::OrderOpen,
            })
        });
        // Also after a refusal: an account that is no longer active must leave the cache too.
        self.viewers.forget_user(user);
        deleted?;
        log::info!("account {user} was deleted by its owner");
        Ok(())
    }

    pub async fn suspend_account(&self, username: &str) -> Outcome<Operated, UnknownAccount> {
        let operated = self.operate(SuspendAccount { username: username.to_owned() }).await?;
        log::info!("account {} was suspended; {}", operated.user, words(operated));
        Ok(operated)
    }

    /// Restores a suspended account.
    pub async fn restore_account(&self, username: &str) -> Outcome<Operated, UnknownAccount> {
        let operated = self.operate(RestoreAccount { username: username.to_owned() }).await?;
        log::info!("account {} was restored; {}", operated.user, words(operated));
        Ok(operated)
    }

    /// Sets the role of an account.
    pub async fn grant_role(&self, username: &str, role: Role) -> Outcome<Operated, UnknownAccount> {
        let operated = self.operate(GrantRole { username: username.to_owned(), role }).await?;
        log::info!("account {} was given the role {}", operated.user, role.as_str());
        Ok(operated)
    }

    /// Replaces an account's password with `password`, or with a random one, which is returned.
    pub async fn reset_password(
        &self,
        username: &str,
        password: Option<Password>,
    ) -> Outcome<(Operated, Option<Secret>), ResetPasswordRefusal> {
        let mut ctx = self.seed().open();
        let (secret, password) = if let Some(password) = password {
            password
                .check_username(&Username::key_of(username))
                .map_err(|error| Failure::Refused(ResetPasswordRefusal::WeakPassword(error)))?;
            (None, password)
        } else {
            let (secret, password) = Password::draw(&mut ctx);
            (Some(secret), password)
        };
        let new = self
            .passwords
            .hash(password, ctx.random_bytes())
            .await
            .map_err(|failure| busy_or(failure, ResetPasswordRefusal::Busy))?;
        let operated = self
            .operate(ResetPassword { username: username.to_owned(), new })
            .await
            .map_err(|failure| failure.map(|UnknownAccount| ResetPasswordRefusal::UnknownAccount))?;
        log::info!("the password of account {} was reset; {}", operated.user, words(operated));
        Ok((operated, secret))
    }

    /// Credits coins to a fan or debits them, at most once per source.
    pub async fn move_coins(&self, command: MoveCoins) -> Outcome<CoinsMoved, MoveCoinsRefusal> {
        let words = (command.amount, command.gives, command.source.clone());
        let moved = self.execute(command).await?;
        let (amount, gives, source) = words;
        let verb = if gives { "got" } else { "lost" };
        let again = if moved.balance.is_some() { "" } else { " before" };
        log::info!("account {} {verb} {amount} coins{again}; {source}", moved.user);
        Ok(moved)
    }

    async fn operate<C>(&self, command: C) -> Outcome<Operated, UnknownAccount>
    where
        C: Command<Output = Operated, Refusal = UnknownAccount>,
    {
        let operated = self.execute(command).await?;
        self.viewers.forget_user(operated.user);
        Ok(operated)
    }
}

fn words(operated: Operated) -> String {
    let Operated { changed, sessions_ended, .. } = operated;
    let already = if changed { "" } else { "it was so already, " };
    format!("{already}{sessions_ended} sessions ended")
}
