//! `terrace account`: administration of accounts while servers run.

use crate::database::{open, ready_app};
use crate::report;
use crate::settings::{Settings, read_secret};
use anyhow::bail;
use clap::{Subcommand, ValueEnum};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use terrace_app::accounts::{Operated, UnknownAccount};
use terrace_app::{App, Password, ResetPasswordRefusal, Role};
use terrace_kernel::Failure;

/// The commands for accounts.
#[derive(Debug, Clone, PartialEq, Eq, Subcommand)]
pub(crate) enum Account {
    /// Sign it out everywhere, refuse its logins and hide what it wrote, until it is restored.
    Suspend {
        /// The username.
        name: String,
    },
    /// Restore a suspended account.
    Restore {
        /// The username.
        name: String,
    },
    /// Set another password and sign the account out everywhere.
    ResetPassword {
        /// The username.
        name: String,
        /// A file with the new password; without one a random password is printed once.
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
    },
    /// Grant a role.
    Grant {
        /// The username.
        name: String,
        /// The role, in place of the present one.
        #[arg(value_enum)]
        role: RoleName,
    },
}

/// The roles, as they are stored and typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum RoleName {
    /// The role of every account by default.
    Fan,
    /// Runs a team's pages.
    TeamManager,
    /// Runs the service.
    Admin,
    /// Names administrators.
    SuperAdmin,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::Fan => Self::Fan,
            RoleName::TeamManager => Self::TeamManager,
            RoleName::Admin => Self::Admin,
            RoleName::SuperAdmin => Self::SuperAdmin,
        }
    }
}

/// Runs the command and prints its result. An unknown name is an error.
pub(crate) async fn account(command: Account, settings: Settings) -> anyhow::Result<ExitCode> {
    let storage = open(&settings)?;
    let app = ready_app(&settings, &storage).await?;
    let done = operate(&app, command).await;
    storage.close();
    report::line(&done?)?;
    Ok(ExitCode::SUCCESS)
}

async fn operate(app: &App, command: Account) -> anyhow::Result<String> {
    Ok(match command {
        Account::Suspend { name } => {
            let Operated { changed, sessions_ended, .. } =
                app.suspend_account(&name).await.map_err(|failure| unknown(&name, failure))?;
            let suspended = if changed { "is suspended" } else { "was suspended already" };
            format!("{name} {suspended}; {}", ended(sessions_ended))
        }
        Account::Restore { name } => {
            let Operated { changed, .. } =
                app.restore_account(&name).await.map_err(|failure| unknown(&name, failure))?;
            format!("{name} {}", if changed { "is restored" } else { "was not suspended" })
        }
        Account::ResetPassword { name, password_file } => {
            let password = password_file.map(|file| chosen(&file)).transpose()?;
            let (Operated { sessions_ended, .. }, drawn) =
                app.reset_password(&name, password).await.map_err(|failure| match failure {
                    Failure::Refused(ResetPasswordRefusal::UnknownAccount) => no_account(&name),
                    Failure::Refused(ResetPasswordRefusal::WeakPassword(error)) => {
                        anyhow::anyhow!("the password {error}; nothing was changed")
                    }
                    Failure::Refused(ResetPasswordRefusal::Busy) => {
                        anyhow::anyhow!("too many passwords wait")
                    }
                    Failure::Broken(error) => error.into(),
                })?;
            let done = format!("{name} has a new password; {}", ended(sessions_ended));
            match drawn {
                Some(secret) => format!("{done}\nit is {}", secret.expose()),
                None => done,
            }
        }
        Account::Grant { name, role } => {
            let role = Role::from(role);
            app.grant_role(&name, role).await.map_err(|failure| unknown(&name, failure))?;
            format!("{name} has the role {}", role.as_str())
        }
    })
}

fn ended(sessions: u64) -> String {
    let noun = if sessions == 1 { "session" } else { "sessions" };
    format!("{sessions} {noun} ended")
}

/// Reads a new password and checks it by the rules of registration.
fn chosen(file: &Path) -> anyhow::Result<Password> {
    match Password::choose(read_secret(file)?) {
        Ok(password) => Ok(password),
        Err(error) => bail!("the password in {} {error}", file.display()),
    }
}

fn unknown(name: &str, failure: Failure<UnknownAccount>) -> anyhow::Error {
    match failure {
        Failure::Refused(UnknownAccount) => no_account(name),
        Failure::Broken(error) => error.into(),
    }
}

fn no_account(name: &str) -> anyhow::Error {
    anyhow::anyhow!("there is no account {name:?}; nothing was changed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_are_typed_as_they_are_stored() {
        for name in RoleName::value_variants() {
            let typed = name.to_possible_value().unwrap();
            assert_eq!(typed.get_name(), Role::from(*name).as_str());
        }
    }
}
