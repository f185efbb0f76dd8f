//! Reads of boards (spec §1, scoring rules 2, 3 and 7): equal from memory and from the tables, up to date at
//! once, and correct as of the version that they name.

use super::live::Living;
use super::points;
use super::points::{SECOND, active, award, board_of, favour, founded, start_season};
use super::published_totals::PublishedTotals;
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::app::accounts::{ChangeProfile, RestoreAccount, SuspendAccount};
use terrace_testkit::app::boards::{
    AwardPoints, BoardChoice, ChangeBoardMembership, CloseSeason, ReversePoints,
};
use terrace_testkit::app::store::Store;
use terrace_testkit::app::{BoardPage, BoardRefusal, ReadBoard, ShownBoard};
use terrace_testkit::identity::{AccountSpan, AuthorCard, ProfileChange};
use terrace_testkit::kernel::{Entropy, Limit, Position, TeamId, UserId};
use terrace_testkit::scoring::{RankKey, Ranked, SeasonId, Standing, Writer};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database, pgtemp, wait_until};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

on_each_database! {
    a_board_in_memory_equals_the_tables,
    after_an_award_the_next_read_shows_it,
    every_page_is_a_sort_of_the_log_up_to_its_version,
    while_boards_are_loaded_pages_are_right,
    a_season_that_begins_is_seen_at_once,
    a_board_that_is_behind_is_answered,
    a_board_shows_the_names_of_now,
    cards_are_read_in_the_order_of_ids,
}

/// How long a test waits for an expected change.
const PATIENCE: Duration = Duration::from_secs(30);

/// Numbers that follow from a seed.
pub(super) struct Dice(pub(super) SeededEntropy);

impl Dice {
    pub(super) fn below(&self, end: usize) -> usize {
        let number = self.0.seed().first_chunk().copied().map(u64::from_le_bytes).expect("32 bytes");
        usize::try_from(number % u64::try_from(end).expect("small")).expect("small")
    }
}

fn limit(rows: usize) -> Limit {
    Limit::new(i64::try_from(rows).expect("a limit")).expect("a limit")
}

pub(super) fn top(board: BoardChoice) -> ReadBoard {
    ReadBoard {
        board,
        season: None,
        around: None,
        limit: limit(100),
        after: None,
        before: None,
        reader: None,
    }
}

fn found(service: &TestApp, board: BoardChoice, season: Option<SeasonId>) -> Arc<ShownBoard> {
    points::found(service, board, season).expect("a board")
}

pub(super) fn read(service: &TestApp, asked: &ReadBoard) -> (Arc<ShownBoard>, BoardPage) {
    let shown = found(service, asked.board, asked.season);
    let app = service.app();
    let page = service
        .run(async { app.read_board(app.boards_now(asked.reader).await, &shown, asked).await })
        .expect("a page");
    (shown, page)
}

fn lines(page: &BoardPage) -> Vec<Ranked> {
    page.lines.iter().map(|line| line.ranked).collect()
}

/// The part of a page that must not depend on how it was read.
fn content(page: &BoardPage) -> (Vec<Ranked>, Option<Standing>, u64, [Option<RankKey>; 2]) {
    (lines(page), page.me, page.total, [page.next, page.previous])
}

/// Does a random action: mostly awards, of few points so that many fans are tied.
pub(super) fn act(service: &TestApp, dice: &Dice, fans: &[UserId], teams: &[TeamId], name: &str) {
    let (fan, team) = (fans[dice.below(fans.len())], teams[dice.below(teams.len())]);
    let visible = |is_visible| {
        let change = ProfileChange { leaderboard_visible: Some(is_visible), ..ProfileChange::default() };
        ChangeProfile { user: fan, change }
    };
    let membership = |joins| ChangeBoardMembership { user: fan, board: BoardChoice::Team(team), joins };
    match dice.below(24) {
        0 => drop(service.done(visible(false))),
        1 | 2 => drop(service.done(visible(true))),
        3 => drop(service.done(membership(false))),
        4 | 5 => drop(service.done(membership(true))),
        6 => favour(service, fan, Some(team)),
        7 => {
            service.done(award(service, fan, 3, &format!("{name}/wrong")));
            let source = super::points::fact(&format!("{name}/wrong"));
            let (awards, reason) = (service.app().awards(), "Taken back".to_owned());
            service.done(ReversePoints { awards, user: fan, source, reason, by: Writer::Service });
        }
        turn => {
            let amount = i64::try_from(dice.below(4)).expect("small");
            let team = (turn % 2 == 0).then_some(team);
            service.done(AwardPoints { team, ..award(service, fan, amount, name) });
        }
    }
    if dice.below(3) == 0 {
        service.clock().advance(SECOND / 1000);
    }
}

