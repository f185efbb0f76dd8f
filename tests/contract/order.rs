//! Events have one public order of which no reader misses anything, whichever process writes, relays or reads
//! (docs/architecture.md, invariants 15 to 17).

use anyhow::{Result, anyhow, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};
use terrace_testkit::app::accounts::ChangeProfile;
use terrace_testkit::app::graph::{FollowTeam, UnfollowTeam};
use terrace_testkit::app::room::{CreatePost, FeedScope, React, ReadFeed};
use terrace_testkit::app::store::{Store, Tx};
use terrace_testkit::app::{App, Consumer, Handle, Progress};
use terrace_testkit::identity::ProfileChange;
use terrace_testkit::kernel::{
    Ctx, Event, EventKind, Limit, NewEvent, Position, PostId, StoreError, TimeKey, Topic, UserId,
};
use terrace_testkit::social::{NewComment, ReactionKind};
use terrace_testkit::{
    DatabaseKind, Gate, TestApp, body, on, on_each_database, pgtemp, question, wait_until,
};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

on_each_database! {
    positions_have_no_gaps_under_sixteen_writers,
    a_reader_by_position_misses_nothing_that_commits_late,
    another_process_takes_the_relay_over,
    a_list_and_the_events_after_it_miss_nothing,
    every_process_sees_a_change_in_time,
    a_change_makes_what_it_concerns_stale_and_nothing_else,
    two_processes_consume_each_event_once,
    a_consumer_resumes_where_a_stopped_one_was,
    a_stop_does_not_wait_for_a_backlog,
    the_outbox_does_not_grow_with_the_events_that_went_through_it,
    the_planner_learns_of_a_small_table_that_grew,
}

/// The longest that a test waits.
const PATIENCE: Duration = Duration::from_secs(30);

/// An event with the number of its command in `object`, by its writer.
fn numbered(writer: UserId, number: u128) -> NewEvent {
    let object: UserId = format!("00000000-0000-0000-0000-{number:012x}").parse().expect("an id");
    NewEvent {
        topic: Topic::LockerRoom,
        kind: EventKind::ReactionChanged,
        actor: Some(writer),
        team: None,
        subject: writer.as_uuid(),
        object: Some(object.as_uuid()),
    }
}

/// Every public event, once the log is settled.
fn public(service: &TestApp) -> Vec<Event> {
    service.settled();
    service.ask(|tx| tx.events_after(Position::START, 1_000_000))
}

/// Appends `count` events in each of `commands` commands, one after another.
async fn append_many(app: Arc<App>, writer: UserId, commands: u128, count: u128) {
    for command in 0..commands {
        let append = body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
            for nth in 0..count {
                tx.append(&numbered(writer, command * count + nth), ctx.now())?;
            }
            Ok(())
        });
        app.execute(append).await.expect("nothing is in the way");
    }
}

/// The numbers that each writer appended, in the public order.
fn by_writer(events: &[Event]) -> BTreeMap<UserId, Vec<u128>> {
    let mut all = BTreeMap::<_, Vec<_>>::new();
    for event in events {
        if let (Some(writer), Some(object)) = (event.what.actor, event.what.object) {
            all.entry(writer).or_default().push(object.as_u128());
        }
    }
    all
}

/// Positions are strictly increasing and without gaps, nothing is there twice, and successive events of one
/// writer stay in that order: sixteen writers in two processes.
fn positions_have_no_gaps_under_sixteen_writers(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let writers = service.crowd("fan", 16);
    service.together(writers.iter().enumerate().map(|(n, writer)| {
        let app = if n % 2 == 0 { service.app() } else { other.app() };
        append_many(Arc::clone(app), *writer, 12, 1 + n as u128 % 3)
    }));
    let events = public(&service);
    let positions: Vec<_> = events.iter().map(|event| event.position.get()).collect();
    let expected: Vec<_> = (1..).take(positions.len()).collect();
    assert_eq!(positions, expected);
    let written = by_writer(&events);
    for (n, writer) in writers.iter().enumerate() {
        let expected: Vec<_> = (0..12 * (1 + n as u128 % 3)).collect();
        assert_eq!(written.get(writer), Some(&expected), "writer {n}");
    }
    Ok(())
}

