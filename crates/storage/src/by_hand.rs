//! Raw statements for tests that damage stored data and inspect all of it. The program itself never calls these
//! functions.

use crate::conn::on;
use crate::error::broken;
use crate::manager::Mode;
use crate::store::Storage;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::Text;
use terrace_kernel::StoreError;

#[derive(QueryableByName)]
struct TextRow {
    #[diesel(sql_type = Text)]
    text: String,
}

impl Storage {
    /// Executes statements on a separate connection, each in its own transaction, without any rules or invariants.
    ///
    /// # Errors
    ///
    /// Fails if one of the statements fails; those before it remain applied.
    pub fn execute_by_hand(&self, statements: &[&str]) -> Result<(), StoreError> {
        let mut session = self.connect_by_hand(Mode::Write)?;
        for statement in statements {
            on!(session.conn(), |conn| conn.batch_execute(statement)).map_err(broken("execute by hand"))?;
        }
        Ok(())
    }

    /// Returns the column `text` of the rows of a statement. It must have the database's text type and must not be
    /// null.
    ///
    /// # Errors
    ///
    /// Fails if the statement fails.
    pub fn read_by_hand(&self, statement: &str) -> Result<Vec<String>, StoreError> {
        let mut session = self.connect_by_hand(Mode::Read)?;
        let rows: Vec<TextRow> = on!(session.conn(), |conn| diesel::sql_query(statement).load(conn))
            .map_err(broken("read by hand"))?;
        Ok(rows.into_iter().map(|row| row.text).collect())
    }
}
