//! File permissions of the data folder: only the account that runs the program has access, because the folder
//! contains password hashes, secrets and reports of fans.

use crate::folders;
use crate::settings::Settings;
use std::fs::{self, Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The permission bits of group and others.
const OTHERS: u32 = 0o077;
/// Names, or prefixes of names, of everything that the program creates in its data folder.
const OURS: [&str; 4] = ["terrace.db", "secret", "cron-secret", "media"];

/// A file or folder that users other than its owner can access.
pub(crate) struct Wider {
    pub(crate) path: PathBuf,
    pub(crate) mode: u32,
    /// The mode that it should have.
    pub(crate) narrow: u32,
}

/// Sets the umask, so that new files and folders are accessible only to the program's account.
pub(crate) fn restrict_new_files() {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(OTHERS));
}

/// The data folder, the embedded database, and the secrets next to it, as far as their modes are too wide.
pub(crate) fn wider(settings: &Settings) -> Vec<Wider> {
    let mut places = vec![settings.data_dir.clone(), settings.media_folder(), settings.made_cron_secret()];
    places.push(settings.data_dir.join("secret"));
    if let Some(file) = settings.database_url().ok().as_deref().and_then(folders::embedded) {
        let with_suffix = |end: &str| PathBuf::from(format!("{}{end}", file.display()));
        places.extend(["", "-wal", "-shm"].map(with_suffix));
    }
    let found = places.into_iter().filter_map(|path| {
        let found = fs::metadata(&path).ok()?;
        let mode = found.mode() & 0o7777;
        let narrow = if found.is_dir() { 0o700 } else { 0o600 };
        (mode & OTHERS != 0).then_some(Wider { path, mode, narrow })
    });
    found.collect()
}

/// Narrows the modes of what an earlier version created. A file is changed only if it belongs to this account. A
/// folder must also be no mount point and contain only what the program creates; other folders are left to their
/// owner.
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
