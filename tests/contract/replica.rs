//! A replica answers reads that allow stale data, and no others (docs/architecture.md, invariant 22). The
//! replica here is a separate database with other contents, so that the test sees which one answered.

use anyhow::Result;
use std::sync::Arc;
use terrace_testkit::app::accounts::NotFound;
use terrace_testkit::app::room::{FeedScope, ReadFeed};
use terrace_testkit::app::teams::{GetTeam, ListLeagues, ListTeams};
use terrace_testkit::app::{App, AppConfig};
use terrace_testkit::kernel::{Failure, Limit};
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, TestDatabase, on_each_database};

on_each_database! {
    leagues_and_teams_come_from_the_replica_and_nothing_else_does,
    without_its_replica_everything_is_answered_by_the_primary,
    a_replica_of_another_kind_is_refused,
}

fn open(service: &TestApp, read_database_url: Option<String>) -> Result<Storage> {
    let config = StorageConfig { read_database_url, ..StorageConfig::new(service.url()) };
    Ok(Storage::open(config, Arc::new(service.clock().clone()), Arc::new(SeededEntropy::new(5)))?)
}

/// A process on the database of `service` that sends reads that allow stale data to `storage`'s replica.
fn reader(service: &TestApp, storage: &Storage) -> App {
    let store = Arc::new(storage.clone());
    App::new(store, Arc::new(service.clock().clone()), Arc::new(SeededEntropy::new(6)), AppConfig::default())
}

fn limit() -> Limit {
    Limit::new(100).expect("a limit")
}

fn team_keys(service: &TestApp, app: &App) -> Vec<String> {
    let teams = service.run(app.query(ListTeams { league: None, limit: limit(), after: None }));
    teams.expect("teams are listed").items.into_iter().map(|team| team.key).collect()
}

fn leagues_and_teams_come_from_the_replica_and_nothing_else_does(kind: DatabaseKind) -> Result<()> {
    let (primary, replica) = (TestApp::start(kind)?, TestApp::start(kind)?);
    // The first teams of both have the same id: every test draws the same ids.
    primary.team("foxes");
    let only_on_primary = primary.team("owls");
    let on_replica = replica.team("rovers");
    let fan = primary.fan("mia");
    let storage = open(&primary, Some(replica.url().to_owned()))?;
    let app = reader(&primary, &storage);
    assert_eq!(team_keys(&primary, &app), ["rovers"]);
    let leagues = primary.run(app.query(ListLeagues { limit: limit(), after: None }));
    assert_eq!(leagues.expect("leagues are listed").items[0].key, "rovers-league");
    let team = primary.run(app.query(GetTeam { team: on_replica }));
    assert_eq!(team.expect("a team is found").key, "rovers");
    // A refusal is an answer.
    let refused = primary.run(app.query(GetTeam { team: only_on_primary }));
    assert!(matches!(refused, Err(Failure::Refused(NotFound))));
    // Sessions, and answers with a stream position.
    assert!(primary.run(app.viewer(fan.cookie))?.is_some());
    let head = primary.settled();
    let feed = ReadFeed { scope: FeedScope::All, reader: Some(fan.id), limit: limit(), after: None };
    let feed = primary.run(app.query(feed)).expect("the feed is read");
    assert_eq!(feed.position, head);
    storage.close();
    Ok(())
}

fn without_its_replica_everything_is_answered_by_the_primary(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    service.team("foxes");
    // A replica that does not exist, and one that exists and cannot answer, because it has no tables.
    let empty = TestDatabase::empty(kind)?;
    let nowhere = match kind {
        DatabaseKind::Sqlite => "sqlite:/dev/null/terrace.db".to_owned(),
        DatabaseKind::Postgres => "postgres://nobody@127.0.0.1:1/nothing".to_owned(),
    };
    for url in [nowhere, empty.url().to_owned()] {
        let storage = open(&service, Some(url))?;
        let app = reader(&service, &storage);
        for _ in 0..3 {
            assert_eq!(team_keys(&service, &app), ["foxes"]);
        }
        storage.close();
    }
    Ok(())
}

fn a_replica_of_another_kind_is_refused(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = match kind {
        DatabaseKind::Sqlite => "postgres://nobody@127.0.0.1:1/nothing",
        DatabaseKind::Postgres => "sqlite:/nowhere/terrace.db",
    };
    let refused = open(&service, Some(other.to_owned())).err().expect("it is refused");
    assert!(refused.to_string().contains("another kind"), "{refused}");
    Ok(())
}
