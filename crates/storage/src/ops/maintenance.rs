//! The log of maintenance runs.

use crate::conn::on;
use crate::error::broken;
use crate::rows::{corrupt, named};
use crate::schema::{comments, maintenance_runs, posts, users};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::dsl::max;
use diesel::prelude::*;
use std::collections::BTreeMap;
use terrace_kernel::{StoreError, Timestamp, num};
use terrace_store::maintenance::{Extent, MaintenanceRead, MaintenanceWrite, RunOutcome, RunRecord};
use uuid::Uuid;

const TABLE: &str = "maintenance_runs";
/// The condition for runs `r` that started before `$1` and can be deleted. Of those runs, the last one and the last
/// successful one of each task are kept.
pub(crate) const OLD_RUNS: &str = "r.started_at < $1 \
    AND EXISTS (SELECT 1 FROM maintenance_runs n WHERE n.task = r.task AND n.started_at < $1 \
        AND (n.started_at, n.id) > (r.started_at, r.id)) \
    AND (r.outcome <> 'succeeded' OR EXISTS (SELECT 1 FROM maintenance_runs n WHERE n.task = r.task \
        AND n.outcome = 'succeeded' AND n.started_at < $1 AND (n.started_at, n.id) > (r.started_at, r.id)))";

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = maintenance_runs, treat_none_as_default_value = false)]
struct RunRow {
    id: Key,
    holder: Key,
    task: String,
    started_by: String,
    arguments: String,
    started_at: At,
    finished_at: Option<At>,
    outcome: String,
    counts: String,
    failure: Option<String>,
}

impl RunRow {
    fn of(run: &RunRecord) -> Result<Self, StoreError> {
        Ok(Self {
            id: Key(run.id),
            holder: Key(run.holder),
            task: run.task.clone(),
            started_by: run.started_by.clone(),
            arguments: run.arguments.clone(),
            started_at: At(run.started_at),
            finished_at: run.finished_at.map(At),
            outcome: run.outcome.as_str().to_owned(),
            counts: json(&run.counts)?,
            failure: run.failure.clone(),
        })
    }

    fn into_record(self) -> Result<RunRecord, StoreError> {
        Ok(RunRecord {
            id: self.id.0,
            holder: self.holder.0,
            task: self.task,
            started_by: self.started_by,
            arguments: self.arguments,
            started_at: self.started_at.0,
            finished_at: self.finished_at.map(|at| at.0),
            outcome: named(TABLE, "outcome", &self.outcome)?,
            counts: serde_json::from_str(&self.counts).map_err(|error| corrupt(TABLE, "counts", &error))?,
            failure: self.failure,
        })
    }
}

fn json(counts: &BTreeMap<String, u64>) -> Result<String, StoreError> {
    serde_json::to_string(counts).map_err(|error| StoreError::defect("write the counts of a run", error))
}

