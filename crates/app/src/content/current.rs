//! The content that is in force, as each process reads it.

use crate::App;
use crate::content::{Club, ContentFaults, embedded_levels, read_levels};
use crate::store::content::{ContentPicture, ContentRead, StoredContent};
use crate::store::{Query, into_infallible};
use std::convert::Infallible;
use std::sync::Arc;
use terrace_art::{Colors, Oklch};
use terrace_kernel::{MediaHash, Outcome, StoreError, Timestamp};
use terrace_scoring::Levels;

/// The club, and what its content sets for all areas.
#[derive(Debug, Clone, Default)]
pub struct CurrentClub {
    /// Name, colours and texts.
    pub club: Club,
    /// Path under which the logo is served, if there is one.
    pub logo_url: Option<String>,
    /// The levels of fans.
    pub levels: Arc<Levels>,
}

impl CurrentClub {
    pub(crate) fn of(stored: Option<StoredContent>) -> Self {
        let mut faults = ContentFaults::default();
        let levels = |text: &str, faults: &mut ContentFaults| read_levels(Some(text), faults).map(Arc::new);
        let Some(stored) = stored else {
            return Self { levels: embedded_levels(), ..Self::default() };
        };
        let current = Self {
            club: Club::read(Some(&stored.club), &mut faults).unwrap_or_default(),
            logo_url: stored.logo_url,
            levels: stored.levels.and_then(|text| levels(&text, &mut faults)).unwrap_or_else(embedded_levels),
        };
        if faults.count() > 0 {
            // A newer version may have loaded it.
            log::error!("the stored content cannot be read: {faults}");
        }
        current
    }

    /// The style sheet that sets the club's colour in the web client.
    pub fn theme(&self) -> String {
        let Oklch { lightness, chroma, hue } = self.drawing_colors().theme();
        // More specific than the defaults of the client, which come later.
        format!("html:root{{--club-l:{lightness:.4};--club-c:{chroma:.4};--club-h:{hue:.2}}}\n")
    }

    /// The colours of drawings.
    pub(crate) fn drawing_colors(&self) -> Colors {
        let [main, second] = &self.club.colors;
        Colors::parse(main, second).unwrap_or_default()
    }
}

impl App {
    /// The club, at most one second old.
    pub async fn club(&self) -> Result<Arc<CurrentClub>, StoreError> {
        if let Some(club) = self.clubs.get(&()) {
            return Ok(club);
        }
        let stored = into_infallible(self.query(ReadStored).await)?;
        let club = Arc::new(CurrentClub::of(stored));
        self.clubs.insert((), Arc::clone(&club));
        Ok(club)
    }

    /// The picture of the content with this hash.
    pub async fn content_picture(&self, hash: MediaHash) -> Result<Option<ContentPicture>, StoreError> {
        into_infallible(self.query(ReadPicture { hash }).await)
    }
}

struct ReadStored;

impl Query for ReadStored {
    const NAME: &'static str = "read_content";
    type Ports = dyn ContentRead;
    type Output = Option<StoredContent>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ContentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.stored_content()?)
    }
}

struct ReadPicture {
    hash: MediaHash,
}

impl Query for ReadPicture {
    const NAME: &'static str = "read_content_picture";
    const ALLOW_STALE: bool = true;
    type Ports = dyn ContentRead;
    type Output = Option<ContentPicture>;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn ContentRead, _now: Timestamp) -> Outcome<Self::Output, Infallible> {
        Ok(tx.content_picture(self.hash)?)
    }
}
