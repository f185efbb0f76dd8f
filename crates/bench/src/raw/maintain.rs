//! Maintenance operations as single statements.

use super::connect;
use anyhow::Result;
use diesel::connection::SimpleConnection;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long a statement takes, including its commit.
pub(crate) fn time(file: &Path, statement: &str) -> Result<Duration> {
    let mut conn = connect(file)?;
    let begun = Instant::now();
    conn.batch_execute(statement)?;
    Ok(begun.elapsed())
}
