//! The contract under "One stream for several channels", over HTTP: which events the combined stream sends, with which
//! channels and ids, and to whom (spec §4 and §6).

use super::sample::UNKNOWN;
use super::stream_readers::{ends_soon, received_until};
use super::streams::{comment, give, lasting, names, react, settled, since};
use crate::streams::channels::ALL;
use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::app::boards::StartSeason;
use terrace_testkit::{Client, DatabaseKind, ReceivedEvent, TestService, on_each_database};

on_each_database! {
    events_name_all_their_channels_and_share_an_id,
    a_client_that_reconnects_gets_the_rest_of_its_channels_once,
    a_resync_is_for_all_channels,
    what_a_fan_follows_selects_the_events_of_the_channel,
    the_global_board_is_that_of_the_shown_season,
    blocks_and_private_events_are_those_of_the_reader,
    the_end_of_a_session_ends_the_combined_stream,
    channels_that_cannot_be_streamed_are_refused,
}

fn channels(names: &[&str]) -> String {
    format!("{ALL}?channels={}", names.join(","))
}

/// The channels of an event.
fn named(event: &ReceivedEvent) -> Vec<&str> {
    event.data["channels"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn without_channels(event: &ReceivedEvent) -> Value {
    let mut data = event.data.clone();
    data.as_object_mut().expect("an object").remove("channels");
    data
}

fn team(service: &TestService, nth: usize) -> String {
    service.client().get("/api/teams").expect(200).str_at(&format!("/teams/{nth}/id"))
}

fn board(service: &TestService, query: &str) -> String {
    service.client().get(&format!("/api/leaderboard{query}")).expect(200).str_at("/leaderboard/id")
}

fn post(client: &Client, body: &str, team: Option<&String>) -> String {
    let body = team.map_or(json!({"body": body}), |team| json!({"body": body, "teamId": team}));
    client.post("/api/locker-room", &body).expect(201).str_at("/post/id")
}

fn events_name_all_their_channels_and_share_an_id(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.client(), service.fan("bo_"));
    let mia_id = mia.register("mia");
    let [anchors, foxes] = [0, 1].map(|nth| team(&service, nth));
    let (room, global) = (format!("room:team:{foxes}"), format!("board:{}", board(&service, "")));
    let start = settled(&service);
    // Channels are named in the order in which they were requested.
    let asked = [&*room, "room", "me", "board", &*global];
    let mut stream = mia.stream(&since(&channels(&asked), start));
    let mut single = bo.stream(&since("/api/locker-room/stream", start));
    let to_foxes = post(&bo, "To foxes.", Some(&foxes));
    let events = stream.take(1);
    assert_eq!((named(&events[0]), &events[0].data["post"]["id"]), (vec![&*room, "room"], &json!(to_foxes)));
    // The same as in the single stream.
    let alone = single.one();
    assert_eq!(
        (&*alone.name, alone.id, &alone.data),
        ("post.created", events[0].id, &without_channels(&events[0]))
    );
    post(&bo, "To anchors.", Some(&anchors));
    assert_eq!(named(&stream.one()), ["room"]);
    react(&mia, &to_foxes, "fire");
    comment(&mia, &to_foxes);
    let events = stream.take(2);
    assert_eq!(names(&events), ["reaction.changed", "comment.created"]);
    assert!(events.iter().all(|event| named(event) == [&*room, "room"] && event.id > 0));
    // Of the events of one position only the last has an id.
    give(&service, &mia_id, 5, "one");
    let events = stream.take(2);
    assert_eq!(names(&events), ["score.changed", "points.awarded"]);
    assert_eq!([named(&events[0]), named(&events[1])], [vec!["board", &global], vec!["me"]]);
    assert_eq!(without_channels(&events[0]), json!({"userId": mia_id, "points": 5, "rank": 1}));
    assert!(events[0].id == 0 && events[1].id > start, "{events:?}");
    assert_eq!(without_channels(&events[1]), mia.get("/api/user/points").expect(200).at("/history/0"));
    Ok(())
}

/// Several boards, so that one position has several events of one kind, too.
fn a_client_that_reconnects_gets_the_rest_of_its_channels_once(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.client(), service.fan("bo_"));
    let mia_id = mia.register("mia");
    let foxes = team(&service, 1);
    let of_foxes = format!("board:{}", board(&service, &format!("?teamId={foxes}")));
    let start = settled(&service);
    let one = bo.create_post("One.");
    let award = |fact: &str| {
        let source = format!("import:{fact}");
        let body =
            json!({"userId": mia_id, "amount": 1, "reason": "A ticket", "source": source, "teamId": foxes});
        let timer = service.client().with_bearer(terrace_testkit::CRON_SECRET);
        timer.post("/api/cron/award-points", &body).expect(200);
    };
    let path = channels(&["me", "board", "room", &of_foxes]);
    let mut live = mia.stream(&since(&path, start));
    let mut all = live.take(1);
    award("one");
    all.extend(live.take(3));
    react(&bo, &one, "like");
    all.extend(live.take(1));
    award("two");
    all.extend(live.take(3));
    bo.create_post("Two.");
    all.extend(live.take(1));
    let in_order = ["post.created", "score.changed", "score.changed", "points.awarded", "reaction.changed"];
    assert_eq!(names(&all)[..5], in_order);
    let boards: Vec<&str> = all[1..3].iter().flat_map(named).collect();
    assert!(boards == ["board", &of_foxes] || boards == [&of_foxes, "board"], "{boards:?}");
    let ids: Vec<bool> = all.iter().map(|event| event.id > 0).collect();
    assert_eq!(ids, [true, false, false, true, true, false, false, true, true]);
    // From the memory of this process, and from the table by way of another; by header and by parameter.
    let other = service.beside(|web| web.streams.life = Duration::from_mins(10))?;
    let there = other.client().with_cookie("session", &mia.cookie("session").expect("a session"));
    for (nth, event) in all.iter().enumerate().filter(|(_, event)| event.id > 0) {
        // Changes of the same line come as the newest when they are read together.
        let rest = &all[nth + 1..];
        if rest.iter().filter(|event| event.name == "score.changed").count() > 2 {
            continue;
        }
        for client in [&mia, &there] {
            assert_eq!(client.stream(&since(&path, event.id)).take(rest.len()), rest);
            let mut back = client.stream_after(&since(&path, start), Some(&event.id.to_string()));
            assert_eq!(back.take(rest.len()), rest);
        }
    }
    Ok(())
}

