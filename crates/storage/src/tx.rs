//! The transaction object that use cases get.

use crate::conn::Conn;
use terrace_kernel::Appended;

/// A transaction or a query on one connection. Every port is implemented on it, in the folder of its area.
pub(crate) struct DieselTx<'c> {
    /// The connection, inside its transaction.
    pub(crate) conn: Conn<'c>,
    /// What this run appended to the event log, so that a commit without events wakes no relay.
    pub(crate) appended: Vec<Appended>,
}

impl<'c> DieselTx<'c> {
    /// A transaction object on a connection whose transaction is open.
    pub(crate) fn new(conn: Conn<'c>) -> Self {
        Self { conn, appended: Vec::new() }
    }
}
