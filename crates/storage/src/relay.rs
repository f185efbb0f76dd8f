//! The event relay on PostgreSQL: assigns public, gapless positions to committed events and notifies all processes.
//!
//! Commands insert into `outbox`. The process that holds the lease moves rows from there to `events`, in batches, under
//! a lock on `event_head`. The lease avoids duplicate work and the lock guarantees the order, so two processes that
//! both believe that they hold the lease do no harm. `NOTIFY` is only a wake-up call: the data is read from tables,
//! which are also polled at a slow rate without notifications.
//!
//! Waiting until a process's own commits are public works the same way in every process: one without the lease polls
//! the outbox until its rows have left it.

use crate::conn::Conn;
use crate::error::broken;
use crate::instrument::quietly;
use crate::manager::{Connector, Link, Mode, Session};
use crate::rows::named;
use crate::schema::{events, leases};
use crate::tx::DieselTx;
use crate::types::{At, Key};
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use terrace_kernel::{Appended, Clock, Position, StoreError, num};
use terrace_store::{Changes, LeaseWrite};
use tokio::sync::watch;
use uuid::Uuid;

/// The interval at which notifications are polled. Reading an empty socket is nearly free.
const TICK: Duration = Duration::from_millis(5);
/// The polling interval while a caller waits for another process to assign positions.
const WATCHING: Duration = Duration::from_millis(3);
/// The interval at which the tables are polled without a notification.
const LOOK: Duration = Duration::from_millis(500);
/// The duration of the lease.
const LEASE: Duration = Duration::from_secs(5);
/// The interval at which the lease is renewed, or its acquisition is attempted.
const RENEW: Duration = Duration::from_millis(1500);
/// The number of events that get their positions in one transaction.
const BATCH: i64 = 500;
/// The maximum number of batches before notifications and the lease are checked again.
const BATCHES: u32 = 8;
/// If more events became public at once, they are not read, and everything counts as changed.
const MOST_NOTED: i64 = 2_000;
/// The number of moved events after which the dead rows of the outbox are removed. Each relay reads the outbox from its
/// first page, and the server's own cleaning comes once a minute at most.
const CLEAN_AFTER: i64 = 10_000;
/// The time that readers wait for positions, which normally are assigned within milliseconds.
const SETTLING: Duration = Duration::from_millis(250);
/// The maximum pause before reconnecting.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Name of the lease.
const NAME: &str = "event-relay";
/// Channel that wakes the holder of the lease: the outbox has rows.
const OUTBOX_CHANNEL: &str = "terrace_outbox";
/// Channel that wakes the other processes: the payload is the new head.
const EVENTS_CHANNEL: &str = "terrace_events";

/// The interface between the commands of this process and its relay.
#[derive(Default)]
pub(crate) struct RelayCall {
    state: Mutex<CallState>,
    rung: Condvar,
    /// The number of commits of this process that appended events.
    committed: AtomicU64,
    /// The number of those commits whose events are public.
    dealt: watch::Sender<u64>,
}

#[derive(Default)]
struct CallState {
    rung: bool,
    hurry: bool,
    stop: bool,
}

impl RelayCall {
    /// Reports a commit that appended events.
    pub(crate) fn ring(&self) {
        self.committed.fetch_add(1, Ordering::AcqRel);
        let first = !std::mem::replace(&mut self.lock().rung, true);
        if first {
            self.rung.notify_one();
        }
    }

    /// Waits until all earlier commits are public; `false` if that takes too long.
    pub(crate) async fn settled(&self) -> bool {
        let committed = self.committed.load(Ordering::Acquire);
        if *self.dealt.borrow() >= committed {
            return true;
        }
        let mut dealt = self.dealt.subscribe();
        let settled = tokio::time::timeout(SETTLING, dealt.wait_for(|dealt| *dealt >= committed)).await;
        matches!(settled, Ok(Ok(_)))
    }

    /// Retries immediately, because the cause of an earlier failure may be resolved.
    pub(crate) fn hurry(&self) {
        self.lock().hurry = true;
        self.rung.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.rung.notify_one();
    }