/// Reads by position, without pause, until it is stopped.
#[derive(Clone, Default)]
struct Reader {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    read: Mutex<Read>,
    more: Condvar,
}

#[derive(Default)]
struct Read {
    events: Vec<Event>,
    stop: bool,
}

impl Reader {
    async fn read(self, app: Arc<App>) {
        let mut last = Position::START;
        loop {
            let stop = self.lock().stop;
            let news = app.query(question(move |tx| tx.events_after(last, 7))).await.expect("events");
            if news.is_empty() && stop {
                return;
            }
            last = news.last().map_or(last, |event| event.position);
            self.lock().events.extend(news);
            self.shared.more.notify_all();
        }
    }

    /// Waits until it has read this writer's event with this number.
    fn wait_for(&self, writer: UserId, number: u128) {
        let event = numbered(writer, number);
        let missing = |read: &mut Read| !read.events.iter().any(|seen| seen.what == event);
        let waited = self.shared.more.wait_timeout_while(self.lock(), PATIENCE, missing);
        assert!(!waited.expect("sound").1.timed_out(), "an event stays hidden");
    }

    fn stop(&self) {
        self.lock().stop = true;
    }

    fn events(&self) -> Vec<Event> {
        self.lock().events.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Read> {
        self.shared.read.lock().expect("sound")
    }
}

/// A command takes its place in a sequence and commits late, after others that began later were read. A
/// reader by position still gets it.
fn a_reader_by_position_misses_nothing_that_commits_late(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::without_dry_run(kind)?;
    let other = service.another()?;
    let writers = service.crowd("fan", 3);
    let [late, quick, busy] = writers[..] else { unreachable!("three") };
    let reader = Reader::default();
    let reading = service.spawn(reader.clone().read(Arc::clone(service.app())));
    // Another writer is active all the time.
    let noise = service.spawn(append_many(Arc::clone(other.app()), busy, 60, 2));
    for round in 0..8 {
        let (entered, release) = (Gate::default(), Gate::default());
        let holding = {
            let (app, entered, release) = (Arc::clone(service.app()), entered.clone(), release.clone());
            service.spawn(async move {
                let hold = body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
                    tx.append(&numbered(late, round), ctx.now())?;
                    entered.open();
                    release.pass();
                    Ok(())
                });
                app.execute(hold).await
            })
        };
        entered.pass();
        let overtaking = other.spawn({
            let app = Arc::clone(other.app());
            let append =
                body(
                    move |tx: &mut dyn Tx, ctx: &mut Ctx| Ok(tx.append(&numbered(quick, round), ctx.now())?),
                );
            async move { app.execute(append).await }
        });
        // SQLite has one writer at a time: there no command overtakes another.
        if kind == DatabaseKind::Postgres {
            reader.wait_for(quick, round);
            assert!(!reader.events().iter().any(|event| event.what == numbered(late, round)));
        }
        release.open();
        assert!(service.join(holding).is_ok() && service.join(overtaking).is_ok());
        reader.wait_for(late, round);
    }
    service.join(noise);
    let all = public(&service);
    reader.stop();
    service.join(reading);
    assert_eq!(reader.events(), all);
    let written = by_writer(&all);
    for (writer, count) in [(late, 8), (quick, 8), (busy, 120)] {
        assert_eq!(written.get(&writer), Some(&(0..count).collect()));
    }
    Ok(())
}

/// The process that relays ends while others write; and after one that died without a release, the next waits
/// for as long as its lease lasts.
fn another_process_takes_the_relay_over(kind: DatabaseKind) -> Result<()> {
    let first = TestApp::start(kind)?;
    let writers = first.crowd("fan", 4);
    first.settled();
    let second = first.another()?;
    let begun: Vec<_> = writers
        .iter()
        .map(|writer| second.spawn(append_many(Arc::clone(second.app()), *writer, 25, 1)))
        .collect();
    first.run(append_many(Arc::clone(first.app()), writers[0], 5, 1));
    drop(first);
    for begun in begun {
        second.join(begun);
    }
    let events = public(&second);
    let positions: Vec<_> = events.iter().map(|event| event.position.get()).collect();
    assert_eq!(positions, (1..).take(positions.len()).collect::<Vec<_>>());
    let count = |writer| by_writer(&events).get(writer).map_or(0, Vec::len);
    assert_eq!([count(&writers[0]), count(&writers[3])], [30, 25]);

    if kind == DatabaseKind::Postgres {
        let died = "UPDATE leases SET holder = gen_random_uuid() WHERE name = 'event-relay' RETURNING 1";
        assert_eq!(pgtemp::execute(second.url(), &[died])?, "1");
        second.clock().advance(Duration::from_secs(6));
        second.run(append_many(Arc::clone(second.app()), writers[1], 5, 1));
        assert_eq!(by_writer(&public(&second))[&writers[1]].len(), 30);
    }
    Ok(())
}

