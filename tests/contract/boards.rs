//! Boards as they are read: from memory as from the tables, right at once and at the version that they say.

use super::boards_told::Told;
use super::live::Living;
use super::points;
use super::points::{SECOND, active, award, board_of, favour, founded, start_season};
use anyhow::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::app::accounts::ChangeProfile;
use terrace_testkit::app::boards::{
    AwardPoints, BoardChoice, ChangeBoardMembership, CloseSeason, ReversePoints,
};
use terrace_testkit::app::store::Store;
use terrace_testkit::app::{BoardPage, BoardRefusal, ReadBoard, ShownBoard};
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{Entropy, Limit, Position, TeamId, UserId};
use terrace_testkit::scoring::{RankKey, Ranked, SeasonId, Standing, Writer};
use terrace_testkit::{DatabaseKind, SeededEntropy, TestApp, on_each_database, pgtemp};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

on_each_database! {
    memory_says_of_a_board_what_the_tables_say,
    after_an_award_the_next_read_shows_it,
    every_page_is_a_sort_of_what_was_told_up_to_its_version,
    while_boards_are_loaded_pages_are_right,
    a_season_that_begins_is_seen_at_once,
    a_board_that_is_behind_is_answered,
}

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// Numbers that follow from a seed.
struct Dice(SeededEntropy);

impl Dice {
    fn below(&self, end: usize) -> usize {
        let number = self.0.seed().first_chunk().copied().map(u64::from_le_bytes).expect("32 bytes");
        usize::try_from(number % u64::try_from(end).expect("small")).expect("small")
    }
}

fn limit(rows: usize) -> Limit {
    Limit::new(i64::try_from(rows).expect("a limit")).expect("a limit")
}

fn top(board: BoardChoice) -> ReadBoard {
    ReadBoard { board, season: None, around: None, limit: limit(100), after: None, reader: None }
}

fn found(house: &TestApp, board: BoardChoice, season: Option<SeasonId>) -> Arc<ShownBoard> {
    points::found(house, board, season).expect("a board")
}

fn read(house: &TestApp, asked: &ReadBoard) -> (Arc<ShownBoard>, BoardPage) {
    let shown = found(house, asked.board, asked.season);
    let app = house.app();
    let page = house
        .run(async { app.read_board(app.boards_now(asked.reader).await, &shown, asked).await })
        .expect("a page");
    (shown, page)
}

fn lines(page: &BoardPage) -> Vec<Ranked> {
    page.lines.iter().map(|line| line.ranked).collect()
}

/// What is the same however a page was read.
fn content(page: &BoardPage) -> (Vec<Ranked>, Option<Standing>, u64, Option<RankKey>) {
    (lines(page), page.me, page.total, page.next)
}

/// Does something at random: mostly awards, of few points so that many share them.
fn act(house: &TestApp, dice: &Dice, fans: &[UserId], teams: &[TeamId], name: &str) {
    let (fan, team) = (fans[dice.below(fans.len())], teams[dice.below(teams.len())]);
    let visible = |is_visible| {
        let change = ProfileChange { leaderboard_visible: Some(is_visible), ..ProfileChange::default() };
        ChangeProfile { user: fan, change }
    };
    let membership = |joins| ChangeBoardMembership { user: fan, board: BoardChoice::Team(team), joins };
    match dice.below(24) {
        0 => drop(house.done(visible(false))),
        1 | 2 => drop(house.done(visible(true))),
        3 => drop(house.done(membership(false))),
        4 | 5 => drop(house.done(membership(true))),
        6 => favour(house, fan, Some(team)),
        7 => {
            house.done(award(house, fan, 3, &format!("{name}/wrong")));
            let source = super::points::fact(&format!("{name}/wrong"));
            let (awards, reason) = (house.app().awards(), "Taken back".to_owned());
            house.done(ReversePoints { awards, user: fan, source, reason, by: Writer::Service });
        }
        turn => {
            let amount = i64::try_from(dice.below(4)).expect("small");
            let team = (turn % 2 == 0).then_some(team);
            house.done(AwardPoints { team, ..award(house, fan, amount, name) });
        }
    }
    if dice.below(3) == 0 {
        house.clock().advance(SECOND / 1000);
    }
}

