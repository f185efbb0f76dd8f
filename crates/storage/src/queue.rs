//! A bounded queue between the callers that submit work and the threads that execute it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use terrace_kernel::{StoreError, num};

/// How long a group waits for a further item, and for all of them.
const PAUSE: Duration = Duration::from_micros(300);
const GATHERING: Duration = Duration::from_millis(3);

/// Why a queue rejects an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// The queue has reached its limit.
    Full,
    /// The queue accepts no more items.
    Closed,
}

impl From<Refused> for StoreError {
    fn from(reason: Refused) -> Self {
        let words = match reason {
            Refused::Full => "too much work is waiting",
            Refused::Closed => "the store is closing",
        };
        Self::Unavailable(words.to_owned())
    }
}

/// The result of waiting for work.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken<T> {
    /// Items, in the order of their arrival.
    Some(Vec<T>),
    /// No item arrived in time.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

struct State<T> {
    items: VecDeque<T>,
    closed: bool,
}

/// A FIFO queue of at most `limit` items. Pushing never blocks.
pub(crate) struct Queue<T> {
    name: &'static str,
    limit: usize,
    state: Mutex<State<T>>,
    filled: Condvar,
    ended: Condvar,
}

impl<T> Queue<T> {
    pub(crate) fn new(name: &'static str, limit: usize) -> Self {
        let state = State { items: VecDeque::new(), closed: false };
        let (filled, ended) = (Condvar::new(), Condvar::new());
        Self { name, limit: limit.max(1), state: Mutex::new(state), filled, ended }
    }

    /// Appends `item`, or returns it with the reason for the rejection.
    pub(crate) fn push(&self, item: T) -> Result<(), (Refused, T)> {
        let mut state = self.lock();
        if state.closed {
            return Err((Refused::Closed, item));
        }
        if state.items.len() >= self.limit {
            metrics::counter!("terrace_store_refused_total", "queue" => self.name).increment(1);
            return Err((Refused::Full, item));
        }
        state.items.push_back(item);
        self.report_depth(&state);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Inserts `item` before all others, regardless of the limit.
    pub(crate) fn push_first(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.closed {
            return Err(item);
        }
        state.items.push_front(item);
        drop(state);
        self.filled.notify_one();
        Ok(())
    }

    /// Waits for an item; `None` if the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                self.report_depth(&state);
                return Some(item);
            }
            if state.closed {
                return None;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits up to `patience` for an item, and returns up to `limit` of the items that are queued by then. With `gather`, if
    /// several are queued, it takes them once no more arrive within [`PAUSE`], or after [`GATHERING`]: callers that have
    /// just received their results submit again, and a larger group costs less per item.
    pub(crate) fn pop_group(&self, limit: usize, patience: Duration, gather: bool) -> Taken<T> {
        let state = self.lock();
        let waiting = |state: &mut State<T>| state.items.is_empty() && !state.closed;
        let (mut state, _) =
            self.filled.wait_timeout_while(state, patience, waiting).unwrap_or_else(PoisonError::into_inner);
        if gather && state.items.len() > 1 {
            state = self.gather(state, limit);
        }
        if state.items.is_empty() {
            return if state.closed { Taken::Closed } else { Taken::Nothing };
        }
        let count = state.items.len().min(limit.max(1));
        let group = state.items.drain(..count).collect();
        self.report_depth(&state);
        Taken::Some(group)
    }

    /// Waits for more items. Another thread may take all of them meanwhile.
    fn gather<'a>(&'a self, mut state: MutexGuard<'a, State<T>>, limit: usize) -> MutexGuard<'a, State<T>> {
        let began = Instant::now();
        while !state.closed && state.items.len() < limit && began.elapsed() < GATHERING {
            let seen = state.items.len();
            drop(state);
            // Not on the condition variable, which would wake this thread for each item.
            thread::sleep(PAUSE);
            state = self.lock();
            if state.items.len() <= seen {
                break;
            }
        }
        state
    }

    /// Removes and returns the queued items that are `overdue`, in the order of their arrival.
    pub(crate) fn take_overdue(&self, overdue: impl Fn(&T) -> bool) -> Vec<T> {
        let mut state = self.lock();
        if !state.items.iter().any(&overdue) {
            return Vec::new();
        }
        let (late, rest) = state.items.drain(..).partition::<Vec<_>, _>(overdue);
        state.items.extend(rest);
        self.report_depth(&state);
        late
    }

    /// Waits for `span`, or until the queue is closed; returns whether it is closed.
    pub(crate) fn rest(&self, span: Duration) -> bool {
        let open = |state: &mut State<T>| !state.closed;
        let (state, _) =
            self.ended.wait_timeout_while(self.lock(), span, open).unwrap_or_else(PoisonError::into_inner);
        state.closed
    }

    /// Closes the queue to new items. Queued items are still delivered.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_all();
        self.ended.notify_all();
    }

