//! Rounds of trivia as content, parsed from TOML and validated as a whole.

use crate::content::{ContentFaults, Entry, Fields, Location, Text};
use std::time::Duration;
use terrace_games::{KnownRounds, QuestionDraft, Round, RoundDraft, plan_rounds};
use terrace_kernel::Timestamp;
use uuid::Uuid;

/// Rounds as described by a file. [`TriviaContent::plan`] validates them against the existing ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TriviaContent {
    drafts: Vec<RoundDraft>,
    places: Vec<Location>,
}

/// Counts of loaded content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TriviaSummary {
    /// Number of rounds in the content.
    pub rounds: usize,
    /// Number of rounds that the load cancelled.
    pub cancelled: u64,
}

/// Name of the file in messages.
const TRIVIA: &str = "trivia.toml";
/// The days for which the demo has rounds.
const DEMO_DAYS: usize = 28;
/// When the first live round of the demo begins.
const SOON: Duration = Duration::from_mins(10);

impl TriviaContent {
    /// The rounds of the demo: those of the embedded file, once for each day from that of `now` on, and a live round that
    /// begins soon.
    ///
    /// # Errors
    ///
    /// If they are malformed.
    pub fn of_demo(now: Timestamp) -> Result<Self, ContentFaults> {
        let template = include_str!("../../content/trivia.toml");
        let days = now.to_chrono().date_naive().iter_days();
        let of_day = |day: chrono::NaiveDate| {
            let next = day.succ_opt().unwrap_or(day);
            template.replace("{day}", &day.to_string()).replace("{next}", &next.to_string())
        };
        let days: String = days.take(DEMO_DAYS).map(of_day).collect();
        let mut content = Self::parse(&days)?;
        let mut rounds: Vec<_> = content.drafts.into_iter().zip(content.places).collect();
        let is_live = |draft: &RoundDraft| draft.closes_at.is_none();
        if let Some((evening, place)) = rounds.iter().find(|(draft, _)| is_live(draft)).cloned() {
            let (key, title) = ("kick-off".to_owned(), "Kick-off quiz".to_owned());
            rounds.push((RoundDraft { key, title, starts_at: Some(now.plus(SOON)), ..evening }, place));
        }
        // A live round of today may be over.
        rounds.retain(|(draft, _)| !is_live(draft) || draft.starts_at.is_some_and(|starts| starts > now));
        (content.drafts, content.places) = rounds.into_iter().unzip();
        Ok(content)
    }

    /// Parses rounds.
    ///
    /// # Errors
    ///
    /// All faults, with line numbers.
    pub fn parse(text: &str) -> Result<Self, ContentFaults> {
        let mut faults = ContentFaults::default();
        let content = Self::read(Some(text), &mut faults);
        faults.unless_any(content)
    }

    /// Parses rounds and notes all faults. A round with faults is part of the result. A file that is `None` exists and
    /// cannot be read.
    pub fn read(text: Option<&str>, faults: &mut ContentFaults) -> Self {
        let text = Text::new(TRIVIA, text);
        let [rounds] = text.entries(["round"], faults);
        let rounds = text.read_all(rounds, faults, round).into_iter();
        let round = |Entry { place, value }| (RoundDraft { is_partial: !place.is_whole, ..value }, place);
        let (drafts, places) = rounds.map(round).unzip();
        Self { drafts, places }
    }

    /// Notes the rounds that have begun, which load only as they are.
    pub fn begun(&self, now: Timestamp, notes: &mut ContentFaults) {
        for (draft, place) in self.drafts.iter().zip(&self.places) {
            if let Some(starts) = draft.starts_at.filter(|starts| *starts <= now) {
                let begun = format!("round {:?} began at {starts}: it can no longer be changed", draft.key);
                place.fault(notes, begun);
            }
        }
    }

    /// The pictures that questions name, as file, line and path.
    pub fn pictures(&self) -> impl Iterator<Item = (&'static str, usize, &str)> {
        let rounds = self.drafts.iter().zip(&self.places);
        rounds.flat_map(|(draft, place)| {
            let pictures = draft.questions.iter().filter_map(|question| question.image_url.as_deref());
            pictures.map(|picture| (TRIVIA, place.line, picture))
        })
    }

    /// Replaces the path of each picture with its URL, which `url` returns.
    #[must_use]
    pub fn with_pictures(mut self, url: impl Fn(&str) -> Option<String>) -> Self {
        for question in self.drafts.iter_mut().flat_map(|draft| &mut draft.questions) {
            question.image_url = question.image_url.as_deref().and_then(&url);
        }
        self
    }

