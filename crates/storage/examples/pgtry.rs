#![allow(warnings, clippy::all)]
use std::process::Command;
use std::sync::mpsc::{channel, Receiver};
use std::sync::{Arc, Barrier, Mutex, atomic::*};
use std::time::{Duration, Instant};
use terrace_app::store::*;
use terrace_kernel::*;
use terrace_storage::*;
use uuid::Uuid;

struct Sys;
impl Clock for Sys { fn now(&self) -> Timestamp { Timestamp::from_micros(std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_micros() as i64) } }
impl Entropy for Sys { fn seed(&self) -> [u8; 32] { let mut b=[0u8;32]; use std::io::Read; std::fs::File::open("/dev/urandom").unwrap().read_exact(&mut b).unwrap(); b } }
struct Stuck(i64);
impl Clock for Stuck { fn now(&self) -> Timestamp { Timestamp::from_micros(self.0) } }

type Body = Box<dyn FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + Send>;
struct Job { body: Body, answer: std::sync::mpsc::Sender<Result<(), StoreError>> }
impl WriteJob for Job {
    fn name(&self) -> &'static str { "try" }
    fn run(&mut self, tx: &mut dyn Tx) -> Result<Verdict, StoreError> { (self.body)(tx) }
    fn finish(self: Box<Self>, o: Result<(), StoreError>) { self.answer.send(o).ok(); }
}
fn submit(s: &Storage, body: impl FnMut(&mut dyn Tx) -> Result<Verdict, StoreError> + Send + 'static) -> Receiver<Result<(), StoreError>> {
    let (answer, o) = channel(); s.submit(Box::new(Job { body: Box::new(body), answer })); o
}
struct Ask<F>(F);
impl<F: FnOnce(Result<&mut dyn ReadTx, StoreError>) + Send> ReadJob for Ask<F> {
    fn name(&self) -> &'static str { "ask" }
    fn run(self: Box<Self>, tx: Result<&mut dyn ReadTx, StoreError>) { (self.0)(tx) }
}
fn ask<T: Send + 'static>(s: &Storage, f: impl FnOnce(Result<&mut dyn ReadTx, StoreError>) -> T + Send + 'static) -> T {
    let (t, r) = channel(); s.query(Box::new(Ask(move |tx: Result<&mut dyn ReadTx, StoreError>| { t.send(f(tx)).ok(); }))); r.recv().unwrap()
}
fn event(n: u128) -> NewEvent { NewEvent { topic: Topic::LockerRoom, kind: EventKind::PostCreated, actor: None, team: None, subject: Uuid::from_u128(n), object: None } }
fn sh(c: &str) -> String { let o = Command::new("sh").arg("-c").arg(c).output().unwrap(); String::from_utf8_lossy(&o.stdout).trim().to_string() + &String::from_utf8_lossy(&o.stderr) }
fn psql(sql: &str) -> String { sh(&format!("/usr/lib/postgresql/15/bin/psql -qAt -h 127.0.0.1 -p $PGP -U postgres -d terrace -c \"{sql}\"")) }
fn ready(s: &Storage) -> Result<(), StoreError> { tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(s.ready()) }
fn wait(s: &Storage, p: i64, max: Duration) -> bool {
    let b = s.bell(); let t = Instant::now();
    while t.elapsed() < max { if b.borrow().get() >= p { return true } std::thread::sleep(Duration::from_millis(1)); } false
}
fn threads() -> String { sh("for t in /proc/$PPID/task/*/comm; do cat $t; done | sort | uniq -c | tr '\n' ';'") }

struct Log;
impl log::Log for Log { fn enabled(&self,_:&log::Metadata)->bool{true} fn log(&self,r:&log::Record){ if r.target().starts_with("terrace") {println!("   [{}] {}", r.level(), r.args());} } fn flush(&self){} }

