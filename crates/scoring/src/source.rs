//! Source keys: identifiers of the facts that records of points are for.

use chrono::NaiveDate;
use std::fmt;
use std::str::FromStr;
use terrace_kernel::{UnknownName, uuid_from_canonical};
use uuid::Uuid;

/// The kind of fact that a record of points is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A step of a quest was completed.
    QuestStep,
    /// A quest was completed.
    Quest,
    /// The dashboard was visited on a day.
    DailyVisit,
    /// A round of a game was played.
    Game,
    /// A row imported from another system, of which only the origin is known.
    Import,
    /// A reversal of another record.
    Reversal,
}

impl SourceKind {
    /// Every kind.
    pub const ALL: [Self; 6] =
        [Self::QuestStep, Self::Quest, Self::DailyVisit, Self::Game, Self::Import, Self::Reversal];

    /// The stable name, as stored in keys and responses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::QuestStep => "quest_step",
            Self::Quest => "quest",
            Self::DailyVisit => "daily_visit",
            Self::Game => "game",
            Self::Import => "import",
            Self::Reversal => "reversal",
        }
    }
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SourceKind {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Self, UnknownName> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text).ok_or_else(|| UnknownName(text.to_owned()))
    }
}

/// The identifier of a fact that a fan gets points for. It is never null and is unique per fan, so that a live write, a
/// job and a backfill of one fact produce the same record, and the fact pays once. It depends on the fact alone: not on
/// the time or the writer of the record, nor on the season.
///
/// The text form is `kind:subject`, with `:date` if the fact recurs, and with the prefix `reversal:` for a reversal; at
/// most 80 characters, ASCII.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SourceKey {
    is_reversal: bool,
    fact: Fact,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Fact {
    QuestStep(Uuid, Option<NaiveDate>),
    Quest(Uuid, Option<NaiveDate>),
    DailyVisit(NaiveDate),
    Game(Uuid),
    Import(String),
}

/// The text is not a source key in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a source key such as quest_step:0190a6f2-7c1e-7000-8000-000000000000")]
pub struct MalformedSourceKey;

impl SourceKey {
    const fn of(fact: Fact) -> Self {
        Self { is_reversal: false, fact }
    }

    /// The completion of a quest's step; with the fan's local date when the quest is a daily one.
    pub fn quest_step(step: impl Into<Uuid>, daily: Option<NaiveDate>) -> Self {
        Self::of(Fact::QuestStep(step.into(), daily))
    }

    /// The completion of a quest; with the fan's local date when the quest is a daily one.
    pub fn quest(quest: impl Into<Uuid>, daily: Option<NaiveDate>) -> Self {
        Self::of(Fact::Quest(quest.into(), daily))
    }

    /// The visit of a day, identified by the fan's local date.
    pub const fn daily_visit(local_date: NaiveDate) -> Self {
        Self::of(Fact::DailyVisit(local_date))
    }

    /// A round of a game.
    pub fn game(round: impl Into<Uuid>) -> Self {
        Self::of(Fact::Game(round.into()))
    }

    /// An imported row without a known fact, identified by its origin: 1 to 64 of `A-Z`, `a-z`, `0-9`, `.`, `_`, `/`
    /// and `-`, such as its table and key in the other system.
    pub fn import(origin: &str) -> Result<Self, MalformedSourceKey> {
        let fits = (1..=64).contains(&origin.len())
            && origin.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._/-".contains(&byte));
        if fits { Ok(Self::of(Fact::Import(origin.to_owned()))) } else { Err(MalformedSourceKey) }
    }

    /// The key of the reversal; `None` if this is a reversal itself.
    pub fn reversal(&self) -> Option<Self> {
        (!self.is_reversal).then(|| Self { is_reversal: true, fact: self.fact.clone() })
    }

    /// The key of the reversed record; `None` if this is not a reversal.
    pub fn reversed(&self) -> Option<Self> {
        self.is_reversal.then(|| Self::of(self.fact.clone()))
    }

    /// The kind of fact.
    pub const fn kind(&self) -> SourceKind {
        if self.is_reversal { SourceKind::Reversal } else { self.fact.kind() }
    }

    /// The quest, step or round; for a reversal, that of the reversed record.
    pub const fn subject(&self) -> Option<Uuid> {
        match &self.fact {
            Fact::QuestStep(id, _) | Fact::Quest(id, _) | Fact::Game(id) => Some(*id),
            Fact::DailyVisit(_) | Fact::Import(_) => None,
        }
    }

    /// The fan's local date, if the fact recurs by day; for a reversal, that of the reversed record.
    pub const fn local_date(&self) -> Option<NaiveDate> {
        match &self.fact {
            Fact::QuestStep(_, date) | Fact::Quest(_, date) => *date,
            Fact::DailyVisit(date) => Some(*date),
            Fact::Game(_) | Fact::Import(_) => None,
        }
    }
}

impl Fact {
    const fn kind(&self) -> SourceKind {
        match self {
            Self::QuestStep(..) => SourceKind::QuestStep,
            Self::Quest(..) => SourceKind::Quest,
            Self::DailyVisit(_) => SourceKind::DailyVisit,
            Self::Game(_) => SourceKind::Game,
            Self::Import(_) => SourceKind::Import,
        }
    }
}

impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_reversal {
            write!(f, "{}:", SourceKind::Reversal)?;
        }
        write!(f, "{}:", self.fact.kind())?;
        match &self.fact {
            Fact::QuestStep(id, date) | Fact::Quest(id, date) => {
                write!(f, "{}", id.hyphenated())?;
                date.map_or(Ok(()), |date| write!(f, ":{date}"))
            }
            Fact::DailyVisit(date) => write!(f, "{date}"),
            Fact::Game(id) => write!(f, "{}", id.hyphenated()),
            Fact::Import(origin) => f.write_str(origin),
        }
    }
}

