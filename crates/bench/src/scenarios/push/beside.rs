//! Posts at half the maximum rate, alone and beside push messages at a fixed rate. The service does not connect to push
//! services on this machine, so that this process sends the messages, with the code of the service.
//!
//! On PostgreSQL it does so beside the service, as another process of a service may. On SQLite one process does all work,
//! and a second one would compete for the lock of the file instead of committing together with the first: posts are
//! created in this process, too.

use super::posts::PostServer;
use super::{sender, subscriber};
use crate::client::{Load, Sample, Served, drive};
use crate::clock;
use crate::commands;
use crate::numbers::{float, median, whole};
use crate::push_service::PushService;
use crate::report::{Figure, Quantity, Target};
use crate::rows::push as rows;
use crate::scenarios::posts::{PATH, posting};
use crate::scenarios::{Plan, for_each_fan, percentile, rate, shown};
use crate::server::Terrace;
use crate::world::{FANS, Ground, Kind, World};
use anyhow::{Result, anyhow, ensure};
use serde_json::json;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use terrace_app::App;
use terrace_app::notifications::render_pushes;
use terrace_app::push::PushSender;
use terrace_kernel::{Timestamp, UserId, num};
use terrace_outbound::PushNetwork;
use terrace_storage::Storage;
use tokio::runtime::Builder;
use tokio::sync::watch;

/// The interval at which messages become due: 200 in a second.
const INTERVAL: Duration = Duration::from_millis(5);
/// The minimum share of the rate of posts without messages.
const KEPT: Target = Target::AtLeast(0.95);
/// How long posts are counted in a run, because messages are sent in bursts: due ones are looked for once a second.
const COUNTED: Duration = Duration::from_secs(10);
const COUNTED_QUICK: Duration = Duration::from_secs(3);
/// The latest time, after it was due, at which a message counts as sent in time. Due ones are looked for a second after
/// the last was sent.
const LATEST: Duration = Duration::from_secs(2);
/// The minimum share of messages that are sent in time: with fewer, posts are not beside as many as are wanted.
const IN_TIME: Target = Target::AtLeast(0.95);
/// How long after a run its messages may be sent.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(20);

pub(super) fn run(ground: &Ground, plan: &Plan, kind: Kind) -> Result<Vec<Figure>> {
    let counted = if plan.runs > 1 { COUNTED } else { COUNTED_QUICK };
    let world = ground.world(kind, "push", plan.small)?;
    world.fill_boards(plan.buyers + u64::try_from(world.fans.len())?)?;
    let key = sender(PushNetwork::default())?.key();
    world.fill_subscribers(plan.buyers, &subscriber()?, &key.id)?;
    let pushes = Pushes::start(&world)?;
    let target = WriteTarget::start(ground, &world, &pushes)?;
    let mut writes = Writes { world: &world, series: 0 };
    let before = world.count_posts()?;
    let load = plan.load(target.served(), &[201]);
    let most = (0..plan.runs).map(|_| writes.run(&load)).collect::<Result<Vec<_>>>()?;
    let half = Load { duration: counted, pace: Some(rate(&most) / 2.0), ..load };
    let (mut alone, mut beside, mut sent) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.runs {
        alone.push(writes.run(&half)?);
        let (sample, in_time) = pushes.beside(&world, &half, || writes.run(&half))?;
        beside.push(sample);
        sent.push(float(in_time) / counted.as_secs_f64());
    }
    let answered: u64 = [&most, &alone, &beside].into_iter().flatten().map(|sample| sample.answered).sum();
    let written = world.count_posts()? - before;
    ensure!(written == answered, "{answered} posts were acknowledged and {written} are there");
    target.stop()?;
    Ok(figures(kind, [&most, &alone, &beside], &sent))
}

fn figures(kind: Kind, [most, alone, beside]: [&[Sample]; 3], sent: &[f64]) -> Vec<Figure> {
    let due = 1.0 / INTERVAL.as_secs_f64();
    let details = json!({
        "maximum": shown(most),
        "alone": shown(alone),
        "beside": shown(beside),
        "postsWanted": rate(most) / 2.0,
        "messagesPerSecond": sent,
    });
    let database = kind.name();
    let posts = match kind {
        Kind::Sqlite => "commands that create posts".to_owned(),
        Kind::Postgres => format!("POST {PATH}"),
    };
    let what = format!("{posts} at half the maximum, beside {due:.0} push messages/s");
    vec![
        Figure::plain(
            format!("{posts}, {FANS} connections, durable: the maximum"),
            database,
            Quantity::new(rate(most), "posts/s"),
        ),
        Figure::plain(what.clone(), database, Quantity::new(rate(beside), "posts/s"))
            .against("without messages", rate(alone), KEPT)
            .with(details),
        Figure::plain(format!("{what}, p99"), database, Quantity::new(percentile(beside, 990), "ms"))
            .against("without messages", percentile(alone, 990), Target::Unset),
        Figure::plain(
            format!("push messages meanwhile, received within {} s", LATEST.as_secs()),
            database,
            Quantity::new(median(sent.iter().copied()), "/s"),
        )
        .against("due", due, IN_TIME),
    ]
}

