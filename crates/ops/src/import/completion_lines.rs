//! Lines of a completion list: one JSON object per line.

use crate::import::lines::{FileLine, printable};
use serde::Deserialize;
use terrace_kernel::Timestamp;
use terrace_scoring::Points;

/// A step that a fan completed in an earlier system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Fan: a name in any spelling, or an id.
    pub user: String,
    /// Quest: its key or title. `None` if the step alone is unambiguous.
    pub quest: Option<String>,
    /// Step: its key or title.
    pub step: String,
    /// Time of completion.
    pub completed_at: Timestamp,
    /// Points paid at that time, 0 to [`Points::MAX_AWARD`].
    pub points: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Entry {
    user: String,
    quest: Option<String>,
    step: String,
    completed_at: String,
    points: Option<i64>,
}

impl FileLine for Completion {
    const LONGEST: usize = 8_192;

    fn parse(line: &[u8]) -> Result<Self, String> {
        // Some programs write a byte order mark before the first line.
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        // The parser would also accept an array of the values in order.
        if !line.trim_ascii_start().starts_with(b"{") {
            return Err("not a JSON object".to_owned());
        }
        let entry: Entry = serde_json::from_slice(line).map_err(|error| wrong(&error))?;
        let completed_at = entry.completed_at.parse().map_err(|error| format!("completedAt: {error}"))?;
        let points = entry.points.unwrap_or_default();
        let most = Points::MAX_AWARD.get();
        if !(0..=most).contains(&points) {
            return Err(format!("points: not from 0 to {most}"));
        }
        Ok(Self { user: entry.user, quest: entry.quest, step: entry.step, completed_at, points })
    }
}

/// The parser's message without its line number, which is always 1.
fn wrong(error: &serde_json::Error) -> String {
    let words = error.to_string();
    let words = words.rsplit_once(" at line ").map_or(words.as_str(), |(what, _)| what);
    format!("{}, at column {}", printable(words), error.column())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::lines::tests::lines;
    use crate::import::lines::{Line, Lines};
    use std::io;

    fn completions(text: &[u8]) -> Vec<Line<Completion>> {
        lines(Lines::new(io::BufReader::with_capacity(7, text)))
    }

    #[test]
    fn completions_are_read_one_a_line() {
        let text = "\u{feff}{\"user\":\"mia\",\"quest\":\"welcome\",\"step\":\"Add a photo\",\
            \"completedAt\":\"2025-03-01T10:00:00+01:00\",\"points\":5}\r\n\n  \
            {\"step\":\"photo\",\"quest\":null,\"points\":null,\"completedAt\":\"2025-03-01T09:00:00.000001Z\",\"user\":\"bo\"} ";
        let first = Completion {
            user: "mia".to_owned(),
            quest: Some("welcome".to_owned()),
            step: "Add a photo".to_owned(),
            completed_at: "2025-03-01T09:00:00Z".parse().unwrap(),
            points: 5,
        };
        let second = Completion {
            user: "bo".to_owned(),
            quest: None,
            step: "photo".to_owned(),
            completed_at: "2025-03-01T09:00:00.000001Z".parse().unwrap(),
            points: 0,
        };
        let expected = [(1, first), (3, second)];
        assert_eq!(
            completions(text.as_bytes()),
            expected.map(|(number, completion)| Line { number, content: Ok(completion) })
        );
        assert_eq!(completions(b""), []);
        assert_eq!(completions(b"\n \r\n"), []);
    }

    #[test]
    fn errors_of_a_line_are_reported_with_its_number() {
        let entry = |more: &str| format!("{{\"user\":\"mia\",\"step\":\"photo\"{more}}}");
        let at = ",\"completedAt\":\"2025-03-01T09:00:00Z\"";
        for (line, why) in [
            ("photo".to_owned(), "not a JSON object"),
            ("[\"mia\",null,\"photo\",\"2025-03-01T09:00:00Z\",1]".to_owned(), "not a JSON object"),
            ("{\"user\":".to_owned(), "EOF while parsing"),
            (entry(""), "missing field `completedAt`, at column "),
            (entry(",\"completedAt\":\"yesterday\""), "completedAt: not an RFC 3339 instant"),
            (entry(",\"completedAt\":1740819600"), "invalid type: integer"),
            (entry(&format!("{at},\"points\":1.5")), "invalid type: floating point"),
            (entry(&format!("{at},\"points\":\"5\"")), "invalid type: string"),
            (entry(&format!("{at},\"points\":-1")), "points: not from 0 to 1000000000"),
            (entry(&format!("{at},\"points\":1000000001")), "points: not from 0 to 1000000000"),
            (entry(&format!("{at},\"colour\":1")), "unknown field `colour`"),
            (entry(&format!("{at},\"step\":\"team\"")), "duplicate field `step`"),
            (entry(&format!("{at}}},{{\"a\":1")), "trailing characters"),
            (entry(&format!("{at},\"\\u001b[31m\":1")), "unknown field `\u{fffd}[31m`"),
            ("x".repeat(Completion::LONGEST + 1), "longer than 8192 bytes"),
        ] {
            let [one] = &completions(line.as_bytes())[..] else { panic!("one line: {line}") };
            let words = one.content.as_ref().unwrap_err();
            assert!(words.starts_with(why), "{line}: {words}");
            assert!(words.chars().count() < 230, "{words}");
        }
        let found = completions(b"\xff\xfe\n{\"user\":\"\xff\"}\n\n{}\n");
        assert_eq!(
            found.iter().map(|line| (line.number, line.content.is_err())).collect::<Vec<_>>(),
            [(1, true), (2, true), (4, true)]
        );
    }
}