/// Random boards with many ties: tops, pages to the end, neighbours and one's own standing, in a process that keeps
/// boards in memory and in one that does not.
fn memory_says_of_a_board_what_the_tables_say(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let tables = living.house().another()?;
    let fans = tables.crowd("fan", 40);
    let teams = [tables.team("foxes"), tables.team("rovers")];
    let dice = Dice(SeededEntropy::new(70));
    for round in 0..3 {
        for n in 0..120 {
            act(living.house(), &dice, &fans, &teams, &format!("{round}/{n}"));
        }
        living.catch_up();
        for board in [BoardChoice::Global, BoardChoice::Team(teams[0]), BoardChoice::Team(teams[1])] {
            let agree = |asked: &ReadBoard| {
                let (shown, memory) = read(living.house(), asked);
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
                loop {
                    let page = agree(&asked);
                    paged.extend(lines(&page));
                    asked.after = page.next;
                    if asked.after.is_none() {
                        break;
                    }
                }
                assert_eq!(paged, lines(&whole), "{rows} at a time");
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

fn after_an_award_the_next_read_shows_it(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let house = living.house();
    let (fan, team) = (house.fan("mia").id, house.team("foxes"));
    // From the first moment, while the boards are not there yet.
    for n in 1..=200 {
        house.done(AwardPoints { team: Some(team), ..award(house, fan, 1, &n.to_string()) });
        let board = if n % 2 == 0 { BoardChoice::Global } else { BoardChoice::Team(team) };
        let (_, page) = read(house, &ReadBoard { reader: Some(fan), ..top(board) });
        let points = |standing: Standing| standing.ranked.points.get();
        assert_eq!(page.me.map(points), Some(n));
        assert_eq!(lines(&page).first().map(|first| first.points.get()), Some(n));
        assert_eq!(page.lines[0].user.as_ref().map(|card| card.id), Some(fan));
    }
    // So does one who leaves, and comes back.
    for (joins, expected) in [(false, 0), (true, 1), (false, 0)] {
        house.done(ChangeBoardMembership { user: fan, board: BoardChoice::Team(team), joins });
        let asked = ReadBoard { reader: Some(fan), ..top(BoardChoice::Team(team)) };
        assert_eq!(read(house, &asked).1.total, expected);
    }
    Ok(())
}

/// Lets those end who go on until it is over, also where the test fails before.
struct Ends<'o>(&'o AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A page that somebody got.
struct Kept {
    shown: Arc<ShownBoard>,
    asked: ReadBoard,
    page: BoardPage,
}

impl Kept {
    fn check(&self, told: &Told) {
        let Self { shown, asked, page } = self;
        let board = told.board(shown.season.id, shown.board.id, page.version);
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

/// Reads until it is told to stop; of each board neither position ever goes back.
fn keep_reading(
    house: &TestApp,
    over: &AtomicBool,
    fans: &[UserId],
    boards: &[BoardChoice],
    seed: u64,
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
        let (shown, page) = read(house, &asked);
        let now = (page.version.get(), page.stream_position.get());
        assert!(now.0 >= last[which].0 && now.1 >= last[which].1, "{now:?} after {:?}", last[which]);
        assert!(now.0 <= now.1, "the stream goes on before the page: {now:?}");
        last[which] = now;
        kept.push(Kept { shown, asked, page });
    }
    kept
}

fn check_all(house: &TestApp, kept: &[Kept]) {
    house.settled();
    let told = house.run(Told::read(house.app()));
    for kept in kept {
        kept.check(&told);
    }
}

/// Two processes that keep boards in memory, and one that does not: each is read while all of them write.
fn every_page_is_a_sort_of_what_was_told_up_to_its_version(kind: DatabaseKind) -> Result<()> {
    let first = Living::on(founded(kind)?);
    let second = Living::on(first.house().another()?);
    let tables = first.house().another()?;
    let fans = tables.crowd("fan", 25);
    let teams = [tables.team("foxes"), tables.team("rovers")];
    let boards = [BoardChoice::Global, BoardChoice::Team(teams[0]), BoardChoice::Team(teams[1])];
    let over = AtomicBool::new(false);
    let (fans, over) = (&fans, &over);
    let kept: Vec<Kept> = thread::scope(|scope| {
        let readers: Vec<_> = [first.house(), second.house(), &tables]
            .into_iter()
            .zip(1..)
            .map(|(house, seed)| scope.spawn(move || keep_reading(house, over, fans, &boards, seed)))
            .collect();
        let writers: Vec<_> = [first.house(), second.house(), &tables, first.house()]
            .into_iter()
            .zip(100..)
            .map(|(house, seed)| {
                scope.spawn(move || {
                    let dice = Dice(SeededEntropy::new(seed));
                    (0..120).for_each(|n| act(house, &dice, fans, &teams, &format!("{seed}/{n}")));
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
    // And at rest.
    first.catch_up();
    second.catch_up();
    let last: Vec<Kept> = [first.house(), second.house(), &tables]
        .into_iter()
        .flat_map(|house| boards.map(|board| (house, board)))
        .map(|(house, board)| {
            let (shown, page) = read(house, &top(board));
            Kept { shown, asked: top(board), page }
        })
        .collect();
    let head = tables.settled();
    let told = tables.run(Told::read(tables.app()));
    for kept in last {
        kept.check(&told);
        assert_eq!(lines(&kept.page), told.board(kept.shown.season.id, kept.shown.board.id, head));
    }
    Ok(())
}

/// Processes start, load their boards and stop again, one after another, while others write; each is read from its first
/// moment on.
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
            let living = Living::on(writer.another().expect("another process"));
            let loaded = AtomicBool::new(false);
            let read = thread::scope(|scope| {
                let reading = scope.spawn(|| keep_reading(living.house(), &loaded, &fans, &boards, seed));
                let ending = Ends(&loaded);
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
    assert!(kept.iter().any(|kept| kept.page.stamp.is_none()), "nobody read while boards were loaded");
    check_all(&writer, &kept);
    Ok(())
}

/// Rule 7 and "Returns global scoring for the active season": whoever began or closed a season finds it so.
fn a_season_that_begins_is_seen_at_once(kind: DatabaseKind) -> Result<()> {
    let living = Living::on(founded(kind)?);
    let other = living.again();
    let house = living.house();
    let (fan, team) = (house.fan("mia").id, house.team("foxes"));
    let mut past = Vec::new();
    for (n, key) in (1..).zip(["1", "2", "3", "4"]) {
        house.done(AwardPoints { team: Some(team), ..award(house, fan, n, key) });
        let season = active(house).id;
        for board in [BoardChoice::Global, BoardChoice::Team(team)] {
            let (shown, page) = read(house, &top(board));
            assert_eq!((shown.season.id, lines(&page)[0].points.get()), (season, n));
        }
        house.clock().advance(SECOND);
        start_season(house, key, None);
        let begun = active(house);
        for board in [BoardChoice::Global, BoardChoice::Team(team)] {
            let (shown, page) = read(house, &top(board));
            assert_eq!((&shown.season, page.total), (&begun, 0), "season {key}");
        }
        // The other process knows of it as soon as it knows of the log.
        other.catch_up();
        assert_eq!(found(other.house(), BoardChoice::Global, None).season, begun);
        // What is over stays as it was.
        past.push((season, n));
        for (season, points) in &past {
            for board in [BoardChoice::Global, BoardChoice::Team(team)] {
                let (_, page) = read(other.house(), &ReadBoard { season: Some(*season), ..top(board) });
                assert_eq!(lines(&page)[0].points.get(), *points);
            }
        }
    }
    assert_eq!(found(house, BoardChoice::Team(team), None).board.id, board_of(house, team));
    // Between seasons the last that was is shown.
    house.clock().advance(SECOND);
    let last = active(house).id;
    house.done(CloseSeason);
    assert_eq!(found(house, BoardChoice::Global, None).season.id, last);
    let unknown: SeasonId = "0190a6f2-7c1e-7000-8000-000000000000".parse()?;
    let refused = points::found(house, BoardChoice::Global, Some(unknown));
    assert_eq!(refused.err(), Some(BoardRefusal::UnknownSeason));
    Ok(())
}

/// Live models that come further only while they are driven.
struct HeldModels {
    runtime: Runtime,
    house: TestApp,
    _stop: watch::Sender<bool>,
}

impl HeldModels {
    fn on(house: TestApp) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = watch::channel(false);
        drop(runtime.spawn(Arc::clone(house.app()).run_live_models(stopped)));
        Ok(Self { runtime, house, _stop: stop })
    }

    /// Drives them until they know of everything that has committed by now.
    fn catch_up(&self) {
        let head = self.house.settled();
        let reached = self.house.app().live_models_reach(head);
        let known = async { tokio::time::timeout(PATIENCE, reached).await };
        assert!(self.runtime.block_on(known).is_ok(), "the live models do not hear of {head}");
    }
}

/// Gives the relay of PostgreSQL to a process that does not exist, so that nothing that commits becomes public.
fn stop_relay(house: &TestApp, fan: UserId) -> Result<()> {
    if house.kind() == DatabaseKind::Sqlite {
        return Ok(());
    }
    let gone = "UPDATE leases SET holder = gen_random_uuid() WHERE name = 'event-relay' RETURNING 1";
    assert_eq!(pgtemp::execute(house.url(), &[gone])?, "1");
    let begun = Instant::now();
    for n in 0.. {
        house.done(award(house, fan, 1, &format!("before/{n}")));
        if house.run(house.storage().settled()).is_none() {
            break;
        }
        assert!(begun.elapsed() < PATIENCE, "the relay goes on");
    }
    Ok(())
}

/// Neither boards in memory that are held up, nor tables that always hold more than the log tells, keep readers from an
/// answer: it is right as of its version, which does not go back.
fn a_board_that_is_behind_is_answered(kind: DatabaseKind) -> Result<()> {
    let held = HeldModels::on(founded(kind)?)?;
    let (house, tables) = (&held.house, held.house.another()?);
    let fans = house.crowd("fan", 3);
    house.done(award(house, fans[0], 1, "first"));
    held.catch_up();
    let (_, first) = read(house, &top(BoardChoice::Global));
    stop_relay(&tables, fans[1])?;
    let over = AtomicBool::new(false);
    let kept: Vec<Kept> = thread::scope(|scope| {
        let (fans, over, tables) = (&fans, &over, &tables);
        let ending = Ends(over);
        for (n, writer) in [house, tables].into_iter().enumerate() {
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
            for (reading, last) in [house, tables].into_iter().zip(&mut last) {
                let asked = ReadBoard { reader, ..top(BoardChoice::Global) };
                let (shown, page) = read(reading, &asked);
                assert_eq!(page.stamp.is_some(), std::ptr::eq(reading, house));
                assert!(page.version >= std::mem::replace(last, page.version), "a version went back");
                kept.push(Kept { shown, asked, page });
            }
        }
        drop(ending);
        kept
    });
    let in_memory = |kept: &&Kept| kept.page.stamp.is_some();
    assert!(kept.iter().filter(in_memory).all(|kept| lines(&kept.page) == lines(&first)));
    house.clock().advance(SECOND * 6);
    held.catch_up();
    check_all(&tables, &kept);
    // A reader finds what they wrote, as soon as the boards know of it.
    let asked = ReadBoard { reader: Some(fans[0]), ..top(BoardChoice::Global) };
    let (shown, page) = read(house, &asked);
    assert!(page.version > first.version && page.stamp.is_some());
    check_all(&tables, &[Kept { shown, asked, page }]);
    Ok(())
}
