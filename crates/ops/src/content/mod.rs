//! Content of a club from a folder: read and checked as a whole, compared with the stored content, and loaded in one
//! transaction.

mod folder;
mod load;
mod plan;
mod rewards;

pub use load::{LoadRefusal, load_content, plan_content, stored_content};
pub use plan::{ContentChanges, Item, listed};

use folder::Files;
use rewards::AchievementKeys;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;
use terrace_app::content::{Club, ContentFaults, read_levels};
use terrace_app::grants::{Giver, GrantBook};
use terrace_app::media::{PreparedPicture, prepare_picture};
use terrace_app::packs::PackContent;
use terrace_app::quests::QuestContent;
use terrace_app::rewards::RewardContent;
use terrace_app::shop::ShopContent;
use terrace_app::teams::Catalogue;
use terrace_app::trivia::TriviaContent;
use terrace_app::wheels::WheelContent;
use terrace_kernel::{Currency, TeamId, Timestamp};
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
    /// Products, shipping methods and tax rates.
    pub shop: ShopContent,
    pub rewards: RewardContent,
    pub wheels: WheelContent,
    /// Rounds of trivia.
    pub trivia: TriviaContent,
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
    pub fn read(folder: &Path) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let files = Files::read(folder, &mut faults);
        let content = Self::of(&files, &mut faults);
        faults.unless_any(content)
    }

    /// Quests, packs, products, rewards and wheels that closed before `now`, with file and line, which load only where they
    /// exist already; and rounds that have begun, which load only as they are.
    pub fn closed(&self, now: Timestamp) -> ContentFaults {
        let mut notes = ContentFaults::default();
        self.quests.closed(now, &mut notes);
        self.packs.closed(now, &mut notes);
        self.shop.closed(now, &mut notes);
        self.rewards.closed(now, &mut notes);
        self.wheels.closed(now, &mut notes);
        self.trivia.begun(now, &mut notes);
        notes.sorted()
    }

    fn of(files: &Files, faults: &mut ContentFaults) -> Self {
        let pictures = pictures(files, faults);
        let club = if files.has("club.toml") {
            Club::read(files.text("club.toml"), faults)
        } else {
            faults.add("club.toml", None, "is missing");
            None
        };
        let catalogue = Catalogue::read(files.text("leagues.toml"), files.text("teams.toml"), faults);
        let quests = QuestContent::read(files.text("quests.toml"), faults);
        let packs = PackContent::read(files.text("packs.toml"), faults);
        let shop = ShopContent::read(files.text("products.toml"), files.text("shipping.toml"), faults);
        let rewards = RewardContent::read(files.text("rewards.toml"), faults);
        let achievements = match (files.has("achievements.toml"), files.text("achievements.toml")) {
            (false, _) => AchievementKeys::read(None, faults),
            (true, Some(text)) => AchievementKeys::read(Some(text), faults),
            (true, None) => AchievementKeys::unreadable(),
        };
        let wheels = WheelContent::read(files.text("wheels.toml"), faults);
        let trivia = TriviaContent::read(files.text("trivia.toml"), faults);
        if files.has("levels.toml") {
            read_levels(files.text("levels.toml"), faults);
        }
        let currency = club.as_ref().map(|club| club.currency);
        let beside =
            Together { catalogue: &catalogue, quests: &quests, achievements: &achievements, currency };
        check_together(&beside, &packs, &shop, (&rewards, &wheels, &trivia), faults);
        let logo = club.iter().filter_map(|club| club.logo.as_ref());
        let logo = logo.map(|(path, line)| ("club.toml", *line, path.as_str()));
        let named = catalogue.pictures().chain(packs.pictures()).chain(shop.pictures());
        let named = named.chain(rewards.pictures()).chain(trivia.pictures());
        for (file, line, path) in logo.chain(named) {
            if !files.has(path) {
                faults.add(file, line, format!("there is no picture {path:?} in the folder"));
            }
        }
        Self {
            club: club.unwrap_or_default(),
            catalogue,
            quests,
            packs,
            shop,
            rewards,
            wheels,
            trivia,
            achievements: files.texts.get("achievements.toml").cloned(),
            levels: files.texts.get("levels.toml").cloned(),
            club_text: files.text("club.toml").unwrap_or_default().to_owned(),
            pictures,
            digest: digest(files),
        }
    }
}

/// What packs, products, rewards, wheels and rounds are checked against.
struct Together<'a> {
    catalogue: &'a Catalogue,
    quests: &'a QuestContent,
    achievements: &'a AchievementKeys,
    currency: Option<Currency>,
}

/// Checks quests, packs, products, rewards, wheels and rounds against each other and the teams of the folder, without any stored
/// content.
fn check_together(
    Together { catalogue, quests, achievements, currency }: &Together<'_>,
    packs: &PackContent,
    shop: &ShopContent,
    (rewards, wheels, trivia): (&RewardContent, &WheelContent, &TriviaContent),
    faults: &mut ContentFaults,
) {
    let currency = *currency;
    let mut ids = 0_u128;
    let mut new_id = || {
        ids += 1;
        Uuid::from_u128(ids)
    };
    let team = |key: &str| catalogue.has_team(key).then(|| TeamId::from_uuid(Uuid::nil()));
    let known = terrace_quests::Known { quests: &[], team: &team, closes_after: None };
    if let Err(errors) = terrace_quests::plan(&quests.drafts, &known, &mut new_id) {
        quests.locate(&errors, faults);
    }
    let known = terrace_packs::Known {
        collectibles: &[],
        packs: &[],
        team: &team,
        now: None,
        closes_after: None,
        currency,
    };
    // Paths in the folder become paths of the service.
    let path = |path: &str| Some(format!("/{path}"));
    let mut is_open = packs.is_open();
    let planned = packs.clone().with_pictures(path).plan(&known, &mut new_id).unwrap_or_else(|errors| {
        faults.extend(errors);
        is_open = true;
        terrace_packs::Catalogue { collectibles: Vec::new(), packs: Vec::new() }
    });
    let granted = GrantBook {
        packs: &planned.packs,
        collectibles: &planned.collectibles,
        is_open,
        ..GrantBook::default()
    };
    let planned = granted.with_names(Giver::Order, |grants| {
        let catalogue = &terrace_shop::Catalogue::default();
        let known = terrace_shop::Known { catalogue, team: &team, grants, closes_after: None, currency };
        shop.clone().with_pictures(path).plan(&known, &mut new_id)
    });
    let products = planned.unwrap_or_else(|errors| {
        faults.extend(errors);
        is_open = true;
        terrace_shop::Catalogue::default()
    });
    let granted = GrantBook { products: &products.products, is_open: is_open || shop.is_open(), ..granted };
    rewards::check(rewards, quests, achievements, &granted, faults);
    let planned = granted.with_names(Giver::Spin, |names| {
        let known = terrace_games::KnownWheels { wheels: &[], names, closes_after: None };
        wheels.plan(&known, &mut new_id)
    });
    if let Err(errors) = planned {
        faults.extend(errors);
    }
    let known = terrace_games::KnownRounds { rounds: &[], team: &team, now: None };
    if let Err(errors) = trivia.clone().with_pictures(path).plan(&known, &mut new_id) {
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
