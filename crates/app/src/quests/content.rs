//! Quests and achievements as content: parsed from TOML, validated as a whole, loaded by their stable keys.

use crate::content::{ContentFaults, Entry, Fields, Location, Text};
use std::sync::{Arc, LazyLock};
use terrace_kernel::Timestamp;
use terrace_quests::{
    Achievement, AchievementDraft, CheckDraft, ContentError, ContentProblem, QuestDraft, StepDraft,
    plan_achievements,
};

/// Quests as a file describes them. Whether they are consistent with existing teams is checked when they are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestContent {
    /// The quests, in the order of the file.
    pub drafts: Vec<QuestDraft>,
    places: Vec<Location>,
    /// Whether there may be quests whose keys could not be read.
    is_open: bool,
}

/// Result of loading quests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QuestSummary {
    /// Number of quests in the content.
    pub quests: usize,
    /// Number of steps in the content.
    pub steps: usize,
    /// Number of quests that were retired.
    pub retired: u64,
}

/// Name of the file in messages.
const QUESTS: &str = "quests.toml";

impl QuestContent {
    /// Returns the embedded quests.
    ///
    /// # Errors
    ///
    /// When the content is malformed.
    pub fn embedded() -> Result<Self, ContentFaults> {
        Self::parse(include_str!("../../content/quests.toml"))
    }

    /// Parses quests.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(text: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let content = Self::read(Some(text), &mut faults);
        faults.unless_any(content)
    }

    /// Parses quests and notes all faults. A quest with faults is part of the result, so that references to it are no
    /// faults. A file that is `None` exists and cannot be read.
    pub fn read(text: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(QUESTS, text);
        let [quests] = text.entries(["quest"], faults);
        let is_open = quests.is_open;
        let quests = text.read_all(quests, faults, quest).into_iter();
        let (drafts, places) = quests.map(|Entry { place, value }| (value, place)).unzip();
        Self { drafts, places, is_open }
    }

    /// Whether there may be quests whose keys could not be read.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Adds file and line to errors.
    pub fn locate(&self, errors: &[ContentError], faults: &mut ContentFaults) {
        for error in errors {
            let may_exist = self.is_open && matches!(error.problem, ContentProblem::UnknownPrerequisite(_));
            if let Some(place) = self.places.get(error.place).filter(|_| !may_exist) {
                place.fault(faults, error.to_string());
            }
        }
    }

    /// Notes the quests that closed before `now`, which load only where they exist already.
    pub fn closed(&self, now: Timestamp, notes: &mut ContentFaults) {
        for (draft, place) in self.drafts.iter().zip(&self.places) {
            if let Some(closes) = draft.closes_at.filter(|closes| *closes <= now) {
                place.fault(
                    notes,
                    format!("quest {:?} closed at {closes}: it can be changed, not added", draft.key),
                );
            }
        }
    }
}

fn quest(fields: &mut Fields<'_, '_>) -> QuestDraft {
    QuestDraft {
        key: fields.key(),
        title: fields.text("title", "Quest"),
        description: fields.optional("description").unwrap_or_default(),
        cadence: fields.text("cadence", "once"),
        team: fields.optional("team"),
        bonus: fields.optional("bonus").unwrap_or_default(),
        is_onboarding: fields.optional("onboarding").unwrap_or_default(),
        is_sequential: fields.optional("sequential").unwrap_or_default(),
        opens_at: fields.instant("opens"),
        closes_at: fields.instant("closes"),
        prerequisites: fields.optional("requires").unwrap_or_default(),
        steps: fields.tables("step", step).unwrap_or_else(|| vec![unread_step()]),
    }
}

fn step(fields: &mut Fields<'_, '_>) -> StepDraft {
    StepDraft {
        key: fields.key(),
        title: fields.text("title", "Step"),
        is_required: fields.optional("required").unwrap_or(true),
        points: fields.optional("points").unwrap_or_default(),
        check: fields.table("check", check).flatten(),
    }
}

/// In place of steps that cannot be read.
fn unread_step() -> StepDraft {
    StepDraft { key: "step".to_owned(), title: "Step".to_owned(), ..StepDraft::default() }
}

/// `None` if parts of it cannot be read: which parameters belong together depends on the kind.
fn check(fields: &mut Fields<'_, '_>) -> Option<CheckDraft> {
    let check = CheckDraft {
        kind: fields.text("kind", ""),
        count: fields.optional("count"),
        points: fields.optional("points"),
        rank: fields.optional("rank"),
    };
    fields.is_whole().then_some(check)
}

/// Name of the file in messages.
const ACHIEVEMENTS: &str = "achievements.toml";

