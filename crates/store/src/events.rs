//! Access to the event log, the offsets of its consumers, and marks of secrets.

use terrace_kernel::{Event, EventKind, Position, StoreError};

/// Reads events in their public order.
pub trait EventRead {
    /// Returns the position of the newest public event; [`Position::START`] if there has never been one. If it is
    /// read before a list in the same query, it is the list's `streamPosition`: every change that is missing from the
    /// list comes after it.
    fn head(&mut self) -> Result<Position, StoreError>;

    /// Returns up to `limit` events after `after`, in order.
    fn events_after(&mut self, after: Position, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// Returns up to `limit` events of these kinds that are after `after` and not after `up_to`, in order.
    fn events_of(
        &mut self,
        kinds: &[EventKind],
        after: Position,
        up_to: Position,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError>;

    /// Returns the last committed event that has no public position yet; `None` if all have one.
    fn unpublished(&mut self) -> Result<Option<i64>, StoreError>;

    /// Returns whether any event up to `up_to`, a value from [`EventRead::unpublished`], still has no public
    /// position.
    fn is_unpublished(&mut self, up_to: i64) -> Result<bool, StoreError>;

    /// Returns the offset of the durable consumer `name`: it has processed every event up to this position.
    fn consumer_position(&mut self, name: &str) -> Result<Position, StoreError>;

    /// Returns the consumer's offset and the head of the log, in one statement.
    fn consumer_position_and_head(&mut self, name: &str) -> Result<(Position, Position), StoreError>;
}

/// Moves the stored offsets of durable consumers.
pub trait ConsumerWrite: EventRead {
    /// Returns the consumer's offset and locks it until the transaction ends, so that concurrent processes do not
    /// process an event twice.
    fn lock_consumer(&mut self, name: &str) -> Result<Position, StoreError>;

    /// Records that the consumer has processed every event up to `position`.
    fn set_consumer_position(&mut self, name: &str, position: Position) -> Result<(), StoreError>;
}

/// Stores marks of secrets. A mark reveals nothing about its secret; processes compare marks to check that they use
/// the same secret.
pub trait SecretMarks {
    /// Returns the mark stored under this name: `mark`, unless another one was stored first.
    fn keep_mark(&mut self, name: &str, mark: &[u8]) -> Result<Vec<u8>, StoreError>;
}
