//! Ten records of points for each fan: one imported, and nine of steps of a quest. One fan in ten lacks the first of
//! these; another fan in ten has a total that differs from the records.

use super::{Dialect, EPOCH, FIRST, boards, identifier};
use uuid::Uuid;

/// The records of a fan, once none is missing.
pub(crate) const RECORDS: u64 = 10;
/// The steps that each fan completed; one more is completed by no fan.
const STEPS: u64 = RECORDS - 1;
/// The points of each step.
pub(crate) const POINTS: u64 = 5;
/// The amount by which a wrong total is too high.
const OFF: u64 = 7;
/// Fans whose numbers end in the first digit lack a record; those whose numbers end in the second have a wrong total.
const LACKING: u64 = 0;
const WRONG: u64 = 5;
/// The times of the quest, its steps and the records, which make their identifiers distinct.
const QUEST_AT: u64 = EPOCH + 9;
const STEPS_AT: u64 = EPOCH + 10;
const RECORDS_AT: u64 = EPOCH + 11;
const TITLE: &str = "A step that was done";

/// The number of bulk fans who lack a record.
pub(crate) const fn lacking(bulk: u64) -> u64 {
    (bulk + 9 - LACKING) / 10
}

/// The number of bulk fans with a wrong total.
pub(crate) const fn wrong(bulk: u64) -> u64 {
    (bulk + 9 - WRONG) / 10
}

/// The boards that count every record of a season.
const GLOBAL: &str = "leaderboard_id IN (SELECT id FROM leaderboards WHERE season_id IS NOT NULL)";

/// A statement that sets every total of a global board to the sum of the records.
pub(crate) const REPAIR: &str = "\
    INSERT INTO board_totals (season_id, leaderboard_id, user_id, points, reached_at, version, listed) \
    SELECT sums.season_id, board.id, sums.user_id, sums.points, sums.latest, 1, TRUE FROM ( \
        SELECT user_id, season_id, CAST(sum(amount) AS bigint) AS points, \
            max(CASE WHEN amount <> 0 THEN happened_at END) AS latest \
        FROM points_history WHERE season_id IS NOT NULL GROUP BY user_id, season_id \
    ) AS sums JOIN leaderboards AS board ON board.season_id = sums.season_id WHERE TRUE \
    ON CONFLICT (season_id, leaderboard_id, user_id) DO UPDATE \
    SET points = excluded.points, reached_at = excluded.reached_at, version = board_totals.version + 1 \
    WHERE board_totals.points <> excluded.points OR board_totals.reached_at <> excluded.reached_at";

/// The sum of all totals of the global boards.
pub(crate) const SUM_OF_TOTALS: &str = "SELECT sum(points) FROM board_totals WHERE leaderboard_id IN (SELECT id FROM leaderboards WHERE season_id IS NOT NULL)";

fn step(number: u64) -> u128 {
    identifier(STEPS_AT, FIRST + number)
}

/// The source keys of the steps, each with the result of `first` for its number.
fn sources(first: impl Fn(u64) -> String) -> String {
    let source = |number| format!("({}, 'quest_step:{}')", first(number), Uuid::from_u128(step(number)));
    (0..STEPS).map(source).collect::<Vec<_>>().join(", ")
}

impl Dialect {
    /// Statements that give each of `bulk` fans of [`Self::boards`] nine completed steps, their records except the
    /// missing ones, and totals, entries and balances that are consistent except the wrong ones.
    pub(crate) fn maintained(&self, bulk: u64) -> Vec<String> {
        let mut statements: Vec<String> = self.before.iter().map(ToString::to_string).collect();
        statements.extend([
            self.quest_that_was_done(),
            self.runs_and_steps(bulk),
            self.records_of_steps(bulk),
        ]);
        let more = self.is_last("{fan}", LACKING, POINTS * (STEPS - 1), POINTS * STEPS);
        let raise = |table: &str, fan: &str, columns: &[&str], which: &str| {
            let sums: Vec<String> = columns
                .iter()
                .map(|column| format!("{column} = {column} + {}", more.replace("{fan}", fan)))
                .collect();
            format!("UPDATE {table} SET {} WHERE {which} AND {}", sums.join(", "), self.in_bulk(fan, bulk))
        };
        statements.extend([
            raise("board_totals", "user_id", &["points"], GLOBAL),
            raise("leaderboard_entries", "user_id", &["points"], GLOBAL),
            raise("ledger_accounts", "user_id", &["balance"], "unit = 'points'"),
            raise("ledger_transfers", "credit_user", &["amount", "credit_balance"], "unit = 'points'"),
            format!(
                "UPDATE board_totals SET points = points + {} WHERE {GLOBAL} AND {}",
                self.is_last("user_id", WRONG, OFF, 0),
                self.in_bulk("user_id", bulk)
            ),
        ]);
        statements.extend(self.after.iter().map(ToString::to_string));
        statements
    }

