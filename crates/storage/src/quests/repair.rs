//! Finds facts without a record of points, records without a board, and steps in the wrong place.

use crate::conn::on;
use crate::error::broken;
use crate::platform::AccountSelector;
use crate::quests::visits::VisitsRow;
use crate::rows::named;
use crate::schema::{daily_visits, points_history, quest_steps, quests, users};
use crate::tx::DieselTx;
use crate::types::{At, Instant, Key, Uid};
use diesel::dsl::max;
use diesel::prelude::*;
use diesel::sql_types::Text;
use std::collections::{HashMap, HashSet};
use terrace_kernel::{StoreError, TeamId, Timestamp, UserId, Uuid, num};
use terrace_quests::{QuestId, StepId};
use terrace_scoring::{FavoriteAsOf, SourceKey, TeamBoardId};
use terrace_store::repair::{
    FactsAudit, FactsRepair, OrphanProgress, UnassignedAward, Unrecorded, UnrecordedVisit,
};

/// The pattern of source keys for visits.
const OF_VISITS: &str = "daily_visit:%";
/// The pattern of source keys for records that were imported unchanged from another system, regardless of their cause
/// there.
const OF_ELSEWHERE: &str = "import:PointsHistory/%";

const ORPHAN_PROGRESS: &str = "\
    SELECT done.user_id, step.quest_id, done.period, min(done.completed_at) AS first_at \
    FROM user_step_status AS done JOIN quest_steps AS step ON step.id = done.step_id \
    WHERE done.user_id >= $1 AND done.user_id <= $2 AND NOT EXISTS (SELECT 1 FROM user_quest_status AS run \
        WHERE run.user_id = done.user_id AND run.quest_id = step.quest_id AND run.period = done.period) \
    GROUP BY done.user_id, step.quest_id, done.period ORDER BY done.user_id, step.quest_id, done.period";

#[derive(QueryableByName)]
struct OrphanProgressRow {
    #[diesel(sql_type = Uid)]
    user_id: Key,
    #[diesel(sql_type = Uid)]
    quest_id: Key,
    #[diesel(sql_type = Text)]
    period: String,
    #[diesel(sql_type = Instant)]
    first_at: At,
}

impl DieselTx<'_> {
    /// The facts matching `facts` for which the ledger has records.
    fn recorded(
        &mut self,
        first: UserId,
        last: UserId,
        facts: &str,
    ) -> Result<HashSet<(UserId, String)>, StoreError> {
        let rows: Vec<(Key, String)> = on!(self.conn, |conn| {
            points_history::table
                .filter(points_history::user_id.ge(Key::of(first)))
                .filter(points_history::user_id.le(Key::of(last)))
                .filter(points_history::source_key.like(facts))
                .select((points_history::user_id, points_history::source_key))
                .load(conn)
        })
        .map_err(broken("read what has records of points"))?;
        Ok(rows.into_iter().map(|(user, source)| (user.id(), source)).collect())
    }
}

impl DieselTx<'_> {
    /// The end of the period for which the points of fans were recorded in another system: the time of the last
    /// imported record.
    fn recorded_elsewhere_until(&mut self, fans: &[Key]) -> Result<HashMap<UserId, Timestamp>, StoreError> {
        let rows: Vec<(Key, Option<At>)> = on!(self.conn, |conn| {
            points_history::table
                .filter(points_history::user_id.eq_any(fans))
                .filter(points_history::source_key.like(OF_ELSEWHERE))
                .group_by(points_history::user_id)
                .select((points_history::user_id, max(points_history::happened_at)))
                .load(conn)
        })
        .map_err(broken("read until when points were recorded elsewhere"))?;
        Ok(rows.into_iter().filter_map(|(user, until)| Some((user.id(), until?.0))).collect())
    }
}

impl DieselTx<'_> {
    /// Filters out facts that were recorded in another system, by fan.
    fn only_of_here(&mut self, mut facts: Vec<Unrecorded>) -> Result<Vec<Unrecorded>, StoreError> {
        facts.sort_by_key(|fact| fact.user);
        let mut fans: Vec<Key> = facts.iter().map(|fact| Key::of(fact.user)).collect();
        fans.dedup();
        let elsewhere = self.recorded_elsewhere_until(&fans)?;
        facts.retain(|fact| elsewhere.get(&fact.user).is_none_or(|until| fact.at > *until));
        Ok(facts)
    }
}