/// What creates posts: the service, or this process.
enum WriteTarget {
    Service(Terrace),
    ThisProcess(PostServer),
}

impl WriteTarget {
    fn start(ground: &Ground, world: &World, pushes: &Pushes) -> Result<Self> {
        if world.kind() == Kind::Postgres {
            return Ok(Self::Service(world.serve()?));
        }
        let authors = world.fans.iter().map(|fan| Ok(UserId::from_uuid(fan.id.parse()?)));
        let authors = authors.collect::<Result<_>>()?;
        let workers = ground.program().workers;
        Ok(Self::ThisProcess(PostServer::start(Arc::clone(&pushes.app), authors, workers)?))
    }

    fn served(&self) -> Served {
        match self {
            Self::Service(terrace) => terrace.served(),
            Self::ThisProcess(posts) => posts.served(),
        }
    }

    fn stop(self) -> Result<()> {
        match self {
            Self::Service(terrace) => terrace.stop(),
            Self::ThisProcess(_) => Ok(()),
        }
    }
}

/// Posts of the fans, of which no two are alike.
struct Writes<'a> {
    world: &'a World,
    series: u64,
}

impl Writes<'_> {
    fn run(&mut self, load: &Load<'_>) -> Result<Sample> {
        let first = self.series;
        self.series += u64::try_from(FANS)?;
        let scripts = for_each_fan(|fan| Ok(posting(self.world.cookie(fan)?, first + u64::try_from(fan)?)))?;
        drive(load, scripts)
    }
}

/// Sends messages from a database to a push service on this machine.
struct Pushes {
    storage: Storage,
    app: Arc<App>,
    service: PushService,
}

impl Pushes {
    fn start(world: &World) -> Result<Self> {
        let service = PushService::start()?;
        let sender = sender(service.network()?)?;
        let (storage, app) = commands::open(world)?;
        Ok(Self { storage, app: Arc::new(app.with_push(Arc::new(sender), render_pushes)), service })
    }

    /// Does the work of a run while messages become due; returns its result, and how many of those that were due in the
    /// time that counts were received in time. Fails unless each message was sent once, at the first attempt.
    fn beside<T>(
        &self,
        world: &World,
        load: &Load<'_>,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<(T, u64)> {
        let due_in = |time: Duration| whole(time.div_duration_f64(INTERVAL));
        let count = due_in(load.warm_up + load.duration);
        let begun = clock::now();
        world.enqueue_messages(count, Timestamp::from_micros(clock::unix_micros()), INTERVAL)?;
        self.service.take_received();
        let (stop, stopped) = watch::channel(false);
        let done = thread::scope(|scope| {
            let sending = scope.spawn(|| self.send_until(stopped));
            let done = work().and_then(|done| self.wait_for(count).map(|()| done));
            // Fails only if the sending thread has ended, which its result says.
            let _ = stop.send(true);
            sending.join().map_err(|_| anyhow!("the sending thread panicked"))??;
            done
        })?;
        let mut received = self.service.take_received();
        received.sort_unstable();
        let sent = world.number(rows::SENT)?;
        ensure!(
            sent == count && u64::try_from(received.len())? == count,
            "of {count} messages {sent} were sent and {} received",
            received.len()
        );
        Ok((done, in_time(begun, &received, due_in(load.warm_up))))
    }

    fn send_until(&self, stopped: watch::Receiver<bool>) -> Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(Arc::clone(&self.app).run_push(stopped));
        Ok(())
    }

    /// Waits until this many messages were received.
    fn wait_for(&self, count: u64) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while u64::try_from(self.service.count_received())? < count {
            let received = self.service.count_received();
            ensure!(Instant::now() < deadline, "{received} of {count} messages were received");
            thread::sleep(LOOK);
        }
        Ok(())
    }
}

impl Drop for Pushes {
    fn drop(&mut self) {
        self.storage.close();
    }
}

/// The number of messages from the one with this number on that were received in time. They are sent in the order in which
/// they become due, from `begun` on.
fn in_time(begun: u64, received: &[u64], first: u64) -> u64 {
    let is_late = |number: u32, at| clock::between(begun, at) > INTERVAL.saturating_mul(number) + LATEST;
    let counted = (0..).zip(received).filter(|(number, _)| u64::from(*number) >= first);
    num::to_u64(counted.filter(|(number, at)| !is_late(*number, **at)).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_late_two_seconds_after_they_were_due() {
        let at = |millis: u64| 7 + millis * 1_000_000;
        // They are due at 0, 5, 10 and 15 ms.
        let received = [at(1), at(2_006), at(2_010), at(2_012)];
        assert_eq!(in_time(7, &received, 0), 3);
        assert_eq!(in_time(7, &received, 2), 2);
    }
}