fn a_resync_is_for_all_channels(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.fan("mia");
    let asked = ["board", "room", "me"];
    for forged in ["-1", "99999", "9223372036854775808", "junk"] {
        let mut stream = mia.stream_after(&channels(&asked), Some(forged));
        let resync = stream.one();
        assert_eq!(resync.name, "resync");
        assert_eq!(resync.data, json!({"channels": ["board", "room", "me"]}));
        // It is a position to continue from, and the stream does.
        assert!(resync.id > 0 && resync.id <= settled(&service));
        let after = mia.create_post("After it.");
        assert_eq!(stream.one().data["post"]["id"], json!(after));
    }
    let junk = format!("{}&since=junk", channels(&asked));
    assert_eq!(mia.get(&junk).problem(400, "invalid_request").pointers(), ["/since"]);
    Ok(())
}

fn what_a_fan_follows_selects_the_events_of_the_channel(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo, cleo) = (service.fan("mia"), service.fan("bo_"), service.client());
    let cleo_id = cleo.register("cleo");
    let foxes = team(&service, 1);
    bo.post("/api/user/follow", &json!({"userId": cleo_id})).expect(200);
    let start = settled(&service);
    let board = format!("board:{}", board(&service, &format!("?teamId={foxes}")));
    let mut both = bo.stream(&since(&channels(&["room:following", &board, "room"]), start));
    let mut following = bo.stream(&since(&channels(&[&board, "room:following"]), start));
    post(&mia, "mia", None);
    assert_eq!(named(&both.one()), ["room"]);
    post(&cleo, "cleo", None);
    assert_eq!(named(&both.one()), ["room:following", "room"]);
    assert_eq!(named(&following.one()), ["room:following"]);
    // A new follow counts from now on.
    bo.post("/api/user/follow", &json!({"teamId": foxes})).expect(200);
    settled(&service);
    let to_foxes = post(&mia, "mia to foxes", Some(&foxes));
    assert_eq!(named(&both.one()), ["room:following", "room"]);
    let event = following.one();
    assert_eq!((named(&event), &event.data["post"]["id"]), (vec!["room:following"], &json!(to_foxes)));
    Ok(())
}

fn the_global_board_is_that_of_the_shown_season(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.client().register("mia");
    let earlier = format!("board:{}", board(&service, ""));
    let path = channels(&["board", &earlier, "room"]);
    let mut stream = service.client().stream(&since(&path, settled(&service)));
    let next = StartSeason { key: "1".parse()?, name: "Spring".to_owned(), starts_at: None, ends_at: None };
    assert!(service.run(service.app().execute(next)).is_ok());
    let season = service.client().get("/api/leaderboard").expect(200).str_at("/season/id");
    let reset = stream.one();
    assert_eq!((reset.name.as_str(), &reset.data["seasonId"]), ("board.reset", &json!(season)));
    assert_eq!(named(&reset), ["board", &earlier]);
    give(&service, &mia, 4, "new");
    let event = stream.one();
    let names = if format!("board:{}", board(&service, "")) == earlier {
        vec!["board", &*earlier]
    } else {
        vec!["board"]
    };
    assert_eq!((named(&event), &event.data["points"]), (names, &json!(4)));
    Ok(())
}