/// A commit is public as soon as all before it are, also while another writes faster than positions are
/// assigned.
#[test]
fn a_writer_without_pause_delays_no_other() -> Result<()> {
    on(DatabaseKind::Postgres, |kind| {
        let service = TestApp::start(kind)?;
        let fan = service.fan("mia").id;
        write_posts(&service, fan, 1);
        service.settled();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let floods = [(); 3].map(|()| scope.spawn(|| flood(service.url(), &is_over)));
            let begun = Instant::now();
            let waited = || begun.elapsed() > PATIENCE;
            while service.ask(|tx| tx.unpublished()).is_none() && !waited() {}
            write_posts(&service, fan, 1);
            while service.run(service.storage().settled()).is_none() && !waited() {}
            let is_behind = service.ask(|tx| tx.unpublished()).is_some();
            is_over.store(true, Ordering::SeqCst);
            for flood in floods {
                flood.join().map_err(|_| anyhow!("a flood panicked"))??;
            }
            ensure!(!waited(), "it is not public yet");
            ensure!(is_behind, "it was the others who waited");
            Ok(())
        })
    })
}

/// Appends the first event again and again, as no command does.
fn flood(url: &str, is_over: &AtomicBool) -> Result<()> {
    while !is_over.load(Ordering::SeqCst) {
        append_twenty_thousand(url)?;
    }
    Ok(())
}

/// Appends the first event 20,000 times.
fn append_twenty_thousand(url: &str) -> Result<()> {
    let columns = "topic, kind, actor_id, subject_id, created_at, detail";
    let many = format!(
        "INSERT INTO outbox ({columns}) SELECT {columns} \
         FROM (SELECT * FROM events ORDER BY position LIMIT 1) AS event, generate_series(1, 20000)"
    );
    pgtemp::execute(url, &[&many]).map(drop)
}

/// On PostgreSQL the space of moved events is used again. Otherwise the relay would read more and more of it.
fn the_outbox_does_not_grow_with_the_events_that_went_through_it(kind: DatabaseKind) -> Result<()> {
    if kind == DatabaseKind::Sqlite {
        return Ok(());
    }
    let service = TestApp::start(kind)?;
    service.fan("mia");
    service.settled();
    let number = |query: &str| -> Result<u64> { Ok(pgtemp::execute(service.url(), &[query])?.parse()?) };
    let mut sizes = Vec::new();
    for _ in 0..5 {
        append_twenty_thousand(service.url())?;
        sizes.push(number("SELECT pg_relation_size('outbox')")?);
        wait_until("all events are moved", || Ok(number("SELECT count(*) FROM outbox")? == 0))?;
    }
    let (first, last) = (sizes[0], sizes[4]);
    assert!(last < 3 * first, "{sizes:?}");
    Ok(())
}

/// On PostgreSQL a small table that grew is analyzed, which makes connections replace the plans that scan it. The server itself
/// would never do so here, because autovacuum is off for the table.
fn the_planner_learns_of_a_small_table_that_grew(kind: DatabaseKind) -> Result<()> {
    if kind == DatabaseKind::Sqlite {
        return Ok(());
    }
    let service = TestApp::start(kind)?;
    service.fan("mia");
    service.settled();
    let planned = |prepare: &[&str]| -> Result<u64> {
        let expected = "SELECT CAST(reltuples AS bigint) FROM pg_class WHERE oid = 'events'::regclass";
        Ok(pgtemp::execute(service.url(), &[prepare, &[expected]].concat())?.parse()?)
    };
    let few = planned(&["ALTER TABLE events SET (autovacuum_enabled = false)", "VACUUM (ANALYZE) events"])?;
    assert!(few < 100, "{few}");
    append_twenty_thousand(service.url())?;
    wait_until("the planner expects the new rows", || Ok(planned(&[])? >= 20_000))
}

