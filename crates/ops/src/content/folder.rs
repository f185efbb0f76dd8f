//! Reads the files of a content folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;
use terrace_app::content::ContentFaults;

/// The maximum size of a text file, in bytes.
const LARGEST_TEXT: u64 = 4 << 20;
/// The maximum size of a picture, in bytes.
const LARGEST_PICTURE: u64 = 10 << 20;
/// The maximum number of pictures.
const MOST_PICTURES: usize = 5_000;

/// The text files of a folder. Every other file is a fault, so that a misspelt name is not a missing file.
pub(super) const FILES: [&str; 12] = [
    "club.toml",
    "leagues.toml",
    "teams.toml",
    "quests.toml",
    "achievements.toml",
    "levels.toml",
    "packs.toml",
    "products.toml",
    "shipping.toml",
    "rewards.toml",
    "wheels.toml",
    "trivia.toml",
];
/// The folder of the pictures.
pub(super) const PICTURES: &str = "images";

/// The files of a folder as they are on disk.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Text files by name.
    pub(super) texts: HashMap<&'static str, String>,
    /// Names and paths of files that exist and cannot be read.
    unreadable: BTreeSet<String>,
    /// Pictures by path in the folder, such as `images/crest.png`.
    pub(super) pictures: BTreeMap<String, Vec<u8>>,
}

impl Files {
    /// Reads a folder. Hidden files and files called `README` or `LICENSE` are ignored.
    pub(super) fn read(folder: &Path, faults: &mut ContentFaults) -> Self {
        let mut files = Self::default();
        each_file(folder, "", faults, |entry, name, faults| {
            if let Some(known) = FILES.iter().find(|known| **known == name) {
                match text(entry, name, faults) {
                    Some(text) => drop(files.texts.insert(known, text)),
                    None => drop(files.unreadable.insert(name.to_owned())),
                }
            } else if name != PICTURES {
                let known = FILES.join(", ");
                faults.add(
                    name,
                    None,
                    format!("is no file of a content folder; known are {known} and {PICTURES}/"),
                );
            }
        });
        let pictures = folder.join(PICTURES);
        if pictures.is_dir() {
            each_file(&pictures, "images/", faults, |entry, name, faults| {
                if files.pictures.len() >= MOST_PICTURES {
                    faults.add(name, None, format!("a folder holds at most {MOST_PICTURES} pictures"));
                    files.unreadable.insert(name.to_owned());
                } else {
                    match bytes(entry, name, LARGEST_PICTURE, faults) {
                        Some(bytes) => drop(files.pictures.insert(name.to_owned(), bytes)),
                        None => drop(files.unreadable.insert(name.to_owned())),
                    }
                }
            });
        }
        files
    }

    /// The text of a file: `None` if it exists and cannot be read, and empty if there is none.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let is_readable = !self.unreadable.contains(name);
        is_readable.then(|| self.texts.get(name).map(String::as_str).unwrap_or_default())
    }

    /// Whether there is a file of this name or path, readable or not.
    pub(super) fn has(&self, name: &str) -> bool {
        self.texts.contains_key(name) || self.pictures.contains_key(name) || self.unreadable.contains(name)
    }
}

fn each_file(
    folder: &Path,
    prefix: &str,
    faults: &mut ContentFaults,
    mut read: impl FnMut(&DirEntry, &str, &mut ContentFaults),
) {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => {
            let name = if prefix.is_empty() { folder.display().to_string() } else { prefix.to_owned() };
            return faults.add(&name, None, format!("cannot be read: {error}"));
        }
    };
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') || name.starts_with("README") || name.starts_with("LICENSE") {
            continue;
        }
        read(&entry, &format!("{prefix}{name}"), faults);
    }
}

fn text(entry: &DirEntry, name: &str, faults: &mut ContentFaults) -> Option<String> {
    let bytes = bytes(entry, name, LARGEST_TEXT, faults)?;
    String::from_utf8(bytes)
        .map_err(|error| {
            let before = error.as_bytes().iter().take(error.utf8_error().valid_up_to());
            let line = before.filter(|byte| **byte == b'\n').count() + 1;
            faults.add(name, line, "is no UTF-8");
        })
        .ok()
}

/// Reads a file of at most `largest` bytes. The size is checked first, so that a large file is not read.
fn bytes(entry: &DirEntry, name: &str, largest: u64, faults: &mut ContentFaults) -> Option<Vec<u8>> {
    let read = || -> io::Result<Result<Vec<u8>, &'static str>> {
        // Follows links, as other readers of the folder do.
        let metadata = fs::metadata(entry.path())?;
        if !metadata.is_file() {
            return Ok(Err("is no file"));
        }
        if metadata.len() > largest {
            return Ok(Err("is too large"));
        }
        fs::read(entry.path()).map(Ok)
    };
    match read() {
        Ok(Ok(bytes)) => return Some(bytes),
        Ok(Err("is too large")) => {
            faults.add(name, None, format!("is larger than {} MiB", largest >> 20));
        }
        Ok(Err(why)) => faults.add(name, None, why),
        Err(error) => faults.add(name, None, format!("cannot be read: {error}")),
    }
    None
}
