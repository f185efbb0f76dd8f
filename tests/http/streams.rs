//! The contract under "Streams", over HTTP (spec §4 and §6): which events streams send, from which position,
//! and none twice.

use super::sample::UNKNOWN;
use anyhow::Result;
use serde_json::{Value, json};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use terrace_testkit::app::boards::StartSeason;
use terrace_testkit::app::store::Store;
use terrace_testkit::{
    CRON_SECRET, Client, DatabaseKind, EventStream, ReceivedEvent, TestService, body, on_each_database,
};
use tokio::runtime::Builder;
use tokio::sync::watch;

on_each_database! {
    a_page_and_its_stream_join_without_a_gap,
    a_client_that_reconnects_gets_the_rest_once_and_in_order,
    an_old_or_unknown_position_is_one_resync,
    a_room_has_its_own_stream,
    deleted_posts_are_never_replayed,
    scores_come_with_ranks_and_pages_contain_them,
    a_new_season_resets_boards,
    the_own_stream_has_the_fans_own_actions,
    a_purchase_is_sent_to_its_buyer,
    an_order_is_sent_to_its_buyer,
    a_new_process_sends_no_earlier_events,
    invalid_requests_are_refused,
}

pub(super) const ROOM: &str = "/api/locker-room/stream";
pub(super) const BOARD: &str = "/api/leaderboard/stream";
pub(super) const OWN: &str = "/api/user/stream";

/// A service whose streams last as long as any test.
pub(super) fn lasting(kind: DatabaseKind) -> Result<TestService> {
    let life = Duration::from_mins(10);
    TestService::builder(kind).web(|web| web.streams.life = life).start()
}

/// The consumers of a service. They run until this value is dropped.
pub(super) struct Consumers {
    stop: watch::Sender<bool>,
    running: Option<JoinHandle<()>>,
}

impl Consumers {
    pub(super) fn of(service: &TestService) -> Result<Self> {
        let (stop, stopped) = watch::channel(false);
        let consumers = Arc::clone(service.app()).run_consumers(stopped);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        Ok(Self { stop, running: Some(thread::spawn(move || runtime.block_on(consumers))) })
    }
}

impl Drop for Consumers {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        if let Some(running) = self.running.take() {
            assert!(running.join().is_ok() || thread::panicking(), "a consumer panicked");
        }
    }
}

/// The position of a page of the feed.
pub(super) fn position(client: &Client) -> i64 {
    client.get("/api/locker-room").expect(200).at("/streamPosition").as_i64().expect("a position")
}

/// The position once everything that has happened by now is public.
pub(super) fn settled(service: &TestService) -> i64 {
    let settled = service.run(service.storage().settled());
    settled.expect("events become public").get()
}

pub(super) fn since(path: &str, position: i64) -> String {
    format!("{path}{}since={position}", if path.contains('?') { '&' } else { '?' })
}

pub(super) fn names(received: &[ReceivedEvent]) -> Vec<&str> {
    received.iter().map(|event| event.name.as_str()).collect()
}

pub(super) fn react(client: &Client, post: &str, kind: &str) {
    client.post(&format!("/api/locker-room/{post}/react"), &json!({"kind": kind})).expect(200);
}

pub(super) fn comment(client: &Client, post: &str) -> String {
    let path = format!("/api/locker-room/{post}/comments");
    client.post(&path, &json!({"body": "And the rebound!"})).expect(201).str_at("/comment/id")
}

pub(super) fn give(service: &TestService, user: &str, amount: i64, fact: &str) {
    let source = format!("import:{fact}");
    let body = json!({"userId": user, "amount": amount, "reason": "A ticket", "source": source});
    service.client().with_bearer(CRON_SECRET).post("/api/cron/award-points", &body).expect(200);
}

