//! The dashboard (spec §4): what it costs, that its ranks are those of its position, and what it may not do. That each part
//! equals the answer of its own route is tested over HTTP.

use super::boards::{Dice, Ends, act};
use super::carts::put;
use super::cost::cost;
use super::live::Living;
use super::orders::{checkout, give_points};
use super::packs::{buy, give_coins, open, pack, shop_of};
use super::payments::paid_shop;
use super::points::{active, award, board_of, favour, founded, global, unbroken};
use super::products;
use super::published_totals::PublishedTotals;
use super::quests::{QUESTS, complete, load, start};
use super::{rewards, trivia, wheels};
use anyhow::Result;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use terrace_testkit::app::accounts::NotFound;
use terrace_testkit::app::boards::{AwardPoints, BoardChoice, ChangeBoardMembership};
use terrace_testkit::app::dashboard::Dashboard;
use terrace_testkit::app::quests::VisitDaily;
use terrace_testkit::app::room::CreatePost;
use terrace_testkit::app::trivia::advance_trivia;
use terrace_testkit::kernel::{Clock, Timestamp, UserId, Uuid};
use terrace_testkit::scoring::Standing;
use terrace_testkit::{DatabaseKind, PRODUCTS, SeededEntropy, TestApp, WHEELS, on_each_database};

on_each_database! {
    spec_4_a_dashboard_takes_at_most_fourteen_statements,
    spec_4_ranks_of_dashboards_are_exact_as_of_their_positions,
    a_dashboard_from_the_tables_equals_that_from_memory,
    reading_a_dashboard_makes_no_board_and_no_event,
    spec_7_a_wheel_with_a_free_spin_is_shown_first,
    spec_7_the_round_is_the_one_that_the_fan_can_play_next,
    spec_7_a_solo_round_that_was_awarded_is_not_shown,
}

/// The maximum number of statements.
const STATEMENTS: u64 = 14;
const REWARD: &str = r#"
    [[reward]]
    key = "drink"
    name = "Drink"
    limit = 1
    grant = { kind = "code", codes = "generated" }
"#;
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

fn read(service: &TestApp, user: UserId) -> Dashboard {
    unbroken(service.run(service.app().dashboard(user))).expect("a dashboard")
}

/// Rounds with these keys, modes and starts. Live ones take 8 seconds, and solo ones two hours.
fn rounds(all: &[(&str, &str, Timestamp)]) -> String {
    let question =
        |number| format!("{{ text = \"Which {number}?\", options = [\"a\", \"b\"], right = \"a\" }}");
    let questions: Vec<String> = (0..3).map(question).collect();
    let round = |(key, mode, start): &(&str, &str, Timestamp)| {
        let (more, asked) = match *mode {
            "solo" => {
                let closes = start.plus(HOUR * 2);
                (format!("closes = \"{closes:?}\"\ncount = 1\naward = 5\n"), questions.join(", "))
            }
            _ => (String::new(), questions[0].clone()),
        };
        format!(
            "[[round]]\nkey = \"{key}\"\ntitle = \"{key}\"\nmode = \"{mode}\"\nstarts = \"{start:?}\"\nseconds = 5\n\
             reveal = 3\npoints = 100\n{more}questions = [{asked}]\n"
        )
    };
    all.iter().map(round).collect()
}

/// A fan who has some of everything.
fn regular(service: &TestApp) -> UserId {
    load(service, QUESTS);
    products::load(service, PRODUCTS);
    wheels::load(service, WHEELS);
    rewards::load(service, REWARD);
    trivia::load(service, &rounds(&[("soon", "live", service.clock().now().plus(HOUR))]));
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    favour(service, fan, Some(team));
    service.done(ChangeBoardMembership { user: fan, board: BoardChoice::Team(team), joins: true });
    service.done(AwardPoints { team: Some(team), ..award(service, fan, 500, "game") });
    give_points(service, fan, 500);
    give_coins(service, fan, 500);
    service.done(VisitDaily { user: fan, awards: service.app().awards() });
    start(service, fan, "ladder");
    unbroken(complete(service, fan, "ladder/one")).expect("a step");
    start(service, fan, "single");
    unbroken(complete(service, fan, "single/only")).expect("a step");
    let day = pack(service, "day").id;
    service.done(buy(service, fan, day, 5));
    for _ in 0..2 {
        service.done(open(service, fan, day, None));
    }
    for _ in 0..2 {
        put(service, fan, "badge", 1);
        service.done(checkout(service, fan));
    }
    rewards::claim(service, fan, "drink");
    let body = "Good morning #terrace".to_owned();
    service.done(CreatePost { author: fan, team: None, body, media: None });
    service.run(service.app().sync_trends()).expect("trends");
    fan
}

/// The fewest statements of several reads: what the process executes beside them is not theirs, and the first read fills
/// the caches of content.
fn statements(service: &TestApp, fan: UserId) -> u64 {
    let counts = (0..8).map(|_| cost(service, || drop(read(service, fan))));
    counts.min().unwrap_or_default()
}

