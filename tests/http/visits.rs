//! The contract under "Quests" (spec §4): daily visits, and the streak that a fan reads.

use anyhow::Result;
use serde_json::{Value, json};
use std::time::Duration;
use terrace_testkit::{Client, DatabaseKind, TestService, on_each_database};

on_each_database! {
    a_streak_can_be_read_without_a_visit,
    a_visit_pays_coins_and_returns_the_streak,
    concurrent_visits_pay_coins_once,
    a_missed_date_uses_a_freeze_before_it_breaks_the_streak,
    visits_need_a_session_and_take_no_parameters,
}

const VISIT: &str = "/api/quests/daily-visit";
const DAY: Duration = Duration::from_hours(24);

fn status(client: &Client) -> Value {
    client.get(VISIT).expect(200).json()
}

fn coins(client: &Client) -> i64 {
    let accounts = client.get("/api/wallets").expect(200).list("/accounts");
    let coins = accounts.iter().find(|account| account["kind"] == "coins").expect("coins");
    coins["balance"].as_i64().expect("a number")
}

fn a_streak_can_be_read_without_a_visit(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let now = service.app().now().to_string();
    for _ in 0..2 {
        let mut none = status(&mia);
        let next = none["nextVisitAt"].take();
        assert!(
            next.as_str().is_some_and(|next| *next <= *now && next.ends_with("T00:00:00.000Z")),
            "{next}"
        );
        let next = json!({"days": 2, "points": 0, "coins": 10});
        let expected = json!({
            "streak": 0, "longestStreak": 0, "freezes": 0, "visitedToday": false, "nextVisitAt": null,
            "nextMilestone": next,
        });
        assert_eq!(none, expected, "reading is no visit");
    }
    Ok(())
}

fn a_visit_pays_coins_and_returns_the_streak(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    let mut paid = Vec::new();
    for _ in 0..7 {
        let visit = mia.post(VISIT, &json!({})).expect(200).json();
        paid.push([visit["pointsAwarded"].clone(), visit["coinsAwarded"].clone()]);
        // The answer of a visit has what a read after it has.
        let read = status(&mia);
        for (name, value) in read.as_object().expect("an object") {
            assert_eq!(&visit[name], value, "{name}");
        }
        assert_eq!(read["visitedToday"], true);
        let again = mia.post(VISIT, &json!({})).expect(200);
        assert_eq!([again.at("/pointsAwarded"), again.at("/coinsAwarded")], [json!(0), json!(0)]);
        assert_eq!(again.at("/nextMilestone"), read["nextMilestone"]);
        service.clock().advance(DAY);
    }
    let coins_of = |days: usize| match days {
        2 | 7 => 10,
        _ => 0,
    };
    let expected: Vec<_> =
        (1..=7).map(|day| [json!(if day == 7 { 60 } else { 10 }), json!(coins_of(day))]).collect();
    assert_eq!(paid, expected);
    assert_eq!(coins(&mia), 20);
    let read = status(&mia);
    assert_eq!(
        [&read["streak"], &read["longestStreak"], &read["freezes"]],
        [&json!(7), &json!(7), &json!(1)]
    );
    assert_eq!(read["nextMilestone"], json!({"days": 30, "points": 250, "coins": 50}));
    Ok(())
}

fn concurrent_visits_pay_coins_once(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    mia.post(VISIT, &json!({})).expect(200);
    service.clock().advance(DAY);
    let paid: i64 = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..20)
            .map(|_| scope.spawn(|| mia.post(VISIT, &json!({})).expect(200).at("/coinsAwarded").as_i64()))
            .collect();
        asked.into_iter().map(|asked| asked.join().expect("an answer").expect("a number")).sum()
    });
    assert_eq!((paid, coins(&mia)), (10, 10));
    Ok(())
}

fn a_missed_date_uses_a_freeze_before_it_breaks_the_streak(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    let mia = service.fan("mia");
    for _ in 0..7 {
        mia.post(VISIT, &json!({})).expect(200);
        service.clock().advance(DAY);
    }
    let seen = || {
        let read = status(&mia);
        ["streak", "longestStreak", "freezes", "visitedToday"].map(|name| read[name].clone())
    };
    assert_eq!(seen(), [json!(7), json!(7), json!(1), json!(false)]);
    service.clock().advance(DAY);
    assert_eq!(seen(), [json!(7), json!(7), json!(0), json!(false)]);
    service.clock().advance(DAY);
    assert_eq!(seen(), [json!(0), json!(7), json!(0), json!(false)]);
    assert_eq!(status(&mia)["nextMilestone"]["days"], 2);
    assert_eq!(mia.post(VISIT, &json!({})).expect(200).at("/streak"), 1);
    Ok(())
}

fn visits_need_a_session_and_take_no_parameters(kind: DatabaseKind) -> Result<()> {
    let service = TestService::start(kind)?;
    service.client().get(VISIT).problem(401, "authentication_required");
    service.fan("mia").get(&format!("{VISIT}?limit=1")).problem(400, "invalid_request");
    Ok(())
}
