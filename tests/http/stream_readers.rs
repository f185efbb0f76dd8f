//! The contract under "Streams", over HTTP (spec §4 and §6): which readers get which events, and how many
//! streams there may be.

use super::streams::{BOARD, OWN, ROOM, comment, give, lasting, names, react, settled, since};
use anyhow::{Result, ensure};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use terrace_testkit::{Client, DatabaseKind, EventStream, PASSWORD, TestService, on_each_database};

on_each_database! {
    a_block_acts_both_ways_on_open_streams_and_on_replays,
    hidden_fans_are_nameless_on_boards,
    a_session_that_ends_ends_its_streams,
    events_of_a_suspended_account_stop,
    streams_end_with_their_access_token,
}

/// How soon events that a reader may not see any more stop.
const SOON: Duration = Duration::from_secs(2);
/// What a busy machine may add to it.
const GRACE: Duration = Duration::from_secs(8);

/// The posts that were received, up to the last post of the list.
pub(super) fn received_until(stream: &mut EventStream, last: &str) -> Vec<(String, Value)> {
    let mut received = Vec::new();
    loop {
        let next = stream.one();
        if next.data["post"]["id"] == json!(last) {
            return received;
        }
        received.push((next.name, next.data));
    }
}

fn a_block_acts_both_ways_on_open_streams_and_on_replays(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo, cleo) = (service.client(), service.client(), service.fan("cleo"));
    let (mia_id, bo_id) = (mia.register("mia"), bo.register("bo_"));
    let start = settled(&service);
    let of_mia = mia.create_post("Of mia.");
    let of_cleo = cleo.create_post("Of cleo.");
    let mut streams = [&mia, &bo, &cleo].map(|client| client.stream(&since(ROOM, start)));
    for stream in &mut streams {
        assert_eq!(names(&stream.take(2)), ["post.created"; 2]);
    }
    mia.post("/api/user/block", &json!({"userId": bo_id})).expect(200);
    // Events committed from now on come after the block in every stream.
    bo.create_post("Of bo.");
    mia.create_post("Of mia again.");
    react(&cleo, &of_mia, "like");
    comment(&bo, &of_cleo);
    comment(&mia, &of_cleo);
    let last = cleo.create_post("The last.");
    let of_streams = streams.each_mut().map(|stream| received_until(stream, &last));
    let [seen_by_mia, seen_by_bo, seen_by_cleo] = of_streams;
    let text = |received: &[(String, Value)]| json!(received).to_string();
    assert_eq!(seen_by_cleo.len(), 5, "{seen_by_cleo:?}");
    assert_eq!(seen_by_mia.len(), 3, "her post, the reaction to hers, her comment: {seen_by_mia:?}");
    assert_eq!(seen_by_bo.len(), 2, "his post and his comment: {seen_by_bo:?}");
    assert!(!text(&seen_by_mia).contains(&bo_id) && !text(&seen_by_bo).contains(&mia_id));
    // Replayed: events from before the block are left out too.
    for (client, count) in [(&mia, 5), (&bo, 3), (&cleo, 7)] {
        let received = received_until(&mut client.stream(&since(ROOM, start)), &last);
        assert_eq!(received.len(), count, "{received:?}");
    }
    mia.ask("DELETE", "/api/user/block").json(&json!({"userId": bo_id})).send().expect(200);
    bo.create_post("Of bo again.");
    let last = cleo.create_post("The very last.");
    let [seen_by_mia, ..] = &mut streams;
    assert_eq!(received_until(seen_by_mia, &last).len(), 1, "a lifted block hides no fan");
    Ok(())
}