fn main() {
    if std::env::var("V").is_ok() { log::set_logger(&Log).unwrap(); log::set_max_level(log::LevelFilter::Debug); }
    let url = format!("postgres://postgres:s3cret@127.0.0.1:{}/terrace", std::env::var("PGP").unwrap());
    let open = || Storage::open(StorageConfig::new(&url), Arc::new(Sys), Arc::new(Sys)).unwrap();
    let bad = Storage::open(StorageConfig::new(url.replace("/terrace", "/nope")), Arc::new(Sys), Arc::new(Sys)).err().unwrap();
    println!("nope: {bad}");
    let t = Instant::now();
    let bad = Storage::open(StorageConfig::new("postgres://u:s3cret@127.0.0.1:1/d"), Arc::new(Sys), Arc::new(Sys)).err().unwrap();
    println!("down at open: {bad} in {:?}", t.elapsed());
    let (a, b, c) = (open(), open(), open());
    println!("ready before: {:?}", ready(&a));
    let r: Vec<_> = std::thread::scope(|s| [&a, &b, &c].map(|x| s.spawn(move || x.migrate().unwrap().len())).map(|h| h.join().unwrap()).to_vec());
    println!("migrated {r:?} ready {:?}", ready(&a));
    let down = a.revert_all().unwrap(); println!("down {down:?}; left: {}", psql("select count(*) from pg_tables where schemaname='public'"));
    a.migrate().unwrap();
    drop(c);
    // throughput and order
    let t = Instant::now(); let n = 4000u128;
    std::thread::sleep(Duration::from_millis(600));
    let t = Instant::now();
    let outs: Vec<_> = (0..n).map(|i| { loop { let s = if i % 2 == 0 { &a } else { &b };
        if i % 500 == 499 { std::thread::sleep(Duration::from_millis(100)); }
        break submit(s, move |tx| { tx.append(&event(i), Sys.now())?; Ok(Verdict::Commit) }); } }).collect();
    let ok = outs.into_iter().map(|o| o.recv().unwrap()).filter(|r| r.is_ok()).count() as i64;
    println!("{ok} commits in {:?}; head seen by a {} b {}", t.elapsed(), wait(&a, ok, Duration::from_secs(3)), wait(&b, ok, Duration::from_secs(3)));
    println!("events: {} distinct {}", psql("select count(*)||' '||min(position)||' '||max(position) from events"), psql("select count(distinct subject_id) from events"));
    let mut head = ok;
    // latency: commit -> bell on both
    for (name, w, f) in [("a->b", &a, &b), ("b->a", &b, &a), ("a->a", &a, &a), ("b->b", &b, &b)] {
        let mut l: Vec<_> = (0..40).map(|_| { submit(w, move |tx| { tx.append(&event(1), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap().unwrap(); head += 1; let t = Instant::now(); assert!(wait(f, head, Duration::from_secs(2))); t.elapsed() }).collect();
        l.sort(); println!("latency {name}: median {:?} max {:?}", l[20], l[39]);
    }
    // idle cpu
    let cpu = || sh("cat /proc/$PPID/stat | cut -d' ' -f14,15");
    let c0 = cpu(); std::thread::sleep(Duration::from_secs(2)); println!("idle cpu ticks over 2 s: {c0} -> {}", cpu());
    // deadlock
    let bar = Arc::new(Barrier::new(2)); let runs = Arc::new(AtomicU32::new(0));
    for n in ["x", "y"] { submit(&a, move |tx| { tx.take_lease(n, Uuid::nil(), Sys.now(), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap().unwrap(); }
    let mk = |one: &'static str, two: &'static str| { let (bar, runs) = (bar.clone(), runs.clone()); let mut first = true; submit(&a, move |tx| {
        runs.fetch_add(1, Ordering::SeqCst);
        tx.take_lease(one, Uuid::nil(), Sys.now(), Sys.now())?; if std::mem::take(&mut first) { bar.wait(); }
        tx.take_lease(two, Uuid::nil(), Sys.now(), Sys.now())?; Ok(Verdict::Commit) }) };
    let (p, q) = (mk("x", "y"), mk("y", "x"));
    println!("deadlock: {:?} {:?} runs {}", p.recv().unwrap(), q.recv().unwrap(), runs.load(Ordering::SeqCst));
    // deferred failure, swallowed failure, panic, slow
    println!("{}", psql("create table parents(id int primary key); create table orphans(id int references parents deferrable initially deferred);
      create function doom() returns trigger language plpgsql as \\$\\$ begin if new.name='doomed' then insert into orphans values (1); end if; if new.name='bad' then raise exception 'bad'; end if; if new.name='slow' then perform pg_sleep(9); end if; return new; end \\$\\$;
      create trigger doom before insert on leases for each row execute function doom();"));
    let lease = |n: &'static str| move |tx: &mut dyn Tx| { tx.take_lease(n, Uuid::nil(), Sys.now(), Sys.now())?; Ok(Verdict::Commit) };
    println!("doomed: {:?}", submit(&a, lease("doomed")).recv().unwrap());
    println!("swallowed: {:?}", submit(&a, |tx| { tx.append(&event(9), Sys.now())?; let _ = tx.take_lease("bad", Uuid::nil(), Sys.now(), Sys.now()); Ok(Verdict::Commit) }).recv().unwrap());
    println!("panic: {:?}", submit(&a, |tx| { tx.append(&event(9), Sys.now())?; panic!("x") }).recv().unwrap());
    println!("rollback: {:?}", submit(&a, |tx| { tx.append(&event(9), Sys.now())?; Ok(Verdict::Rollback) }).recv().unwrap());
    let t = Instant::now(); println!("slow: {:?} {:?}", submit(&a, lease("slow")).recv().unwrap(), t.elapsed());
    println!("nothing kept: leases [{}] outbox {} subject9 {}", psql("select string_agg(name,',') from leases"), psql("select count(*) from outbox"), psql("select count(*) from events where subject_id='00000000-0000-0000-0000-000000000009'"));
    // rehearse
    let mut cfg = StorageConfig::new(&url); cfg.rehearse = true; let r = Storage::open(cfg, Arc::new(Sys), Arc::new(Sys)).unwrap();
    let runs = Arc::new(AtomicU32::new(0)); let rr = runs.clone();
    println!("rehearse: {:?} runs {}", submit(&r, move |tx| { rr.fetch_add(1, Ordering::SeqCst); tx.append(&event(3), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap(), runs.load(Ordering::SeqCst));
    head += 1; println!("rehearsed once: {}", wait(&a, head, Duration::from_secs(2))); drop(r);
    // killed backends, idle
    println!("killed idle: {}", psql("select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name='terrace'"));
    let outs: Vec<_> = (0..20).map(|_| submit(&a, move |tx| { tx.append(&event(4), Sys.now())?; Ok(Verdict::Commit) })).collect();
    let res: Vec<_> = outs.into_iter().map(|o| o.recv().unwrap().is_ok()).collect(); println!("after kill idle: {res:?}");
    head += 20; println!("relay back: {}", wait(&b, head, Duration::from_secs(8)));
    println!("read after kill: {:?}", ask(&b, |tx| tx.and_then(|t| t.head())));
    // killed in mid transaction
    let mut first = true;
    println!("kill mid: {:?}", submit(&a, move |tx| { tx.append(&event(5), Sys.now())?; if std::mem::take(&mut first) { psql("select pg_terminate_backend(pid) from pg_stat_activity where application_name='terrace' and state='idle in transaction'"); } tx.append(&event(6), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap());
    head += 2; println!("kept both once: {} {}", wait(&a, head, Duration::from_secs(8)), psql("select count(*) from events where subject_id='00000000-0000-0000-0000-000000000005'"));
    let mut first = true;
    println!("kill before commit: {:?}", submit(&a, move |tx| { tx.append(&event(5), Sys.now())?; psql("select pg_terminate_backend(pid) from pg_stat_activity where application_name='terrace' and state='idle in transaction'"); Ok(Verdict::Commit) }).recv().unwrap());
    // lease taken by another that died
    let who = psql("select holder from leases where name='event-relay'");
    psql("update leases set holder='00000000-0000-0000-0000-000000000001', expires_at = now() + interval '5 s' where name='event-relay'");
    std::thread::sleep(Duration::from_millis(1700));
    submit(&a, move |tx| { tx.append(&event(7), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap().unwrap(); head += 1;
    let t = Instant::now(); println!("takeover: {} after {:?}", wait(&a, head, Duration::from_secs(12)), t.elapsed());
    psql("update leases set holder='00000000-0000-0000-0000-000000000001', expires_at = now() + interval '5 days' where name='event-relay'");
    std::thread::sleep(Duration::from_millis(100));
    submit(&a, move |tx| { tx.append(&event(7), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap().unwrap(); head += 1;
    let t = Instant::now(); println!("takeover of an impossible lease: {} after {:?}", wait(&b, head, Duration::from_secs(12)), t.elapsed());
    // long transaction elsewhere does not stall
    // server stops
    println!("stop: {}", sh("$PGSTOP"));
    let t = Instant::now(); println!("away write: {:?} {:?}", submit(&a, lease("z")).recv().unwrap(), t.elapsed());
    let t = Instant::now(); println!("away write 2: {:?} {:?}", submit(&a, lease("z")).recv().unwrap().is_err(), t.elapsed());
    let t = Instant::now(); let outs: Vec<_> = (0..200).map(|_| submit(&a, lease("z"))).collect(); let e = outs.into_iter().filter(|o| o.recv().unwrap().is_err()).count(); println!("200 away: {e} errors in {:?}", t.elapsed());
    let t = Instant::now(); println!("away read: {:?} {:?}", ask(&a, |tx| tx.and_then(|t| t.head())), t.elapsed());
    let t = Instant::now(); println!("away ready: {:?} {:?}", ready(&a), t.elapsed());
    println!("start: {}", sh("$PGSTART"));
    let t = Instant::now(); let mut tries = 0; while submit(&a, lease("z")).recv().unwrap().is_err() { tries += 1; } println!("write back after {:?}, {tries} failures", t.elapsed());
    let t = Instant::now(); while ask(&b, |tx| tx.and_then(|t| t.head())).is_err() {} println!("read back after {:?} ready {:?}", t.elapsed(), ready(&b));
    submit(&a, move |tx| { tx.append(&event(8), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap().unwrap(); head += 1;
    let t = Instant::now(); println!("relay back: {} {} after {:?}", wait(&a, head, Duration::from_secs(12)), wait(&b, head, Duration::from_secs(12)), t.elapsed());
    println!("gapless: {}", psql("select count(*) = max(position) from events"));
    println!("threads: {}", threads());
    let t = Instant::now(); a.close(); drop(a); println!("closed a in {:?}", t.elapsed());
    println!("lease after close: [{}]", psql("select name from leases where name='event-relay'"));
    submit(&b, move |tx| { tx.append(&event(8), Sys.now())?; Ok(Verdict::Commit) }).recv().unwrap().unwrap(); head += 1;
    let t = Instant::now(); println!("b relays: {} after {:?}", wait(&b, head, Duration::from_secs(12)), t.elapsed());
    drop(b);
    std::thread::sleep(Duration::from_millis(100));
    println!("threads: {} sessions {}", threads(), psql("select count(*) from pg_stat_activity where application_name='terrace'"));
}