    /// A statement that writes only the missing records, without the other effects of an award.
    pub(crate) fn backfill(&self) -> String {
        format!(
            "INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, happened_at) \
             WITH sources(id, source) AS (VALUES {}) \
             SELECT {}, done.user_id, step.points, step.title, sources.source, season.id, done.completed_at \
             FROM user_step_status AS done JOIN quest_steps AS step ON step.id = done.step_id \
             JOIN sources ON sources.id = step.id JOIN seasons AS season ON season.status = 'active' \
             WHERE step.points > 0 AND NOT EXISTS (SELECT 1 FROM points_history AS record \
                 WHERE record.user_id = done.user_id AND record.source_key = sources.source)",
            sources(|number| self.quoted(Uuid::from_u128(step(number)))),
            self.any_id,
        )
    }

    fn quest_that_was_done(&self) -> String {
        let quest = self.quoted(Uuid::from_u128(identifier(QUEST_AT, FIRST)));
        let row = |number: u64| {
            let id = self.quoted(Uuid::from_u128(step(number)));
            format!("({id}, {quest}, 'step{number}', {}, '{TITLE}', TRUE, {POINTS}, FALSE)", number + 1)
        };
        format!(
            "INSERT INTO quests (id, key, place, title, description, cadence, bonus, is_onboarding, is_sequential, \
             is_retired) VALUES ({quest}, 'maintained', 98, 'Steps', '', 'once', 0, FALSE, FALSE, FALSE); \
             INSERT INTO quest_steps (id, quest_id, key, place, title, is_required, points, is_retired) VALUES {}",
            (0..=STEPS).map(row).collect::<Vec<_>>().join(", ")
        )
    }

    /// The start of the active season, at which everything was completed: before the imported records.
    const WHEN: &'static str = "season.starts_at";

    fn runs_and_steps(&self, bulk: u64) -> String {
        let seq = self.seq.replace("{count}", &bulk.to_string());
        let quest = self.quoted(Uuid::from_u128(identifier(QUEST_AT, FIRST)));
        let (fan, when) = (boards::bulk_fan(self, "n"), Self::WHEN);
        let steps: Vec<String> =
            (0..STEPS).map(|number| format!("({})", self.quoted(Uuid::from_u128(step(number))))).collect();
        let season = "JOIN seasons AS season ON season.status = 'active'";
        format!(
            "INSERT INTO user_quest_status (user_id, quest_id, period, status, started_at) {seq} \
             SELECT {fan}, {quest}, '', 'active', {when} FROM seq {season}; \
             INSERT INTO user_step_status (user_id, step_id, period, completed_at) {seq}, \
             steps(id) AS (VALUES {}) SELECT {fan}, steps.id, '', {when} FROM seq CROSS JOIN steps {season}",
            steps.join(", ")
        )
    }

    fn records_of_steps(&self, bulk: u64) -> String {
        let seq = self.seq.replace("{count}", &bulk.to_string());
        let (fan, when) = (boards::bulk_fan(self, "n"), Self::WHEN);
        let id = self.id_of(&RECORDS_AT.to_string(), &format!("n * {RECORDS} + steps.k"));
        format!(
            "INSERT INTO points_history (id, user_id, amount, reason, source_key, season_id, happened_at) {seq}, \
             steps(k, source) AS (VALUES {}) \
             SELECT {id}, {fan}, {POINTS}, '{TITLE}', steps.source, season.id, {when} \
             FROM seq CROSS JOIN steps JOIN seasons AS season ON season.status = 'active' \
             WHERE NOT (steps.k = 0 AND n % 10 = {LACKING})",
            sources(|number| number.to_string())
        )
    }

    /// One of two values, by whether a fan's number ends with a digit.
    fn is_last(&self, fan: &str, digit: u64, then: u64, otherwise: u64) -> String {
        let last = self.last_digit.replace("{id}", fan);
        format!("CASE WHEN {last} = '{digit}' THEN {then} ELSE {otherwise} END")
    }

    /// Whether an account is one of the bulk fans.
    fn in_bulk(&self, fan: &str, bulk: u64) -> String {
        let id = |number| self.quoted(Uuid::from_u128(boards::fan(number, bulk)));
        format!("{fan} >= {} AND {fan} <= {}", id(0), id(bulk.saturating_sub(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_fan_in_ten_lacks_a_record_and_another_has_a_wrong_total() {
        for bulk in [1, 5, 6, 10, 11, 99_968] {
            let ending = |digit| u64::try_from((0..bulk).filter(|n| n % 10 == digit).count()).unwrap();
            assert_eq!((lacking(bulk), wrong(bulk)), (ending(LACKING), ending(WRONG)), "{bulk}");
        }
        assert_eq!(FIRST % 10, 0);
    }

    #[test]
    fn records_are_known_by_the_steps_that_they_are_for() {
        let statements = super::super::SQLITE.maintained(20);
        let source = format!("'quest_step:{}'", Uuid::from_u128(step(0)));
        assert!(statements.iter().any(|statement| statement.contains(&source)));
        assert!(super::super::POSTGRES.backfill().contains(&source));
    }
}