fn hidden_fans_are_nameless_on_boards(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.client(), service.client());
    let (mia_id, bo_id) = (mia.register("mia"), bo.register("bo_"));
    let path = since(BOARD, settled(&service));
    let mut streams = [&mia, &bo, &service.client()].map(|client| client.stream(&path).begun());
    bo.post("/api/user/block", &json!({"userId": mia_id})).expect(200);
    settled(&service);
    give(&service, &bo_id, 5, "one");
    let received = streams.each_mut().map(|stream| stream.one().data);
    let line = |user: Option<&String>| json!({"userId": user, "points": 5, "rank": 1});
    assert_eq!(received, [line(None), line(Some(&bo_id)), line(Some(&bo_id))]);
    Ok(())
}

/// Waits for the end of a stream, which has to come soon.
pub(super) fn ends_soon(stream: &mut EventStream, what: &str) -> Result<()> {
    let begun = Instant::now();
    stream.rest();
    ensure!(begun.elapsed() < SOON + GRACE, "{what}: only after {:?}", begun.elapsed());
    ensure!(stream.retry.is_some(), "{what}: no retry time was sent");
    Ok(())
}

fn a_session_that_ends_ends_its_streams(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let there = service.beside(|web| web.streams.life = Duration::from_mins(10))?;
    let mia = service.fan("mia");
    let elsewhere =
        |client: &Client| there.client().with_cookie("session", &client.cookie("session").expect("a cookie"));
    let mut stays = service.client().stream(ROOM).begun();
    // Signed out, here and in another process.
    let mut here = [mia.stream(ROOM).begun(), mia.stream(OWN).begun(), elsewhere(&mia).stream(BOARD).begun()];
    mia.post("/api/logout", &json!({})).expect(204);
    for stream in &mut here {
        ends_soon(stream, "a logout")?;
    }
    // Another device, signed out remotely; the device that does it stays signed in.
    let (one, two) = (service.client(), service.client());
    one.login("mia");
    let mut first = one.stream(OWN).begun();
    two.login("mia");
    let mut second = two.stream(OWN).begun();
    let body = json!({"currentPassword": PASSWORD, "newPassword": "another password"});
    two.put("/api/user/password", &body).expect(204);
    ends_soon(&mut first, "a new password")?;
    give(&service, &two.get("/api/user").expect(200).str_at("/id"), 1, "after");
    assert_eq!(second.one().name, "points.awarded");
    // The account.
    two.ask("DELETE", "/api/user").json(&json!({"password": "another password"})).send().expect(204);
    ends_soon(&mut second, "a deletion")?;
    let post = service.fan("bo_").create_post("Who is there?");
    assert_eq!(stays.one().data["post"]["id"], json!(post));
    Ok(())
}

fn events_of_a_suspended_account_stop(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let start = settled(&service);
    let visitor = service.client();
    let mut live = visitor.stream(&since(ROOM, start));
    let of_mia = mia.create_post("Of mia.");
    let of_bo = bo.create_post("Of bo.");
    comment(&mia, &of_bo);
    react(&bo, &of_mia, "like");
    assert_eq!(live.take(4).len(), 4);
    let mut her_own = mia.stream(OWN).begun();
    assert!(service.run(service.app().suspend_account("mia")).is_ok());
    ends_soon(&mut her_own, "a suspension")?;
    let last = bo.create_post("The last.");
    live.one();
    let received = received_until(&mut visitor.stream(&since(ROOM, start)), &last);
    assert_eq!(received.len(), 1, "her posts are not sent any more: {received:?}");
    assert!(service.run(service.app().restore_account("mia")).is_ok());
    settled(&service);
    let last = bo.create_post("The very last.");
    live.one();
    let received = received_until(&mut visitor.stream(&since(ROOM, start)), &last);
    assert_eq!(received.len(), 5, "and are sent again after she is restored: {received:?}");
    Ok(())
}

fn streams_end_with_their_access_token(kind: DatabaseKind) -> Result<()> {
    let life = Duration::from_mins(10);
    let service = TestService::builder(kind)
        .web(|web| web.streams.life = life)
        .app(|app| app.access_life = Duration::from_millis(300))
        .start()?;
    service.fan("mia");
    let mut stream = service.client().mobile_login("mia").stream(OWN);
    ends_soon(&mut stream, "an access token")
}