    /// The number of rounds.
    pub fn count(&self) -> usize {
        self.drafts.len()
    }

    /// The rounds that this content describes, merged with the existing ones ([`terrace_games::plan_rounds`]).
    ///
    /// # Errors
    ///
    /// All violations, each with its line.
    pub fn plan(
        &self,
        known: &KnownRounds<'_>,
        new_id: impl FnMut() -> Uuid,
    ) -> Result<Vec<Round>, ContentFaults> {
        plan_rounds(&self.drafts, known, new_id).map_err(|errors| {
            ContentFaults::at(&self.places, errors.iter().map(|error| (error.place, error)))
        })
    }
}

fn round(fields: &mut Fields<'_, '_>) -> RoundDraft {
    fields.present("starts");
    RoundDraft {
        key: fields.key(),
        title: fields.text("title", "Round"),
        mode: fields.optional("mode").unwrap_or_else(|| "live".to_owned()),
        team: fields.optional("team"),
        starts_at: fields.instant("starts"),
        closes_at: fields.instant("closes"),
        seconds: fields.required("seconds", 20),
        reveal: fields.optional("reveal"),
        max_points: fields.required("points", 100),
        question_count: fields.optional("count"),
        award: fields.optional("award"),
        questions: fields.tables("questions", question).unwrap_or_default(),
        is_partial: false,
    }
}

fn question(fields: &mut Fields<'_, '_>) -> QuestionDraft {
    QuestionDraft {
        text: fields.text("text", "Question"),
        image_url: fields.optional("image"),
        options: fields.required("options", vec!["a".to_owned(), "b".to_owned()]),
        right: fields.text("right", "a"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use terrace_games::RoundMode;

    fn planned(content: &TriviaContent, now: Timestamp) -> Result<Vec<Round>, ContentFaults> {
        let known = KnownRounds { rounds: &[], team: &|_| None, now: Some(now) };
        let mut ids = 0;
        content.plan(&known, || {
            ids += 1;
            Uuid::from_u128(ids)
        })
    }

    #[test]
    fn the_demo_has_a_round_of_each_mode_on_each_day() {
        for (now, live) in
            [("2026-05-31T12:00:00Z", 29), ("2026-05-31T18:01:00Z", 28), ("2026-05-31T23:59:59Z", 28)]
        {
            let now: Timestamp = now.parse().unwrap();
            let rounds = planned(&TriviaContent::of_demo(now).unwrap(), now).unwrap();
            let of = |mode| rounds.iter().filter(move |round| round.mode == mode);
            assert_eq!((of(RoundMode::Solo).count(), of(RoundMode::Live).count()), (28, live));
            assert!(of(RoundMode::Solo).any(|round| round.starts_at <= now && now < round.closes_at));
            assert!(of(RoundMode::Live).any(|round| round.starts_at == now.plus(SOON)));
        }
    }

    #[test]
    fn faults_name_their_line() {
        let text = "[[round]]\nkey = \"Derby!\"\ntitle = \"\"\nmode = \"duel\"\nstarts = \"soon\"\nseconds = 1\n\
                    points = 0\nteam = \"reds\"\nquestions = [\n{ text = \"Q?\", options = [\"a\", \"a\"], right = \"b\" },\n\
                    { text = \"R?\", options = \"a\", right = \"a\" },\n]\ncolour = 1\n";
        let mut faults = ContentFaults::default();
        let content = TriviaContent::read(Some(text), &mut faults);
        faults.extend(planned(&content, Timestamp::from_micros(0)).unwrap_err());
        let faults = faults.sorted().to_string();
        for part in [
            "trivia.toml:1: round \"Derby!\" (no. 1): a key is",
            "trivia.toml:1: round \"Derby!\" (no. 1): the title must hold",
            "\"live\" or \"solo\", not \"duel\"",
            "trivia.toml:5: starts is no instant",
            "5 to 120 seconds",
            "`points` must be 1 to",
            "there is no team \"reds\"",
            "question 1: two options are \"a\"",
            "question 1: `right` is none of the options",
            "trivia.toml:11: `options`: invalid type",
            "trivia.toml:13: unknown field `colour`",
        ] {
            assert!(faults.contains(part), "{part} is not in\n{faults}");
        }
    }
}
