//! Turns away what has waited too long for a connection.
//!
//! The threads that serve look how long something has waited when they take it up. While each of them is held up (by a lock
//! that somebody else has, by a server that does not answer) nothing is taken up, and nobody would be told for as long as
//! that lasts.

use crate::job::Command;
use crate::queue::Queue;
use crate::reads::QueuedRead;
use std::sync::Arc;
use std::time::{Duration, Instant};
use terrace_kernel::StoreError;

/// How often it is looked, which is by how much somebody may wait too long.
const LOOK: Duration = Duration::from_millis(100);

/// What is said to whoever has.
pub(crate) fn waited_too_long() -> StoreError {
    StoreError::Unavailable("waited too long for a connection".to_owned())
}

/// The thread that looks after those who wait.
pub(crate) struct QueueReaper {
    pub(crate) commands: Arc<Queue<Command>>,
    pub(crate) questions: Arc<Queue<QueuedRead>>,
    /// How long anybody waits.
    pub(crate) patience: Duration,
}

impl QueueReaper {
    /// Looks until the queues are closed.
    pub(crate) fn serve(self) {
        while !self.commands.rest(LOOK) {
            let overdue = |since: Instant| since.elapsed() >= self.patience;
            for command in self.commands.take_overdue(|command| overdue(command.since)) {
                command.finish(Err(waited_too_long()));
            }
            for asked in self.questions.take_overdue(|asked| overdue(asked.since)) {
                asked.turn_away(waited_too_long());
            }
        }
    }
}
