//! Settings of sessions and passwords.

use clap::Args;
use std::time::Duration;
use terrace_app::{AppConfig, PasswordCost};

/// Sessions and passwords.
#[derive(Debug, Args)]
#[command(next_help_heading = "Accounts")]
pub(crate) struct AccountSettings {
    /// Days that a browser stays signed in.
    #[arg(long, env = "TERRACE_SESSION_DAYS", global = true, default_value_t = 90, value_name = "DAYS")]
    pub(crate) session_days: u64,
    /// Lifetime of an access token in minutes.
    #[arg(long, env = "TERRACE_ACCESS_MINUTES", global = true, default_value_t = 15, value_name = "MINUTES")]
    pub(crate) access_minutes: u64,
    /// Lifetime of a refresh token in days.
    #[arg(long, env = "TERRACE_REFRESH_DAYS", global = true, default_value_t = 60, value_name = "DAYS")]
    pub(crate) refresh_days: u64,
    /// Hours after registration during which an account may hold few unpaid copies of limited packs; 0 disables the
    /// limit.
    #[arg(
        long,
        env = "TERRACE_NEW_ACCOUNT_HOURS",
        global = true,
        default_value_t = 24,
        value_name = "HOURS"
    )]
    pub(crate) new_account_hours: u64,
    /// Maximum lifetime of a session in days, however it is used.
    #[arg(long, env = "TERRACE_SESSION_MAX_DAYS", global = true, default_value_t = 365, value_name = "DAYS")]
    pub(crate) session_max_days: u64,
    /// Passwords that are hashed concurrently.
    #[arg(long, env = "TERRACE_PASSWORD_WORKERS", global = true, default_value_t = 2, value_name = "COUNT")]
    pub(crate) password_workers: usize,
    /// Sign-ins that may wait for a worker before new ones are answered 503.
    #[arg(long, env = "TERRACE_PASSWORD_QUEUE", global = true, default_value_t = 64, value_name = "COUNT")]
    pub(crate) password_queue: usize,
    /// Memory of one Argon2id hash, in KiB.
    #[arg(long, env = "TERRACE_PASSWORD_MEMORY_KIB", global = true, default_value_t = 19_456, value_parser = clap::value_parser!(u32).range(8..=1_048_576))]
    pub(crate) password_memory_kib: u32,
    /// Passes of one Argon2id hash.
    #[arg(long, env = "TERRACE_PASSWORD_PASSES", global = true, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) password_passes: u32,
}

impl AccountSettings {
    /// Copies the settings into the application's configuration.
    pub(crate) fn apply(&self, config: &mut AppConfig) {
        const HOUR: u64 = 3600;
        const DAY: u64 = 24 * HOUR;
        config.session_life = Duration::from_secs(self.session_days.saturating_mul(DAY));
        config.access_life = Duration::from_secs(self.access_minutes.saturating_mul(60));
        config.refresh_life = Duration::from_secs(self.refresh_days.saturating_mul(DAY));
        config.session_longest = Duration::from_secs(self.session_max_days.saturating_mul(DAY));
        config.password_cost =
            PasswordCost { memory_kib: self.password_memory_kib, passes: self.password_passes };
        config.password_workers = self.password_workers;
        config.password_queue = self.password_queue;
        config.new_account_age = Duration::from_secs(self.new_account_hours.saturating_mul(HOUR));
    }
}
