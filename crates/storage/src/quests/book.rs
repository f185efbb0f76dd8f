//! The definitions of quests.

use crate::conn::on;
use crate::error::broken;
use crate::rows::{corrupt, named};
use crate::schema::{quest_prerequisites, quest_steps, quests};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::prelude::*;
use std::collections::HashMap;
use terrace_kernel::{StoreError, num};
use terrace_quests::{Quest, QuestId, QuestKey, Step};

#[derive(Queryable, Selectable)]
#[diesel(table_name = quests)]
struct QuestRow {
    id: Key,
    key: String,
    title: String,
    description: String,
    cadence: String,
    team_id: Option<Key>,
    bonus: i64,
    is_onboarding: bool,
    is_sequential: bool,
    opens_at: Option<At>,
    closes_at: Option<At>,
    is_retired: bool,
}

#[derive(Queryable, Selectable)]
#[diesel(table_name = quest_steps)]
struct StepRow {
    id: Key,
    quest_id: Key,
    key: String,
    place: i32,
    title: String,
    is_required: bool,
    points: i64,
    check_text: Option<String>,
}

impl StepRow {
    fn into_step(self) -> Result<Step, StoreError> {
        let position = u32::try_from(self.place).map_err(|_| corrupt("quest_steps", "place", &self.place))?;
        let check = self.check_text.map(|text| named("quest_steps", "check_text", &text)).transpose()?;
        Ok(Step {
            id: self.id.id(),
            key: named("quest_steps", "key", &self.key)?,
            title: self.title,
            position,
            is_required: self.is_required,
            points: self.points,
            check,
        })
    }
}

impl DieselTx<'_> {
    /// All quests, in the order of the content.
    pub(crate) fn all_quests(&mut self) -> Result<Vec<Quest>, StoreError> {
        let fail = broken("read the quests");
        let rows: Vec<QuestRow> = on!(self.conn, |conn| {
            quests::table.order((quests::place, quests::key)).select(QuestRow::as_select()).load(conn)
        })
        .map_err(&fail)?;
        let required: Vec<(Key, Key)> = on!(self.conn, |conn| quest_prerequisites::table
            .order(quest_prerequisites::required_id)
            .load(conn))
        .map_err(&fail)?;
        let mut steps: HashMap<Key, Vec<Step>> = HashMap::new();
        let step_rows: Vec<StepRow> = on!(self.conn, |conn| {
            quest_steps::table
                .filter(quest_steps::is_retired.eq(false))
                .order((quest_steps::place, quest_steps::key))
                .select(StepRow::as_select())
                .load(conn)
        })
        .map_err(&fail)?;
        for row in step_rows {
            steps.entry(row.quest_id).or_default().push(row.into_step()?);
        }
        rows.into_iter()
            .map(|row| {
                let prerequisites = required.iter().filter(|(quest, _)| *quest == row.id);
                Ok(Quest {
                    id: row.id.id(),
                    key: named("quests", "key", &row.key)?,
                    title: row.title,
                    description: row.description,
                    cadence: named("quests", "cadence", &row.cadence)?,
                    team: row.team_id.map(Key::id),
                    bonus: row.bonus,
                    is_onboarding: row.is_onboarding,
                    is_sequential: row.is_sequential,
                    opens_at: row.opens_at.map(|at| at.0),
                    closes_at: row.closes_at.map(|at| at.0),
                    prerequisites: prerequisites.map(|(_, required)| required.id()).collect(),
                    steps: steps.remove(&row.id).unwrap_or_default(),
                    is_retired: row.is_retired,
                })
            })
            .collect()
    }

    /// Writes a quest at its position in the content.
    pub(crate) fn write_quest(&mut self, quest: &Quest, at_place: usize) -> Result<(), StoreError> {
        let fail = broken("write a quest");
        let values = (
            quests::place.eq(num::to_i32(at_place)),
            quests::title.eq(&quest.title),
            quests::description.eq(&quest.description),
            quests::cadence.eq(quest.cadence.as_str()),
            quests::team_id.eq(quest.team.map(Key::of)),
            quests::bonus.eq(quest.bonus),
            quests::is_onboarding.eq(quest.is_onboarding),
            quests::is_sequential.eq(quest.is_sequential),
            quests::opens_at.eq(quest.opens_at.map(At)),
            quests::closes_at.eq(quest.closes_at.map(At)),
            quests::is_retired.eq(quest.is_retired),
        );
        let id = Key::of(quest.id);
        on!(self.conn, |conn| {
            diesel::insert_into(quests::table)
                .values((quests::id.eq(id), quests::key.eq(quest.key.as_str()), values))
                .on_conflict(quests::id)
                .do_update()
                .set(values)
                .execute(conn)
        })
        .map_err(&fail)?;
        // Removed steps are kept, because the progress of fans refers to them; a step that is added again is
        // reactivated.
        on!(self.conn, |conn| {
            diesel::update(quest_steps::table.filter(quest_steps::quest_id.eq(id)))
                .set(quest_steps::is_retired.eq(true))
                .execute(conn)
        })
        .map_err(&fail)?;
        for step in &quest.steps {
            let values = (
                quest_steps::place.eq(num::to_i32(step.position)),
                quest_steps::title.eq(&step.title),
                quest_steps::is_required.eq(step.is_required),
                quest_steps::points.eq(step.points),
                quest_steps::check_text.eq(step.check.map(|check| check.to_string())),
                quest_steps::is_retired.eq(false),
            );
            on!(self.conn, |conn| {
                diesel::insert_into(quest_steps::table)
                    .values((
                        quest_steps::id.eq(Key::of(step.id)),
                        quest_steps::quest_id.eq(id),
                        quest_steps::key.eq(step.key.as_str()),
                        values.clone(),
                    ))
                    .on_conflict((quest_steps::quest_id, quest_steps::key))
                    .do_update()
                    .set(values)
                    .execute(conn)
            })
            .map_err(&fail)?;
        }
        Ok(())
    }

    /// Writes the prerequisites of a quest, once all quests exist.
    pub(crate) fn write_prerequisites(
        &mut self,
        quest: QuestId,
        required: &[QuestId],
    ) -> Result<(), StoreError> {
        let fail = broken("write what comes before a quest");
        let own = quest_prerequisites::table.filter(quest_prerequisites::quest_id.eq(Key::of(quest)));
        on!(self.conn, |conn| diesel::delete(own).execute(conn)).map_err(&fail)?;
        for required in required {
            on!(self.conn, |conn| {
                diesel::insert_into(quest_prerequisites::table)
                    .values((
                        quest_prerequisites::quest_id.eq(Key::of(quest)),
                        quest_prerequisites::required_id.eq(Key::of(*required)),
                    ))
                    .execute(conn)
            })
            .map_err(&fail)?;
        }
        Ok(())
    }

    /// Retires the quests whose keys are not among `keep`.
    pub(crate) fn retire(&mut self, keep: &[QuestKey]) -> Result<u64, StoreError> {
        let keep: Vec<&str> = keep.iter().map(QuestKey::as_str).collect();
        let others = quests::table.filter(quests::key.ne_all(keep)).filter(quests::is_retired.eq(false));
        on!(self.conn, |conn| diesel::update(others).set(quests::is_retired.eq(true)).execute(conn))
            .map(num::to_u64)
            .map_err(broken("retire quests"))
    }
}
