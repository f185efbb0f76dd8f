//! `terrace backup` and `terrace restore`: complete copies of an embedded database.

use crate::machine::SystemClock;
use crate::report;
use crate::settings::Settings;
use anyhow::{Context, bail};
use std::path::Path;
use std::process::ExitCode;
use terrace_kernel::Clock;
use terrace_storage::{BackedUp, BackupError, Restored, back_up, restore as put_back};

/// Copies the database while servers run on it, and prints what else must be copied.
pub(crate) fn backup(file: &Path, settings: &Settings) -> anyhow::Result<ExitCode> {
    let BackedUp { database, bytes } = match back_up(&settings.database_url()?, file, SystemClock.now()) {
        Ok(done) => done,
        Err(BackupError::Server) => bail!(
            "the database is a PostgreSQL server's; its own programs copy it while the service runs:\n  \
             pg_dump --format=custom --file=terrace.dump \"$DATABASE_URL\"\n{}",
            beside(settings)
        ),
        Err(error) => {
            return Err(error).with_context(|| format!("nothing was backed up to {}", file.display()));
        }
    };
    report::line(&format!("backed up {} to {}: {bytes} bytes", database.display(), file.display()))?;
    report::line(&beside(settings))?;
    Ok(ExitCode::SUCCESS)
}

/// Replaces the database by a backup while no server runs on it.
pub(crate) fn restore(file: &Path, force: bool, settings: &Settings) -> anyhow::Result<ExitCode> {
    let done = put_back(&settings.database_url()?, file, force, SystemClock.now());
    let Restored { database, moved_aside, pending } = match done {
        Ok(done) => done,
        Err(BackupError::Server) => bail!(
            "the database is a PostgreSQL server's; its own programs restore it, into an empty database:\n  \
             pg_restore --no-owner --dbname=\"$DATABASE_URL\" terrace.dump"
        ),
        Err(BackupError::Exists(database)) => bail!(
            "{} is there; --force moves it aside and puts {} in its place; nothing was restored",
            database.display(),
            file.display()
        ),
        Err(error) => return Err(error).context("nothing was restored"),
    };
    report::line(&format!("restored {} from {}", database.display(), file.display()))?;
    if let Some(aside) = moved_aside {
        report::line(&format!("the previous database is now {}", aside.display()))?;
    }
    if !pending.is_empty() {
        report::line("it is of an older version: the next start brings its schema up to date")?;
    }
    report::line("run `terrace maintain verify` to check its counters")?;
    Ok(ExitCode::SUCCESS)
}

/// The data that a copy of the database does not contain.
fn beside(settings: &Settings) -> String {
    let pictures = match &settings.media.media_url {
        Some(url) => url.clone(),
        None => settings.media_folder().display().to_string(),
    };
    format!(
        "copy as well, after it: the pictures in {pictures}; and once, apart from it: the secret in {}",
        settings.secret_path().display()
    )
}
