//! Settings of the database.

use clap::Args;
use std::time::Duration;
use terrace_app::AppConfig;
use terrace_storage::StorageConfig;

/// How the database is used.
#[derive(Debug, Args)]
#[command(next_help_heading = "Database")]
pub(crate) struct StoreSettings {
    /// Connections that read.
    #[arg(long, env = "TERRACE_READ_CONNECTIONS", global = true, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) read_connections: u32,
    /// Connections that write, on PostgreSQL; SQLite has one writer.
    #[arg(long, env = "TERRACE_WRITE_CONNECTIONS", global = true, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) write_connections: u32,
    /// How long to wait for a connection before answering 503.
    #[arg(
        long,
        env = "TERRACE_CHECKOUT_TIMEOUT",
        global = true,
        default_value_t = 3,
        value_name = "SECONDS"
    )]
    pub(crate) checkout_timeout: u64,
    /// How long one statement may take.
    #[arg(
        long,
        env = "TERRACE_STATEMENT_TIMEOUT",
        global = true,
        default_value_t = 10,
        value_name = "SECONDS"
    )]
    pub(crate) statement_timeout: u64,
    /// Statements that take longer are logged.
    #[arg(
        long,
        env = "TERRACE_SLOW_QUERY_MS",
        global = true,
        default_value_t = 250,
        value_name = "MILLISECONDS"
    )]
    pub(crate) slow_query_ms: u64,
    /// Commands that may wait for the writer before new ones are answered 503.
    #[arg(long, env = "TERRACE_WRITE_QUEUE", global = true, default_value_t = 4096)]
    pub(crate) write_queue: usize,
    /// Commands that share one commit at most, on SQLite.
    #[arg(long, env = "TERRACE_GROUP_LIMIT", global = true, default_value_t = 256)]
    pub(crate) group_limit: usize,
    /// Days that events stay readable.
    #[arg(long, env = "TERRACE_EVENT_DAYS", global = true, default_value_t = 7, value_name = "DAYS")]
    pub(crate) event_days: u64,
    /// Hours that idempotency keys and their answers are kept.
    #[arg(
        long,
        env = "TERRACE_IDEMPOTENCY_HOURS",
        global = true,
        default_value_t = 24,
        value_name = "HOURS"
    )]
    pub(crate) idempotency_hours: u64,
}

impl StoreSettings {
    /// Copies the settings into the configuration of the storage.
    pub(crate) fn apply(&self, config: &mut StorageConfig) {
        config.read_connections = self.read_connections;
        config.write_connections = self.write_connections;
        config.checkout_timeout = Duration::from_secs(self.checkout_timeout);
        config.statement_timeout = Duration::from_secs(self.statement_timeout);
        config.slow_query = Duration::from_millis(self.slow_query_ms);
        config.write_queue = self.write_queue;
        config.group_limit = self.group_limit;
    }

    /// Copies how long rows are kept into the application's configuration.
    pub(crate) fn apply_retention(&self, config: &mut AppConfig) {
        const HOUR: u64 = 3600;
        config.idempotency_life = Duration::from_secs(self.idempotency_hours.saturating_mul(HOUR));
        config.event_life = Duration::from_secs(self.event_days.saturating_mul(24 * HOUR));
    }
}
