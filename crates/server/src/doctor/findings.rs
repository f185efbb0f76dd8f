//! The findings and their text form.

use std::fmt;

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Nothing to do.
    Ok,
    /// It works, but needs attention.
    Warn,
    /// It does not work, or not safely.
    Fail,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        })
    }
}

/// All findings, in the order of the checks.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<(Level, &'static str, String)>);

impl Findings {
    pub(super) fn ok(&mut self, subject: &'static str, words: impl Into<String>) {
        self.0.push((Level::Ok, subject, words.into()));
    }

    pub(super) fn warn(&mut self, subject: &'static str, words: impl Into<String>) {
        self.0.push((Level::Warn, subject, words.into()));
    }

    pub(super) fn fail(&mut self, subject: &'static str, words: impl Into<String>) {
        self.0.push((Level::Fail, subject, words.into()));
    }

    pub(super) fn any_failed(&self) -> bool {
        self.0.iter().any(|(level, _, _)| *level == Level::Fail)
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(level, subject, words)| format!("{level:<5}{subject:<14}{words}"))
    }

    #[cfg(test)]
    pub(super) fn of(&self, subject: &str) -> Vec<(Level, &str)> {
        let of_subject = self.0.iter().filter(|(_, known, _)| *known == subject);
        of_subject.map(|(level, _, words)| (*level, words.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_finding_is_a_line_and_any_failure_counts() {
        let mut findings = Findings::default();
        findings.ok("schema", "is current");
        findings.warn("disk", "is nearly full");
        assert!(!findings.any_failed());
        findings.fail("database", "is away");
        assert!(findings.any_failed());
        let lines: Vec<_> = findings.lines().collect();
        assert_eq!(
            lines,
            [
                "ok   schema        is current",
                "warn disk          is nearly full",
                "fail database      is away"
            ]
        );
    }
}