/// Random boards with many ties: tops, pages to the end, neighbours and the reader's own standing, in a
/// process that keeps boards in memory and in one that does not.
fn a_board_in_memory_equals_the_tables(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let tables = living.service().another()?;
    let fans = tables.crowd("fan", 40);
    let teams = [tables.team("foxes"), tables.team("rovers")];
    let dice = Dice(SeededEntropy::new(70));
    for round in 0..3 {
        for n in 0..120 {
            act(living.service(), &dice, &fans, &teams, &format!("{round}/{n}"));
        }
        living.catch_up();
        for board in [BoardChoice::Global, BoardChoice::Team(teams[0]), BoardChoice::Team(teams[1])] {
            let agree = |asked: &ReadBoard| {
                let (shown, memory) = read(living.service(), asked);
                let (same, stored) = read(&tables, asked);
                assert!(memory.stamp.is_some() && stored.stamp.is_none(), "each reads from its own place");
                assert_eq!(shown, same);
                assert_eq!(content(&memory), content(&stored), "{asked:?}");
                memory
            };
            let whole = agree(&top(board));
            assert!(!whole.lines.is_empty() && whole.lines.len() == usize::try_from(whole.total)?);
            for rows in [1, 2, 7, 39, 100] {
                let mut asked = ReadBoard { limit: limit(rows), ..top(board) };
                let mut paged = Vec::new();
                let mut back = loop {
                    let page = agree(&asked);
                    paged.extend(lines(&page));
                    asked.after = page.next;
                    if asked.after.is_none() {
                        break lines(&page);
                    }
                };
                assert_eq!(paged, lines(&whole), "{rows} at a time");
                // The same pages from the end to the start.
                asked.before = back.first().map(Ranked::key);
                while asked.before.is_some() {
                    let page = agree(&asked);
                    assert_eq!(page.next.is_some(), !page.lines.is_empty());
                    back.splice(0..0, lines(&page));
                    asked.before = page.previous;
                }
                assert_eq!(back, paged, "{rows} at a time, backwards");
                for fan in fans.iter().step_by(5) {
                    let around = ReadBoard {
                        around: Some(*fan),
                        reader: Some(*fan),
                        limit: limit(rows),
                        ..top(board)
                    };
                    let page = agree(&around);
                    let is_listed = whole.lines.iter().any(|line| line.ranked.user == *fan);
                    assert_eq!(page.lines.iter().any(|line| line.ranked.user == *fan), is_listed);
                    assert_eq!(page.me.is_some(), is_listed);
                }
            }
        }
    }
    Ok(())
}

/// The next page that a reader gets, which shows what the reader has done. Where the machine is so slow that the boards do not
/// come up to it within half a second, the page is answered without it, and the one after that is read.
fn next_page(service: &TestApp, asked: &ReadBoard, shows: impl Fn(&BoardPage) -> bool) -> BoardPage {
    for _ in 0..60 {
        let begun = Instant::now();
        let (_, page) = read(service, asked);
        if shows(&page) {
            return page;
        }
        assert!(begun.elapsed() >= Duration::from_millis(500), "it did not wait: {page:?}");
    }
    panic!("the boards do not come up to what was committed");
}

