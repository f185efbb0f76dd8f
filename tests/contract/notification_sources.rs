//! Contract part 2 §6, notifications that no other fan causes: successes, orders, seasons, ranks, streaks and moderation.

use super::counters::post;
use super::deletion::catch_up;
use super::jobs::turn;
use super::notifications::{HOUR, inbox, notified, texts, unread, verify};
use super::points::{award, fact, founded};
use anyhow::Result;
use terrace_testkit::app::Turn;
use terrace_testkit::app::boards::{ReversePoints, StartSeason};
use terrace_testkit::app::notifications::MarkRead;
use terrace_testkit::app::room::{CreateComment, ReportComment, ReportPost};
use terrace_testkit::kernel::{EventKind, NewEvent, Topic, UserId, Uuid};
use terrace_testkit::ops::reports::{DecideReports, Verdict, decide_reports};
use terrace_testkit::scoring::Writer;
use terrace_testkit::social::notifications::{NotificationKind, ReadMark};
use terrace_testkit::{DatabaseKind, TestApp, jobs, on_each_database};

on_each_database! {
    spec_6_orders_and_purchases_notify_of_what_the_fan_has_not_just_done,
    spec_6_a_level_is_reached_once,
    spec_6_an_achievement_is_a_notification_of_its_own,
    spec_6_a_season_is_one_row_for_all_older_accounts,
    spec_6_who_left_the_first_hundred_is_notified_once,
    spec_6_a_streak_at_risk_is_warned_of_once_a_day,
    spec_6_an_author_is_notified_of_a_removal,
    spec_6_a_database_that_existed_begins_at_the_head,
}

/// Appends an event of a fan.
fn happen(
    service: &TestApp,
    topic: Topic,
    kind: EventKind,
    fan: UserId,
    subject: Uuid,
    detail: &'static str,
) {
    service.write(move |tx, ctx| {
        let event = NewEvent { topic, kind, actor: Some(fan), team: None, subject, object: None };
        Ok(tx.append_with_detail(&event, detail, ctx.now())?)
    });
}

fn run(service: &TestApp, name: &str) {
    let job = jobs().into_iter().find(|job| job.name() == name).expect("a job of the program");
    assert_eq!(turn(service, &job), Turn::Done);
    catch_up(service);
}

fn spec_6_orders_and_purchases_notify_of_what_the_fan_has_not_just_done(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let [order, purchase, claim] = [1, 2, 3].map(Uuid::from_u128);
    for state in ["pending", "cancelled"] {
        happen(&service, Topic::Packs, EventKind::OrderChanged, mia, order, state);
        happen(&service, Topic::Packs, EventKind::PurchaseChanged, mia, purchase, state);
    }
    for state in ["issued", "used"] {
        happen(&service, Topic::Packs, EventKind::ClaimChanged, mia, claim, state);
    }
    // A purchase that is not one in money is complete when it is made.
    happen(&service, Topic::Packs, EventKind::PurchaseChanged, mia, purchase, "completed");
    assert_eq!(texts(&service, mia), Vec::<String>::new());
    happen(&service, Topic::Packs, EventKind::OrderChanged, mia, order, "paid");
    service.clock().advance(HOUR);
    happen(&service, Topic::Packs, EventKind::PurchaseChanged, mia, purchase, "expired");
    catch_up(&service);
    let position = inbox(&service, mia).position;
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::UpTo(position) }), 0);
    service.clock().advance(HOUR);
    happen(&service, Topic::Packs, EventKind::OrderChanged, mia, order, "completed");
    service.clock().advance(HOUR);
    happen(&service, Topic::Packs, EventKind::ClaimChanged, mia, claim, "revoked");
    let shown = notified(&service, mia);
    let seen: Vec<_> =
        shown.iter().map(|it| (it.text.as_str(), it.url.clone(), it.read_at.is_some())).collect();
    assert_eq!(
        seen,
        [
            ("Your reward was revoked", format!("/my-rewards/{claim}"), false),
            ("Your purchase has expired", format!("/purchases/{purchase}"), true),
            ("Your order is complete", format!("/orders/{order}"), false),
        ]
    );
    verify(&service);
    Ok(())
}