/// A list and its `streamPosition` come from one snapshot in this sense: what is not in the list comes after
/// the position.
fn a_list_and_the_events_after_it_miss_nothing(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fans = service.crowd("fan", 4);
    let writing: Vec<_> = fans
        .iter()
        .enumerate()
        .map(|(n, fan)| {
            let (app, author) = (Arc::clone(if n % 2 == 0 { service.app() } else { other.app() }), *fan);
            service.spawn(async move {
                for n in 0..20 {
                    let post = CreatePost { author, team: None, body: format!("Post {n}"), media: None };
                    app.execute(post).await.expect("a post");
                }
            })
        })
        .collect();
    let mut reads: Vec<(BTreeSet<PostId>, Position)> = Vec::new();
    loop {
        let last_turn = writing.iter().all(JoinHandle::is_finished);
        let limit = Limit::new(100)?;
        let read = ReadFeed { scope: FeedScope::All, reader: None, limit, after: None::<TimeKey> };
        let feed = service.found(read);
        reads.push((feed.page.items.iter().map(|view| view.post.id).collect(), feed.position));
        if last_turn {
            break;
        }
    }
    for writing in writing {
        service.join(writing);
    }
    let events = public(&service);
    let created: Vec<_> = events.iter().filter(|event| event.what.kind == EventKind::PostCreated).collect();
    assert_eq!(created.len(), 80);
    assert_eq!(reads.last().map(|(posts, _)| posts.len()), Some(80));
    for (posts, position) in reads {
        let missed = created.iter().filter(|event| {
            event.position <= position && !posts.contains(&PostId::from_uuid(event.what.subject))
        });
        assert_eq!(missed.count(), 0, "neither in the list nor after {position}");
    }
    Ok(())
}

/// Data that a process keeps in memory is marked stale before its own command is answered, and when events of
/// another process become public.
fn every_process_sees_a_change_in_time(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    for n in 0..10 {
        other.settled();
        let (here, there) = (service.app().changes().latest(), other.app().changes().latest());
        service.done(CreatePost { author: fan, team: None, media: None, body: format!("Post {n}") });
        assert!(service.app().changes().latest() > here, "a process that is notified reads nothing stale");
        let mut bell = other.storage().bell();
        other.run(async {
            while other.app().changes().latest() == there {
                let rung = timeout(PATIENCE, bell.changed()).await;
                assert!(rung.is_ok_and(|rung| rung.is_ok()), "the other process is never notified");
            }
        });
    }
    Ok(())
}

/// A process that keeps posts knows which of them changed: its own at once, those of others when their events are public.
/// On SQLite, where one process serves, it does not tell apart what another one wrote.
fn a_change_makes_what_it_concerns_stale_and_nothing_else(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let (fan, team) = (service.fan("mia").id, service.team("owls"));
    let create = |number| CreatePost { author: fan, team: None, media: None, body: format!("Post {number}") };
    let [first, second] = [1, 2].map(|number| service.done(create(number)).post.id);
    let reach = |position| {
        other.run(async {
            let mut bell = other.storage().bell();
            let rung = timeout(PATIENCE, bell.wait_for(|known| *known >= position)).await;
            assert!(rung.is_ok_and(|rung| rung.is_ok()), "the other process is never notified");
        });
    };
    reach(service.settled());
    for round in 0..5 {
        let (here, there) = (service.app().changes(), other.app().changes());
        let before = (here.latest(), there.latest());
        let reaction = [ReactionKind::Like, ReactionKind::Fire][round % 2];
        service.done(React { fan, post: first, kind: Some(reaction) });
        assert!(!here.is_post_current(before.0, first, None), "at once");
        assert!(!here.is_reader_current(before.0, fan), "it is their reaction");
        assert!(here.is_post_current(before.0, second, Some(fan)));
        service.done(FollowTeam { fan, team });
        service.done(UnfollowTeam { fan, team });
        assert!(here.is_post_current(before.0, second, Some(fan)), "posts look the same");
        reach(service.settled());
        assert!(!there.is_post_current(before.1, first, None));
        assert!(!there.is_reader_current(before.1, fan));
        if kind == DatabaseKind::Postgres {
            assert!(there.is_post_current(before.1, second, Some(fan)));
        }
        let before = here.latest();
        let change = ProfileChange { display_name: Some(format!("Mia {round}")), ..ProfileChange::default() };
        service.done(ChangeProfile { user: fan, change });
        assert!(!here.is_post_current(before, second, Some(fan)), "it shows its author");
        reach(service.settled());
    }
    Ok(())
}

