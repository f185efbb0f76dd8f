//! The data folder is for the account that the program runs as: it holds password hashes, secrets and what fans report.

use crate::place;
use crate::settings::Settings;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What others than the owner may do.
const OTHERS: u32 = 0o077;
/// The names that the program gives to what it puts into its data folder, and what they begin with.
const OURS: [&str; 4] = ["terrace.db", "secret", "cron-secret", "media"];

/// A file or folder that others than its owner can read.
pub(crate) struct Wider {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
    /// The mode that it should have.
    pub(crate) narrow: u32,
}

/// From now on, files and folders that the program makes are for its account alone.
pub(crate) fn restrict_new_files() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(OTHERS));
}

/// What is wider than it should be of the data folder, the embedded database and the secrets beside it.
pub(crate) fn wider(settings: &Settings) -> Vec<Wider> {
    let mut places = vec![settings.data_dir.clone(), settings.media_folder(), settings.made_cron_secret()];
    places.push(settings.data_dir.join("secret"));
    if let Some(file) = settings.database_url().ok().as_deref().and_then(place::embedded) {
        let beside = |end: &str| PathBuf::from(format!("{}{end}", file.display()));
        places.extend(["", "-wal", "-shm"].map(beside));
    }
    let found = places.into_iter().filter_map(|path| {
        let found = fs::metadata(&path).ok()?;
        let mode = found.mode() & 0o7777;
        let narrow = if found.is_dir() { 0o700 } else { 0o600 };
        (mode & OTHERS != 0).then_some(Wider { path, mode, narrow })
    });
    found.collect()
}

/// Narrows what an earlier version made. Files are narrowed where they belong to this account; a folder only where, beside
/// that, it is no mount and nothing lies in it but what the program puts there: another one is its maker's to decide on.
pub(crate) fn tighten(settings: &Settings) {
    for Wider { path, narrow, .. } in wider(settings) {
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if !is_own(&found) || (found.is_dir() && !is_dedicated(&path, &found)) {
            continue;
        }
        match fs::set_permissions(&path, Permissions::from_mode(narrow)) {
            Ok(()) => log::info!("{} is now for this account alone ({narrow:o})", path.display()),
            Err(error) => log::warn!("cannot narrow the permissions of {}: {error}", path.display()),
        }
    }
}

fn is_own(found: &Metadata) -> bool {
    !found.is_symlink() && found.uid() == rustix::process::geteuid().as_raw()
}

fn is_dedicated(folder: &Path, found: &Metadata) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let Some(parent) = folder.parent().and_then(|parent| fs::metadata(parent).ok()) else { return false };
    if parent.dev() != found.dev() {
        return false;
    }
    if folder.file_name().is_some_and(|name| name == "media") {
        return true;
    }
    let Ok(entries) = fs::read_dir(&folder) else { return false };
    let mut entries = entries.peekable();
    entries.peek().is_some()
        && entries.all(|entry| {
            entry.is_ok_and(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                OURS.iter().any(|ours| name.starts_with(ours))
            })
        })
}