fn a_page_and_its_stream_join_without_a_gap(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let old = mia.create_post("Before the page.");
    settled(&service);
    let page = mia.get("/api/locker-room").expect(200);
    assert_eq!(page.str_at("/posts/0/id"), old);
    let known = page.at("/streamPosition").as_i64().expect("a position");
    // Between the page and the stream, and while it is open.
    let first = mia.create_post("Between the two.");
    let mut stream = service.client().stream(&since(ROOM, known));
    let received = stream.one();
    assert_eq!(
        (received.name.as_str(), received.data["post"]["id"].as_str()),
        ("post.created", Some(&*first))
    );
    react(&bo, &first, "fire");
    let words = comment(&bo, &first);
    react(&bo, &first, "like");
    // A comment that is deleted before it was sent is sent as deleted only.
    let mut rest = stream.take(3);
    mia.delete(&format!("/api/locker-room/{old}")).expect(204);
    bo.delete(&format!("/api/locker-room/{first}/comments/{words}")).expect(204);
    rest.extend(stream.take(2));
    let expected =
        ["reaction.changed", "comment.created", "reaction.changed", "post.deleted", "comment.deleted"];
    assert_eq!(names(&rest), expected);
    assert!(rest.iter().zip(rest.iter().skip(1)).all(|(one, next)| one.id < next.id), "{rest:?}");
    assert!(received.id < rest[0].id && known < received.id);
    // A post as in the feed, except for the reader's own reaction.
    let mut post = service.client().get(&format!("/api/locker-room/{first}")).expect(200).json();
    let fields = post["post"].as_object_mut().expect("a post");
    assert_eq!(fields.remove("myReaction"), Some(Value::Null));
    let streamed = received.data["post"].as_object().expect("a post");
    assert_eq!(streamed.keys().collect::<Vec<_>>(), fields.keys().collect::<Vec<_>>());
    for name in ["id", "author", "body", "teamId", "imageUrl", "createdAt"] {
        assert_eq!(streamed[name], fields[name], "{name}");
    }
    assert_eq!(rest[2].data["reactions"], json!({"like": 1}));
    assert_eq!(rest[2].data["reactionCount"], 1);
    assert_eq!(rest[3].data, json!({"postId": old}));
    assert_eq!(rest[4].data["commentId"], json!(words));
    assert_eq!(rest[4].data["commentCount"], 0);
    Ok(())
}

fn a_client_that_reconnects_gets_the_rest_once_and_in_order(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let start = settled(&service);
    let post = mia.create_post("One.");
    for kind in ["like", "love", "fire", "clap", "laugh", "sad"] {
        react(&bo, &post, kind);
    }
    mia.create_post("Two.");
    let visitor = service.client();
    let ids = |received: &[ReceivedEvent]| received.iter().map(|event| event.id).collect::<Vec<_>>();
    let all = ids(&visitor.stream(&since(ROOM, start)).take(8));
    for (nth, id) in all.iter().enumerate() {
        let rest = &all[nth + 1..];
        assert_eq!(ids(&visitor.stream(&since(ROOM, *id)).take(rest.len())), rest);
        let mut back = visitor.stream_after(&since(ROOM, start), Some(&id.to_string()));
        assert_eq!(ids(&back.take(rest.len())), rest, "the last event id precedes the parameter");
    }
    // Nothing more than that, and from now on without a position.
    let mut late = visitor.stream(&since(ROOM, all[7])).begun();
    let mut new = visitor.stream(ROOM).begun();
    let last = mia.create_post("Three.");
    for stream in [&mut late, &mut new] {
        assert_eq!(stream.one().data["post"]["id"], json!(last));
    }
    Ok(())
}

/// Asserts that a stream sends one resync, and then continues.
#[track_caller]
fn resyncs(service: &TestService, client: &Client, mut stream: EventStream) {
    let received = stream.one();
    assert_eq!((received.name.as_str(), &received.data), ("resync", &json!({})));
    assert!(received.id <= settled(service));
    let post = client.create_post("After it.");
    loop {
        let next = stream.one();
        assert_eq!(next.name, "post.created");
        if next.data["post"]["id"] == json!(post) {
            return;
        }
    }
}

