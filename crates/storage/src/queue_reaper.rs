//! Rejects work that has waited too long for a connection.
//!
//! The serving threads check how long an item has waited when they take it from the queue. While all of them are
//! blocked (by another process's lock, or by a server that does not respond), nothing is taken, and without this thread
//! no client would receive an error for as long as that lasts.

use crate::error::waited_too_long;
use crate::job::QueuedCommand;
use crate::queue::Queue;
use crate::reads::QueuedRead;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The interval between checks, by which the limit may be exceeded.
const LOOK: Duration = Duration::from_millis(100);

/// The thread that removes overdue work from the queues.
pub(crate) struct QueueReaper {
    pub(crate) commands: Vec<Arc<Queue<QueuedCommand>>>,
    pub(crate) questions: Arc<Queue<QueuedRead>>,
    /// The maximum time in a queue.
    pub(crate) patience: Duration,
}

impl QueueReaper {
    /// Checks the queues until they are closed.
    pub(crate) fn serve(self) {
        while !self.questions.rest(LOOK) {
            let overdue = |since: Instant| since.elapsed() >= self.patience;
            let late = self.commands.iter().flat_map(|queue| queue.take_overdue(|one| overdue(one.since)));
            late.for_each(|command| command.finish(Err(waited_too_long())));
            for asked in self.questions.take_overdue(|asked| overdue(asked.since)) {
                asked.turn_away(waited_too_long());
            }
        }
    }
}
