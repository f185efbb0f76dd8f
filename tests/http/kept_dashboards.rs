//! Dashboards are kept while nothing of their fans changes (spec §4): what a process has answered or announced is in them.

use super::dashboard::{DASHBOARD, World, read};
use super::leaderboard::BOARD;
use anyhow::Result;
use serde_json::{Value, json};
use std::thread;
use terrace_testkit::{CRON_SECRET, Client, DatabaseKind, TestService, on_each_database, wait_until};

on_each_database! {
    spec_4_a_dashboard_shows_every_change_that_was_answered,
    spec_4_a_dashboard_shows_every_change_up_to_a_position_that_was_shown,
}

/// The number of random actions, each after all dashboards were read.
const ACTIONS: usize = 60;
/// The number of awards.
const AWARDS: u64 = 60;

/// What others do not change: neither the ranks, which are those of the position, nor the trends.
fn own(mut shown: Value) -> Value {
    let parts = shown.as_object_mut().expect("an object");
    assert!(["rank", "trends"].into_iter().all(|part| parts.remove(part).is_some()));
    shown
}

/// A dashboard that the process of this client has not kept.
fn anew(service: &TestService, client: &Client) -> Value {
    service.app().changes().note_unknown();
    own(read(&client.by_way_of(service.address())))
}

fn spec_4_a_dashboard_shows_every_change_that_was_answered(kind: DatabaseKind) -> Result<()> {
    let mut world = World::new(kind)?;
    let other = world.service.beside(|_| {})?;
    for number in 0..ACTIONS {
        for (client, _) in &world.fans {
            read(client);
        }
        world.act();
        for (client, _) in &world.fans {
            // What the service does in the background may change it between two reads.
            let (mut expected, mut shown) = (Value::Null, Value::Null);
            wait_until("the dashboard stays as it is", || {
                expected = anew(&other, client);
                shown = own(read(client));
                Ok(anew(&other, client) == expected)
            })?;
            for (part, value) in expected.as_object().expect("parts") {
                assert_eq!(&shown[part], value, "{part} after {number} actions");
            }
        }
    }
    Ok(())
}

fn spec_4_a_dashboard_shows_every_change_up_to_a_position_that_was_shown(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let other = service.beside(|_| {})?;
    let mia = service.fan("mia");
    let id = mia.get("/api/user").expect(200).str_at("/id");
    let cron = service.client().with_bearer(CRON_SECRET);
    let reader = mia.by_way_of(other.address());
    let points = |path: &str, at: &str| reader.get(path).expect(200).at(at).as_u64();
    let on_board = || points(&format!("{BOARD}?limit=1"), "/me/points").unwrap_or(0);
    let shown = || points(DASHBOARD, "/user/points").expect("a number");
    let mut seen = thread::scope(|scope| {
        let awarding = scope.spawn(|| {
            for number in 0..AWARDS {
                let body = json!({"userId": id, "amount": 1, "reason": "A ticket", "source": format!("import:{number}")});
                cron.post("/api/cron/award-points", &body).expect(200);
            }
        });
        let mut seen = Vec::new();
        while !awarding.is_finished() {
            seen.push((on_board(), shown()));
        }
        awarding.join().expect("the awards");
        seen
    });
    wait_until("the other process shows all awards", || {
        seen.push((on_board(), shown()));
        Ok(seen.last().is_some_and(|(on_board, _)| *on_board >= AWARDS))
    })?;
    for (on_board, shown) in seen {
        assert!(on_board <= shown, "{shown} points after a board with {on_board}");
    }
    Ok(())
}