fn an_old_or_unknown_position_is_one_resync(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.fan("mia");
    mia.create_post("One.");
    let visitor = service.client();
    for id in [
        "-1",
        "99999",
        "9223372036854775807",
        "9223372036854775808",
        "340282366920938463463374607431768211456",
    ] {
        resyncs(&service, &mia, visitor.stream(&format!("{ROOM}?since={id}")));
        resyncs(&service, &mia, visitor.stream_after(ROOM, Some(id)));
    }
    for junk in ["junk", "1;DROP TABLE events", "1.5", "0x10"] {
        resyncs(&service, &mia, visitor.stream_after(ROOM, Some(junk)));
        let target = format!("{ROOM}?since={}", junk.replace([' ', ';'], "%20"));
        assert_eq!(visitor.get(&target).problem(400, "invalid_request").pointers(), ["/since"]);
    }
    // Swept events are too old; later ones are not.
    let kept = settled(&service);
    let swept = body(|tx, ctx| Ok(tx.sweep_events(ctx.now().plus(Duration::from_mins(1)), 1000)?));
    assert!(service.run(service.app().execute(swept)).is_ok_and(|swept| swept > 3));
    let again = lasting_again(&service)?;
    for old in [0, 1, kept - 1] {
        resyncs(&again, &mia, again.client().stream(&since(ROOM, old)));
    }
    let mut known = again.client().stream(&since(ROOM, kept));
    assert_eq!(known.one().name, "post.created");
    Ok(())
}

/// Another process on the service's database, with no events in its memory.
fn lasting_again(service: &TestService) -> Result<TestService> {
    service.beside(|web| web.streams.life = Duration::from_mins(10))
}

fn team(service: &TestService, nth: usize) -> String {
    service.client().get("/api/teams").expect(200).str_at(&format!("/teams/{nth}/id"))
}

fn a_room_has_its_own_stream(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo, cleo) = (service.fan("mia"), service.fan("bo_"), service.client());
    let cleo_id = cleo.register("cleo");
    let (anchors, foxes) = (team(&service, 0), team(&service, 1));
    bo.post("/api/user/follow", &json!({"userId": cleo_id})).expect(200);
    bo.patch("/api/user", &json!({"favoriteTeamId": foxes})).expect(200);
    let start = settled(&service);
    let post = |client: &Client, body: &str, team: Option<&String>| {
        let body = team.map_or(json!({"body": body}), |team| json!({"body": body, "teamId": team}));
        client.post("/api/locker-room", &body).expect(201).str_at("/post/id")
    };
    let bodies = |stream: &mut EventStream, count: usize| {
        let received = stream.take(count);
        received
            .iter()
            .map(|event| event.data["post"]["body"].as_str().unwrap_or_default().to_owned())
            .collect::<Vec<_>>()
    };
    let mut following = bo.stream(&format!("{ROOM}?scope=following")).begun();
    let mut own_teams = bo.stream(&format!("{ROOM}?scope=team")).begun();
    post(&mia, "mia to foxes", Some(&foxes));
    post(&mia, "mia to all", None);
    post(&cleo, "cleo to anchors", Some(&anchors));
    post(&bo, "bo to all", None);
    let mut foxes_room = service.client().stream(&since(&format!("{ROOM}?scope=team&teamId={foxes}"), start));
    assert_eq!(bodies(&mut foxes_room, 1), ["mia to foxes"]);
    assert_eq!(bodies(&mut following, 2), ["cleo to anchors", "bo to all"]);
    assert_eq!(bodies(&mut own_teams, 1), ["mia to foxes"]);
    // A new follow counts from now on.
    bo.post("/api/user/follow", &json!({"teamId": anchors})).expect(200);
    settled(&service);
    post(&mia, "mia to anchors", Some(&anchors));
    post(&mia, "again to foxes", Some(&foxes));
    assert_eq!(bodies(&mut own_teams, 2), ["mia to anchors", "again to foxes"]);
    assert_eq!(bodies(&mut following, 1), ["mia to anchors"]);
    assert_eq!(bodies(&mut foxes_room, 1), ["again to foxes"]);
    // A fan who follows no one gets the posts of all, as in the feed.
    let mut instead = mia.stream(&since(&format!("{ROOM}?scope=following"), start));
    assert_eq!(bodies(&mut instead, 4), ["mia to foxes", "mia to all", "cleo to anchors", "bo to all"]);
    Ok(())
}