fn spec_6_a_level_is_reached_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let mia = service.fan("mia").id;
    let levels = service.run(service.app().club())?.levels.clone();
    let from: Vec<i64> = levels.iter().map(|level| level.from).collect();
    let names: Vec<String> = levels.iter().map(|level| level.name.clone()).collect();
    let levels_of = |service: &TestApp| -> Vec<String> {
        let shown = notified(service, mia).into_iter();
        shown.filter(|it| it.kind == NotificationKind::Level).map(|it| it.text).collect()
    };
    service.done(award(&service, mia, from[1] - 1, "almost"));
    assert_eq!(levels_of(&service), Vec::<String>::new());
    service.done(award(&service, mia, 1, "there"));
    assert_eq!(levels_of(&service), [format!("You reached level 2: {}", names[1])]);
    // Below and above it again: the level is no news.
    service.done(ReversePoints {
        awards: service.app().awards(),
        user: mia,
        source: fact("there"),
        reason: "Not there".to_owned(),
        by: Writer::Service,
    });
    service.done(award(&service, mia, 1, "again"));
    let before = notified(&service, mia);
    assert_eq!(levels_of(&service).len(), 1);
    // Two levels at once are one notification, and part of the group of the day.
    service.done(award(&service, mia, from[3] - from[1], "leap"));
    assert_eq!(levels_of(&service), [format!("You reached level 4: {}", names[3])]);
    assert_eq!(notified(&service, mia).len(), before.len());
    Ok(())
}

fn spec_6_an_achievement_is_a_notification_of_its_own(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mia = service.fan("mia").id;
    let book = service.run(service.app().quest_book())?;
    let mut expected = Vec::new();
    for achievement in &book.achievements()[..2] {
        let key: &'static str = Box::leak(achievement.key.as_str().to_owned().into_boxed_str());
        happen(&service, Topic::Quests, EventKind::AchievementUnlocked, mia, mia.as_uuid(), key);
        expected.push(format!("You unlocked {}", achievement.title));
    }
    let mut found = texts(&service, mia);
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
    // One that the content no longer has cannot be shown, and does not count.
    happen(&service, Topic::Quests, EventKind::AchievementUnlocked, mia, mia.as_uuid(), "gone");
    assert_eq!((texts(&service, mia).len(), unread(&service, mia)), (2, 2));
    Ok(())
}

fn spec_6_a_season_is_one_row_for_all_older_accounts(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    catch_up(&service);
    assert_eq!(unread(&service, mia), 0, "the season that the account began in");
    service.clock().advance(HOUR);
    let season =
        StartSeason { key: "1".parse()?, name: "Season 1".to_owned(), starts_at: None, ends_at: None };
    service.done(season);
    let newcomer = service.fan("newcomer").id;
    let mut seen = texts(&service, mia);
    seen.sort();
    assert_eq!(seen, ["Season 0.5 is over", "Season 1 has begun"]);
    assert_eq!((texts(&service, newcomer).len(), unread(&service, mia), unread(&service, bo)), (0, 2, 2));
    let shown = inbox(&service, mia);
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::Ids(vec![shown.page.items[0].id]) }), 1);
    assert_eq!(service.done(MarkRead { user: mia, mark: ReadMark::UpTo(shown.position) }), 0);
    assert_eq!((unread(&service, mia), unread(&service, bo)), (0, 2));
    assert!(inbox(&service, mia).page.items.iter().all(|it| it.read_at.is_some()));
    verify(&service);
    Ok(())
}

fn spec_6_who_left_the_first_hundred_is_notified_once(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fans = service.crowd("fan", 102);
    for (n, fan) in fans.iter().enumerate() {
        service.done(award(&service, *fan, 1_000 - i64::try_from(n)?, "start"));
    }
    run(&service, "notify-rank-lost");
    let lost = |fan: UserId| {
        notified(&service, fan).into_iter().filter(|it| it.kind == NotificationKind::RankLost).count()
    };
    assert_eq!(lost(fans[99]), 0);
    service.done(award(&service, fans[101], 500, "up"));
    service.clock().advance(HOUR * 24);
    run(&service, "notify-rank-lost");
    service.clock().advance(HOUR * 24);
    run(&service, "notify-rank-lost");
    // Only who left, not who was never among them, and not again on the next day.
    assert_eq!([fans[98], fans[99], fans[100], fans[101]].map(lost), [0, 1, 0, 0]);
    let shown = inbox(&service, fans[99]).page.items;
    let shown = shown.iter().find(|it| it.kind == NotificationKind::RankLost).expect("one");
    assert_eq!(
        (shown.text.as_str(), shown.url.as_str()),
        ("You left the first hundred of all fans", "/table")
    );
    Ok(())
}