/// Parses the canonical form only: two spellings of one key would pay twice.
impl FromStr for SourceKey {
    type Err = MalformedSourceKey;

    fn from_str(text: &str) -> Result<Self, MalformedSourceKey> {
        let wrong = |_| MalformedSourceKey;
        let (kind, subject) = text.split_once(':').ok_or(MalformedSourceKey)?;
        let id = |text: &str| uuid_from_canonical(text).map_err(wrong);
        let date = |text: &str| text.parse::<NaiveDate>().map_err(|_| MalformedSourceKey);
        let dated = |text: &str| match text.split_once(':') {
            Some((subject, day)) => Ok((id(subject)?, Some(date(day)?))),
            None => Ok((id(text)?, None)),
        };
        let key = match kind.parse().map_err(|_| MalformedSourceKey)? {
            SourceKind::QuestStep => dated(subject).map(|(step, day)| Self::quest_step(step, day)),
            SourceKind::Quest => dated(subject).map(|(quest, day)| Self::quest(quest, day)),
            SourceKind::DailyVisit => date(subject).map(Self::daily_visit),
            SourceKind::Game => id(subject).map(Self::game),
            SourceKind::Import => Self::import(subject),
            SourceKind::Reversal if subject.starts_with(SourceKind::Reversal.as_str()) => {
                Err(MalformedSourceKey)
            }
            SourceKind::Reversal => subject.parse::<Self>()?.reversal().ok_or(MalformedSourceKey),
        }?;
        if key.to_string() == text { Ok(key) } else { Err(MalformedSourceKey) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0190a6f2-7c1e-7abc-8def-0123456789ab";

    fn uuid() -> Uuid {
        ID.parse().unwrap()
    }

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn keys_are_read_as_they_are_written() {
        let may = day("2026-05-01");
        for (key, text) in [
            (SourceKey::quest_step(uuid(), None), format!("quest_step:{ID}")),
            (SourceKey::quest_step(uuid(), Some(may)), format!("quest_step:{ID}:2026-05-01")),
            (SourceKey::quest(uuid(), None), format!("quest:{ID}")),
            (SourceKey::quest(uuid(), Some(may)), format!("quest:{ID}:2026-05-01")),
            (SourceKey::daily_visit(may), "daily_visit:2026-05-01".to_owned()),
            (SourceKey::game(uuid()), format!("game:{ID}")),
            (SourceKey::import("PointsHistory/clx93").unwrap(), "import:PointsHistory/clx93".to_owned()),
        ] {
            for (key, text) in
                [(key.clone(), text.clone()), (key.reversal().unwrap(), format!("reversal:{text}"))]
            {
                assert_eq!(key.to_string(), text);
                assert_eq!(text.parse(), Ok(key));
                assert!(text.len() <= 80, "{text}");
            }
        }
    }

    #[test]
    fn one_fact_has_one_spelling() {
        for wrong in [
            String::new(),
            ID.to_owned(),
            format!("step:{ID}"),
            format!("quest_step:{}", ID.to_uppercase()),
            format!("quest_step:{ID}:"),
            format!("quest_step:{ID}:2026-5-1"),
            format!("game:{ID}:2026-05-01"),
            "daily_visit:2026-02-30".to_owned(),
            "daily_visit: 2026-02-20".to_owned(),
            "import:".to_owned(),
            "import:a:b".to_owned(),
            "import:é".to_owned(),
            format!("import:{}", "x".repeat(65)),
            format!("reversal:reversal:quest:{ID}"),
            "reversal:".repeat(10_000),
        ] {
            assert_eq!(wrong.parse::<SourceKey>(), Err(MalformedSourceKey), "{wrong}");
        }
    }

    #[test]
    fn a_backfill_of_a_fact_meets_the_key_of_the_live_write() {
        // Both use the same fact, and nothing else is part of the key.
        let live = SourceKey::quest_step(uuid(), Some(day("2026-05-01")));
        let backfill = SourceKey::quest_step(uuid(), Some(day("2026-05-01")));
        assert_eq!(live.to_string(), backfill.to_string());
        let taken_back = live.reversal().unwrap();
        assert_eq!(taken_back, backfill.reversal().unwrap());
        assert_eq!(taken_back.reversed(), Some(live.clone()));
        assert_eq!(live.reversed(), None);
    }

    #[test]
    fn other_facts_have_other_keys() {
        let other = Uuid::from_u128(7);
        let keys = [
            SourceKey::quest_step(uuid(), None),
            SourceKey::quest_step(other, None),
            SourceKey::quest_step(uuid(), Some(day("2026-05-01"))),
            SourceKey::quest_step(uuid(), Some(day("2026-05-02"))),
            SourceKey::quest(uuid(), None),
            SourceKey::daily_visit(day("2026-05-01")),
            SourceKey::game(uuid()),
            SourceKey::quest(uuid(), None).reversal().unwrap(),
        ];
        let texts: std::collections::BTreeSet<_> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(texts.len(), keys.len());
    }

    #[test]
    fn a_key_contains_its_kind_subject_and_date() {
        let quest = SourceKey::quest(uuid(), Some(day("2026-05-01")));
        assert_eq!((quest.kind(), quest.subject()), (SourceKind::Quest, Some(uuid())));
        assert_eq!(quest.local_date(), Some(day("2026-05-01")));
        let reversal = quest.reversal().unwrap();
        assert_eq!((reversal.kind(), reversal.subject()), (SourceKind::Reversal, Some(uuid())));
        assert_eq!(reversal.reversal(), None);
    }
}