fn deleted_posts_are_never_replayed(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.fan("mia"), service.fan("bo_"));
    let start = settled(&service);
    let visitor = service.client();
    let mut live = visitor.stream(&since(ROOM, start)).begun();
    let (gone, left) = (mia.create_post("Never mind."), mia.create_post("Mind."));
    let words = comment(&bo, &gone);
    react(&bo, &gone, "sad");
    let taken_back = comment(&bo, &left);
    assert_eq!(live.take(5).len(), 5, "it was sent before it was deleted");
    mia.delete(&format!("/api/locker-room/{gone}")).expect(204);
    bo.delete(&format!("/api/locker-room/{left}/comments/{taken_back}")).expect(204);
    assert_eq!(names(&live.take(2)), ["post.deleted", "comment.deleted"]);
    // From the memory of this process, and from the table by way of another.
    let again = lasting_again(&service)?;
    for client in [visitor, again.client()] {
        let received = client.stream(&since(ROOM, start)).take(3);
        assert_eq!(names(&received), ["post.created", "post.deleted", "comment.deleted"]);
        assert_eq!(received[0].data["post"]["id"], json!(left));
        let text = format!("{received:?}");
        assert!(!text.contains("Never mind") && !text.contains(&words), "{text}");
    }
    Ok(())
}

fn scores_come_with_ranks_and_pages_contain_them(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.client().register(name));
    let page = service.client().get("/api/leaderboard").expect(200);
    let known = page.at("/streamPosition").as_i64().expect("a position");
    let visitor = service.client();
    let mut stream = visitor.stream(&since(BOARD, known)).begun();
    for (user, amount, fact, points, rank) in
        [(&mia, 5, "a", 5, 1), (&bo, 9, "b", 9, 1), (&mia, 1, "c", 6, 2), (&mia, 3, "d", 9, 1)]
    {
        give(&service, user, amount, fact);
        let received = stream.one();
        assert_eq!(received.name, "score.changed");
        assert_eq!(received.data, json!({"userId": user, "points": points, "rank": rank}));
        // A reader of the event finds it on a page.
        let page = visitor.get("/api/leaderboard").expect(200);
        let line = page.list("/entries").into_iter().find(|entry| entry["user"]["id"] == json!(user));
        assert_eq!(line.expect("a line")["points"], json!(points));
        assert!(page.at("/streamPosition").as_i64() >= Some(received.id));
    }
    // Of several changes of one fan the newest is enough for a client that reconnects.
    let received = visitor.stream(&since(BOARD, known)).take(2);
    let last = |user: &String| {
        received.iter().rfind(|event| event.data["userId"] == json!(user)).map(|event| &event.data)
    };
    assert!(last(&bo).is_some());
    // A team's board sends only its own points, and a fan who leaves it has no line any more.
    let foxes = team(&service, 1);
    let mut of_team = visitor.stream(&since(&format!("{BOARD}?teamId={foxes}"), settled(&service)));
    let cleo = service.client();
    let cleo_id = cleo.register("cleo");
    give(&service, &mia, 2, "e");
    cleo.post("/api/leaderboard/join", &json!({"teamId": foxes})).expect(200);
    assert_eq!(of_team.one().data, json!({"userId": cleo_id, "points": 0, "rank": 1}));
    cleo.ask("DELETE", "/api/leaderboard/join").json(&json!({"teamId": foxes})).send().expect(200);
    assert_eq!(of_team.one().data, json!({"userId": cleo_id, "points": null, "rank": null}));
    Ok(())
}

