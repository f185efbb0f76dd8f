//! Content of a club from a folder: read and checked as a whole, compared with the stored content, and loaded in one
//! transaction.

mod folder;
mod load;
mod plan;

pub use load::{LoadRefusal, load_content, plan_content, stored_content};
pub use plan::{ContentChanges, Item};

use folder::Files;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use terrace_app::content::{Club, ContentFaults, embedded_levels, read_levels};
use terrace_app::media::{PreparedPicture, prepare_picture};
use terrace_app::packs::PackContent;
use terrace_app::quests::{QuestContent, embedded_achievements, read_achievements};
use terrace_app::teams::Catalogue;
use terrace_kernel::{TeamId, Timestamp};
use uuid::Uuid;

/// The longest side of a picture of content, in pixels; larger ones are scaled down.
const PICTURE_SIDE: u32 = 1_024;

/// The content of a club.
#[derive(Debug, Clone)]
pub struct Content {
    /// Name, colours and texts.
    pub club: Club,
    /// Leagues and teams.
    pub catalogue: Catalogue,
    pub quests: QuestContent,
    /// Packs and collectibles.
    pub packs: PackContent,
    /// Text of the achievements; `None` for those that come with the program.
    pub achievements: Option<String>,
    /// Text of the levels; `None` for those that come with the program.
    pub levels: Option<String>,
    pub club_text: String,
    /// Pictures by path in the folder.
    pub pictures: BTreeMap<String, PreparedPicture>,
    /// SHA-256 of all files, in hexadecimal digits.
    pub digest: String,
}

impl Content {
    /// Reads a folder and checks it as a whole.
    ///
    /// # Errors
    ///
    /// All faults, with file and line. Rules that depend on stored content are checked when it is loaded.
    pub fn read(folder: &Path, now: Timestamp) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let files = Files::read(folder, &mut faults);
        let content = Self::of(&files, now, &mut faults);
        match content {
            Some(content) => faults.unless_any(content),
            None => Err(faults.sorted()),
        }
    }

    fn of(files: &Files, now: Timestamp, faults: &mut ContentFaults) -> Option<Self> {
        let text = |name: &str| files.texts.get(name).map(String::as_str);
        let club_text = text("club.toml");
        if club_text.is_none() {
            faults.add("club.toml", None, "is missing");
        }
        let pictures = pictures(files, faults);
        let club = club_text.and_then(|text| Club::read(text, faults));
        let catalogue = Catalogue::read(
            text("leagues.toml").unwrap_or_default(),
            text("teams.toml").unwrap_or_default(),
            faults,
        );
        let quests = QuestContent::read(text("quests.toml").unwrap_or_default(), faults);
        let packs = PackContent::read(text("packs.toml").unwrap_or_default(), faults);
        match text("achievements.toml") {
            Some(text) => drop(read_achievements(text, faults)),
            None => drop(embedded_achievements()),
        }
        match text("levels.toml") {
            Some(text) => drop(read_levels(text, faults)),
            None => drop(embedded_levels()),
        }
        check_together(&catalogue, &quests, &packs, now, faults);
        let logo = club.iter().filter_map(|club| Some(("club.toml", None, club.logo.as_deref()?)));
        let named = catalogue.pictures().chain(packs.pictures());
        for (file, line, path) in logo.chain(named.map(|(file, line, path)| (file, Some(line), path))) {
            if !pictures.contains_key(path) && !files.pictures.contains_key(path) {
                faults.add(file, line, format!("there is no picture {path:?} in the folder"));
            }
        }
        Some(Self {
            club: club?,
            catalogue,
            quests,
            packs,
            achievements: text("achievements.toml").map(str::to_owned),
            levels: text("levels.toml").map(str::to_owned),
            club_text: club_text?.to_owned(),
            pictures,
            digest: digest(files),
        })
    }
}

/// Checks quests and packs against the teams of the folder, without any stored content.
fn check_together(
    catalogue: &Catalogue,
    quests: &QuestContent,
    packs: &PackContent,
    now: Timestamp,
    faults: &mut ContentFaults,
) {
    let mut ids = 0_u128;
    let mut new_id = || {
        ids += 1;
        Uuid::from_u128(ids)
    };
    let team = |key: &str| catalogue.has_team(key).then(|| TeamId::from_uuid(Uuid::nil()));
    let known = terrace_quests::Known { quests: &[], team: &team };
    if let Err(errors) = terrace_quests::plan(&quests.drafts, &known, &mut new_id) {
        quests.locate(&errors, faults);
    }
    let known = terrace_packs::Known { collectibles: &[], packs: &[], team: &team, now };
    if let Err(errors) = packs.plan(&known, &mut new_id) {
        faults.extend(errors);
    }
}

/// Decodes every picture; a file that is none is a fault.
fn pictures(files: &Files, faults: &mut ContentFaults) -> BTreeMap<String, PreparedPicture> {
    let mut pictures = BTreeMap::new();
    for (path, bytes) in &files.pictures {
        match prepare_picture(bytes, PICTURE_SIDE) {
            Ok(picture) => {
                pictures.insert(path.clone(), picture);
            }
            Err(error) => faults.add(path, None, error.0),
        }
    }
    pictures
}

fn digest(files: &Files) -> String {
    let mut all = Sha256::new();
    let texts: BTreeMap<_, _> = files.texts.iter().map(|(name, text)| (*name, text.as_bytes())).collect();
    let pictures = files.pictures.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    for (name, bytes) in texts.into_iter().chain(pictures) {
        // Names and contents of a fixed length cannot be confused.
        all.update(Sha256::digest(name));
        all.update(Sha256::digest(bytes));
    }
    terrace_kernel::hex::encode(&all.finalize())
}
