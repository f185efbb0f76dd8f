//! Quests and achievements as content: parsed from TOML, validated as a whole, loaded by their stable keys.

use crate::content::{instant, line_of};
use serde::Deserialize;
use std::sync::LazyLock;
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

/// Why quest content was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QuestContentError {
    /// The text is not TOML of the expected form; the message contains line and column.
    #[error("quests: {0}")]
    Malformed(String),
    /// Values violate rules; each message contains the line on which its quest starts.
    #[error("{}", .0.join("\n"))]
    Invalid(Vec<String>),
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
struct QuestFile {
    #[serde(default, rename = "quest")]
    quests: Vec<toml::Spanned<QuestEntry>>,
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

impl QuestContent {
    /// Returns the embedded quests.
    ///
    /// # Errors
    ///
    /// When the content is malformed.
    pub fn embedded() -> Result<Self, QuestContentError> {
        Self::parse(include_str!("../../content/quests.toml"))
    }

    /// Parses quests.
    ///
    /// # Errors
    ///
    /// Describes what is wrong, with line numbers.
    pub fn parse(text: &str) -> Result<Self, QuestContentError> {
        let file: QuestFile =
            toml::from_str(text).map_err(|error| QuestContentError::Malformed(error.to_string()))?;
        let mut content = Self { drafts: Vec::new(), lines: Vec::new() };
        let mut wrong = Vec::new();
        for entry in file.quests {
            let line = line_of(text, entry.span().start);
            let entry = entry.into_inner();
            match draft(entry) {
                Ok(draft) => {
                    content.drafts.push(draft);
                    content.lines.push(line);
                }
                Err(message) => wrong.push(format!("quests, line {line}: {message}")),
            }
        }
        if wrong.is_empty() { Ok(content) } else { Err(QuestContentError::Invalid(wrong)) }
    }

    /// Adds line numbers to errors.
    pub(crate) fn located(&self, errors: &[ContentError]) -> QuestContentError {
        let line = |error: &ContentError| self.lines.get(error.place).copied().unwrap_or_default();
        let located = |error: &ContentError| format!("quests, line {}: {error}", line(error));
        QuestContentError::Invalid(errors.iter().map(located).collect())
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
struct AchievementFile {
    #[serde(default, rename = "achievement")]
    achievements: Vec<AchievementEntry>,
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

/// The embedded achievements; a test ensures that they are well formed.
pub(super) fn achievements() -> &'static [Achievement] {
    static READ: LazyLock<Vec<Achievement>> = LazyLock::new(|| read_achievements().unwrap_or_default());
    &READ
}

fn read_achievements() -> Result<Vec<Achievement>, String> {
    let file: AchievementFile =
        toml::from_str(include_str!("../../content/achievements.toml")).map_err(|error| error.to_string())?;
    let draft = |entry: AchievementEntry| AchievementDraft {
        key: entry.key,
        title: entry.title,
        description: entry.description,
        is_secret: entry.secret,
        goal: entry.goal,
    };
    let drafts: Vec<_> = file.achievements.into_iter().map(draft).collect();
    plan_achievements(&drafts).map_err(|errors| format!("{errors:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_the_program_is_well_formed() {
        let content = QuestContent::embedded().unwrap();
        assert!(content.drafts.len() >= 3 && content.drafts.iter().any(|quest| quest.is_onboarding));
        assert!(read_achievements().unwrap().len() >= 3);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        let quest = "\n[[quest]]\nkey = \"a\"\ntitle = \"A\"\ncadence = \"once\"\nopens = \"soon\"\n";
        let error = QuestContent::parse(quest).unwrap_err().to_string();
        assert!(error.starts_with("quests, line 2: opens is no instant"), "{error}");
        let error = QuestContent::parse("[[quest]]\nkey = \"a\"\ncolour = 1\n").unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
    }
}
