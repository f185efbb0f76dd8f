//! Bounded execution of CPU-bound work off the async threads: a fixed number of tasks runs at a time, a fixed number
//! waits, and further ones are rejected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use terrace_kernel::num;
use tokio::sync::Semaphore;

/// Why work was not completed.
#[derive(Debug)]
pub(crate) enum NotDone {
    /// The queue is full.
    Busy,
    /// The work panicked.
    Panicked(tokio::task::JoinError),
}

/// A bounded pool for one kind of work.
pub(crate) struct Workers {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
    most_waiting: usize,
    /// Gauge of the queue length.
    gauge: &'static str,
}

impl Workers {
    /// At most `workers` tasks run at a time, and at most `queue` more wait.
    pub(crate) fn new(gauge: &'static str, workers: usize, queue: usize) -> Self {
        Self {
            running: Arc::new(Semaphore::new(workers.max(1))),
            waiting: AtomicUsize::new(0),
            most_waiting: queue,
            gauge,
        }
    }

    /// Runs `work` when a worker is free.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NotDone> {
        let permit = if let Ok(permit) = Arc::clone(&self.running).try_acquire_owned() {
            permit
        } else {
            let _slot = self.take_slot().ok_or(NotDone::Busy)?;
            Arc::clone(&self.running).acquire_owned().await.map_err(|_| NotDone::Busy)?
        };
        let done = tokio::task::spawn_blocking(move || {
            // The permit moves with the work: a client that disconnects does not free a worker before its work is
            // done.
            let _permit = permit;
            work()
        });
        done.await.map_err(NotDone::Panicked)
    }

    fn take_slot(&self) -> Option<QueueSlot<'_>> {
        let took = self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, |waiting| {
            (waiting < self.most_waiting).then_some(waiting + 1)
        });
        metrics::gauge!(self.gauge).set(num::to_f64(self.waiting.load(Ordering::Relaxed)));
        took.is_ok().then(|| QueueSlot(&self.waiting))
    }
}

/// A place in the queue, released when the work starts or its caller disconnects.
struct QueueSlot<'p>(&'p AtomicUsize);

impl Drop for QueueSlot<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_is_refused_for_later() {
        let workers = Arc::new(Workers::new("test_queue", 1, 2));
        let held = Arc::clone(&workers.running).acquire_owned().await.unwrap();
        let waiting: Vec<_> = (0..2)
            .map(|n| {
                let workers = Arc::clone(&workers);
                tokio::spawn(async move { workers.run(move || n).await })
            })
            .collect();
        while workers.waiting.load(Ordering::Acquire) < 2 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(workers.run(|| 9).await, Err(NotDone::Busy)));
        drop(held);
        for (n, one) in waiting.into_iter().enumerate() {
            assert!(matches!(one.await.unwrap(), Ok(done) if done == n));
        }
        assert_eq!(workers.waiting.load(Ordering::Acquire), 0);
    }

    #[tokio::test]
    async fn a_panic_frees_its_place() {
        let workers = Workers::new("test_queue", 1, 0);
        assert!(matches!(workers.run(|| panic!("no picture")).await, Err::<(), _>(NotDone::Panicked(_))));
        assert!(matches!(workers.run(|| 1).await, Ok(1)));
    }
}
