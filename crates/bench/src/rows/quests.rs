//! Signed-in fans in a quest that no fan completes: every step but the last pays, and completing any of them takes the
//! same work.

use super::{Dialect, EPOCH, FIRST, boards, identifier};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The number of steps that a fan may complete; there is one more.
pub(crate) const STEPS: u64 = 4;
/// The points of each step.
pub(crate) const POINTS: i64 = 5;
/// The title of each step.
pub(crate) const TITLE: &str = "A step that was completed";
/// The times of the quest, its steps and the fans' sessions, which make their identifiers distinct.
const QUEST_AT: u64 = EPOCH + 6;
const STEPS_AT: u64 = EPOCH + 7;
const SESSIONS_AT: u64 = EPOCH + 8;
/// The maximum number of rows in a statement that lists them.
const LISTED: u64 = 2_000;

pub(crate) fn quest() -> u128 {
    identifier(QUEST_AT, FIRST)
}

/// The identifier of the step with this number, below [`STEPS`].
pub(crate) fn step(number: u64) -> u128 {
    identifier(STEPS_AT, FIRST + number % STEPS)
}

/// The `Cookie` header of the fan with this number.
pub(crate) fn cookie(number: u64) -> String {
    format!("session={}", token(number))
}

fn token(number: u64) -> String {
    format!("tsc_{number:043}")
}

impl Dialect {
    /// Statements that sign in `fans` bulk fans, and add them to the quest.
    pub(crate) fn quests(&self, fans: u64) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.push(self.quest());
        statements.extend(self.sessions(fans));
        statements.push(self.runs(fans));
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    /// Statements that add `fans` bulk fans, who are signed in already, to the quest.
    pub(crate) fn quest_of(&self, fans: u64) -> Vec<String> {
        let before = self.before.iter().map(ToString::to_string);
        let after = self.after.iter().map(ToString::to_string);
        before.chain([self.quest(), self.runs(fans)]).chain(after).collect()
    }

    fn quest(&self) -> String {
        let id = |id: u128| (self.quote_id)(&format!("{id:032x}"));
        let quest = id(quest());
        let mut steps: Vec<String> = Vec::new();
        for number in 0..=STEPS {
            let step = id(identifier(STEPS_AT, FIRST + number));
            steps.push(format!(
                "({step}, {quest}, 'step{number}', {}, '{TITLE}', TRUE, {POINTS}, FALSE)",
                number + 1
            ));
        }
        format!(
            "INSERT INTO quests (id, key, place, title, description, cadence, bonus, is_onboarding, is_sequential, \
             is_retired) VALUES ({quest}, 'bench', 99, 'Steps', '', 'once', 0, FALSE, FALSE, FALSE); \
             INSERT INTO quest_steps (id, quest_id, key, place, title, is_required, points, is_retired) VALUES {}",
            steps.join(", ")
        )
    }

    fn runs(&self, fans: u64) -> String {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let (quest, at) = ((self.quote_id)(&format!("{:032x}", quest())), self.at_of(&QUEST_AT.to_string()));
        format!(
            "INSERT INTO user_quest_status (user_id, quest_id, period, status, started_at) {seq} \
             SELECT {}, {quest}, '', 'active', {at} FROM seq",
            self.bulk_fan("n")
        )
    }

    /// Sessions with the current time, so that none has to be marked as seen again, with their tokens.
    pub(super) fn sessions(&self, fans: u64) -> Vec<String> {
        let seq = self.seq.replace("{count}", &fans.to_string());
        let (id, user) = (self.session("n"), self.bulk_fan("n"));
        let columns = "(id, user_id, kind, created_at, last_seen_at, expires_at)";
        let mut statements = vec![format!(
            "INSERT INTO sessions {columns} {seq} SELECT {id}, {user}, 'browser', {now}, {now}, {later} FROM seq",
            now = self.now,
            later = self.tomorrow
        )];
        let tokens = "INSERT INTO tokens (hash, session_id, kind, expires_at)";
        if let Some(hash) = self.sha256 {
            let hash = hash.replace("{text}", "'tsc_' || lpad(CAST(n AS text), 43, '0')");
            statements
                .push(format!("{tokens} {seq} SELECT {hash}, {id}, 'cookie', {} FROM seq", self.tomorrow));
            return statements;
        }
        // If the database has no hash function, the hashes are listed.
        for first in (0..fans).step_by(usize::try_from(LISTED).unwrap_or(1)) {
            let mut rows = String::new();
            for number in first..fans.min(first + LISTED) {
                let session = (self.quote_id)(&format!("{:032x}", identifier(SESSIONS_AT, FIRST + number)));
                let comma = if number > first { ", " } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(rows, "{comma}(x'{}', {session}, 'cookie', {})", hash(number), self.tomorrow);
            }
            statements.push(format!("{tokens} VALUES {rows}"));
        }
        statements
    }

    /// The identifier of the session of a fan.
    pub(super) fn session(&self, number: &str) -> String {
        self.id_of(&SESSIONS_AT.to_string(), number)
    }

    fn bulk_fan(&self, number: &str) -> String {
        boards::bulk_fan(self, number)
    }
}

fn hash(number: u64) -> String {
    Sha256::digest(token(number).as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_the_form_of_the_service_s() {
        assert_eq!(token(7).len(), 4 + 43);
        assert_eq!((hash(7).len(), cookie(7).len()), (64, "session=".len() + 47));
        assert_eq!((step(1), step(0) == quest()), (step(5), false));
    }

    #[test]
    fn every_fan_has_a_token() {
        let statements = super::super::SQLITE.quests(LISTED + 1);
        let rows: usize = statements.iter().map(|statement| statement.matches("'cookie'").count()).sum();
        assert_eq!(rows, usize::try_from(LISTED + 1).expect("a small number"));
        let last = super::super::POSTGRES.quests(10);
        assert!(last.iter().any(|statement| statement.contains("sha256(")));
    }
}