fn spec_4_a_dashboard_takes_at_most_fourteen_statements(kind: DatabaseKind) -> Result<()> {
    let (service, _cashier) = paid_shop(kind)?;
    let fan = regular(&service);
    let living = Living::on(service);
    living.catch_up();
    let service = living.service();
    let shown = read(service, fan);
    let [packs, collectibles, orders, topics] =
        [shown.sealed_packs.len(), shown.collectibles.len(), shown.orders.len(), shown.topics.len()];
    assert_eq!((packs, orders, topics, shown.quests().len()), (3, 2, 1, 4));
    assert!(shown.claims.len() == 1 && shown.wheel.is_some() && shown.numbers.round.is_some());
    assert!(collectibles == 3 && shown.favorite_team.is_some() && shown.team_rank.is_some());
    let counts = [fan, service.fan("bo_").id].map(|fan| statements(service, fan));
    match kind {
        DatabaseKind::Postgres => assert_eq!(counts, [1, 1], "one round trip"),
        DatabaseKind::Sqlite => {
            let [count, fewer] = counts;
            assert!((8..=STATEMENTS).contains(&count), "{count} statements");
            assert!(fewer < count, "{fewer} statements: what a fan does not have is not looked for");
        }
    }
    Ok(())
}

/// Standings as an independent sort of the log up to the position has them.
fn fits(of: &PublishedTotals, service: &TestApp, user: UserId, shown: &Dashboard) {
    let season = active(service).id;
    let on = |board| {
        let rows = of.board(season, board, shown.position);
        rows.into_iter().find(|row| row.user == user)
    };
    let ranked = |standing: &Option<Standing>| standing.map(|standing| standing.ranked);
    assert_eq!(ranked(&shown.global_rank), on(global(service, season)), "as of {}", shown.position);
    let team = shown.account.favorite_team.map(|team| board_of(service, team));
    assert_eq!(ranked(&shown.team_rank), team.and_then(on), "as of {}", shown.position);
}

fn spec_4_ranks_of_dashboards_are_exact_as_of_their_positions(kind: DatabaseKind) -> Result<()> {
    let first = Living::on(founded(kind)?);
    first.catch_up();
    let tables = first.service().another()?;
    let fans = tables.crowd("fan", 12);
    let teams = [tables.team("foxes"), tables.team("rovers")];
    for team in teams {
        tables.done(ChangeBoardMembership { user: fans[0], board: BoardChoice::Team(team), joins: true });
    }
    for (fan, team) in fans.iter().zip(teams.iter().cycle()) {
        favour(&tables, *fan, Some(*team));
    }
    let over = AtomicBool::new(false);
    let (fans, over) = (&fans, &over);
    let kept: Vec<(UserId, Dashboard)> = thread::scope(|scope| {
        let readers = [(first.service(), 1), (&tables, 2)].map(|(service, seed)| {
            scope.spawn(move || {
                let dice = Dice(SeededEntropy::new(seed));
                let mut kept = Vec::new();
                while !over.load(Ordering::SeqCst) {
                    let fan = fans[dice.below(fans.len())];
                    kept.push((fan, read(service, fan)));
                }
                kept
            })
        });
        let ending = Ends(over);
        let writers = [(first.service(), 100), (&tables, 101)].map(|(service, seed)| {
            scope.spawn(move || {
                let dice = Dice(SeededEntropy::new(seed));
                (0..80).for_each(|n| act(service, &dice, fans, &teams, &format!("{seed}/{n}")));
            })
        });
        for writer in writers {
            writer.join().expect("a writer");
        }
        drop(ending);
        readers.into_iter().flat_map(|reader| reader.join().expect("a reader")).collect()
    });
    assert!(kept.len() > 4, "nothing was read");
    tables.settled();
    let published = tables.run(PublishedTotals::read(tables.app()));
    for (fan, shown) in &kept {
        fits(&published, &tables, *fan, shown);
    }
    Ok(())
}

fn a_dashboard_from_the_tables_equals_that_from_memory(kind: DatabaseKind) -> Result<()> {
    let (service, _cashier) = paid_shop(kind)?;
    let fan = regular(&service);
    let tables = service.another()?;
    let living = Living::on(service);
    living.catch_up();
    let [from_memory, from_tables] = [living.service(), &tables].map(|service| read(service, fan));
    assert!(from_memory.global_rank.is_some() && from_memory.team_rank.is_some());
    let all = |shown: &Dashboard| {
        let lists = format!("{:?} {:?} {:?}", shown.sealed_packs, shown.collectibles, shown.orders);
        let own = format!("{:?} {:?} {:?} {:?}", shown.account, shown.visits, shown.numbers, shown.wheel);
        (lists, own, shown.global_rank, shown.team_rank, shown.position, shown.topics.clone())
    };
    assert_eq!(all(&from_memory), all(&from_tables));
    // Of an account that is gone, there is none.
    let unknown = UserId::from_uuid(Uuid::from_u128(1));
    assert_eq!(unbroken(tables.run(tables.app().dashboard(unknown))).err(), Some(NotFound));
    Ok(())
}

