//! Statements that no port offers, for tests that damage what is stored and look at all of it. The program never calls this.

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
    /// Executes statements on a connection of their own, each for itself, past every rule and every invariant.
    ///
    /// # Errors
    ///
    /// When one of them fails; those before it stay done.
    pub fn execute_by_hand(&self, statements: &[&str]) -> Result<(), StoreError> {
        let mut session = self.connect_by_hand(Mode::Write)?;
        for statement in statements {
            on!(session.conn(), |conn| conn.batch_execute(statement)).map_err(broken("execute by hand"))?;
        }
        Ok(())
    }

    /// The column `text` of what a statement finds, which must be of the database's type for texts and not null.
    ///
    /// # Errors
    ///
    /// When the statement fails.
    pub fn read_by_hand(&self, statement: &str) -> Result<Vec<String>, StoreError> {
        let mut session = self.connect_by_hand(Mode::Read)?;
        let rows: Vec<TextRow> = on!(session.conn(), |conn| diesel::sql_query(statement).load(conn))
            .map_err(broken("read by hand"))?;
        Ok(rows.into_iter().map(|row| row.text).collect())
    }
}
