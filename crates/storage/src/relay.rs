//! The relay of PostgreSQL: gives committed events their public, gapless positions, and tells every process.
//!
//! Commands insert into `outbox`. Of all processes the one that holds the lease moves rows from there to
//! `events`, in batches, under a lock on `event_head`: the lease spares work, the lock gives the order, and two
//! that both believe to hold the lease do no harm. `NOTIFY` only wakes; what is behind it is read from tables,
//! and looked at slowly even when nothing wakes.
//!
//! Whoever waits for what a process committed waits for the same in every process: one without the lease looks at the
//! outbox until its rows have left it.

use crate::conn::Conn;
use crate::error::broken;
use crate::instrument::quietly;
use crate::manager::{Connector, Link, Mode, Session};
use crate::schema::leases;
use crate::tx::DieselTx;
use crate::types::At;
use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use terrace_kernel::{Clock, Position, StoreError};
use terrace_store::LeaseWrite;
use tokio::sync::watch;
use uuid::Uuid;

/// How often notifications are looked at: reading a socket that has nothing to say is nearly free.
const TICK: Duration = Duration::from_millis(5);
/// How often they are while somebody waits for another process to give out positions.
const WATCHING: Duration = Duration::from_millis(3);
/// How often the tables are looked at without having been woken.
const LOOK: Duration = Duration::from_millis(500);
/// How long the lease lasts.
const LEASE: Duration = Duration::from_secs(5);
/// How often it is prolonged, or tried for.
const RENEW: Duration = Duration::from_millis(1500);
/// How many events get their positions in one transaction.
const BATCH: i64 = 500;
/// How many batches are moved before everything else is looked at again, however many wait.
const BATCHES: u32 = 8;
/// How long readers wait for positions that ought to be there within milliseconds.
const SETTLING: Duration = Duration::from_millis(250);
/// The longest pause before connecting again.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// The lease's name.
const NAME: &str = "event-relay";
/// Wakes whoever holds the lease: there are rows in the outbox.
const OUTBOX_CHANNEL: &str = "terrace_outbox";
/// Wakes the others: the head is where the payload says.
const EVENTS_CHANNEL: &str = "terrace_events";

/// How commands of this process reach its relay.
#[derive(Default)]
pub(crate) struct RelayCall {
    state: Mutex<CallState>,
    rung: Condvar,
    /// Commits of this process that appended events.
    committed: AtomicU64,
    /// How many of them are public.
    dealt: watch::Sender<u64>,
}

#[derive(Default)]
struct CallState {
    rung: bool,
    hurry: bool,
    stop: bool,
}

impl RelayCall {
    /// A commit appended events.
    pub(crate) fn ring(&self) {
        self.committed.fetch_add(1, Ordering::AcqRel);
        let first = !std::mem::replace(&mut self.lock().rung, true);
        if first {
            self.rung.notify_one();
        }
    }

    /// Waits until what was committed before now is public; `false` when that takes too long.
    pub(crate) async fn settled(&self) -> bool {
        let committed = self.committed.load(Ordering::Acquire);
        if *self.dealt.borrow() >= committed {
            return true;
        }
        let mut dealt = self.dealt.subscribe();
        let settled = tokio::time::timeout(SETTLING, dealt.wait_for(|dealt| *dealt >= committed)).await;
        matches!(settled, Ok(Ok(_)))
    }

    /// What failed may work now: try again at once.
    pub(crate) fn hurry(&self) {
        self.lock().hurry = true;
        self.rung.notify_one();
    }

    /// Ends the relay.
    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.rung.notify_one();
    }

    /// Waits for a ring, or for the end, or for `patience` to end: whether it rang, and whether to stop.
    fn wait(&self, patience: Duration) -> (bool, bool) {
        let nothing = |state: &mut CallState| !state.rung && !state.stop;
        let (mut state, _) = self
            .rung
            .wait_timeout_while(self.lock(), patience, nothing)
            .unwrap_or_else(PoisonError::into_inner);
        (std::mem::take(&mut state.rung), state.stop)
    }

    /// Waits out a pause after a failure; rings do not shorten it. Whether to stop.
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

