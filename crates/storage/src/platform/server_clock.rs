//! The clock of the server.

use crate::conn::Conn;
use crate::error::broken;
use crate::tx::DieselTx;
use crate::types::{At, Instant};
use diesel::{QueryableByName, RunQueryDsl, sql_query};
use terrace_kernel::{StoreError, Timestamp};
use terrace_store::ServerClockRead;

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = Instant)]
    now: At,
}

impl ServerClockRead for DieselTx<'_> {
    fn server_time(&mut self) -> Result<Option<Timestamp>, StoreError> {
        let Conn::Pg(conn) = &mut self.conn else { return Ok(None) };
        // Not that of the transaction, which stands still.
        let now: Now = sql_query("SELECT clock_timestamp() AS now")
            .get_result(*conn)
            .map_err(broken("read the clock of the server"))?;
        Ok(Some(now.now.0))
    }
}
