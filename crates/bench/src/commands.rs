//! The bare limit of a write on SQLite: the commands of the service, executed in this process by its own store and
//! writer, from as many tasks as the client has connections. There is no HTTP, no session and no JSON.

use crate::clock;
use crate::numbers::float;
use crate::scenarios::Plan;
use crate::world::{FANS, World};
use crate::writes::{Vary, Write};
use anyhow::{Context, Result, anyhow, ensure};
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use terrace_app::platform::SecretKey;
use terrace_app::{App, AppConfig};
use terrace_kernel::{Clock, Entropy, Outcome, Timestamp};
use terrace_storage::{Storage, StorageConfig};
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local};
use uuid::Uuid;

/// Executes the commands of a unit with these identifiers.
pub(crate) type Work = Arc<dyn Fn(Arc<App>, Vec<Uuid>) -> Pin<Box<dyn Future<Output = Result<()>>>>>;

/// The commands on one database.
pub(crate) struct Commands {
    world: World,
    storage: Storage,
    app: Arc<App>,
    work: Work,
    vary: Vary,
    rows: &'static str,
    runs: u64,
}

impl Commands {
    /// Prepares the execution of commands on this database, in this process.
    pub(crate) fn open(world: World, Write { work, vary, rows, .. }: Write) -> Result<Self> {
        let (storage, app) = open(&world)?;
        // The writer needs a key for sealed seeds, which no other process reads here.
        let app = Arc::new(app.with_secret(&SecretKey::from_bytes([7; 32])));
        Ok(Self { world, storage, app, work, vary, rows, runs: 0 })
    }

    /// Units per second of one run. Fails unless each unit wrote its row.
    pub(crate) fn run(&mut self, plan: &Plan) -> Result<f64> {
        let before = self.world.number(self.rows)?;
        let begun = Instant::now();
        let from = begun + plan.warm_up;
        let until = from + plan.duration;
        let mut tasks = Vec::new();
        for connection in 0..u64::try_from(FANS)? {
            let (app, work, vary) = (Arc::clone(&self.app), Arc::clone(&self.work), Arc::clone(&self.vary));
            let run = self.runs;
            tasks.push(async move {
                let mut count: u64 = 0;
                for number in 0.. {
                    work(Arc::clone(&app), vary(run, connection, number)).await?;
                    let now = Instant::now();
                    if now >= until {
                        break;
                    }
                    count += u64::from(now >= from);
                }
                anyhow::Ok(count)
            });
        }
        self.runs += 1;
        let count = async {
            let tasks: Vec<_> = tasks.into_iter().map(spawn_local).collect();
            let mut count = 0;
            for task in tasks {
                count += task.await.context("a task failed")??;
            }
            anyhow::Ok(count)
        };
        let count = LocalSet::new().block_on(&Builder::new_current_thread().enable_all().build()?, count)?;
        let written = self.world.number(self.rows)? - before;
        ensure!(written >= count, "{count} units were executed and {written} rows were written");
        Ok(float(count) / plan.duration.as_secs_f64())
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.storage.close();
    }
}

/// Opens a database with the default settings of the service.
pub(crate) fn open(world: &World) -> Result<(Storage, App)> {
    let system = Arc::new(System::default());
    let storage = Storage::open(StorageConfig::new(world.url()), system.clone(), system.clone())?;
    let app = App::new(Arc::new(storage.clone()), system.clone(), system, AppConfig::default());
    Ok((storage, app))
}

/// The result of a command, whose refusals are failures here.
pub(crate) fn done<T, R: Debug>(outcome: Outcome<T, R>) -> Result<T> {
    outcome.map_err(|failure| anyhow!("a command failed: {failure:?}"))
}

/// The system's clock, and seeds that differ from each other but are no secrets.
#[derive(Default)]
struct System {
    seeds: AtomicU64,
}

impl Clock for System {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(clock::unix_micros())
    }
}

impl Entropy for System {
    fn seed(&self) -> [u8; 32] {
        let mut seed = [0; 32];
        let (number, now) = (self.seeds.fetch_add(1, Ordering::Relaxed), clock::unix_micros());
        for (place, byte) in seed.iter_mut().zip([number.to_be_bytes(), now.to_be_bytes()].concat()) {
            *place = byte;
        }
        seed
    }
}