fn blocks_and_private_events_are_those_of_the_reader(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo, cleo) = (service.client(), service.client(), service.fan("cleo"));
    let (mia_id, bo_id) = (mia.register("mia"), bo.register("bo_"));
    let start = settled(&service);
    let path = channels(&["room", "board", "me"]);
    let mut streams = [&mia, &bo].map(|client| client.stream(&since(&path, start)));
    mia.post("/api/user/block", &json!({"userId": bo_id})).expect(200);
    bo.create_post("Of bo.");
    give(&service, &bo_id, 5, "one");
    let last = cleo.create_post("The last.");
    for (stream, client) in streams.iter_mut().zip([&mia, &bo]) {
        // Live, and replayed.
        for received in
            [received_until(stream, &last), received_until(&mut client.stream(&since(&path, start)), &last)]
        {
            let names: Vec<&str> = received.iter().map(|(name, _)| name.as_str()).collect();
            let score = received.iter().find(|(name, _)| name == "score.changed").map(|(_, data)| data);
            let score = score.expect("the score");
            if client.cookie("session") == mia.cookie("session") {
                assert_eq!(names, ["score.changed"]);
                assert_eq!(score, &json!({"channels": ["board"], "userId": null, "points": 5, "rank": 1}));
            } else {
                assert_eq!(names, ["post.created", "score.changed", "points.awarded"]);
                assert_eq!(score["userId"], json!(bo_id));
            }
        }
    }
    let received = received_until(&mut cleo.stream(&since(&path, start)), &last);
    assert_eq!(received.len(), 2, "{received:?}");
    assert!(!json!(received).to_string().contains(&mia_id));
    // Events of a suspended account stop.
    assert!(service.run(service.app().suspend_account("bo_")).is_ok());
    settled(&service);
    let last = cleo.create_post("The very last.");
    // The in-memory log has read the suspension once an open stream has the later post.
    received_until(&mut streams[0], &last);
    let received = received_until(&mut cleo.stream(&since(&channels(&["room", "me"]), start)), &last);
    assert_eq!(received.len(), 1, "{received:?}");
    Ok(())
}

fn the_end_of_a_session_ends_the_combined_stream(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.fan("mia");
    let path = channels(&["room", "me", "board"]);
    let (mut hers, mut stays) =
        (mia.stream(&path).begun(), service.client().stream(&channels(&["board", "room"])).begun());
    mia.post("/api/logout", &json!({})).expect(204);
    ends_soon(&mut hers, "a logout")?;
    let post = service.fan("bo_").create_post("Who is there?");
    assert_eq!(stays.one().data["post"]["id"], json!(post));
    Ok(())
}

fn channels_that_cannot_be_streamed_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (visitor, mia) = (service.client(), service.fan("mia"));
    let many: Vec<String> =
        (0..33).map(|nth| format!("board:0190a6f2-7c1e-7abc-8def-0123456789{nth:02}")).collect();
    let doubled = format!("board:{UNKNOWN},room,board:{UNKNOWN}");
    let many = many.join(",");
    for wrong in [
        "room,,board",
        ",room",
        "room,",
        "room,room",
        "Room",
        "room:team:junk",
        "board:",
        "me,trivia",
        &doubled,
        &many,
    ] {
        for client in [&visitor, &mia] {
            let refused = client.get(&format!("{ALL}?channels={wrong}")).problem(400, "invalid_request");
            assert_eq!(refused.pointers(), ["/channels"], "{wrong}");
        }
    }
    for wrong in ["", "?channels=", "?channels=room&channels=board"] {
        mia.get(&format!("{ALL}{wrong}")).problem(400, "invalid_request");
    }
    for private in ["me", "room:following", "room,board,me"] {
        visitor.get(&format!("{ALL}?channels={private}")).problem(401, "authentication_required");
    }
    for unknown in [format!("room:team:{UNKNOWN}"), format!("room,board:{UNKNOWN}")] {
        visitor.get(&format!("{ALL}?channels={unknown}")).problem(404, "not_found");
        // Without a session the private channel is refused first.
        visitor.get(&format!("{ALL}?channels={unknown},me")).problem(401, "authentication_required");
    }
    // As many as allowed.
    let teams = visitor.get("/api/teams").expect(200).list("/teams");
    let rooms =
        teams.iter().take(28).map(|team| format!("room:team:{}", team["id"].as_str().expect("an id")));
    let mut most: Vec<String> = ["room", "room:following", "board", "me"].map(str::to_owned).into();
    most.extend(rooms);
    let most: Vec<&str> = most.iter().map(String::as_str).collect();
    let mut stream = mia.stream(&channels(&most)).begun();
    let post = mia.create_post("To all.");
    let event = stream.one();
    assert_eq!((&event.data["post"]["id"], named(&event)), (&json!(post), vec!["room", "room:following"]));
    Ok(())
}
