//! A live round of trivia, and signed-in fans who have joined it.

use super::{Dialect, EPOCH, boards};
use terrace_games::Round;
use terrace_kernel::Timestamp;

impl Dialect {
    /// Statements that insert a live round, and sign in `fans` bulk fans, who have joined it.
    pub(crate) fn round(&self, round: &Round, fans: u64) -> Vec<String> {
        let at = |time: Timestamp| self.at_of(&(time.as_micros() / 1_000).to_string());
        let Round { key, title, seconds, reveal, max_points, question_count, .. } = round;
        let (id, starts_at, closes_at) =
            (self.quoted(round.id.as_uuid()), at(round.starts_at), at(round.closes_at));
        let script = round.script.canonical();
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.push(format!(
            "INSERT INTO trivia_rounds (id, key, title, mode, starts_at, closes_at, seconds, reveal, max_points, \
             question_count, award, script, is_cancelled, published, is_finished) \
             VALUES ({id}, '{key}', '{title}', 'live', {starts_at}, {closes_at}, {seconds}, {reveal}, {max_points}, \
             {question_count}, 0, '{script}', FALSE, 0, FALSE)"
        ));
        statements.extend(self.sessions(fans));
        let (seq, fan) = (self.seq.replace("{count}", &fans.to_string()), boards::bulk_fan(self, "n"));
        let joined_at = self.at_of(&EPOCH.to_string());
        statements.push(format!(
            "INSERT INTO trivia_players (round_id, user_id, joined_at) {seq} SELECT {id}, {fan}, {joined_at} FROM seq"
        ));
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }
}
