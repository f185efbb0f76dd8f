//! A process of the service within the test, so that the test can hold its transactions open.

use crate::crash::dice::Dice;
use anyhow::{Context, Result};
use std::sync::Arc;
use std::time::SystemTime;
use terrace_testkit::app::room::CreatePost;
use terrace_testkit::app::store::Tx;
use terrace_testkit::app::{App, AppConfig, Command};
use terrace_testkit::kernel::{Clock, Ctx, Event, Position, PostId, Timestamp, Topic, UserId};
use terrace_testkit::storage::{Storage, StorageConfig};
use terrace_testkit::{SeededEntropy, TestRefusal, body, question};
use tokio::runtime::{Builder, Runtime};

/// The machine's clock, which the other processes use too: processes that share a database share the time.
struct MachineClock;

impl Clock for MachineClock {
    fn now(&self) -> Timestamp {
        #[expect(clippy::disallowed_methods, reason = "the programs beside it go by this clock, too")]
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Timestamp::from_micros(i64::try_from(since_epoch.as_micros()).expect("a year that can be counted"))
    }
}

/// The use cases on the database of the programs.
pub(crate) struct Inside {
    runtime: Runtime,
    storage: Storage,
    app: Arc<App>,
}

impl Inside {
    pub(crate) fn on(url: &str, dice: &mut Dice) -> Result<Self> {
        let (clock, config) = (Arc::new(MachineClock), StorageConfig::new(url));
        let storage = Storage::open(
            config,
            Arc::<MachineClock>::clone(&clock),
            Arc::new(SeededEntropy::new(dice.roll())),
        )?;
        let entropy = Arc::new(SeededEntropy::new(dice.roll()));
        let app = App::new(Arc::new(storage.clone()), clock, entropy, AppConfig::default());
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        Ok(Self { runtime, storage, app: Arc::new(app) })
    }

    /// Writes a post whose transaction commits when `held` returns. Returns its id, if it was acknowledged.
    pub(crate) fn post(
        &self,
        author: UserId,
        text: &str,
        held: impl Fn() + Send + 'static,
    ) -> Option<PostId> {
        let post = CreatePost { author, team: None, body: text.to_owned(), media: None };
        let held = body(move |tx: &mut dyn Tx, ctx: &mut Ctx| {
            let written = post.run(tx, ctx).map_err(|failure| failure.map(|_| TestRefusal))?;
            held();
            Ok(written.post.id)
        });
        // If the database goes away meanwhile, it may be written or not.
        self.runtime.block_on(self.app.execute(held)).ok()
    }

    /// The events after `start`, from the table of events.
    pub(crate) fn events_after(&self, start: i64) -> Result<Vec<Event>> {
        let start = Position::new(start).context("a position")?;
        let asked = self.app.query(question(move |tx| tx.events_after(start, 1_000_000)));
        self.runtime.block_on(asked).ok().context("the events cannot be read")
    }

    /// Those of the locker room.
    pub(crate) fn room_after(&self, start: i64) -> Result<Vec<Event>> {
        let events = self.events_after(start)?.into_iter();
        Ok(events.filter(|event| event.what.topic == Topic::LockerRoom).collect())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.storage.close();
    }
}
