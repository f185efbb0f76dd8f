//! How a reader of the event log waits for new events.

use std::time::Duration;
use terrace_kernel::Position;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until};

/// Events that arrive within this time of a read are read together: the notification fires with every commit, some
/// hundred times a second under load, and every read takes up to three statements.
const GATHER: Duration = Duration::from_millis(50);

/// Rate-limited notifications for a reader of the log: the first one after an idle period arrives at once, and at
/// most one in each [`GATHER`].
pub(crate) struct Follower {
    bell: watch::Receiver<Position>,
    looked: Instant,
    gather: Duration,
}

impl Follower {
    pub(crate) fn new(bell: watch::Receiver<Position>) -> Self {
        Self::gathering(bell, GATHER)
    }

    /// Uses another interval than [`GATHER`].
    pub(crate) fn gathering(bell: watch::Receiver<Position>, gather: Duration) -> Self {
        Self { bell, looked: Instant::now(), gather }
    }

    /// Newest position that this process has been notified of.
    pub(crate) fn heard(&self) -> Position {
        *self.bell.borrow()
    }

    /// Waits for the time of the next read, at most `at_most` if there is no notification; false if the sender is
    /// gone.
    pub(crate) async fn wait(&mut self, at_most: Duration) -> bool {
        tokio::select! {
            rung = self.bell.changed() => if rung.is_err() { return false },
            () = sleep(at_most) => {}
        }
        sleep_until(self.looked + self.gather).await;
        self.look();
        true
    }

    /// Marks the start of a read.
    pub(crate) fn look(&mut self) {
        // Before the read: events that are notified from now on may be missing from it.
        self.bell.borrow_and_update();
        self.looked = Instant::now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Long enough that only a notification ends it.
    const LONG: Duration = Duration::from_hours(1);

    #[tokio::test]
    async fn what_rings_while_it_gathers_is_heard_as_one() {
        let ring = watch::Sender::new(Position::START);
        let mut follower = Follower::new(ring.subscribe());
        ring.send_replace(Position::START);
        assert!(follower.wait(LONG).await);

        ring.send_replace(Position::START);
        let (ringing, ()) = tokio::join!(follower.wait(LONG), async {
            tokio::task::yield_now().await;
            ring.send_replace(Position::START);
        });
        assert!(ringing);
        assert!(!follower.bell.has_changed().unwrap(), "the second ring is dealt with by the same look");
    }

    #[tokio::test]
    async fn it_looks_without_being_rung_too() {
        let ring = watch::Sender::new(Position::START);
        assert!(Follower::new(ring.subscribe()).wait(Duration::ZERO).await);
    }

    #[tokio::test]
    async fn without_a_bell_it_is_over() {
        let ring = watch::Sender::new(Position::START);
        let mut follower = Follower::new(ring.subscribe());
        drop(ring);
        assert!(!follower.wait(LONG).await);
    }
}