/// Leaves one comment under each post, so that a post that is processed twice has two.
const GREETER: Consumer = Consumer {
    name: "greet-new-posts",
    follows: &[EventKind::PostCreated],
    handle: Handle::One(|tx, ctx, event| {
        let post = PostId::from_uuid(event.what.subject);
        let author =
            event.what.actor.ok_or_else(|| StoreError::defect("greet", "a post without an author"))?;
        tx.count_comment(post, author)?;
        tx.insert_comment(&NewComment {
            id: ctx.new_id(),
            post,
            author,
            reply_to: None,
            body: "Welcome".to_owned(),
            created_at: ctx.now(),
        })?;
        Ok(Progress::Done)
    }),
};

/// Lets processes run a consumer while `work` runs, and until it has processed everything.
fn while_consumed(services: &[&TestApp], work: impl FnOnce()) {
    let (stop, stopped) = watch::channel(false);
    let running: Vec<_> = services
        .iter()
        .map(|service| service.spawn(Arc::clone(service.app()).run_consumer(GREETER, stopped.clone())))
        .collect();
    work();
    let service = services[0];
    let last = public(service)
        .into_iter()
        .filter(|event| event.what.kind == EventKind::PostCreated)
        .map(|event| event.position)
        .max();
    // The consumer itself rings no bell.
    wait_until("the consumer has processed every post", || {
        Ok(Some(service.ask(|tx| tx.consumer_position(GREETER.name))) >= last)
    })
    .expect("a consumer that catches up");
    stop.send_replace(true);
    for running in running {
        service.join(running);
    }
}

fn greetings(service: &TestApp) -> Vec<i64> {
    let limit = Limit::new(100).expect("a limit");
    let read = ReadFeed { scope: FeedScope::All, reader: None, limit, after: None };
    service.found(read).page.items.iter().map(|view| view.post.comment_count).collect()
}

fn write_posts(service: &TestApp, author: UserId, count: usize) {
    for n in 0..count {
        service.done(CreatePost { author, team: None, body: format!("Post {n}"), media: None });
    }
}

/// A durable consumer processes each event exactly once, also when two processes run it.
fn two_processes_consume_each_event_once(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let other = service.another()?;
    let fan = service.fan("mia").id;
    write_posts(&service, fan, 20);
    service.settled();
    while_consumed(&[&service, &other], || write_posts(&other, fan, 30));
    assert_eq!(greetings(&service), [1; 50]);
    Ok(())
}

/// The offset moves in the transaction of the work: a later process resumes where it stopped.
fn a_consumer_resumes_where_a_stopped_one_was(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    write_posts(&service, fan, 10);
    while_consumed(&[&service], || ());
    let stood = service.ask(|tx| tx.consumer_position(GREETER.name));
    write_posts(&service, fan, 10);
    service.settled();
    assert_eq!(service.ask(|tx| tx.consumer_position(GREETER.name)), stood, "no process runs it");
    let other = service.another()?;
    drop(service);
    while_consumed(&[&other], || write_posts(&other, fan, 5));
    assert_eq!(greetings(&other), [1; 25]);
    assert!(*other.storage().bell().borrow() > stood);
    Ok(())
}

/// A process that is to stop ends with the current transaction of its consumer, and the next one does the
/// rest.
fn a_stop_does_not_wait_for_a_backlog(kind: DatabaseKind) -> Result<()> {
    let service = TestApp::start(kind)?;
    let fan = service.fan("mia").id;
    write_posts(&service, fan, 20);
    service.settled();
    let (_stop, stopped) = watch::channel(true);
    service.run(Arc::clone(service.app()).run_consumer(GREETER, stopped));
    let greeted: i64 = greetings(&service).iter().sum();
    assert_eq!(greeted, 1, "one event is one transaction");
    while_consumed(&[&service], || ());
    assert_eq!(greetings(&service), [1; 20]);
    Ok(())
}
