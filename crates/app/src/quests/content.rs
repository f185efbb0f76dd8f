//! Quests and achievements as content: parsed from TOML, validated as a whole, loaded by their stable keys.

use crate::content::{ContentFaults, Entry, Text, instant};
use serde::Deserialize;
use std::sync::{Arc, LazyLock};
use terrace_quests::{
    Achievement, AchievementDraft, CheckDraft, ContentError, QuestDraft, StepDraft, plan_achievements,
};

/// Quests as a file describes them. Whether they are consistent with existing teams is checked when they are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestContent {
    /// The quests, in the order of the file.
    pub drafts: Vec<QuestDraft>,
    /// Line on which each quest starts.
    pub(crate) lines: Vec<usize>,
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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestEntry {
    key: String,
    title: String,
    #[serde(default)]
    description: String,
    cadence: String,
    team: Option<String>,
    #[serde(default)]
    bonus: i64,
    #[serde(default)]
    onboarding: bool,
    #[serde(default)]
    sequential: bool,
    opens: Option<String>,
    closes: Option<String>,
    #[serde(default)]
    requires: Vec<String>,
    #[serde(default, rename = "step")]
    steps: Vec<StepEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepEntry {
    key: String,
    title: String,
    #[serde(default = "yes")]
    required: bool,
    #[serde(default)]
    points: i64,
    check: Option<CheckEntry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CheckEntry {
    kind: String,
    count: Option<i64>,
    points: Option<i64>,
    rank: Option<i64>,
}

const fn yes() -> bool {
    true
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
        let content = Self::read(text, &mut faults);
        faults.unless_any(content)
    }

    /// Parses quests and notes all faults; the result contains what is well formed.
    pub fn read(text: &str, faults: &mut ContentFaults) -> Self {
        let text = Text::new(QUESTS, text);
        let [quests] = text.entries(["quest"], faults);
        let mut content = Self { drafts: Vec::new(), lines: Vec::new() };
        for Entry { line, value } in text.read_all(quests, faults) {
            match draft(value) {
                Ok(draft) => {
                    content.drafts.push(draft);
                    content.lines.push(line);
                }
                Err(message) => faults.add(QUESTS, line, message),
            }
        }
        content
    }

    /// Adds line numbers to errors.
    pub fn locate(&self, errors: &[ContentError], faults: &mut ContentFaults) {
        for error in errors {
            faults.add(QUESTS, self.lines.get(error.place).copied(), error.to_string());
        }
    }
}

fn draft(entry: QuestEntry) -> Result<QuestDraft, String> {
    let step = |step: StepEntry| StepDraft {
        key: step.key,
        title: step.title,
        is_required: step.required,
        points: step.points,
        check: step.check.map(|check| CheckDraft {
            kind: check.kind,
            count: check.count,
            points: check.points,
            rank: check.rank,
        }),
    };
    Ok(QuestDraft {
        key: entry.key,
        title: entry.title,
        description: entry.description,
        cadence: entry.cadence,
        team: entry.team,
        bonus: entry.bonus,
        is_onboarding: entry.onboarding,
        is_sequential: entry.sequential,
        opens_at: instant("opens", entry.opens)?,
        closes_at: instant("closes", entry.closes)?,
        prerequisites: entry.requires,
        steps: entry.steps.into_iter().map(step).collect(),
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AchievementEntry {
    key: String,
    title: String,
    description: String,
    #[serde(default)]
    secret: bool,
    goal: String,
}

/// Name of the file in messages.
const ACHIEVEMENTS: &str = "achievements.toml";

/// The embedded achievements; a test ensures that they are well formed.
pub fn embedded_achievements() -> Arc<[Achievement]> {
    static READ: LazyLock<Arc<[Achievement]>> = LazyLock::new(|| {
        let text = include_str!("../../content/achievements.toml");
        read_achievements(text, &mut ContentFaults::default()).into()
    });
    Arc::clone(&READ)
}

/// Parses achievements and notes all faults.
pub fn read_achievements(text: &str, faults: &mut ContentFaults) -> Vec<Achievement> {
    let text = Text::new(ACHIEVEMENTS, text);
    let [entries] = text.entries(["achievement"], faults);
    let (mut lines, mut drafts) = (Vec::new(), Vec::new());
    for Entry { line, value } in text.read_all::<AchievementEntry>(entries, faults) {
        lines.push(line);
        drafts.push(AchievementDraft {
            key: value.key,
            title: value.title,
            description: value.description,
            is_secret: value.secret,
            goal: value.goal,
        });
    }
    plan_achievements(&drafts).unwrap_or_else(|errors| {
        for error in errors {
            faults.add(ACHIEVEMENTS, lines.get(error.place).copied(), error.to_string());
        }
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(error.starts_with("quests.toml:2: opens is no instant"), "{error}");
        let error = QuestContent::parse("[[quest]]\nkey = \"a\"\ncolour = 1\n").unwrap_err().to_string();
        assert!(error.contains("\nquests.toml:3: unknown field `colour`"), "{error}");
    }
}
