//! Results of periodic jobs.

use crate::conn::on;
use crate::error::broken;
use crate::rows::corrupt;
use crate::schema::job_runs;
use crate::tx::DieselTx;
use crate::types::At;
use diesel::prelude::*;
use terrace_kernel::{StoreError, num};
use terrace_store::{JobRead, JobRecord, JobWrite};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = job_runs, treat_none_as_null = true, treat_none_as_default_value = false)]
struct JobRow {
    name: String,
    due_at: At,
    started_at: Option<At>,
    finished_at: Option<At>,
    succeeded_at: Option<At>,
    failures: i32,
}

impl JobRow {
    fn of(record: &JobRecord) -> Self {
        Self {
            name: record.name.clone(),
            due_at: At(record.due_at),
            started_at: record.started_at.map(At),
            finished_at: record.finished_at.map(At),
            succeeded_at: record.succeeded_at.map(At),
            failures: num::to_i32(record.failures),
        }
    }

    fn into_record(self) -> Result<JobRecord, StoreError> {
        let at = |at: At| at.0;
        Ok(JobRecord {
            name: self.name,
            due_at: self.due_at.0,
            started_at: self.started_at.map(at),
            finished_at: self.finished_at.map(at),
            succeeded_at: self.succeeded_at.map(at),
            failures: u32::try_from(self.failures)
                .map_err(|_| corrupt("job_runs", "failures", &self.failures))?,
        })
    }
}

impl JobRead for DieselTx<'_> {
    fn job(&mut self, name: &str) -> Result<Option<JobRecord>, StoreError> {
        let row: Option<JobRow> = on!(self.conn, |conn| {
            job_runs::table.find(name).select(JobRow::as_select()).first(conn).optional()
        })
        .map_err(broken("read a job"))?;
        row.map(JobRow::into_record).transpose()
    }

    fn jobs(&mut self) -> Result<Vec<JobRecord>, StoreError> {
        let rows: Vec<JobRow> = on!(self.conn, |conn| {
            job_runs::table.order(job_runs::name).select(JobRow::as_select()).load(conn)
        })
        .map_err(broken("read the jobs"))?;
        rows.into_iter().map(JobRow::into_record).collect()
    }
}

impl JobWrite for DieselTx<'_> {
    fn save_job(&mut self, record: &JobRecord) -> Result<(), StoreError> {
        let row = JobRow::of(record);
        on!(self.conn, |conn| {
            diesel::insert_into(job_runs::table)
                .values(&row)
                .on_conflict(job_runs::name)
                .do_update()
                .set(&row)
                .execute(conn)
        })
        .map(drop)
        .map_err(broken("store a job"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Database, DatabaseKind, at, on_each_database};

    on_each_database! {
        a_record_replaces_the_one_before_it_whole,
    }

    fn a_record_replaces_the_one_before_it_whole(kind: DatabaseKind) {
        let mut database = Database::on(kind);
        let tx = &mut database.tx();
        assert_eq!(tx.job("sweep").unwrap(), None);
        let first = JobRecord {
            name: "sweep".to_owned(),
            due_at: at(1),
            started_at: Some(at(2)),
            finished_at: Some(at(3)),
            succeeded_at: Some(at(4)),
            failures: 5,
        };
        tx.save_job(&first).unwrap();
        let second = JobRecord {
            due_at: at(9),
            started_at: None,
            finished_at: None,
            succeeded_at: None,
            failures: 0,
            ..first.clone()
        };
        tx.save_job(&JobRecord { name: "other".to_owned(), ..first }).unwrap();
        tx.save_job(&second).unwrap();
        assert_eq!(tx.job("sweep").unwrap(), Some(second));
        let names: Vec<_> = tx.jobs().unwrap().into_iter().map(|record| record.name).collect();
        assert_eq!(names, ["other", "sweep"]);
    }
}
