//! Marks, which identify secrets without revealing them.

use crate::conn::on;
use crate::error::broken;
use crate::schema::secret_marks;
use crate::tx::DieselTx;
use diesel::prelude::*;
use terrace_kernel::StoreError;
use terrace_store::SecretMarks;

impl SecretMarks for DieselTx<'_> {
    fn keep_mark(&mut self, name: &str, mark: &[u8]) -> Result<Vec<u8>, StoreError> {
        let fail = broken("keep the mark of a secret");
        on!(self.conn, |conn| {
            diesel::insert_into(secret_marks::table)
                .values((secret_marks::name.eq(name), secret_marks::mark.eq(mark)))
                .on_conflict_do_nothing()
                .execute(conn)
        })
        .map_err(&fail)?;
        on!(self.conn, |conn| secret_marks::table.find(name).select(secret_marks::mark).first(conn))
            .map_err(&fail)
    }
}