    /// Waits up to `patience` for a commit or for the relay to be stopped. Returns whether there was a commit, and
    /// whether to stop.
    fn wait(&self, patience: Duration) -> (bool, bool) {
        let nothing = |state: &mut CallState| !state.rung && !state.stop;
        let (mut state, _) = self
            .rung
            .wait_timeout_while(self.lock(), patience, nothing)
            .unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut state.rung), state.stop)
    }

    /// Waits for the pause after a failure; commits do not shorten it. Returns whether to stop.
    fn rest(&self, pause: Duration) -> bool {
        let nothing = |state: &mut CallState| !state.hurry && !state.stop;
        let (mut state, _) =
            self.rung.wait_timeout_while(self.lock(), pause, nothing).unwrap_or_else(PoisonError::into_inner);
        state.hurry = false;
        state.stop
    }

    fn lock(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread that relays events, or follows the process that does.
pub(crate) struct Relay {
    pub(crate) connector: Connector,
    pub(crate) call: Arc<RelayCall>,
    pub(crate) bell: watch::Sender<Position>,
    pub(crate) changes: Arc<Changes>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) holder: Uuid,
}

/// The state of the relay on one connection.
struct Watch {
    session: Session,
    holds_lease: bool,
    lease_due: Instant,
    look_due: Instant,
    /// Commits of this process whose positions another process assigns, or this one if there is a backlog. Each entry
    /// is the number of commits of this process at a moment, and the sequence number of the newest row in the outbox at
    /// that moment.
    awaited: VecDeque<(u64, i64)>,
    /// Whether rows remain in the outbox after the last round.
    behind: bool,
    /// The number of events that were moved since the outbox was cleaned.
    moved: i64,
}

#[derive(QueryableByName)]
struct RelayedEvents {
    #[diesel(sql_type = BigInt)]
    moved: i64,
    #[diesel(sql_type = BigInt)]
    head: i64,
}

#[derive(QueryableByName)]
struct Look {
    #[diesel(sql_type = Nullable<BigInt>)]
    oldest: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    newest: Option<i64>,
    #[diesel(sql_type = BigInt)]
    head: i64,
}

impl Relay {
    /// Relays until it is stopped, first on this connection; survives failures of the server.
    pub(crate) fn serve(self, first: Session) {
        let mut connected = Ok(first);
        let mut pause = TICK;
        loop {
            let begun = Instant::now();
            match connected.and_then(|session| self.watch(session)) {
                Ok(()) => return,
                // Expected before the first migration, when there is nothing to relay, so it is not logged as a
                // warning.
                Err(error) => log::debug!("the event relay restarts after an error: {error}"),
            }
            if begun.elapsed() > LONGEST_PAUSE {
                pause = TICK;
            }
            if self.call.rest(pause) {
                return;
            }
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            connected = self.connector.connect(Mode::Read).map_err(StoreError::from);
        }
    }

    /// Relays on one connection until it is stopped or the connection fails.
    fn watch(&self, mut session: Session) -> Result<(), StoreError> {
        let now = Instant::now();
        pg(&mut session)?
            .batch_execute(&format!("LISTEN {OUTBOX_CHANNEL}; LISTEN {EVENTS_CHANNEL}"))
            .map_err(broken("listen"))?;
        let (lease_due, look_due, awaited) = (now, now, VecDeque::new());
        let mut watch =
            Watch { session, holds_lease: false, lease_due, look_due, awaited, behind: false, moved: 0 };
        // Resume the work that the previous connection did not finish.
        self.turn(&mut watch, true)?;
        loop {
            let patience = match watch {
                Watch { behind: true, holds_lease: true, .. } => Duration::ZERO,
                Watch { ref awaited, .. } if awaited.is_empty() => TICK,
                Watch { .. } => WATCHING,
            };
            let (rung, stop) = self.call.wait(patience);
            self.turn(&mut watch, rung)?;
            if stop {
                return self.leave(&mut watch);
            }
        }
    }

