//! Configuration of the streams.

use std::time::Duration;

/// Bounds of the streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamConfig {
    /// Minimum lifetime of a stream. Up to a fifth is added at random, so that clients do not reconnect all at once.
    pub life: Duration,
    /// Longest silence before a heartbeat is sent.
    pub heartbeat: Duration,
    /// Maximum number of streams of one account; not applied if the rate limits are disabled.
    pub per_account: u32,
    /// Maximum number of signed-out streams from one address; not applied if the rate limits are disabled.
    pub per_address: u32,
    /// Number of events of each kind of stream that are kept in memory for clients that reconnect.
    pub kept_events: usize,
    /// Maximum size of these events in bytes, for each kind of stream.
    pub kept_bytes: usize,
    /// How long a client may read nothing while data is pending.
    pub write_timeout: Duration,
}

impl Default for StreamConfig {
    fn default() -> Self {
        Self {
            life: Duration::from_mins(5),
            heartbeat: Duration::from_secs(15),
            per_account: 12,
            per_address: 1000,
            kept_events: 4096,
            kept_bytes: 8 * 1024 * 1024,
            write_timeout: Duration::from_secs(20),
        }
    }
}
