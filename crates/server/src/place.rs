//! The places that a command writes to, and what to do where one of them cannot be written: what the system and SQLite say
//! names the call that failed, and nothing that an operator could go by.

use crate::settings::{Cli, Command, Settings};
use std::path::{Path, PathBuf};

/// How a place that cannot be written shows in what the system and SQLite say.
const HINDERED: [&str; 7] = [
    "unable to open database file",
    "attempt to write a readonly database",
    "disk I/O error",
    "database or disk is full",
    // Not allowed, no room, only to be read: of this system, and not told by a server of its own.
    "(os error 13)",
    "(os error 28)",
    "(os error 30)",
];
/// As much room as any command needs to begin, in bytes.
const LITTLE: u64 = 1 << 20;

/// The file of an embedded database; nothing where the URL names another kind.
pub(crate) fn embedded(url: &str) -> Option<&Path> {
    url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")).map(Path::new)
}

/// The folder itself, or the nearest one above it that is there: a folder that is missing would be made in it.
pub(crate) fn nearest(folder: &Path) -> &Path {
    let there = folder.ancestors().find(|folder| folder.exists());
    there.filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// The folders that a command may write to.
pub(crate) fn of(cli: &Cli) -> Vec<PathBuf> {
    let Cli { command, settings } = cli;
    let mut folders = of_settings(settings);
    if let Some(Command::Backup { file }) = command {
        folders.push(file.parent().unwrap_or(file).to_owned());
    }
    folders
}

/// Those of the data, where it lies in files.
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

/// How a folder stands.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Standing {
    folder: PathBuf,
    /// Which file system it is on.
    device: u64,
    is_read_only: bool,
    /// Whether whoever runs the program may write there.
    is_ours: bool,
    /// How much room is left, in bytes.
    free: u64,
}

/// What to do about a failure of these words, a sentence for each of these folders that cannot be written; nothing where the
/// words are about something else.
pub(crate) fn advice(words: &str, folders: &[PathBuf]) -> Vec<String> {
    if !HINDERED.iter().any(|hindered| words.contains(hindered)) {
        return Vec::new();
    }
    let mut standings: Vec<Standing> = Vec::new();
    for folder in folders {
        let Some(standing) = look(nearest(folder)) else { continue };
        // One sentence for a file system says it.
        let is_said = |other: &Standing| other.device == standing.device && other.is_ours == standing.is_ours;
        if !standings.iter().any(is_said) {
            standings.push(standing);
        }
    }
    told(words, &standings)
}

fn told(words: &str, standings: &[Standing]) -> Vec<String> {
    let mut told: Vec<String> = standings.iter().filter_map(Standing::shut).collect();
    // What failed has given back what it took since: how much is left says how much is too little.
    let is_full = words.contains("disk is full") || words.contains("(os error 28)");
    let open = standings.iter().filter(|standing| standing.shut().is_none());
    let least = open.min_by_key(|standing| standing.free);
    if let Some(Standing { folder, free, .. }) = least.filter(|least| is_full || least.free < LITTLE) {
        let (folder, kib) = (folder.display(), free >> 10);
        told.push(format!("{folder} has {kib} KiB of room left: make room, and give the command again"));
    }
    told
}

impl Standing {
    /// Why nobody may write there, or this user may not.
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

/// Not known how to ask here.
#[cfg(not(unix))]
fn look(_folder: &Path) -> Option<Standing> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hinders_is_said_with_what_to_do() {
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
            let said = told(words, &standings);
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
    fn a_folder_that_is_missing_is_looked_for_above() {
        assert_eq!(nearest(Path::new("nowhere/at/all")), Path::new("."));
        assert_eq!(nearest(Path::new("")), Path::new("."));
        assert_eq!(nearest(Path::new("/nowhere/at/all")), Path::new("/"));
        assert_eq!(embedded("sqlite:data/a.db"), Some(Path::new("data/a.db")));
        assert_eq!(embedded("sqlite:///srv/a.db"), Some(Path::new("/srv/a.db")));
        assert_eq!(embedded("postgres://h/d"), None);
    }
}
