//! The folders that a command writes to, and advice if one of them is not writable: error texts of the system and of
//! SQLite name only the failed call.

use crate::settings::Settings;
use std::path::{Path, PathBuf};

/// Fragments of error texts of the system and of SQLite that indicate an unwritable folder.
const UNWRITABLE: [&str; 7] = [
    "unable to open database file",
    "attempt to write a readonly database",
    "disk I/O error",
    "database or disk is full",
    // EACCES, ENOSPC and EROFS as this system reports them; errors of a database server have another format.
    "(os error 13)",
    "(os error 28)",
    "(os error 30)",
];
/// Free space in bytes that any command needs at least.
const LITTLE: u64 = 1 << 20;

/// The file of an embedded database; `None` if the URL is of another kind.
pub(crate) fn embedded(url: &str) -> Option<&Path> {
    url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).map(Path::new)
}

/// The folder itself, or its nearest existing parent, in which a missing folder would be created.
pub(crate) fn nearest(folder: &Path) -> &Path {
    let there = folder.ancestors().find(|folder| folder.exists());
    there.filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// The folders of the database file and the pictures, as far as they are local.
pub(crate) fn of_settings(settings: &Settings) -> Vec<PathBuf> {
    let mut folders = Vec::new();
    if let Some(file) = settings.database_url().ok().as_deref().and_then(embedded) {
        folders.push(file.parent().unwrap_or(file).to_owned());
    }
    if settings.media.media_url.is_none() {
        folders.push(settings.media_folder());
    }
    folders
}

/// The state of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    folder: PathBuf,
    /// Id of the file system.
    device: u64,
    is_read_only: bool,
    /// Whether the current user may write there.
    is_ours: bool,
    /// Free space in bytes.
    free: u64,
}

/// Advice about an error text: one sentence for each of the folders that is not writable; empty if the error has
/// another cause.
pub(crate) fn advice(words: &str, folders: &[PathBuf]) -> Vec<String> {
    if !UNWRITABLE.iter().any(|cause| words.contains(cause)) {
        return Vec::new();
    }
    let mut standings: Vec<Standing> = Vec::new();
    for folder in folders {
        let Some(standing) = look(nearest(folder)) else { continue };
        // One sentence for each file system is enough.
        let is_listed =
            |other: &Standing| other.device == standing.device && other.is_ours == standing.is_ours;
        if !standings.iter().any(is_listed) {
            standings.push(standing);
        }
    }
    sentences(words, &standings)
}

fn sentences(words: &str, standings: &[Standing]) -> Vec<String> {
    let mut sentences: Vec<String> = standings.iter().filter_map(Standing::shut).collect();
    // The failed command has released its space, so the free space measured now is the amount that was not enough.
    let is_full = words.contains("disk is full") || words.contains("(os error 28)");
    let open = standings.iter().filter(|standing| standing.shut().is_none());
    let least = open.min_by_key(|standing| standing.free);
    if let Some(Standing { folder, free, .. }) = least.filter(|least| is_full || least.free < LITTLE) {
        let (folder, kib) = (folder.display(), free >> 10);
        sentences.push(format!("{folder} has {kib} KiB of room left: make room, and give the command again"));
    }
    sentences
}

impl Standing {
    /// Why the folder is not writable for any user or for this one; `None` if it is writable.
    fn shut(&self) -> Option<String> {
        let folder = self.folder.display();
        if self.is_read_only {
            return Some(format!(
                "{folder} is on a file system that can only be read: mount it for writing, or name another place \
                 (--data-dir)"
            ));
        }
        (!self.is_ours).then(|| {
            format!("{folder} cannot be written by this user: run the command as the user that the service runs as")
        })
    }
}

#[cfg(unix)]
fn look(folder: &Path) -> Option<Standing> {
    use rustix::fs::{Access, StatVfsMountFlags, access, statvfs};
    use std::os::unix::fs::MetadataExt;
    let found = statvfs(folder).ok()?;
    Some(Standing {
        folder: folder.to_owned(),
        device: folder.metadata().ok()?.dev(),
        is_read_only: found.f_flag.contains(StatVfsMountFlags::RDONLY),
        is_ours: access(folder, Access::WRITE_OK).is_ok(),
        free: found.f_bavail.saturating_mul(found.f_frsize),
    })
}

/// Not implemented on this platform.
#[cfg(not(unix))]
fn look(_folder: &Path) -> Option<Standing> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwritable_folders_get_advice() {
        let right =
            Standing { folder: "data".into(), device: 1, is_read_only: false, is_ours: true, free: 5 << 30 };
        let read_only = Standing { is_read_only: true, is_ours: false, ..right.clone() };
        let others = Standing { is_ours: false, ..right.clone() };
        let little = Standing { free: 12_288, ..right.clone() };
        for (words, standings, expected) in [
            ("unable to open database file", vec![read_only.clone()], Some("mount it for writing")),
            ("unable to open database file", vec![others], Some("as the user that the service runs as")),
            ("unable to open database file", vec![right.clone()], None),
            (
                "disk I/O error",
                vec![right.clone(), little.clone()],
                Some("data has 12 KiB of room left: make room"),
            ),
            ("disk I/O error", vec![right.clone()], None),
            ("disk is full", vec![right.clone()], Some("data has 5242880 KiB of room left: make room")),
            ("disk is full", vec![right.clone(), little], Some("data has 12 KiB of room left: make room")),
            ("File is there (os error 28)", vec![right, read_only], Some("mount it for writing")),
        ] {
            let said = sentences(words, &standings);
            let is_right = match expected {
                Some(expected) => said.first().is_some_and(|said| said.contains(expected)),
                None => said.is_empty(),
            };
            assert!(is_right, "{words}: {said:?}");
        }
    }

    #[test]
    fn other_failures_get_no_advice() {
        let here = [PathBuf::from(".")];
        assert_eq!(advice("there is no task \"xyzzy\"", &here), Vec::<String>::new());
        let twice = [PathBuf::from("."), PathBuf::from("nowhere/at/all")];
        assert_eq!(advice("it has no room (os error 28)", &twice).len(), 1);
    }

    #[test]
    fn a_missing_folder_is_replaced_by_its_nearest_parent() {
        assert_eq!(nearest(Path::new("nowhere/at/all")), Path::new("."));
        assert_eq!(nearest(Path::new("")), Path::new("."));
        assert_eq!(nearest(Path::new("/nowhere/at/all")), Path::new("/"));
        assert_eq!(embedded("sqlite:data/a.db"), Some(Path::new("data/a.db")));
        assert_eq!(embedded("sqlite:///srv/a.db"), Some(Path::new("/srv/a.db")));
        assert_eq!(embedded("postgres://h/d"), None);
    }
}
