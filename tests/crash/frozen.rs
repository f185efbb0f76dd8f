//! A database that stands still: it keeps its connections, takes new ones, and answers nobody. Whoever asks is told in
//! time to come again, and service resumes by itself (docs/architecture.md, invariant 10).

use super::crowd::{Crowd, Extent, Told, hear};
use super::dice::Dice;
use super::outage::is_away;
use super::world::World;
use anyhow::Result;
use std::time::Duration;
use terrace_testkit::{CRON_SECRET, DatabaseKind, Invocation, ThrowawayPostgres, on};

/// How soon the service serves again once its database does.
const RECOVERY: Duration = Duration::from_secs(15);

#[test]
fn a_server_that_stands_still_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let server = ThrowawayPostgres::start()?;
        let url = server.create_database("terrace")?;
        let invocation =
            Invocation::on(&url)?.env("TERRACE_CRON_SECRET", CRON_SECRET).env("TERRACE_ANSWER_TIMEOUT", "4");
        World::furnish(&invocation, &url)?;
        let mut program = invocation.serve()?;
        let mut dice = Dice::new()?;
        let mut crowd = Crowd::register(&program, 8, &mut dice)?;
        for round in 1..=2 {
            crowd.begin_round(&mut dice);
            let acknowledged = 30 + dice.below(100);
            crowd.under_load(&program.client(), |told| {
                hear(told, Told::Done, acknowledged, &[])?;
                server.freeze_server()?;
                hear(told, Told::Later, 12, &[Told::Done])?;
                is_away(&program)?;
                server.thaw_server()?;
                let recovery = program.wait_until_ready(RECOVERY)?;
                println!("round {round}: frozen after {acknowledged} writes, ready again after {recovery:?}");
                hear(told, Told::Done, 50, &[Told::Later])
            })?;
            let tally = crowd.check(&program.client(), Extent::Everything)?;
            println!("{tally:?}: all of it is there");
        }
        assert_eq!(program.stop()?.code, Some(0));
        invocation.args(["maintain", "verify"]).run()?.succeeded().map(drop)
    })
}
