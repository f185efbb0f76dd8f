//! Faults of imported lines.

use terrace_kernel::num;

/// Maximum number of faults that are shown.
const SHOWN: usize = 20;

/// Faults of one kind: their number, and the first of them by line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineFaults {
    count: u64,
    first: Vec<(u64, String)>,
}

impl LineFaults {
    /// Adds a fault. Lines may come in any order.
    pub fn note(&mut self, line: u64, words: String) {
        self.count += 1;
        let place = self.first.partition_point(|(before, _)| *before <= line);
        if place < SHOWN {
            self.first.insert(place, (line, words));
            self.first.truncate(SHOWN);
        }
    }

    /// Number of faults.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The first twenty, with their lines.
    pub fn first(&self) -> &[(u64, String)] {
        &self.first
    }

    /// The first twenty, each after `place` and the number of its line, and the number of the others.
    pub fn text(&self, place: &str) -> Vec<String> {
        let fault = |(line, words): &(u64, String)| {
            format!("{place}{line}: {words}").trim_end_matches([' ', ':']).to_owned()
        };
        let rest = self.count - num::to_u64(self.first.len());
        let more = (rest > 0).then(|| format!("and {rest} more"));
        self.first.iter().map(fault).chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_faults_by_line_are_shown_and_all_are_counted() {
        let mut faults = LineFaults::default();
        assert_eq!(faults.text("line "), Vec::<String>::new());
        for line in [7, 3, 5] {
            faults.note(line, "bad".to_owned());
        }
        assert_eq!(faults.text("line "), ["line 3: bad", "line 5: bad", "line 7: bad"]);
        for line in (10..40).rev() {
            faults.note(line, String::new());
        }
        let text = faults.text("a.csv:");
        assert_eq!((faults.count(), text.len()), (33, SHOWN + 1));
        assert_eq!(text[3..5], ["a.csv:10", "a.csv:11"]);
        assert_eq!(text.last().map(String::as_str), Some("and 13 more"));
    }
}
