//! Reading the log of events, the offsets of its consumers, and marks of secrets.

use terrace_kernel::{Event, Position, StoreError};

/// Reads events in their public order.
pub trait EventRead {
    /// The position of the newest public event; [`Position::START`] when there never was one. Read before a
    /// list in the same query, it is the list's `streamPosition`: what is not in the list comes after it.
    fn head(&mut self) -> Result<Position, StoreError>;

    /// Up to `limit` events after `after`, in order.
    fn events_after(&mut self, after: Position, limit: u32) -> Result<Vec<Event>, StoreError>;

    /// The last that was appended and committed and has no public position yet; nothing where everything has one.
    fn unpublished(&mut self) -> Result<Option<i64>, StoreError>;

    /// Whether something up to what [`EventRead::unpublished`] said still has none.
    fn is_unpublished(&mut self, up_to: i64) -> Result<bool, StoreError>;

    /// Where the durable consumer `name` stands: it has dealt with every event up to here.
    fn consumer_position(&mut self, name: &str) -> Result<Position, StoreError>;
}

/// Moves the stored offsets of durable consumers.
pub trait ConsumerWrite: EventRead {
    /// Where the consumer stands, locked until the transaction ends, so that two processes do each event once.
    fn lock_consumer(&mut self, name: &str) -> Result<Position, StoreError>;

    /// Notes that the consumer has dealt with every event up to `position`.
    fn set_consumer_position(&mut self, name: &str, position: Position) -> Result<(), StoreError>;
}

/// Keeps marks of secrets, which say nothing of them: by these processes find out that they hold the same ones.
pub trait SecretMarks {
    /// The mark that is kept under this name: the one that is given, unless another came first.
    fn keep_mark(&mut self, name: &str, mark: &[u8]) -> Result<Vec<u8>, StoreError>;
}