    fn report_depth(&self, state: &State<T>) {
        let depth = num::to_u32(state.items.len());
        metrics::gauge!("terrace_store_queue_depth", "queue" => self.name).set(f64::from(depth));
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // No code under the lock can panic, so the state is consistent even if the lock is poisoned.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_no_more_than_its_limit_and_gives_in_order() {
        let queue = Queue::new("test", 2);
        assert_eq!(queue.push(1), Ok(()));
        assert_eq!(queue.push(2), Ok(()));
        assert_eq!(queue.push(3), Err((Refused::Full, 3)));
        assert_eq!(queue.push_first(0), Ok(()));
        assert_eq!(queue.pop_group(2, Duration::ZERO, false), Taken::Some(vec![0, 1]));
        assert_eq!(queue.pop(), Some(2));
        assert_eq!(queue.pop_group(2, Duration::ZERO, false), Taken::Nothing);
    }

    #[test]
    fn a_gathered_group_has_the_items_that_arrive_meanwhile_up_to_its_limit() {
        let queue = Queue::new("test", 8);
        assert!((0..3).all(|item| queue.push(item).is_ok()));
        assert_eq!(queue.pop_group(2, Duration::ZERO, true), Taken::Some(vec![0, 1]));
        assert_eq!(queue.pop_group(8, Duration::ZERO, true), Taken::Some(vec![2]));
        assert_eq!(queue.pop_group(8, Duration::ZERO, true), Taken::Nothing);
        thread::scope(|scope| {
            assert!((0..2).all(|item| queue.push(item).is_ok()));
            let group = scope.spawn(|| queue.pop_group(4, Duration::ZERO, true));
            assert!((2..4).all(|item| queue.push(item).is_ok()));
            // The last two may come too late for the group, but nothing is lost or repeated.
            let Ok(Taken::Some(mut taken)) = group.join() else { panic!("a group") };
            if let Taken::Some(rest) = queue.pop_group(4, Duration::ZERO, true) {
                taken.extend(rest);
            }
            assert_eq!(taken, [0, 1, 2, 3]);
        });
    }

    #[test]
    fn what_is_overdue_is_taken_out_and_the_rest_keeps_its_order() {
        let queue = Queue::new("test", 8);
        assert!((1..=5).all(|item| queue.push(item).is_ok()));
        assert_eq!(queue.take_overdue(|item| item % 2 == 0), [2, 4]);
        assert!(queue.take_overdue(|item| *item > 5).is_empty());
        assert_eq!(queue.pop_group(8, Duration::ZERO, false), Taken::Some(vec![1, 3, 5]));
        assert!(!queue.rest(Duration::ZERO));
        queue.close();
        assert!(queue.rest(Duration::MAX));
    }

    #[test]
    fn a_closed_queue_gives_out_what_it_holds() {
        let queue = Queue::new("test", 8);
        assert_eq!(queue.push(1), Ok(()));
        queue.close();
        assert_eq!(queue.push(2), Err((Refused::Closed, 2)));
        assert_eq!(queue.pop(), Some(1));
        assert_eq!(queue.pop(), None);
        assert_eq!(queue.pop_group(1, Duration::ZERO, false), Taken::Closed);
    }
}
