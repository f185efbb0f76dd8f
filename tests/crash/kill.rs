//! What was acknowledged is there, however the process ends (spec.md §1, rule 1).

use super::crowd::{Crowd, Told, hear};
use super::dice::Dice;
use anyhow::Result;
use terrace_testkit::{DatabaseKind, Invocation, TestDatabase, on_each_database};

on_each_database! { a_kill_in_the_middle_of_load_loses_nothing_that_was_acknowledged }

fn a_kill_in_the_middle_of_load_loses_nothing_that_was_acknowledged(kind: DatabaseKind) -> Result<()> {
    let database = TestDatabase::empty(kind)?;
    let invocation = Invocation::on(database.url())?;
    let mut dice = Dice::new()?;
    let mut crowd = Crowd::register(&invocation.serve()?, 8, &mut dice)?;
    for _ in 0..3 {
        let mut program = invocation.serve()?;
        let acknowledged = 100 + dice.below(300);
        crowd.under_load(&program.client(), |told| {
            hear(told, Told::Done, acknowledged, &[])?;
            program.kill()
        })?;
        let program = invocation.serve()?;
        crowd.check(&program.client())?;
        let verify = invocation.clone().args(["maintain", "verify"]);
        let verified = verify.run()?.succeeded()?;
        assert!(verified.ends_with("every counter agrees with what it counts\n"), "{verified}");
    }
    Ok(())
}
