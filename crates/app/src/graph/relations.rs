//! The relations of a reader to several fans.

use crate::store::{GraphReadTx, Query};
use std::convert::Infallible;
use terrace_kernel::{Outcome, Timestamp, UserId};
use terrace_social::Relations;

/// Reads which of several fans the reader follows, is followed by, and blocks, in one statement. Fans whose accounts are
/// not active are left out.
#[derive(Debug, Clone)]
pub struct ReadRelations {
    pub reader: UserId,
    /// The fans.
    pub others: Vec<UserId>,
}

impl Query for ReadRelations {
    const NAME: &'static str = "read_relations";
    type Ports = dyn GraphReadTx;
    type Output = Relations;
    type Refusal = Infallible;

    fn run(&self, tx: &mut dyn GraphReadTx, _now: Timestamp) -> Outcome<Relations, Infallible> {
        Ok(tx.relations(self.reader, &self.others)?)
    }
}