    /// One round: checks notifications, the lease and the tables.
    fn turn(&self, watch: &mut Watch, rung: bool) -> Result<(), StoreError> {
        let (mut wanted, mut notified) = (rung, false);
        // Read before rows are moved: later commits signal again.
        let committed = self.call.committed.load(Ordering::Acquire);
        let conn = pg(&mut watch.session)?;
        let mut announced = None;
        for notification in conn.notifications_iter() {
            let notification = notification.map_err(broken("read notifications"))?;
            if notification.channel == EVENTS_CHANNEL {
                announced = announced.max(notification.payload.parse().ok());
                notified = true;
            } else {
                wanted = true;
            }
        }
        if let Some(head) = announced {
            self.publish_head(conn, head)?;
        }
        let now = Instant::now();
        if watch.lease_due <= now {
            let held = watch.holds_lease;
            watch.holds_lease = self.renew(&mut watch.session)?;
            watch.lease_due = now + RENEW;
            // The previous holder may have left rows in the outbox.
            wanted |= watch.holds_lease && !held;
        }
        let waits = rung && !watch.holds_lease;
        if watch.look_due <= now || waits || (notified && !watch.awaited.is_empty()) {
            watch.look_due = now + LOOK;
            let conn = pg(&mut watch.session)?;
            let look = look(conn)?;
            self.publish_head(conn, look.head)?;
            if waits {
                watch.awaited.push_back((committed, look.newest.unwrap_or(0)));
            }
            self.settle(&mut watch.awaited, look.oldest);
            wanted |= look.oldest.is_some() && watch.holds_lease;
        }
        if (wanted || watch.behind) && watch.holds_lease {
            self.move_some(watch, committed)?;
            clean(watch)?;
        } else if !watch.awaited.is_empty() && rung {
            let conn = pg(&mut watch.session)?;
            quietly(conn, |conn| conn.batch_execute(&format!("NOTIFY {OUTBOX_CHANNEL}")))
                .map_err(broken("notify"))?;
        }
        Ok(())
    }

    /// Moves rows from the outbox. Even under continuous writes, a caller waits only for the rows that were in the
    /// outbox before its own.
    fn move_some(&self, watch: &mut Watch, committed: u64) -> Result<(), StoreError> {
        for nth in 0..BATCHES {
            let moved = self.move_batch(pg(&mut watch.session)?)?;
            watch.moved += moved;
            if moved < BATCH {
                watch.behind = false;
                watch.awaited.clear();
                self.call.dealt.send_replace(committed);
                return Ok(());
            }
            let look = look(pg(&mut watch.session)?)?;
            if nth == 0 {
                watch.awaited.push_back((committed, look.newest.unwrap_or(0)));
            }
            self.settle(&mut watch.awaited, look.oldest);
        }
        watch.behind = true;
        Ok(())
    }

    /// Removes the entries whose rows have left the outbox, given its oldest remaining row.
    fn settle(&self, awaited: &mut VecDeque<(u64, i64)>, oldest: Option<i64>) {
        while let Some((committed, newest)) = awaited.front().copied()
            && oldest.is_none_or(|oldest| newest < oldest)
        {
            awaited.pop_front();
            self.call.dealt.send_replace(committed);
        }
    }

    fn renew(&self, session: &mut Session) -> Result<bool, StoreError> {
        let (now, until) = (self.clock.now(), self.clock.now().plus(LEASE));
        quietly(pg(session)?, |conn| {
            // No valid lease expires this late: it was acquired with a wrong clock, and might never expire.
            let implausible = leases::expires_at.gt(At(until.plus(LEASE)));
            let lease = leases::table.filter(leases::name.eq(NAME)).filter(implausible);
            diesel::delete(lease).execute(conn).map_err(broken("drop an impossible lease"))?;
            DieselTx::new(Conn::Pg(conn)).take_lease(NAME, self.holder, now, until)
        })
    }

