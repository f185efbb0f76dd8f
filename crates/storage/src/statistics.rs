//! Keeps the statistics of PostgreSQL's planner current for small tables that grow.
//!
//! Connections keep the plans of their statements. A plan that was made for a table of one page scans all of it, and takes
//! longer with each row, until the table is analyzed. Autovacuum looks at a database once a minute by default, and a match day
//! can add a hundred thousand rows in that time.

use crate::error::broken;
use crate::instrument::quietly;
use crate::manager::{Link, Pool};
use crate::queue::Queue;
use crate::reads::QueuedRead;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::StoreError;

/// The interval between looks at the statistics.
const LOOK: Duration = Duration::from_secs(2);

/// The tables that have grown to more than twice the rows that they had when they were last analyzed, if ever. Of a table of
/// more than 10,000 rows no plan for a few rows scans all. The outbox is emptied all the time.
const GROWN: &str = "\
    SELECT CAST(oid::regclass AS text) AS name FROM pg_class \
    WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND reltuples <= 10000 \
        AND pg_stat_get_live_tuples(oid) > 2 * greatest(reltuples, 0) + 500 AND relname <> 'outbox'";

#[derive(QueryableByName)]
struct TableRow {
    #[diesel(sql_type = Text)]
    name: String,
}

/// The thread that analyzes grown tables. Several processes may do so: each skips a table that another one is analyzing.
pub(crate) struct StatisticsKeeper {
    /// The connections of queries.
    pub(crate) pool: Arc<Pool>,
    /// The work ends when it is closed.
    pub(crate) questions: Arc<Queue<QueuedRead>>,
}

impl StatisticsKeeper {
    pub(crate) fn serve(self) {
        while !self.questions.rest(LOOK) {
            if let Err(error) = self.analyze_grown() {
                log::debug!("could not renew the statistics of small tables: {error}");
            }
        }
    }

    fn analyze_grown(&self) -> Result<(), StoreError> {
        let mut session = self.pool.checkout(Instant::now())?;
        let Link::Pg(conn) = &mut session.link else { return Ok(()) };
        let conn: &mut PgConnection = conn;
        let grown: Vec<TableRow> = quietly(conn, |conn| diesel::sql_query(GROWN).load(conn))
            .map_err(broken("look for grown tables"))?;
        for TableRow { name } in grown {
            // The name is quoted by the server where that is needed.
            quietly(conn, |conn| conn.batch_execute(&format!("ANALYZE (SKIP_LOCKED) {name}")))
                .map_err(broken("analyze a grown table"))?;
        }
        Ok(())
    }
}
