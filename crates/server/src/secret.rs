//! The secret that all processes of a service share: a file that the first process creates.

use crate::database::while_contended;
use crate::machine::SystemEntropy;
use crate::settings::Settings;
use anyhow::{Context, bail};
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;
use terrace_app::{App, SecretKey};
use terrace_ops::maintenance::{Category, Task, TaskFailure};

/// Reads the secret. The default file in the data folder is created if it is missing; a configured file must
/// exist.
pub(crate) fn read(settings: &Settings) -> anyhow::Result<SecretKey> {
    let path = settings.secret_path();
    if settings.secrets.secret_file.is_none() {
        make(&path).with_context(|| {
            format!("cannot make {}; --secret-file names a secret that is elsewhere", path.display())
        })?;
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().with_context(|| format!("{} holds none", path.display()))
}

/// Fails unless it is the secret that the database was first used with: with another secret, sealed packs could not
/// be opened.
pub(crate) async fn check_secret(app: &App, settings: &Settings) -> anyhow::Result<()> {
    if !while_contended(|| app.has_the_secret())
        .await
        .context("cannot compare the secret with that of the database")?
    {
        bail!(
            "{} is not the secret that this database is used with: bring the file back, or give every process the \
             same one with --secret-file",
            settings.secret_path().display()
        );
    }
    Ok(())
}

/// The task that creates a first cron secret: a file in the data folder, which servers of this machine read at their
/// start.
pub(crate) fn cron_secret_task(settings: &Settings) -> Task {
    let about = "Creates a cron secret in the data folder if none is configured";
    let path = settings.made_cron_secret();
    let is_configured = settings.secrets.cron_secret.is_some() || settings.secrets.cron_secret_file.is_some();
    Task::new("cron-secret", Category::SetUp, about, move |work| {
        let path = path.clone();
        async move {
            if is_configured {
                work.print("a cron secret is configured");
                return Ok(());
            }
            let place = path.display();
            if path.exists() {
                work.print(&format!("the cron secret is in {place}"));
                return Ok(());
            }
            if !work.is_dry() {
                make(&path)
                    .map_err(|error| TaskFailure::Refused(format!("cannot make {place}: {error:#}")))?;
                work.print(&format!("the cron secret is in {place}; servers read it when they start"));
            }
            work.count("files", 1);
            Ok(())
        }
    })
}

/// Creates the file, readable only by its owner, unless it exists. Of several concurrent attempts one wins, and no
/// reader sees a partial file.
fn make(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    // A random name, so that concurrent attempts do not collide.
    let draft = path.with_extension(SecretKey::draw(&SystemEntropy).reveal());
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&draft)?;
    writeln!(file, "{}", SecretKey::draw(&SystemEntropy).reveal())?;
    file.sync_all()?;
    let made = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match made {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        Ok(()) | Err(_) => Ok(()),
    }
}