/// The embedded achievements; a test ensures that they are well formed.
pub fn embedded_achievements() -> Arc<[Achievement]> {
    static READ: LazyLock<Arc<[Achievement]>> = LazyLock::new(|| {
        let text = include_str!("../../content/achievements.toml");
        read_achievements(Some(text), &mut ContentFaults::default()).into()
    });
    Arc::clone(&READ)
}

/// Parses achievements and notes all faults.
pub fn read_achievements(text: Option<&str>, faults: &mut ContentFaults) -> Vec<Achievement> {
    let text = Text::new(ACHIEVEMENTS, text);
    let [entries] = text.entries(["achievement"], faults);
    let entries = text.read_all(entries, faults, |fields| AchievementDraft {
        key: fields.key(),
        title: fields.text("title", "Achievement"),
        description: fields.text("description", ""),
        is_secret: fields.optional("secret").unwrap_or_default(),
        goal: fields.text("goal", "followers:1"),
    });
    let (drafts, places): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|Entry { place, value }| (value, place)).unzip();
    plan_achievements(&drafts).unwrap_or_else(|errors| {
        for error in errors {
            if let Some(place) = places.get(error.place) {
                place.fault(faults, error.to_string());
            }
        }
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_quests::{Known, plan};
    use uuid::Uuid;

    #[test]
    fn what_comes_with_the_program_is_well_formed() {
        let content = QuestContent::embedded().unwrap();
        assert!(content.drafts.len() >= 3 && content.drafts.iter().any(|quest| quest.is_onboarding));
        assert!(embedded_achievements().len() >= 3);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let quest = "\n[[quest]]\nkey = \"a\"\ntitle = \"A\"\ncadence = \"once\"\nopens = \"soon\"\n";
        let error = QuestContent::parse(quest).unwrap_err().to_string();
        assert_eq!(
            error,
            "quests.toml:2: missing field `step`\n\
             quests.toml:6: opens is no instant such as 2027-03-01T00:00:00Z: \"soon\""
        );
        let error = QuestContent::parse("[[quest]]\nkey = \"a\"\ncolour = 1\n").unwrap_err().to_string();
        assert!(error.contains("\nquests.toml:3: unknown field `colour`"), "{error}");
    }

    #[test]
    fn all_faults_of_a_quest_are_named_at_once() {
        let text = "[[quest]]\nkey = \"A quest\"\ntitle = \"\"\ncadence = \"weekly\"\nbonus = \"much\"\n\
                    team = \"none\"\nrequires = [\"none\"]\nopens = 2027-03-01\n\
                    [[quest.step]]\nkey = 4\ntitle = \"\"\npoints = -1\ncheck = { kind = 4, count = 0 }\n\
                    [[quest.step]]\ntitle = \"T\"\ncheck = { kind = \"follow_user\", count = 0 }\n";
        let mut faults = ContentFaults::default();
        let content = QuestContent::read(Some(text), &mut faults);
        let known = Known { quests: &[], team: &|_| None, closes_after: None };
        let errors = plan(&content.drafts, &known, || Uuid::from_u128(1)).unwrap_err();
        content.locate(&errors, &mut faults);
        let faults = faults.sorted();
        for (line, part) in [
            (1, "1 to 64 of a-z"),
            (1, ": the title must hold"),
            (1, "the cadence must be"),
            (1, "there is no team \"none\""),
            (1, "there is no quest \"none\""),
            (1, "step \"line-9\" (no. 1): the title must hold"),
            (1, "step \"line-9\" (no. 1): points must be"),
            (1, "step \"line-14\" (no. 2): the check \"count\" must be"),
            (5, "`bonus`: invalid type: string"),
            (8, "opens is no instant such as 2027-03-01T00:00:00Z: \"2027-03-01\""),
            (10, "`key`: invalid type"),
            (13, "`kind`: invalid type"),
            (14, "missing field `key`"),
        ] {
            let named = faults.iter().any(|fault| fault.line == Some(line) && fault.message.contains(part));
            assert!(named, "{line}: {part} is not in\n{faults}");
        }
        assert_eq!(faults.count(), 13, "{faults}");
    }

    #[test]
    fn instants_are_texts_or_dates_of_toml() {
        let opens = |text: &str| {
            let mut faults = ContentFaults::default();
            let content = QuestContent::read(Some(&format!("[[quest]]\nopens = {text}\n")), &mut faults);
            content.drafts[0].opens_at.map(|at| at.to_string())
        };
        let march = Some("2027-03-01T00:00:00.000Z".to_owned());
        for text in ["2027-03-01T00:00:00Z", "\"2027-03-01T00:00:00Z\"", "2027-03-01 01:00:00+01:00"] {
            assert_eq!(opens(text), march, "{text}");
        }
        for text in ["2027-03-01T00:00:00", "2027-03-01", "1"] {
            assert_eq!(opens(text), None, "{text}");
        }
    }
}