fn after_an_award_the_next_read_shows_it(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let service = living.service();
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    // From the first moment, before the boards are loaded.
    for n in 1..=200 {
        service.done(AwardPoints { team: Some(team), ..award(service, fan, 1, &n.to_string()) });
        let board = if n % 2 == 0 { BoardChoice::Global } else { BoardChoice::Team(team) };
        let asked = ReadBoard { reader: Some(fan), ..top(board) };
        let points = |standing: Standing| standing.ranked.points.get();
        let page = next_page(service, &asked, |page| page.me.map(points) == Some(n));
        assert_eq!(lines(&page).first().map(|first| first.points.get()), Some(n));
        assert_eq!(page.lines[0].user.as_ref().map(|card| card.id), Some(fan));
    }
    // Leaving the board and returning to it are visible at once, too.
    for (joins, expected) in [(false, 0), (true, 1), (false, 0)] {
        service.done(ChangeBoardMembership { user: fan, board: BoardChoice::Team(team), joins });
        let asked = ReadBoard { reader: Some(fan), ..top(BoardChoice::Team(team)) };
        next_page(service, &asked, |page| page.total == expected);
    }
    Ok(())
}

/// Sets the flag that ends the background threads of a test when it is dropped, also where the test fails
/// before.
pub(super) struct Ends<'o>(pub(super) &'o AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A page that a reader got.
struct Kept {
    shown: Arc<ShownBoard>,
    asked: ReadBoard,
    page: BoardPage,
}

impl Kept {
    fn check(&self, published: &PublishedTotals) {
        let Self { shown, asked, page } = self;
        let board = published.board(shown.season.id, shown.board.id, page.version);
        let rows = usize::from(asked.limit.rows());
        let at = |user| board.iter().position(|line| line.user == user);
        let first = match asked.around {
            Some(user) => at(user).map_or(board.len(), |place| place.saturating_sub(rows / 2)),
            None => 0,
        };
        let expected: Vec<Ranked> = board.iter().skip(first).take(rows).copied().collect();
        assert_eq!(lines(page), expected, "at {} (memory: {:?}), {asked:?}", page.version, page.stamp);
        assert_eq!(page.total, u64::try_from(board.len()).expect("few"), "at {}", page.version);
        let me = asked.reader.and_then(at).map(|place| board[place]);
        assert_eq!(page.me.map(|me| me.ranked), me, "at {}", page.version);
    }
}

/// Reads until the flag is set, and calls `after_read` each time; for each board, neither position ever goes
/// back.
fn keep_reading(
    service: &TestApp,
    over: &AtomicBool,
    fans: &[UserId],
    boards: &[BoardChoice],
    seed: u64,
    after_read: impl Fn(),
) -> Vec<Kept> {
    let dice = Dice(SeededEntropy::new(seed));
    let mut kept: Vec<Kept> = Vec::new();
    let mut last = vec![(0, 0); boards.len()];
    while !over.load(Ordering::SeqCst) || kept.is_empty() {
        let which = dice.below(boards.len());
        let fan = fans[dice.below(fans.len())];
        let asked = ReadBoard {
            around: (dice.below(2) == 0).then_some(fan),
            reader: (dice.below(2) == 0).then_some(fan),
            limit: limit(1 + dice.below(60)),
            ..top(boards[which])
        };
        let (shown, page) = read(service, &asked);
        let now = (page.version.get(), page.stream_position.get());
        assert!(now.0 >= last[which].0 && now.1 >= last[which].1, "{now:?} after {:?}", last[which]);
        assert!(now.0 <= now.1, "the stream goes on before the page: {now:?}");
        last[which] = now;
        kept.push(Kept { shown, asked, page });
        after_read();
    }
    kept
}

fn check_all(service: &TestApp, kept: &[Kept]) {
    service.settled();
    let published = service.run(PublishedTotals::read(service.app()));
    for kept in kept {
        kept.check(&published);
    }
}