/// The thread that relays, or follows who does.
pub(crate) struct Relay {
    pub(crate) connector: Connector,
    pub(crate) call: Arc<RelayCall>,
    pub(crate) bell: watch::Sender<Position>,
    pub(crate) changes: Arc<AtomicU64>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) holder: Uuid,
}

/// What one connection of the relay knows.
struct Watch {
    session: Session,
    holds_lease: bool,
    lease_due: Instant,
    look_due: Instant,
    /// What another process gives out the positions of, or this one behind many others: how many commits of this one
    /// there were when the newest row of the outbox had this number.
    awaited: VecDeque<(u64, i64)>,
    /// Whether there was more to move than was moved at once.
    behind: bool,
}

#[derive(QueryableByName)]
struct Moved {
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
    /// Works until it is stopped, through whatever becomes of the server.
    pub(crate) fn serve(self) {
        let mut pause = TICK;
        loop {
            let begun = Instant::now();
            match self.watch() {
                Ok(()) => return,
                // Before the first migration there is nothing to relay, so this is nothing to shout about.
                Err(error) => log::debug!("the event relay starts again: {error}"),
            }
            if begun.elapsed() > LONGEST_PAUSE {
                pause = TICK;
            }
            if self.call.rest(pause) {
                return;
            }
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// Relays on one connection until it is stopped or the connection fails.
    fn watch(&self) -> Result<(), StoreError> {
        let mut session = self.connector.connect(Mode::Read)?;
        let now = Instant::now();
        pg(&mut session)?
            .batch_execute(&format!("LISTEN {OUTBOX_CHANNEL}; LISTEN {EVENTS_CHANNEL}"))
            .map_err(broken("listen"))?;
        let (lease_due, look_due, awaited) = (now, now, VecDeque::new());
        let mut watch = Watch { session, holds_lease: false, lease_due, look_due, awaited, behind: false };
        // What the last connection was in the middle of.
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

    /// One look at everything that can have happened.
    fn turn(&self, watch: &mut Watch, rung: bool) -> Result<(), StoreError> {
        let (mut wanted, mut told) = (rung, false);
        // Before the rows are moved: what is committed from now on rings again.
        let committed = self.call.committed.load(Ordering::Acquire);
        for notification in pg(&mut watch.session)?.notifications_iter() {
            let notification = notification.map_err(broken("read notifications"))?;
            if notification.channel == EVENTS_CHANNEL {
                self.tell(notification.payload.parse().ok());
                told = true;
            } else {
                wanted = true;
            }
        }
        let now = Instant::now();
        if watch.lease_due <= now {
            let held = watch.holds_lease;
            watch.holds_lease = self.renew(&mut watch.session)?;
            watch.lease_due = now + RENEW;
            // Who held it before may have left rows behind.
            wanted |= watch.holds_lease && !held;
        }
        let waits = rung && !watch.holds_lease;
        if watch.look_due <= now || waits || (told && !watch.awaited.is_empty()) {
            watch.look_due = now + LOOK;
            let look = look(pg(&mut watch.session)?)?;
            self.tell(Some(look.head));
            if waits {
                watch.awaited.push_back((committed, look.newest.unwrap_or(0)));
            }
            self.deal_with(&mut watch.awaited, look.oldest);
            wanted |= look.oldest.is_some() && watch.holds_lease;
        }
        if (wanted || watch.behind) && watch.holds_lease {
            self.move_some(watch, committed)?;
        } else if !watch.awaited.is_empty() && rung {
            let conn = pg(&mut watch.session)?;
            quietly(conn, |conn| conn.batch_execute(&format!("NOTIFY {OUTBOX_CHANNEL}")))
                .map_err(broken("notify"))?;
        }
        Ok(())
    }

    /// Moves what waits in the outbox. Whoever writes faster than that keeps nobody waiting for more than what was there
    /// before them.
    fn move_some(&self, watch: &mut Watch, committed: u64) -> Result<(), StoreError> {
        for nth in 0..BATCHES {
            if self.move_batch(pg(&mut watch.session)?)? < BATCH {
                watch.behind = false;
                watch.awaited.clear();
                self.call.dealt.send_replace(committed);
                return Ok(());
            }
            let look = look(pg(&mut watch.session)?)?;
            if nth == 0 {
                watch.awaited.push_back((committed, look.newest.unwrap_or(0)));
            }
            self.deal_with(&mut watch.awaited, look.oldest);
        }
        watch.behind = true;
        Ok(())
    }

    /// Strikes out what has left the outbox, whose oldest row this is now.
    fn deal_with(&self, awaited: &mut VecDeque<(u64, i64)>, oldest: Option<i64>) {
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
            // No honest lease reaches so far: it is from a clock that was wrong, and could last for ever.
            let dishonest = leases::expires_at.gt(At(until.plus(LEASE)));
            let lease = leases::table.filter(leases::name.eq(NAME)).filter(dishonest);
            diesel::delete(lease).execute(conn).map_err(broken("drop an impossible lease"))?;
            DieselTx::new(Conn::Pg(conn)).take_lease(NAME, self.holder, now, until)
        })
    }

    /// Gives the next positions to what waits in the outbox, up to a batch; says to how many. One round trip, and one more
    /// that nobody waits for: `NOTIFY` holds a lock of the whole server at its commit, so it has a transaction of its own.
    fn move_batch(&self, conn: &mut PgConnection) -> Result<i64, StoreError> {
        let fail = broken("relay events");
        quietly(conn, |conn| {
            let moved: Moved = diesel::sql_query("SELECT moved, head FROM relay_events($1)")
                .bind::<BigInt, _>(BATCH)
                .get_result(conn)
                .map_err(&fail)?;
            self.tell(Some(moved.head));
            if moved.moved > 0 {
                let wake_up = format!("NOTIFY {EVENTS_CHANNEL}, '{}'", moved.head);
                conn.batch_execute(&wake_up).map_err(&fail)?;
            }
            metrics::counter!("terrace_store_events_relayed_total")
                .increment(u64::try_from(moved.moved).unwrap_or(0));
            Ok(moved.moved)
        })
    }

    /// Rings the bell if the head moved.
    fn tell(&self, head: Option<i64>) {
        let Some(head) = head.and_then(Position::new) else {
            return;
        };
        self.bell.send_if_modified(|known| {
            let moved = head > *known;
            *known = head.max(*known);
            if moved {
                self.changes.fetch_add(1, Ordering::AcqRel);
            }
            moved
        });
    }

    /// Lets another process take over at once.
    fn leave(&self, watch: &mut Watch) -> Result<(), StoreError> {
        if watch.holds_lease {
            let left = quietly(pg(&mut watch.session)?, |conn| {
                DieselTx::new(Conn::Pg(conn)).release_lease(NAME, self.holder)
            });
            if let Err(error) = left {
                log::debug!("the lease of the event relay runs out by itself: {error}");
            }
        }
        Ok(())
    }
}

fn look(conn: &mut PgConnection) -> Result<Look, StoreError> {
    let query = "SELECT (SELECT min(seq) FROM outbox) AS oldest, (SELECT max(seq) FROM outbox) AS newest, \
                 position AS head FROM event_head";
    quietly(conn, |conn| diesel::sql_query(query).get_result(conn)).map_err(broken("look for events"))
}

fn pg(session: &mut Session) -> Result<&mut PgConnection, StoreError> {
    match &mut session.link {
        Link::Pg(conn) => Ok(conn),
        Link::Sqlite(_) => Err(StoreError::Unavailable("the relay is for PostgreSQL".to_owned())),
    }
}