impl FactsAudit for DieselTx<'_> {
    fn unrecorded_between(&mut self, first: UserId, last: UserId) -> Result<Vec<Unrecorded>, StoreError> {
        let facts = self.completed_without_record(AccountSelector::Between(first, last))?;
        self.only_of_here(facts)
    }

    fn unrecorded_of(&mut self, fans: &[UserId]) -> Result<Vec<Unrecorded>, StoreError> {
        let facts = self.completed_without_record(AccountSelector::Of(fans))?;
        self.only_of_here(facts)
    }

    fn unrecorded_visits_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<UnrecordedVisit>, StoreError> {
        let rows: Vec<(Key, At, VisitsRow)> = on!(self.conn, |conn| {
            daily_visits::table
                .inner_join(users::table.on(users::id.eq(daily_visits::user_id)))
                .filter(daily_visits::user_id.ge(Key::of(first)))
                .filter(daily_visits::user_id.le(Key::of(last)))
                .filter(daily_visits::last_paid.is_not_null())
                .order(daily_visits::user_id)
                .select((daily_visits::user_id, users::created_at, VisitsRow::as_select()))
                .load(conn)
        })
        .map_err(broken("read the visits of fans"))?;
        let recorded = self.recorded(first, last, OF_VISITS)?;
        let mut visits = Vec::new();
        for (user, registered_at, row) in rows {
            let visit = UnrecordedVisit {
                user: user.id(),
                visits: row.into_visits()?,
                registered_at: registered_at.0,
            };
            let source = visit.visits.last_paid.map(|date| SourceKey::daily_visit(date).to_string());
            if source.is_some_and(|source| !recorded.contains(&(visit.user, source))) {
                visits.push(visit);
            }
        }
        Ok(visits)
    }

    fn unassigned_awards_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<UnassignedAward>, StoreError> {
        let rows: Vec<(Key, String, At)> = on!(self.conn, |conn| {
            points_history::table
                .filter(points_history::user_id.ge(Key::of(first)))
                .filter(points_history::user_id.le(Key::of(last)))
                .filter(points_history::season_id.is_not_null())
                .filter(points_history::leaderboard_id.is_null())
                .order((points_history::user_id, points_history::source_key))
                .select((points_history::user_id, points_history::source_key, points_history::happened_at))
                .load(conn)
        })
        .map_err(broken("read the records without a board"))?;
        let award = |(user, source, at): (Key, String, At)| {
            let source = named("points_history", "source_key", &source)?;
            Ok(UnassignedAward { user: user.id(), source, at: at.0 })
        };
        rows.into_iter().map(award).collect()
    }

    fn favorites_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<(UserId, FavoriteAsOf)>, StoreError> {
        let rows: Vec<(Key, Option<Key>, At)> = on!(self.conn, |conn| {
            users::table
                .filter(users::id.ge(Key::of(first)))
                .filter(users::id.le(Key::of(last)))
                .order(users::id)
                .select((users::id, users::favorite_team_id, users::updated_at))
                .load(conn)
        })
        .map_err(broken("read the favourite teams of fans"))?;
        let known = |(user, team, since): (Key, Option<Key>, At)| {
            (user.id(), FavoriteAsOf { team: team.map(Key::id), since: since.0 })
        };
        Ok(rows.into_iter().map(known).collect())
    }

    fn teams_of_quests(&mut self) -> Result<Vec<(Uuid, Option<TeamId>)>, StoreError> {
        let fail = broken("read the teams of quests");
        let of_quests: Vec<(Key, Option<Key>)> =
            on!(self.conn, |conn| quests::table.select((quests::id, quests::team_id)).load(conn))
                .map_err(&fail)?;
        let of_steps: Vec<(Key, Option<Key>)> = on!(self.conn, |conn| {
            quest_steps::table
                .inner_join(quests::table.on(quests::id.eq(quest_steps::quest_id)))
                .select((quest_steps::id, quests::team_id))
                .load(conn)
        })
        .map_err(&fail)?;
        let all = of_quests.into_iter().chain(of_steps);
        Ok(all.map(|(id, team)| (id.0, team.map(Key::id))).collect())
    }

    fn orphan_progress_between(
        &mut self,
        first: UserId,
        last: UserId,
    ) -> Result<Vec<OrphanProgress>, StoreError> {
        let rows: Vec<OrphanProgressRow> = on!(self.conn, |conn| {
            diesel::sql_query(ORPHAN_PROGRESS)
                .bind::<Uid, _>(Key::of(first))
                .bind::<Uid, _>(Key::of(last))
                .load(conn)
        })
        .map_err(broken("find steps without a run"))?;
        let orphan = |row: OrphanProgressRow| {
            let period = named("user_step_status", "period", &row.period)?;
            let (user, quest) = (row.user_id.id(), row.quest_id.id());
            Ok(OrphanProgress { user, quest, period, first_at: row.first_at.0 })
        };
        rows.into_iter().map(orphan).collect()
    }

    fn step_places(&mut self) -> Result<Vec<(QuestId, StepId, u32)>, StoreError> {
        let rows: Vec<(Key, Key, i32)> = on!(self.conn, |conn| {
            quest_steps::table
                .filter(quest_steps::is_retired.eq(false))
                .order((quest_steps::quest_id, quest_steps::place, quest_steps::key))
                .select((quest_steps::quest_id, quest_steps::id, quest_steps::place))
                .load(conn)
        })
        .map_err(broken("read the places of steps"))?;
        // Negative places are invalid; such a step counts as the first.
        Ok(rows.into_iter().map(|(quest, step, at)| (quest.id(), step.id(), num::to_u32(at))).collect())
    }
}

impl FactsRepair for DieselTx<'_> {
    fn name_board(
        &mut self,
        user: UserId,
        source: &SourceKey,
        board: TeamBoardId,
    ) -> Result<bool, StoreError> {
        let without = points_history::table
            .find((Key::of(user), source.to_string()))
            .filter(points_history::leaderboard_id.is_null());
        let named = points_history::leaderboard_id.eq(Some(Key::of(board)));
        on!(self.conn, |conn| diesel::update(without).set(named).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("name the board of a record"))
    }

    fn move_step(&mut self, step: StepId, from: u32, to: u32) -> Result<bool, StoreError> {
        let moved = quest_steps::place.eq(num::to_i32(to));
        // A negative place was read as zero.
        let at_place = quest_steps::place.eq(num::to_i32(from)).or(quest_steps::place.lt(0));
        let standing = quest_steps::table.find(Key::of(step)).filter(at_place);
        on!(self.conn, |conn| diesel::update(standing).set(moved).execute(conn))
            .map(|rows| rows == 1)
            .map_err(broken("give a step another place"))
    }
}