/// Two processes that keep boards in memory, and one that does not: each is read while all of them write.
fn every_page_is_a_sort_of_the_log_up_to_its_version(kind: DatabaseKind) -> Result<()> {
    let first = Living::on(founded(kind)?);
    let second = Living::on(first.service().another()?);
    let tables = first.service().another()?;
    let fans = tables.crowd("fan", 25);
    let teams = [tables.team("foxes"), tables.team("rovers")];
    let boards = [BoardChoice::Global, BoardChoice::Team(teams[0]), BoardChoice::Team(teams[1])];
    let over = AtomicBool::new(false);
    let (fans, over) = (&fans, &over);
    let kept: Vec<Kept> = thread::scope(|scope| {
        let readers: Vec<_> = [first.service(), second.service(), &tables]
            .into_iter()
            .zip(1..)
            .map(|(service, seed)| {
                scope.spawn(move || keep_reading(service, over, fans, &boards, seed, || ()))
            })
            .collect();
        let writers: Vec<_> = [first.service(), second.service(), &tables, first.service()]
            .into_iter()
            .zip(100..)
            .map(|(service, seed)| {
                scope.spawn(move || {
                    let dice = Dice(SeededEntropy::new(seed));
                    (0..120).for_each(|n| act(service, &dice, fans, &teams, &format!("{seed}/{n}")));
                })
            })
            .collect();
        let ending = Ends(over);
        for writer in writers {
            writer.join().expect("a writer");
        }
        drop(ending);
        readers.into_iter().flat_map(|reader| reader.join().expect("a reader")).collect()
    });
    assert!(
        kept.iter().any(|kept| kept.page.stamp.is_some())
            && kept.iter().any(|kept| kept.page.stamp.is_none())
    );
    check_all(&tables, &kept);
    // And when all writers have stopped.
    first.catch_up();
    second.catch_up();
    let last: Vec<Kept> = [first.service(), second.service(), &tables]
        .into_iter()
        .flat_map(|service| boards.map(|board| (service, board)))
        .map(|(service, board)| {
            let (shown, page) = read(service, &top(board));
            Kept { shown, asked: top(board), page }
        })
        .collect();
    let head = tables.settled();
    let published = tables.run(PublishedTotals::read(tables.app()));
    for kept in last {
        kept.check(&published);
        assert_eq!(lines(&kept.page), published.board(kept.shown.season.id, kept.shown.board.id, head));
    }
    Ok(())
}

/// Processes start, load their boards and stop again, one after another, while others write; each is read
/// from its start on.
fn while_boards_are_loaded_pages_are_right(kind: DatabaseKind) -> Result<()> {
    let writer = founded(kind)?;
    let fans = writer.crowd("fan", 25);
    let team = writer.team("foxes");
    let boards = [BoardChoice::Global, BoardChoice::Team(team)];
    let over = AtomicBool::new(false);
    let kept: Vec<Kept> = thread::scope(|scope| {
        let writing = [5, 6].map(|seed| {
            let (writer, fans, over) = (&writer, &fans, &over);
            scope.spawn(move || {
                let dice = Dice(SeededEntropy::new(seed));
                let mut n = 0;
                while !over.load(Ordering::SeqCst) {
                    n += 1;
                    act(writer, &dice, fans, &[team], &format!("{seed}/{n}"));
                }
            })
        });
        let ending = Ends(&over);
        let mut kept = Vec::new();
        for seed in 0..8 {
            let living = HeldModels::on(writer.another().expect("another process")).expect("a runtime");
            let loaded = AtomicBool::new(false);
            let (sender, has_read) = mpsc::channel();
            let read = thread::scope(|scope| {
                let (service, loaded, fans) = (&living.service, &loaded, &fans);
                let reading = scope.spawn(move || {
                    keep_reading(service, loaded, fans, &boards, seed, || sender.send(()).unwrap_or(()))
                });
                let ending = Ends(loaded);
                // Loading takes an instant: the first read comes before it.
                has_read.recv().expect("a first read");
                living.catch_up();
                drop(ending);
                reading.join().expect("a reader")
            });
            kept.extend(read);
        }
        drop(ending);
        for writing in writing {
            writing.join().expect("a writer");
        }
        kept
    });
    assert!(kept.iter().any(|kept| kept.page.stamp.is_none()), "no read while boards were loaded");
    check_all(&writer, &kept);
    Ok(())
}

