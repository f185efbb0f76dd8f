//! The contract under "Platform", cron routes (spec §1 rule 12, and §4): a timer calls them with a separate
//! secret, and no other caller can.

use anyhow::Result;
use serde_json::json;
use std::time::Duration;
use terrace_testkit::app::boards::StartSeason;
use terrace_testkit::kernel::UserId;
use terrace_testkit::scoring::{Points, TotalsRepair};
use terrace_testkit::{CRON_SECRET, DatabaseKind, TestService, body, on_each_database};

on_each_database! {
    a_timer_refreshes_with_the_secret,
    two_calls_at_once_are_both_answered,
    boards_are_put_in_order_with_the_secret,
    one_of_many_concurrent_reconciliations_does_the_work,
    quests_are_brought_up_to_date_with_the_secret,
}

const SYNC: &str = "/api/cron/sync-trends";

fn a_timer_refreshes_with_the_secret(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let timer = service.client().with_bearer(CRON_SECRET);
    service.fan("mia").create_post("What a save! #derby");
    for _ in 0..2 {
        let answer = timer.ask("POST", SYNC).send().expect(200);
        assert_eq!(answer.at("/refreshed"), true);
        assert!(answer.at("/durationMs").is_u64());
        let trends = service.client().get("/api/trends").expect(200);
        assert_eq!(trends.at("/refreshedAt"), answer.at("/refreshedAt"));
        assert_eq!(trends.str_at("/topics/0/tag"), "derby");
    }
    // The body is ignored, as with other routes that take none.
    timer.ask("POST", SYNC).json(&json!({})).send().expect(200);
    Ok(())
}

fn two_calls_at_once_are_both_answered(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.fan("mia").create_post("What a save! #derby");
    let answers = std::thread::scope(|scope| {
        let ask = || service.client().with_bearer(CRON_SECRET).ask("POST", SYNC).send().expect(200);
        let asked: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect::<Vec<_>>()
    });
    assert!(answers.iter().any(|answer| answer.at("/refreshed") == true));
    assert!(answers.iter().all(|answer| answer.at("/refreshedAt").is_string()));
    Ok(())
}

const BOARDS: &str = "/api/cron/sync-leaderboards";

/// Closes due seasons, and repairs totals (spec, leaderboard scoring rules 2, 3 and 7).
fn boards_are_put_in_order_with_the_secret(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let (mia, timer) = (service.client(), service.client().with_bearer(CRON_SECRET));
    let id = mia.register("mia");
    let award = json!({"userId": id, "amount": 5, "reason": "A ticket", "source": "import:one"});
    timer.post("/api/cron/award-points", &award).expect(200);
    let sync = || timer.ask("POST", BOARDS).send().expect(200);
    let idle = sync();
    assert_eq!(
        [idle.at("/refreshed"), idle.at("/mended"), idle.at("/seasonsTurned"), idle.at("/stepsCompleted")],
        [json!(true), json!(0), json!(0), json!(0)]
    );
    assert!(idle.at("/durationMs").is_u64());

    let user: UserId = id.parse()?;
    let damage = body(move |tx, ctx| {
        for fan in tx.points_between(user, user)? {
            let wrong = fan.totals.into_iter().map(|mut change| {
                change.total.points = Points::new(1_000_000);
                change.total.version += 1;
                change
            });
            let wrong = TotalsRepair { user, totals: wrong.collect(), entries: vec![] };
            tx.write_points_repairs(&[wrong], ctx.now())?;
        }
        Ok(())
    });
    assert!(service.run(service.app().execute(damage)).is_ok());
    assert_eq!(mia.get("/api/leaderboard").expect(200).at("/me/points"), 1_000_000);
    assert_eq!(sync().at("/mended"), 1);
    assert_eq!(mia.get("/api/leaderboard").expect(200).at("/me/points"), 5);
    assert_eq!(sync().at("/mended"), 0);

    // The announced season begins, and the active one ends.
    let next = StartSeason {
        key: "0.6".parse()?,
        name: "Spring".to_owned(),
        starts_at: Some(service.app().now().plus(Duration::from_mins(5))),
        ends_at: None,
    };
    assert!(service.run(service.app().execute(next)).is_ok());
    assert_eq!(sync().at("/seasonsTurned"), 0);
    service.clock().advance(Duration::from_mins(5));
    assert_eq!(sync().at("/seasonsTurned"), 2);
    let board = mia.get("/api/leaderboard").expect(200);
    assert_eq!((board.at("/season/name"), board.at("/total")), (json!("Spring"), json!(0)));
    service.client().ask("POST", BOARDS).send().problem(401, "authentication_required");
    Ok(())
}

fn one_of_many_concurrent_reconciliations_does_the_work(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let answers = std::thread::scope(|scope| {
        let ask = || service.client().with_bearer(CRON_SECRET).ask("POST", BOARDS).send().expect(200);
        let asked: Vec<_> = (0..6).map(|_| scope.spawn(ask)).collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer")).collect::<Vec<_>>()
    });
    assert!(answers.iter().any(|answer| answer.at("/refreshed") == true));
    for answer in &answers {
        assert_eq!(answer.at("/mended").is_u64(), answer.at("/refreshed") == true);
    }
    Ok(())
}