fn reading_a_dashboard_makes_no_board_and_no_event(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    favour(&service, fan, Some(team));
    service.settled();
    let head = service.ask(|tx| tx.head());
    let shown = read(&service, fan);
    assert_eq!((shown.team_rank, shown.position), (None, head));
    assert!(service.ask(move |tx| tx.board_of_team(team)).is_none(), "a board was made");
    assert_eq!(service.ask(|tx| tx.head()), head);
    Ok(())
}

fn spec_7_a_wheel_with_a_free_spin_is_shown_first(kind: DatabaseKind) -> Result<()> {
    let service = shop_of(TestApp::start(kind)?)?;
    let fan = service.fan("mia").id;
    assert_eq!(read(&service, fan).wheel, None);
    wheels::load(&service, WHEELS);
    let shown = || {
        let wheel = read(&service, fan).wheel.expect("a wheel");
        (wheel.key.to_string(), wheel.has_free_spin, wheel.next_free_spin_at)
    };
    assert_eq!(shown(), ("daily".to_owned(), true, None));
    wheels::spin(&service, fan, "daily", true).expect("a free spin");
    // The second one has no free spins, and the last one is closed.
    assert_eq!(shown(), ("once".to_owned(), true, None));
    wheels::spin(&service, fan, "once", true).expect("a free spin");
    let (key, is_free, next) = shown();
    assert_eq!((key.as_str(), is_free), ("daily", false));
    let next = next.expect("a next free spin");
    assert!(next > service.clock().now() && next <= service.clock().now().plus(DAY), "{next}");
    service.clock().set(next);
    assert_eq!(shown(), ("daily".to_owned(), true, None));
    Ok(())
}

fn spec_7_the_round_is_the_one_that_the_fan_can_play_next(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let fan = service.fan("mia").id;
    let now = service.clock().now();
    let shown = || {
        let round = read(&service, fan).numbers.round;
        round.map(|round| (round.title, round.has_joined))
    };
    assert_eq!(shown(), None);
    let all = [
        ("far", "live", now.plus(DAY * 3)),
        ("tomorrow", "live", now.plus(DAY + HOUR * 3)),
        ("solo", "solo", now.plus(HOUR * 2)),
        ("dropped", "live", now.plus(HOUR)),
    ];
    trivia::load(&service, &rounds(&all));
    assert_eq!(shown(), Some(("dropped".to_owned(), false)));
    // A cancelled round is not shown. The next live one is more than a day ahead, so the first start decides.
    trivia::load(&service, &rounds(&all[..3]));
    assert_eq!(shown(), Some(("solo".to_owned(), false)));
    // It is open, and then the live one is within a day of its start.
    service.clock().set(now.plus(HOUR * 2));
    let solo = trivia::round(&service, "solo");
    trivia::join(&service, &solo, &[fan]);
    assert_eq!(shown(), Some(("solo".to_owned(), true)));
    service.clock().set(now.plus(HOUR * 3));
    assert_eq!(shown(), Some(("tomorrow".to_owned(), false)));
    trivia::join(&service, &trivia::round(&service, "tomorrow"), &[fan]);
    assert_eq!(shown(), Some(("tomorrow".to_owned(), true)));
    // A live round is shown until its end, also while a solo round is open.
    service.clock().set(now.plus(DAY + HOUR * 3 + Duration::from_secs(7)));
    assert_eq!(shown(), Some(("tomorrow".to_owned(), true)));
    service.clock().set(now.plus(DAY + HOUR * 3 + Duration::from_secs(8)));
    assert_eq!(shown(), Some(("far".to_owned(), false)));
    service.clock().set(now.plus(DAY * 4));
    assert_eq!(shown(), None);
    Ok(())
}

fn spec_7_a_solo_round_that_was_awarded_is_not_shown(kind: DatabaseKind) -> Result<()> {
    let service = founded(kind)?;
    let [mia, bo] = ["mia", "bo_"].map(|name| service.fan(name).id);
    trivia::load(&service, &rounds(&[("solo", "solo", service.clock().now().plus(HOUR))]));
    service.clock().advance(HOUR);
    let solo = trivia::round(&service, "solo");
    trivia::join(&service, &solo, &[mia, bo]);
    let shown = |fan| read(&service, fan).numbers.round.map(|round| round.title);
    let served = trivia::next(&service, &solo, mia).expect("a question");
    trivia::right(&service, &solo, mia, &served.question);
    assert_eq!((shown(mia), shown(bo)), (None, Some("solo".to_owned())));
    // So it is after its only question has lapsed, and the job has awarded the fan.
    trivia::next(&service, &solo, bo).expect("a question");
    service.clock().advance(Duration::from_mins(1));
    service.run(advance_trivia(service.app()))?;
    assert_eq!(shown(bo), None);
    Ok(())
}
