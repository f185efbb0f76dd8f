//! A network that vanishes between the program and its database, without an error on either side
//! (docs/architecture.md, invariant 10): requests are answered in time with `Retry-After`, and when the
//! network is back service resumes by itself, whether the bytes on their way arrive late or are lost.

use super::crowd::{Crowd, Reply, await_replies, ends_well};
use super::dice::Dice;
use super::line::Line;
use super::outage::is_away;
use super::world::World;
use anyhow::{Context, Result};
use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;
use terrace_testkit::{CRON_SECRET, DatabaseKind, Invocation, Program, ThrowawayPostgres, on, wait_at_most};

/// How soon the service serves again once the network does.
const RECOVERY: Duration = Duration::from_secs(15);
/// How soon broken connections are closed.
const GONE: Duration = Duration::from_secs(30);
/// How many connections the program may have open: four that read, four that write, two for batches, and the relay.
const CONNECTIONS: usize = 11;

/// The address of a database's server.
fn server_of(url: &str) -> Result<SocketAddr> {
    let (_, place) = url.split_once('@').context("no account")?;
    let (address, _) = place.split_once('/').context("no database")?;
    address.to_socket_addrs()?.next().context("no address")
}

#[test]
fn a_network_that_vanishes_silently_is_survived() -> Result<()> {
    on(DatabaseKind::Postgres, |_| {
        let server = ThrowawayPostgres::start()?;
        let direct = server.create_database("terrace")?;
        let line = Line::to(server_of(&direct)?)?;
        let url = line.lead(&direct)?;
        let few = Invocation::on(&url)?
            .env("TERRACE_CRON_SECRET", CRON_SECRET)
            .env("TERRACE_READ_CONNECTIONS", "4")
            .env("TERRACE_WRITE_CONNECTIONS", "4");
        let invocation = few.env("TERRACE_CHECKOUT_TIMEOUT", "1").env("TERRACE_ANSWER_TIMEOUT", "4");
        World::furnish(&invocation, &direct)?;
        let program = invocation.serve()?;
        let mut dice = Dice::new()?;
        let mut crowd = Crowd::register(&program, 8, &mut dice)?;
        for is_lost in [false, true] {
            crowd.weather(&program.client(), &mut dice, |replies, dice| {
                await_replies(replies, Reply::Done, 30 + dice.below(60), &[])?;
                line.die();
                await_replies(replies, Reply::Later, 16, &[Reply::Done])?;
                is_away(&program)?;
                if is_lost {
                    line.come_back_without_memory();
                } else {
                    line.come_back();
                }
                let recovery = program.wait_until_ready(RECOVERY)?;
                println!("what was on its way is lost: {is_lost}; ready again after {recovery:?}");
                await_replies(replies, Reply::Done, 50, &[Reply::Later])
            })?;
            leaves_nothing_behind(&program, &line)?;
        }
        ends_well(program, invocation)
    })
}

/// Broken connections are closed, and no more are opened in their place than allowed.
fn leaves_nothing_behind(program: &Program, line: &Line) -> Result<()> {
    wait_at_most(GONE, "broken connections are closed", || {
        program.client().get("/readyz").expect(200);
        Ok(line.open() <= CONNECTIONS)
    })
}