/// Completes the steps whose conditions fans meet, without a request by them (spec §1 rule 12).
fn quests_are_brought_up_to_date_with_the_secret(kind: DatabaseKind) -> Result<()> {
    const QUESTS: &str = "/api/cron/sync-quests";
    let service = TestService::start(kind)?;
    let (mia, timer) = (service.fan("mia"), service.client().with_bearer(CRON_SECRET));
    service.fan("bo_");
    let sync = || timer.ask("POST", QUESTS).send().expect(200);
    let idle = sync();
    assert!(idle.at("/durationMs").is_u64());
    let counts = |answer: &terrace_testkit::Answer| {
        ["fansChecked", "stepsCompleted", "questsCompleted", "pointsAwarded", "achievementsUnlocked"]
            .map(|count| answer.at(&format!("/{count}")).as_i64())
    };
    assert_eq!(idle.at("/refreshed"), true);
    assert_eq!(counts(&idle), [2, 0, 0, 0, 0].map(Some));
    let team = mia.get("/api/teams").expect(200).str_at("/teams/0/id");
    mia.patch("/api/user", &json!({"favoriteTeamId": team})).expect(200);
    let bo = service.client().login("bo_").str_at("/user/id");
    mia.post("/api/user/follow", &json!({"userId": bo})).expect(200);
    // With the points of their steps the first two are on the board that the third step requires.
    assert_eq!(counts(&sync()), [2, 3, 1, 85, 1].map(Some));
    assert_eq!(counts(&sync()), [2, 0, 0, 0, 0].map(Some));
    assert_eq!(mia.get("/api/user/points").expect(200).at("/total"), 85);
    service.client().ask("POST", QUESTS).send().problem(401, "authentication_required");
    Ok(())
}

#[test]
fn without_the_secret_every_call_is_refused() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let (fan, phone) = (service.fan("mia"), service.mobile_fan("bo_"));
    let visitor = service.client();
    for client in [&visitor, &fan, &visitor.with_cookie("session", CRON_SECRET)] {
        let refused = client.ask("POST", SYNC).send().problem(401, "authentication_required");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer"));
    }
    let longer = format!("{CRON_SECRET}x");
    for wrong in ["junk", "", &CRON_SECRET[1..], &longer, &CRON_SECRET.to_uppercase()] {
        let refused = visitor.with_bearer(wrong).ask("POST", SYNC).send().problem(401, "invalid_token");
        assert_eq!(refused.header("www-authenticate"), Some("Bearer error=\"invalid_token\""));
    }
    // A fan's token does not open it, and the secret is not a session.
    phone.ask("POST", SYNC).send().problem(401, "invalid_token");
    visitor.with_bearer(CRON_SECRET).get("/api/user").problem(401, "invalid_token");
    visitor.with_bearer(CRON_SECRET).get("/api/trends").problem(401, "invalid_token");
    // The secret is not accepted in a query.
    let target = format!("{SYNC}?secret=x");
    visitor.ask("POST", &target).send().problem(401, "authentication_required");
    let refused =
        visitor.with_bearer(CRON_SECRET).ask("POST", &target).send().problem(400, "invalid_request");
    assert_eq!(refused.pointers(), ["/secret"]);
    visitor.with_bearer(CRON_SECRET).ask("POST", "/api/cron/nothing").send().problem(404, "not_found");
    visitor.with_bearer(CRON_SECRET).get(SYNC).problem(405, "method_not_allowed");
    assert!(visitor.get("/api/trends").expect(200).at("/refreshedAt").is_null());
    Ok(())
}

/// A page cannot attach the secret, so the request may come from any origin.
#[test]
fn a_timer_may_send_any_origin() -> Result<()> {
    let service = TestService::start(DatabaseKind::Sqlite)?;
    let ask = |client: &terrace_testkit::Client| {
        client
            .ask("POST", SYNC)
            .header("origin", "https://evil.example")
            .header("sec-fetch-site", "cross-site")
            .send()
    };
    ask(&service.client().with_bearer(CRON_SECRET)).expect(200);
    ask(&service.client()).problem(403, "cross_site_request");
    Ok(())
}

#[test]
fn without_a_secret_the_routes_are_closed() -> Result<()> {
    let service = TestService::builder(DatabaseKind::Sqlite).web(|web| web.cron_secret = None).start()?;
    for client in
        [service.client(), service.client().with_bearer(CRON_SECRET), service.client().with_bearer("")]
    {
        let refused = client.ask("POST", SYNC).may_break().send().problem(503, "cron_disabled");
        assert!(refused.header("retry-after").is_some());
    }
    service.client().get("/problems/cron_disabled").expect(200);
    Ok(())
}
