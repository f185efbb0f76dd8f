//! An award on PostgreSQL: the statement that the service executes, between `BEGIN` and `COMMIT`.

use super::PgBench;
use crate::raw::awards::{AMOUNT, REASON};
use crate::rows::boards;
use anyhow::Result;
use std::path::Path;

/// The service's SQL after the arguments.
const AWARD: &str = include_str!("../../../storage/src/boards/award.sql");

impl PgBench {
    /// Finds the program and writes the script that awards points to `fans` bulk fans, in the season with this
    /// identifier.
    pub(crate) fn of_awards(folder: &Path, url: &str, fans: u64, season: &str) -> Result<Self> {
        let names = vec![
            format!("season={season}"),
            format!("reason={REASON}"),
            format!("amount={AMOUNT}"),
            "source=import:raw/".to_owned(),
            "yes=true".to_owned(),
            "no=false".to_owned(),
        ];
        Self::with(folder, "statements", url, &script(fans), names)
    }
}

/// The arguments; values that the service binds are variables of the script.
fn arguments() -> [String; 13] {
    let (fan, record) = (boards::fan_prefix(), boards::record_prefix());
    let id = |prefix: &str, number: &str| format!("CAST('{prefix}' || CAST(:{number} AS text) AS uuid)");
    [
        id(&fan, "fan"),
        id(&record, "id"),
        "CAST(:amount AS bigint)".to_owned(),
        "CAST(:reason AS text)".to_owned(),
        "CAST(:source AS text) || CAST(:id AS text)".to_owned(),
        "CAST(:season AS uuid)".to_owned(),
        "now()".to_owned(),
        "CAST(NULL AS uuid)".to_owned(),
        "CAST(NULL AS uuid)".to_owned(),
        "CAST(:yes AS boolean)".to_owned(),
        "CAST(:no AS boolean)".to_owned(),
        "CAST(:yes AS boolean)".to_owned(),
        "now()".to_owned(),
    ]
}

/// The statement with these arguments substituted, in one line.
pub(super) fn statement(arguments: &[String]) -> String {
    let mut statement = format!("WITH given AS (SELECT {}{AWARD}", arguments.join(", "));
    // From the last, so that `$1` does not match within `$13`.
    for (place, argument) in arguments.iter().enumerate().rev() {
        statement = statement.replace(&format!("${}", place + 1), argument);
    }
    statement.replace('\n', " ")
}

fn script(fans: u64) -> String {
    let (first, step, connections) = (boards::FIRST_FAN, boards::STEP, crate::world::FANS);
    format!(
        "\\set seq :seq + 1\n\
         \\set id :base + :seq * {connections} + :client_id\n\
         \\set fan {first} + (:id * {step}) % {fans}\n\
         BEGIN ISOLATION LEVEL READ COMMITTED;\n\
         {};\n\
         COMMIT;\n",
        statement(&arguments())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_holds_one_statement_and_no_argument_is_left() {
        let script = script(1000);
        assert_eq!(script.lines().count(), 6);
        assert!(!script.contains('$'), "{script}");
        assert_eq!(script.lines().filter(|line| line.ends_with(';')).count(), 3);
    }
}