fn a_new_season_resets_boards(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.client().register("mia");
    let mut global = service.client().stream(&since(BOARD, settled(&service)));
    let next = StartSeason { key: "1".parse()?, name: "Spring".to_owned(), starts_at: None, ends_at: None };
    assert!(service.run(service.app().execute(next)).is_ok());
    let season = service.client().get("/api/leaderboard").expect(200).str_at("/season/id");
    let reset = global.one();
    assert_eq!((reset.name.as_str(), &reset.data), ("board.reset", &json!({"seasonId": season})));
    give(&service, &mia, 4, "new");
    assert_eq!(global.one().data, json!({"userId": mia, "points": 4, "rank": 1}));
    Ok(())
}

fn the_own_stream_has_the_fans_own_actions(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.client();
    let id = mia.register("mia");
    let bo = service.client().register("bo_");
    let start = settled(&service);
    let mut stream = mia.stream(OWN).begun();
    give(&service, &bo, 7, "not-hers");
    give(&service, &id, 60, "hers");
    let received = stream.one();
    assert_eq!(received.name, "points.awarded");
    let history = mia.get("/api/user/points").expect(200);
    assert_eq!(received.data, history.at("/history/0"), "as in the list");
    let list = mia.get("/api/quests").expect(200).json();
    let ladder = &list["quests"][2];
    mia.post("/api/quests/start", &json!({"questId": ladder["id"]})).expect(200);
    for step in ladder["steps"].as_array().expect("steps") {
        mia.post("/api/quests/complete-step", &json!({"stepId": step["id"]})).expect(200);
    }
    let rest = stream.take(7);
    assert_eq!(
        names(&rest),
        [
            "step.completed",
            "points.awarded",
            "step.completed",
            "points.awarded",
            "quest.completed",
            "points.awarded",
            "achievement.unlocked"
        ]
    );
    assert_eq!(rest[0].data["stepId"], ladder["steps"][0]["id"]);
    assert_eq!((&rest[0].data["title"], &rest[0].data["points"]), (&json!("The first rung"), &json!(1)));
    assert_eq!((&rest[4].data["questId"], &rest[4].data["title"]), (&ladder["id"], &ladder["title"]));
    // The same again from the table, once.
    let again = mia.stream_after(OWN, Some(&start.to_string())).take(8);
    let ids = |received: &[ReceivedEvent]| received.iter().map(|event| event.id).collect::<Vec<_>>();
    assert_eq!(ids(&again), [vec![received.id], ids(&rest)].concat());
    // An achievement is sent with its key and title, and the quest that it is for.
    let unlocked = &rest[6];
    let achievements = mia.get("/api/user/achievements").expect(200).list("/achievements");
    assert!(
        achievements
            .iter()
            .any(|known| known["key"] == unlocked.data["key"] && !known["unlockedAt"].is_null())
    );
    Ok(())
}

fn a_purchase_is_sent_to_its_buyer(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.client(), service.client());
    let fans = [mia.register("mia"), bo.register("bo_")];
    for (number, fan) in fans.iter().enumerate() {
        give(&service, fan, 50, &format!("rich-{number}"));
    }
    settled(&service);
    let mut stream = mia.stream(OWN).begun();
    let packs = mia.get("/api/packs").expect(200).list("/packs");
    let day = packs.iter().find(|pack| pack["key"] == "day").expect("the pack");
    let path = format!("/api/packs/{}/purchase", day["id"].as_str().expect("an id"));
    let buy = |client: &Client| {
        let keyed = client.ask("POST", &path).header("idempotency-key", "one");
        keyed.json(&json!({"quantity": 1})).send().expect(201).str_at("/purchase/id")
    };
    // Not hers, and before hers.
    buy(&bo);
    let bought = buy(&mia);
    let [paid, received] = [stream.one(), stream.one()];
    assert_eq!((paid.name.as_str(), received.name.as_str()), ("balance.changed", "purchase.changed"));
    assert_eq!(paid.data["account"], "points");
    let points = mia.get("/api/wallets").expect(200).list("/accounts");
    assert!(points.iter().any(|one| one["id"] == "points" && one["balance"] == paid.data["balance"]));
    assert_eq!(
        (&received.data["purchaseId"], &received.data["status"]),
        (&json!(bought), &json!("completed"))
    );
    Ok(())
}