    /// Assigns the next positions to up to one batch of rows in the outbox; returns their number. One round trip, and
    /// another that delays no caller: `NOTIFY` takes a server-wide lock at commit, so it has a transaction of its own.
    fn move_batch(&self, conn: &mut PgConnection) -> Result<i64, StoreError> {
        let fail = broken("relay events");
        quietly(conn, |conn| {
            let moved: RelayedEvents = diesel::sql_query("SELECT moved, head FROM relay_events($1)")
                .bind::<BigInt, _>(BATCH)
                .get_result(conn)
                .map_err(&fail)?;
            self.publish_head(conn, moved.head)?;
            if moved.moved > 0 {
                let wake_up = format!("NOTIFY {EVENTS_CHANNEL}, '{}'", moved.head);
                conn.batch_execute(&wake_up).map_err(&fail)?;
            }
            metrics::counter!("terrace_store_events_relayed_total").increment(num::to_u64(moved.moved));
            Ok(moved.moved)
        })
    }

    /// If the head has advanced, notes what the new events changed, and notifies the subscribers of this process.
    fn publish_head(&self, conn: &mut PgConnection, head: i64) -> Result<(), StoreError> {
        let known = *self.bell.borrow();
        let Some(head) = Position::new(head).filter(|head| *head > known) else { return Ok(()) };
        if head.get() - known.get() > MOST_NOTED {
            self.changes.note_unknown();
        } else {
            // Among them are events of this process, which were noted at their commit: that they are noted again does no harm.
            self.changes.note(&quietly(conn, |conn| changes_between(conn, known, head))?);
        }
        self.bell.send_replace(head);
        Ok(())
    }

    /// Releases the lease, so that another process can take over immediately.
    fn leave(&self, watch: &mut Watch) -> Result<(), StoreError> {
        if watch.holds_lease {
            let left = quietly(pg(&mut watch.session)?, |conn| {
                DieselTx::new(Conn::Pg(conn)).release_lease(NAME, self.holder)
            });
            if let Err(error) = left {
                log::debug!("could not release the lease of the event relay, which will expire: {error}");
            }
        }
        Ok(())
    }
}

/// Removes the dead rows of the outbox once they are many. A failure delays nothing but that.
fn clean(watch: &mut Watch) -> Result<(), StoreError> {
    if watch.moved < CLEAN_AFTER {
        return Ok(());
    }
    watch.moved = 0;
    let vacuum = "VACUUM (INDEX_CLEANUP ON, TRUNCATE FALSE, SKIP_LOCKED) outbox";
    if let Err(error) = quietly(pg(&mut watch.session)?, |conn| conn.batch_execute(vacuum)) {
        log::debug!("could not clean the outbox: {error}");
    }
    Ok(())
}

fn look(conn: &mut PgConnection) -> Result<Look, StoreError> {
    let query = "SELECT (SELECT min(seq) FROM outbox) AS oldest, (SELECT max(seq) FROM outbox) AS newest, \
                 position AS head FROM event_head";
    quietly(conn, |conn| diesel::sql_query(query).get_result(conn)).map_err(broken("look for events"))
}

/// The events after a position, up to another.
fn changes_between(
    conn: &mut PgConnection,
    after: Position,
    up_to: Position,
) -> Result<Vec<Appended>, StoreError> {
    let rows: Vec<(String, Option<Key>, Key)> = events::table
        .filter(events::position.gt(after.get()).and(events::position.le(up_to.get())))
        .select((events::kind, events::actor_id, events::subject_id))
        .load(conn)
        .map_err(broken("read what changed"))?;
    let appended = |(kind, actor, Key(subject)): (String, Option<Key>, Key)| {
        Ok(Appended { kind: named("events", "kind", &kind)?, actor: actor.map(Key::id), subject })
    };
    rows.into_iter().map(appended).collect()
}

fn pg(session: &mut Session) -> Result<&mut PgConnection, StoreError> {
    match &mut session.link {
        Link::Pg(conn) => Ok(conn),
        Link::Sqlite(_) => Err(StoreError::Unavailable("the relay is for PostgreSQL".to_owned())),
    }
}