fn spec_6_a_streak_at_risk_is_warned_of_once_a_day(kind: DatabaseKind) -> Result<()> {
    use terrace_testkit::quests::Visits;
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    service.write(move |tx, _| {
        for (fan, streak) in [(mia, 5), (bo, 1)] {
            let (zone, visits) = tx.lock_fan(fan)?.expect("a fan");
            let last_paid = Some("2026-05-01".parse().expect("a date"));
            let paid = Visits { last_paid, streak, longest: streak, ..Visits::none(zone) };
            assert!(tx.put_visits(fan, &paid, visits.and_then(|visits| visits.last_paid))?);
        }
        Ok(())
    });
    service.clock().set("2026-05-02T12:00:00Z".parse()?);
    run(&service, "notify-streak-at-risk");
    assert_eq!(texts(&service, mia), Vec::<String>::new(), "it is noon");
    for hour in [19, 20] {
        service.clock().set(format!("2026-05-02T{hour}:00:00Z").parse()?);
        run(&service, "notify-streak-at-risk");
    }
    assert_eq!(texts(&service, mia), ["Your streak of 5 days ends today: visit to keep it"]);
    assert_eq!(texts(&service, bo), Vec::<String>::new());
    let warned = service.log(terrace_testkit::kernel::Position::START).into_iter();
    assert_eq!(warned.filter(|event| event.what.kind == EventKind::StreakAtRisk).count(), 1);
    Ok(())
}

fn spec_6_an_author_is_notified_of_a_removal(kind: DatabaseKind) -> Result<()> {
    use terrace_testkit::app::notifications::SetPreferences;
    use terrace_testkit::social::notifications::{KindPreference, Preferences};
    let service = TestApp::start(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    let mut preferences = Preferences::default();
    for kind in NotificationKind::ALL {
        preferences.set(kind, KindPreference { in_app: false, push: false });
    }
    service.done(SetPreferences { user: mia, preferences });
    let [gone, stays] = [(); 2].map(|()| post(&service, mia));
    let said = service.done(CreateComment { author: mia, post: stays, body: "Mine".to_owned() }).comment.id;
    service.done(ReportPost { fan: bo, post: gone, reason: "Spam".to_owned() });
    service.done(ReportComment { fan: bo, post: stays, comment: said, reason: "Spam".to_owned() });
    let decision = DecideReports {
        ids: vec![gone.as_uuid(), said.as_uuid()],
        verdict: Verdict::Remove,
        by: "kim".to_owned(),
    };
    assert!(service.run(decide_reports(service.app(), decision, false)).is_ok());
    let mut seen: Vec<_> = notified(&service, mia).into_iter().map(|it| (it.text, it.url)).collect();
    seen.sort();
    let expected = [
        ("A moderator removed your comment".to_owned(), format!("/posts/{stays}")),
        ("A moderator removed your post".to_owned(), "/room".to_owned()),
    ];
    assert_eq!(seen, expected);
    verify(&service);
    Ok(())
}

/// The migration stores the offset, so that events from before it notify no one.
fn spec_6_a_database_that_existed_begins_at_the_head(kind: DatabaseKind) -> Result<()> {
    use terrace_testkit::app::graph::FollowUser;
    let service = TestApp::start(kind)?;
    let [mia, bo, kim] = ["mia", "bo_", "kim"].map(|name| service.fan(name).id);
    service.done(FollowUser { fan: bo, other: mia });
    service.settled();
    let storage = service.storage();
    let name = "2026-11-25-000820_notifications";
    let folder = match kind {
        DatabaseKind::Sqlite => "sqlite",
        DatabaseKind::Postgres => "postgres",
    };
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations").join(folder).join(name);
    for file in ["down.sql", "up.sql"] {
        let sql = std::fs::read_to_string(root.join(file))?;
        storage.execute_by_hand(&[sql.as_str()])?;
    }
    service.done(FollowUser { fan: kim, other: mia });
    assert_eq!(texts(&service, mia), ["kim followed you"]);
    Ok(())
}