/// Rule 7 and "Returns global scoring for the active season": a caller who began or closed a season reads
/// that state next.
fn a_season_that_begins_is_seen_at_once(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let other = living.again();
    let service = living.service();
    let (fan, team) = (service.fan("mia").id, service.team("foxes"));
    let mut past = Vec::new();
    for (n, key) in (1..).zip(["1", "2", "3", "4"]) {
        service.done(AwardPoints { team: Some(team), ..award(service, fan, n, key) });
        let season = active(service).id;
        for board in [BoardChoice::Global, BoardChoice::Team(team)] {
            let (shown, page) = read(service, &top(board));
            assert_eq!((shown.season.id, lines(&page)[0].points.get()), (season, n));
        }
        service.clock().advance(SECOND);
        start_season(service, key, None);
        let begun = active(service);
        for board in [BoardChoice::Global, BoardChoice::Team(team)] {
            let (shown, page) = read(service, &top(board));
            assert_eq!((&shown.season, page.total), (&begun, 0), "season {key}");
        }
        // The other process has the season as soon as it has processed the log.
        other.catch_up();
        assert_eq!(found(other.service(), BoardChoice::Global, None).season, begun);
        // Seasons that are over are unchanged.
        past.push((season, n));
        for (season, points) in &past {
            for board in [BoardChoice::Global, BoardChoice::Team(team)] {
                let (_, page) = read(other.service(), &ReadBoard { season: Some(*season), ..top(board) });
                assert_eq!(lines(&page)[0].points.get(), *points);
            }
        }
    }
    assert_eq!(found(service, BoardChoice::Team(team), None).board.id, board_of(service, team));
    // Between seasons the last one is shown.
    service.clock().advance(SECOND);
    let last = active(service).id;
    service.done(CloseSeason);
    assert_eq!(found(service, BoardChoice::Global, None).season.id, last);
    let unknown: SeasonId = "0190a6f2-7c1e-7000-8000-000000000000".parse()?;
    let refused = points::found(service, BoardChoice::Global, Some(unknown));
    assert_eq!(refused.err(), Some(BoardRefusal::UnknownSeason));
    Ok(())
}

/// Live models that advance only while the test drives them.
struct HeldModels {
    runtime: Runtime,
    service: TestApp,
    _stop: watch::Sender<bool>,
}

impl HeldModels {
    fn on(service: TestApp) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = watch::channel(false);
        drop(runtime.spawn(Arc::clone(service.app()).run_live_models(stopped)));
        Ok(Self { runtime, service, _stop: stop })
    }

    /// Drives them until they have processed everything that has committed by now.
    fn catch_up(&self) {
        let head = self.service.settled();
        let reached = self.service.app().live_models_reach(head);
        let known = async { tokio::time::timeout(PATIENCE, reached).await };
        assert!(self.runtime.block_on(known).is_ok(), "the live models do not reach {head}");
    }
}

/// Gives the relay of PostgreSQL to a process that does not exist, so that nothing that commits becomes
/// public.
fn stop_relay(service: &TestApp, fan: UserId) -> Result<()> {
    if service.kind() == DatabaseKind::Sqlite {
        return Ok(());
    }
    let gone = "UPDATE leases SET holder = gen_random_uuid() WHERE name = 'event-relay' RETURNING 1";
    assert_eq!(pgtemp::execute(service.url(), &[gone])?, "1");
    let mut awards = 0;
    wait_until("the relay has stopped", || {
        service.done(award(service, fan, 1, &format!("before/{awards}")));
        awards += 1;
        Ok(service.run(service.storage().settled()).is_none())
    })
}