impl MaintenanceRead for DieselTx<'_> {
    fn extent(&mut self, of: Extent) -> Result<u64, StoreError> {
        let rows: i64 = on!(self.conn, |conn| match of {
            Extent::Accounts => users::table.count().get_result(conn),
            Extent::Posts => posts::table.count().get_result(conn),
            Extent::Comments => comments::table.count().get_result(conn),
        })
        .map_err(broken("count rows"))?;
        Ok(num::to_u64(rows))
    }

    fn maintenance_runs(&mut self, limit: u32) -> Result<Vec<RunRecord>, StoreError> {
        let rows: Vec<RunRow> = on!(self.conn, |conn| {
            maintenance_runs::table
                .order((maintenance_runs::started_at.desc(), maintenance_runs::id.desc()))
                .limit(i64::from(limit))
                .select(RunRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the journal of maintenance"))?;
        rows.into_iter().map(RunRow::into_record).collect()
    }

    fn maintenance_runs_of(&mut self, holder: Uuid) -> Result<Vec<RunRecord>, StoreError> {
        let rows: Vec<RunRow> = on!(self.conn, |conn| {
            maintenance_runs::table
                .filter(maintenance_runs::holder.eq(Key(holder)))
                .order((maintenance_runs::started_at, maintenance_runs::id))
                .select(RunRow::as_select())
                .load(conn)
        })
        .map_err(broken("read the runs under a lease"))?;
        rows.into_iter().map(RunRow::into_record).collect()
    }

    fn maintenance_successes(&mut self) -> Result<BTreeMap<String, Timestamp>, StoreError> {
        let rows: Vec<(String, Option<At>)> = on!(self.conn, |conn| {
            maintenance_runs::table
                .filter(maintenance_runs::outcome.eq(RunOutcome::Succeeded.as_str()))
                .group_by(maintenance_runs::task)
                .select((maintenance_runs::task, max(maintenance_runs::finished_at)))
                .load(conn)
        })
        .map_err(broken("find which tasks did their work"))?;
        Ok(rows.into_iter().filter_map(|(task, at)| Some((task, at?.0))).collect())
    }
}

impl MaintenanceWrite for DieselTx<'_> {
    fn begin_maintenance(&mut self, run: &RunRecord) -> Result<(), StoreError> {
        let row = RunRow::of(run)?;
        on!(self.conn, |conn| diesel::insert_into(maintenance_runs::table).values(&row).execute(conn))
            .map(drop)
            .map_err(broken("note that a task begins"))
    }

    fn end_maintenance(
        &mut self,
        id: Uuid,
        at: Timestamp,
        outcome: RunOutcome,
        counts: &BTreeMap<String, u64>,
        failure: Option<&str>,
    ) -> Result<(), StoreError> {
        let counts = json(counts)?;
        let open = maintenance_runs::table
            .find(Key(id))
            .filter(maintenance_runs::outcome.eq(RunOutcome::Running.as_str()));
        let end = (
            maintenance_runs::finished_at.eq(Some(At(at))),
            maintenance_runs::outcome.eq(outcome.as_str()),
            maintenance_runs::counts.eq(counts.as_str()),
            maintenance_runs::failure.eq(failure),
        );
        on!(self.conn, |conn| diesel::update(open).set(end).execute(conn))
            .map(drop)
            .map_err(broken("note how a task ended"))
    }

    fn sweep_maintenance(&mut self, before: Timestamp, limit: u32) -> Result<u64, StoreError> {
        let sql = format!(
            "DELETE FROM maintenance_runs WHERE id IN \
             (SELECT r.id FROM maintenance_runs r WHERE {OLD_RUNS} ORDER BY r.started_at, r.id LIMIT $2)"
        );
        self.sweep("sweep the journal of maintenance", &sql, before, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, on_each_database, uuid};

    on_each_database! {
        a_run_is_noted_when_it_begins_and_once_when_it_ends,
    }

    fn run(n: u128, task: &str, second: i64) -> RunRecord {
        RunRecord {
            id: uuid(n),
            holder: uuid(100),
            task: task.to_owned(),
            started_by: "mia".to_owned(),
            arguments: "run --all".to_owned(),
            started_at: at(second),
            finished_at: None,
            outcome: RunOutcome::Running,
            counts: BTreeMap::new(),
            failure: None,
        }
    }

    fn a_run_is_noted_when_it_begins_and_once_when_it_ends(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        let (first, second) = (run(1, "seasons", 1), RunRecord { holder: uuid(101), ..run(2, "teams", 2) });
        tx.begin_maintenance(&first).unwrap();
        tx.begin_maintenance(&second).unwrap();
        let ids = |runs: Vec<RunRecord>| runs.into_iter().map(|run| run.id).collect::<Vec<_>>();
        assert_eq!(ids(tx.maintenance_runs(10).unwrap()), [uuid(2), uuid(1)]);
        assert_eq!(ids(tx.maintenance_runs(1).unwrap()), [uuid(2)]);
        assert_eq!(tx.maintenance_runs_of(uuid(101)).unwrap(), [second]);
        assert_eq!(tx.maintenance_successes().unwrap(), BTreeMap::new());
        let counts = BTreeMap::from([("seasons".to_owned(), 2)]);
        tx.end_maintenance(uuid(1), at(5), RunOutcome::Succeeded, &counts, None).unwrap();
        // A run that was presumed dead cannot record another result.
        tx.end_maintenance(uuid(1), at(6), RunOutcome::Failed, &counts, Some("late")).unwrap();
        let ended = RunRecord {
            finished_at: Some(at(5)),
            outcome: RunOutcome::Succeeded,
            counts: counts.clone(),
            ..first
        };
        assert_eq!(tx.maintenance_runs_of(uuid(100)).unwrap(), [ended]);
        tx.end_maintenance(uuid(2), at(7), RunOutcome::Failed, &counts, Some("why")).unwrap();
        assert_eq!(tx.maintenance_successes().unwrap(), BTreeMap::from([("seasons".to_owned(), at(5))]));
        assert_eq!(tx.maintenance_runs(1).unwrap()[0].failure.as_deref(), Some("why"));
    }
}
