//! Wheels as content, parsed from TOML and validated as a whole.

use crate::content::{ContentFaults, Entry, Fields, Location, Text};
use crate::grants::grant_draft;
use terrace_games::{KnownWheels, SegmentDraft, Wheel, WheelDraft, plan_wheels};
use terrace_kernel::{GrantDraft, Timestamp};
use uuid::Uuid;

/// Wheels as described by a file. [`WheelContent::plan`] validates them against the existing ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WheelContent {
    drafts: Vec<WheelDraft>,
    places: Vec<Location>,
}

/// Counts of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WheelSummary {
    /// Number of wheels in the content.
    pub wheels: usize,
    /// Number of wheels that the load retired.
    pub retired: u64,
}

/// Name of the file in messages.
const WHEELS: &str = "wheels.toml";

impl WheelContent {
    /// The wheels embedded in the program.
    ///
    /// # Errors
    ///
    /// If they are malformed.
    pub fn embedded() -> Result<Self, ContentFaults> {
        Self::parse(include_str!("../../content/wheels.toml"))
    }

    /// Parses wheels.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(text: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let content = Self::read(Some(text), &mut faults);
        faults.unless_any(content)
    }

    /// Parses wheels and notes all faults. A wheel with faults is part of the result. A file that is `None` exists and
    /// cannot be read.
    pub fn read(text: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(WHEELS, text);
        let [wheels] = text.entries(["wheel"], faults);
        let wheels = text.read_all(wheels, faults, wheel).into_iter();
        let wheel = |Entry { place, value }| (WheelDraft { is_partial: !place.is_whole, ..value }, place);
        let (drafts, places) = wheels.map(wheel).unzip();
        Self { drafts, places }
    }

    /// Notes the wheels that closed before `now`, which load only where they exist already.
    pub fn closed(&self, now: Timestamp, notes: &mut ContentFaults) {
        for (draft, place) in self.drafts.iter().zip(&self.places) {
            if let Some(closes) = draft.closes_at.filter(|closes| *closes <= now) {
                place.fault(
                    notes,
                    format!("wheel {:?} closed at {closes}: it can be changed, not added", draft.key),
                );
            }
        }
    }

    /// The number of wheels.
    pub fn count(&self) -> usize {
        self.drafts.len()
    }

    /// The wheels that this content describes, merged with the existing ones ([`terrace_games::plan_wheels`]).
    ///
    /// # Errors
    ///
    /// All violations, each with its line.
    pub fn plan(
        &self,
        known: &KnownWheels<'_>,
        new_id: impl FnMut() -> Uuid,
    ) -> Result<Vec<Wheel>, ContentFaults> {
        plan_wheels(&self.drafts, known, new_id).map_err(|errors| {
            ContentFaults::at(&self.places, errors.iter().map(|error| (error.place, error)))
        })
    }
}

fn wheel(fields: &mut Fields<'_, '_>) -> WheelDraft {
    WheelDraft {
        key: fields.key(),
        name: fields.text("name", "Wheel"),
        segments: fields.tables("segments", segment).unwrap_or_else(unread_segments),
        price: fields.table("price", price).flatten(),
        free_spins: fields.optional("free").unwrap_or_else(|| "daily".to_owned()),
        pity: fields.table("pity", pity),
        daily_limit: fields.optional("limit"),
        opens_at: fields.instant("opens"),
        closes_at: fields.instant("closes"),
        is_partial: false,
    }
}

fn segment(fields: &mut Fields<'_, '_>) -> SegmentDraft {
    SegmentDraft {
        key: fields.key(),
        label: fields.text("label", "Segment"),
        grant: fields.required_table("grant", grant_draft).flatten().unwrap_or_else(nothing),
        weight: fields.required("weight", 1),
        stock: fields.optional("stock"),
        substitute: fields.table("substitute", grant_draft).flatten(),
    }
}

/// `None` if parts of it cannot be read.
fn price(fields: &mut Fields<'_, '_>) -> Option<(String, i64)> {
    let price = (fields.text("kind", "coins"), fields.required("amount", 1));
    fields.is_whole().then_some(price)
}

fn pity(fields: &mut Fields<'_, '_>) -> (i64, Vec<String>) {
    (fields.required("after", 1), fields.required("segments", Vec::new()))
}

/// In place of a grant that cannot be read.
fn nothing() -> GrantDraft {
    GrantDraft { kind: "nothing".to_owned(), ..GrantDraft::default() }
}

/// In place of segments that cannot be read.
fn unread_segments() -> Vec<SegmentDraft> {
    let segment = |key: &str| SegmentDraft {
        key: key.to_owned(),
        label: key.to_owned(),
        grant: nothing(),
        weight: 1,
        ..SegmentDraft::default()
    };
    vec![segment("a"), segment("b")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grants::{Giver, GrantBook};

    fn planned(content: &WheelContent) -> Result<Vec<Wheel>, ContentFaults> {
        GrantBook { is_open: true, ..GrantBook::default() }.with_names(Giver::Spin, |names| {
            let known = KnownWheels { wheels: &[], names, closes_after: None };
            content.plan(&known, || Uuid::from_u128(1))
        })
    }

    #[test]
    fn the_embedded_wheels_are_valid() {
        let wheels = planned(&WheelContent::embedded().unwrap()).unwrap();
        assert!(wheels.iter().any(|wheel| wheel.has_free_spin));
        assert!(wheels.iter().any(|wheel| wheel.price.is_some() && wheel.pity.is_some()));
    }

    #[test]
    fn faults_name_their_line() {
        let text = "[[wheel]]\nkey = \"Daily!\"\nname = \"\"\nsegments = [\n\
                    { key = \"a\", label = \"A\", weight = 0, grant = { kind = \"gold\" } },\n\
                    { key = \"b\", label = \"B\", weight = \"x\", grant = { kind = \"nothing\" } },\n]\n\
                    price = { kind = \"money\", amount = 1 }\npity = { after = 3, segments = [\"c\"] }\ncolour = 1\n";
        let mut faults = ContentFaults::default();
        let content = WheelContent::read(Some(text), &mut faults);
        faults.extend(planned(&content).unwrap_err());
        let faults = faults.sorted().to_string();
        for part in [
            "wheels.toml:1: wheel \"Daily!\" (no. 1): a key is",
            "wheels.toml:1: wheel \"Daily!\" (no. 1): the name must hold",
            "segment \"a\": the weight must be 1 to",
            "segment \"a\": it cannot grant \"gold\"",
            "points or coins",
            "there is no segment \"c\"",
            "wheels.toml:6: `weight`: invalid type",
            "wheels.toml:10: unknown field `colour`",
        ] {
            assert!(faults.contains(part), "{part} is not in\n{faults}");
        }
    }
}