fn an_order_is_sent_to_its_buyer(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let (mia, bo) = (service.client(), service.client());
    let fans = [mia.register("mia"), bo.register("bo_")];
    for (number, fan) in fans.iter().enumerate() {
        give(&service, fan, 50, &format!("rich-{number}"));
    }
    settled(&service);
    let mut stream = mia.stream(OWN).begun();
    let (badge, _) = super::cart::variant(&mia, "badge");
    let order = |client: &Client| {
        let quote = super::cart::put(client, &badge, &json!({"quantity": 1})).expect(200).at("/cart/quote");
        let keyed = client.ask("POST", "/api/checkout").header("idempotency-key", "one");
        keyed.json(&json!({"quote": quote})).send().expect(201).str_at("/order/id")
    };
    // Not hers, and before hers.
    order(&bo);
    let order = order(&mia);
    let [paid, changed] = [stream.one(), stream.one()];
    assert_eq!((paid.name.as_str(), changed.name.as_str()), ("balance.changed", "order.changed"));
    assert_eq!((&paid.data["account"], &paid.data["balance"]), (&json!("points"), &json!(40)));
    assert_eq!((&changed.data["orderId"], &changed.data["status"]), (&json!(order), &json!("completed")));
    Ok(())
}

fn a_new_process_sends_no_earlier_events(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let mia = service.fan("mia");
    for number in 0..30 {
        mia.create_post(&format!("Before, {number}."));
    }
    settled(&service);
    let again = lasting_again(&service)?;
    let mut stream = again.client().stream(ROOM).begun();
    let now = mia.create_post("Now.");
    assert_eq!(stream.one().data["post"]["id"], json!(now));
    Ok(())
}

fn invalid_requests_are_refused(kind: DatabaseKind) -> Result<()> {
    let service = lasting(kind)?;
    let visitor = service.client();
    let unknown = format!("leaderboardId={UNKNOWN}");
    for (target, status, code) in [
        (format!("{BOARD}?{unknown}"), 404, "not_found"),
        (format!("{BOARD}?teamId={UNKNOWN}"), 404, "not_found"),
        (format!("{BOARD}?teamId={UNKNOWN}&{unknown}"), 400, "invalid_request"),
        (format!("{BOARD}?teamId=junk"), 400, "invalid_request"),
        (format!("{ROOM}?scope=team&teamId={UNKNOWN}"), 404, "not_found"),
        (format!("{ROOM}?scope=all&teamId={UNKNOWN}"), 400, "invalid_request"),
        (format!("{ROOM}?scope=nobody"), 400, "invalid_request"),
        (format!("{ROOM}?sort=trending"), 400, "invalid_request"),
        (format!("{ROOM}?scope=following"), 401, "authentication_required"),
        (format!("{ROOM}?scope=team"), 401, "authentication_required"),
        (OWN.to_owned(), 401, "authentication_required"),
        (format!("{OWN}?since=junk"), 401, "authentication_required"),
    ] {
        visitor.get(&target).problem(status, code);
    }
    // A bad request creates no board.
    let foxes = team(&service, 1);
    let boards = || visitor.get("/api/leaderboards").expect(200).list("/leaderboards").len();
    let before = boards();
    visitor.get(&format!("{BOARD}?teamId={foxes}&since=junk")).problem(400, "invalid_request");
    assert_eq!(boards(), before);
    Ok(())
}
