//! The transaction object that use cases receive.

use crate::conn::Conn;
use terrace_kernel::Appended;

/// A transaction or a query on one connection. Every port is implemented on it, in the folder of its area.
pub(crate) struct DieselTx<'c> {
    /// The connection, inside its transaction.
    pub(crate) conn: Conn<'c>,
    /// The events that this run appended, so that a commit without events does not wake the relay.
    pub(crate) appended: Vec<Appended>,
}

impl<'c> DieselTx<'c> {
    /// Creates a transaction object on a connection with an open transaction.
    pub(crate) fn new(conn: Conn<'c>) -> Self {
        Self { conn, appended: Vec::new() }
    }
}
