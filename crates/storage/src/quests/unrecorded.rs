//! Completed steps and quests without a record of points. The comparison runs in the database, so that the millions of
//! facts that have records are not read by the program.

use crate::conn::Conn;
use crate::error::broken;
use crate::platform::AccountSelector;
use crate::rows::named;
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use terrace_kernel::{StoreError, Uuid};
use terrace_quests::Period;
use terrace_scoring::SourceKey;
use terrace_store::repair::Unrecorded;

/// The steps that pay points according to the content, each with the prefix of its source key
/// ([`SourceKey::quest_step`]): there are few, so their text is computed once. The facts come first in the join. The
/// range of accounts is repeated for the records, because PostgreSQL would otherwise read all of them.
const STEPS: &str = "\
    WITH paying AS MATERIALIZED ( \
        SELECT step.id, step.points, step.title, quest.team_id, 'quest_step:' || {id} AS source \
        FROM quest_steps AS step JOIN quests AS quest ON quest.id = step.quest_id WHERE step.points > 0 \
    ) \
    SELECT done.user_id, done.step_id AS subject_id, done.period, done.completed_at, \
        paying.points, paying.title, paying.team_id \
    FROM user_step_status AS done CROSS JOIN paying \
    WHERE paying.id = done.step_id AND done.user_id {accounts} \
        AND NOT EXISTS (SELECT 1 FROM points_history AS record \
            WHERE record.user_id = done.user_id AND record.user_id {accounts} \
                AND record.source_key = paying.source \
                    || CASE done.period WHEN '' THEN '' ELSE ':' || done.period END) \
    ORDER BY done.user_id, done.completed_at, done.step_id";

/// The same for quests ([`SourceKey::quest`]), including those without a bonus, because a fan's completed quests are
/// listed from their records.
const QUESTS: &str = "\
    WITH paying AS MATERIALIZED ( \
        SELECT step.id, step.bonus AS points, step.title, step.team_id, 'quest:' || {id} AS source \
        FROM quests AS step \
    ) \
    SELECT done.user_id, done.quest_id AS subject_id, done.period, done.completed_at, \
        paying.points, paying.title, paying.team_id \
    FROM user_quest_status AS done CROSS JOIN paying \
    WHERE paying.id = done.quest_id AND done.user_id {accounts} \
        AND done.status = 'completed' AND done.completed_at IS NOT NULL \
        AND NOT EXISTS (SELECT 1 FROM points_history AS record \
            WHERE record.user_id = done.user_id AND record.user_id {accounts} \
                AND record.source_key = paying.source \
                    || CASE done.period WHEN '' THEN '' ELSE ':' || done.period END) \
    ORDER BY done.user_id, done.quest_id";

/// An identifier in the format of source keys.
const ID_OF_SQLITE: &str = "lower(substr(hex(step.id), 1, 8) || '-' || substr(hex(step.id), 9, 4) || '-' || \
    substr(hex(step.id), 13, 4) || '-' || substr(hex(step.id), 17, 4) || '-' || substr(hex(step.id), 21))";
const ID_OF_POSTGRES: &str = "CAST(step.id AS text)";

#[derive(QueryableByName)]
struct CompletedRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Uid)]
    subject_id: Key,
    #[diesel(sql_type = Text)]
    period: String,
    #[diesel(sql_type = Instant)]
    completed_at: At,
    #[diesel(sql_type = BigInt)]
    points: i64,
    #[diesel(sql_type = Text)]
    title: String,
    #[diesel(sql_type = Nullable<Uid>)]
    team_id: Option<Key>,
}

impl DieselTx<'_> {
    /// The steps, followed by the quests, without a record.
    pub(crate) fn completed_without_record(
        &mut self,
        selector: AccountSelector<'_>,
    ) -> Result<Vec<Unrecorded>, StoreError> {
        let of_step = |id, period: Period| SourceKey::quest_step(id, period.local_date());
        let of_quest = |id, period: Period| SourceKey::quest(id, period.local_date());
        let steps = self.completed(STEPS, selector).map_err(broken("find steps without a record"))?;
        let runs = self.completed(QUESTS, selector).map_err(broken("find quests without a record"))?;
        let steps = steps.into_iter().map(|row| row.into_fact("user_step_status", of_step));
        let runs = runs.into_iter().map(|row| row.into_fact("user_quest_status", of_quest));
        steps.chain(runs).collect()
    }

    fn completed(&mut self, query: &str, selector: AccountSelector<'_>) -> QueryResult<Vec<CompletedRow>> {
        let id = match &self.conn {
            Conn::Pg(_) => ID_OF_POSTGRES,
            Conn::Sqlite(_) => ID_OF_SQLITE,
        };
        selector.load(&mut self.conn, &query.replace("{id}", id))
    }
}

impl CompletedRow {
    fn into_fact(
        self,
        table: &'static str,
        source: impl Fn(Uuid, Period) -> SourceKey,
    ) -> Result<Unrecorded, StoreError> {
        let period: Period = named(table, "period", &self.period)?;
        Ok(Unrecorded {
            user: self.user_id.id(),
            source: source(self.subject_id.0, period),
            points: self.points,
            title: self.title,
            team: self.team_id.map(Key::id),
            at: self.completed_at.0,
        })
    }
}
