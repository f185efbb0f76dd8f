//! Completing a step on PostgreSQL: the statements that the service executes, one per round trip.

use super::awards::statement;
use super::{FIRST, PgBench, RANGE};
use crate::rows::{boards, quests};
use crate::world::FANS;
use anyhow::Result;
use std::path::Path;
use uuid::Uuid;

impl PgBench {
    /// Finds the program and writes the script that completes steps of `fans` bulk fans, in the season with this
    /// identifier. Each of its `runs` runs uses different fans.
    pub(crate) fn of_steps(folder: &Path, url: &str, fans: u64, season: &str, runs: u64) -> Result<Self> {
        let names = vec![
            format!("season={season}"),
            format!("reason={}", quests::TITLE),
            format!("amount={}", quests::POINTS),
            "yes=true".to_owned(),
            "no=false".to_owned(),
        ];
        Self::with(folder, "statements", url, &script(fans, runs), names)
    }
}

fn script(fans: u64, runs: u64) -> String {
    let (fan, step, record) = (boards::fan_prefix(), quests::step_prefix(), boards::record_prefix());
    let id = |prefix: &str, number: &str| format!("CAST('{prefix}' || CAST(:{number} AS text) AS uuid)");
    let (fan, step, record) = (id(&fan, "fan"), id(&step, "step"), id(&record, "id"));
    let quest = format!("CAST('{}' AS uuid)", Uuid::from_u128(quests::quest()));
    let award = statement(
        &[
            fan.as_str(),
            &record,
            "CAST(:amount AS bigint)",
            "CAST(:reason AS text)",
            &format!("'quest_step:' || CAST({step} AS text)"),
            "CAST(:season AS uuid)",
            "now()",
            "CAST(NULL AS uuid)",
            "CAST(NULL AS uuid)",
            "CAST(:yes AS boolean)",
            "CAST(:no AS boolean)",
            "CAST(:yes AS boolean)",
            "now()",
        ]
        .map(str::to_owned),
    );
    let (first, block, steps) = (boards::FIRST_FAN, fans / runs.max(1), quests::STEPS);
    // The fans of one connection in sequence; no two connections share a fan.
    format!(
        "\\set id :base + :seq * {FANS} + :client_id\n\
         \\set fan {first} + (:base - {FIRST}) / {RANGE} * {block} + (:seq / {steps} * {FANS} + :client_id) % {block}\n\
         \\set step {first} + :seq % {steps}\n\
         \\set seq :seq + 1\n\
         BEGIN ISOLATION LEVEL READ COMMITTED;\n\
         SELECT id FROM users WHERE id = {fan} AND status = 'active' LIMIT 1 FOR NO KEY UPDATE;\n\
         SELECT u.time_zone, v.last_paid, v.zone, v.change_to, v.change_from, v.jumped, v.streak, v.longest, v.freezes \
         FROM users u LEFT JOIN daily_visits v ON v.user_id = u.id \
         WHERE u.id = {fan} AND u.status = 'active' LIMIT 1;\n\
         SELECT quest_id, period, status, started_at, completed_at FROM user_quest_status \
         WHERE user_id = {fan} AND quest_id = {quest} AND period = '' LIMIT 1 FOR NO KEY UPDATE;\n\
         SELECT s.quest_id, d.period, d.step_id, d.completed_at FROM user_step_status d \
         JOIN quest_steps s ON s.id = d.step_id \
         WHERE d.user_id = {fan} AND s.quest_id = ANY(ARRAY[{quest}]) ORDER BY s.place, s.key;\n\
         INSERT INTO user_step_status (user_id, step_id, period, completed_at) VALUES ({fan}, {step}, '', now()) \
         ON CONFLICT (user_id, step_id, period) DO NOTHING;\n\
         INSERT INTO outbox (topic, kind, actor_id, team_id, subject_id, object_id, created_at) \
         VALUES ('quests', 'step.completed', {fan}, NULL, {step}, NULL, now());\n\
         {award};\n\
         COMMIT;\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_holds_the_statements_and_no_argument_is_left() {
        let script = script(1000, 4);
        assert_eq!(script.lines().filter(|line| line.ends_with(';')).count(), 9);
        assert_eq!(script.lines().count(), 13);
        assert!(!script.contains('$'), "{script}");
    }
}