/// Readers are answered while boards in memory are held up, and while the tables are always ahead of the log:
/// an answer is correct as of its version, which does not go back.
fn a_board_that_is_behind_is_answered(kind: DatabaseKind) -> Result<()> {
    let held = HeldModels::on(founded(kind)?)?;
    let (service, tables) = (&held.service, held.service.another()?);
    let fans = service.crowd("fan", 3);
    service.done(award(service, fans[0], 1, "first"));
    held.catch_up();
    let (_, first) = read(service, &top(BoardChoice::Global));
    stop_relay(&tables, fans[1])?;
    let over = AtomicBool::new(false);
    let kept: Vec<Kept> = thread::scope(|scope| {
        let (fans, over, tables) = (&fans, &over, &tables);
        let ending = Ends(over);
        for (n, writer) in [service, tables].into_iter().enumerate() {
            scope.spawn(move || {
                for nth in 0.. {
                    writer.done(award(writer, fans[nth % 3], 2, &format!("{n}/{nth}")));
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                }
            });
        }
        let (mut kept, mut last) = (Vec::new(), [Position::START; 2]);
        for reader in [None, Some(fans[0]), Some(fans[2]), None, Some(fans[0])] {
            for (reading, last) in [service, tables].into_iter().zip(&mut last) {
                let asked = ReadBoard { reader, ..top(BoardChoice::Global) };
                let (shown, page) = read(reading, &asked);
                assert_eq!(page.stamp.is_some(), std::ptr::eq(reading, service));
                assert!(page.version >= std::mem::replace(last, page.version), "a version went back");
                kept.push(Kept { shown, asked, page });
            }
        }
        drop(ending);
        kept
    });
    let in_memory = |kept: &&Kept| kept.page.stamp.is_some();
    assert!(kept.iter().filter(in_memory).all(|kept| lines(&kept.page) == lines(&first)));
    service.clock().advance(SECOND * 6);
    held.catch_up();
    check_all(&tables, &kept);
    // A reader sees their own writes as soon as the boards have processed them.
    let asked = ReadBoard { reader: Some(fans[0]), ..top(BoardChoice::Global) };
    let (shown, page) = read(service, &asked);
    assert!(page.version > first.version && page.stamp.is_some());
    check_all(&tables, &[Kept { shown, asked, page }]);
    Ok(())
}

/// Spec §4, `GET /api/leaderboard`: names in memory are those of the tables, whichever process changes them.
fn a_board_shows_the_names_of_now(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let service = living.service();
    let other = service.another()?;
    let fans = service.crowd("fan", 3);
    for (fan, points) in fans.iter().zip([30, 20, 10]) {
        service.done(award(service, *fan, points, &points.to_string()));
    }
    let names = || {
        living.catch_up();
        let (_, page) = read(service, &top(BoardChoice::Global));
        assert!(page.stamp.is_some(), "a page from memory");
        let lines = page.lines.into_iter();
        lines.map(|line| line.user.map(|card| card.display_name)).collect::<Vec<_>>()
    };
    let before = names();
    assert!(before.len() == 3 && before.iter().all(Option::is_some));
    for round in 0..20 {
        let name = format!("Name {round}");
        let change = ProfileChange { display_name: Some(name.clone()), ..ProfileChange::default() };
        other.done(ChangeProfile { user: fans[1], change });
        assert_eq!(names(), [before[0].clone(), Some(name), before[2].clone()]);
    }
    let card = service.ask(move |tx| tx.cards(&[fans[0]])).remove(0);
    other.done(SuspendAccount { username: card.username.clone() });
    assert_eq!(names().len(), 2);
    other.done(RestoreAccount { username: card.username });
    assert_eq!(names()[0], before[0]);
    Ok(())
}

/// Cards that are read ahead: those of active accounts, each once, from either end of what is not read yet.
fn cards_are_read_in_the_order_of_ids(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let mut fans = service.crowd("fan", 7);
    fans.sort();
    let gone = service.ask({
        let gone = fans.remove(3);
        move |tx| tx.cards(&[gone])
    });
    service.done(SuspendAccount { username: gone[0].username.clone() });
    let ids = |cards: &[AuthorCard]| cards.iter().map(|card| card.id).collect::<Vec<_>>();
    let backwards = AccountSpan { backwards: true, ..AccountSpan::default() };
    let last = service.ask(move |tx| tx.next_cards(2, &backwards));
    assert_eq!(ids(&last), [fans[5], fans[4]]);
    let mut left = AccountSpan { before: Some(fans[4]), ..AccountSpan::default() };
    let mut read = Vec::new();
    loop {
        let cards = service.ask(move |tx| tx.next_cards(3, &left));
        let Some(last) = cards.last() else { break };
        left.after = Some(last.id);
        read.extend(cards);
    }
    read.extend(last.into_iter().rev());
    assert_eq!(ids(&read), fans);
    let mut found = service.ask(move |tx| tx.cards(&fans));
    found.sort_by_key(|card| card.id);
    assert_eq!(read, found);
    Ok(())
}
