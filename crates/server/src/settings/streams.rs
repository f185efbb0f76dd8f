//! Settings of streams.

use clap::Args;
use std::time::Duration;
use terrace_web::StreamConfig;

/// Streams.
#[derive(Debug, Args)]
#[command(next_help_heading = "Streams")]
pub(crate) struct StreamSettings {
    /// Minimum duration of a stream before its client has to reconnect; up to a fifth is added at random.
    #[arg(long = "stream-life", env = "TERRACE_STREAM_LIFE", global = true, default_value_t = 300, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) life: u64,
    /// Interval of heartbeats on idle streams; must be shorter than the idle timeout of proxies.
    #[arg(long = "stream-heartbeat", env = "TERRACE_STREAM_HEARTBEAT", global = true, default_value_t = 15, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) heartbeat: u64,
    /// Streams that one account may have; unlimited without rate limits.
    #[arg(long = "streams-per-account", env = "TERRACE_STREAMS_PER_ACCOUNT", global = true, default_value_t = 12, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_account: u32,
    /// Streams that signed-out clients may have from one address; unlimited without rate limits.
    #[arg(long = "streams-per-address", env = "TERRACE_STREAMS_PER_ADDRESS", global = true, default_value_t = 1000, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) per_address: u32,
    /// Events of each kind of stream that are kept in memory for reconnecting clients.
    #[arg(
        long = "stream-kept-events",
        env = "TERRACE_STREAM_KEPT_EVENTS",
        global = true,
        default_value_t = 4096,
        value_name = "COUNT"
    )]
    pub(crate) kept_events: usize,
    /// Maximum size of these events in megabytes.
    #[arg(long = "stream-kept-mib", env = "TERRACE_STREAM_KEPT_MIB", global = true, default_value_t = 8, value_name = "MIB", value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) kept_mib: u16,
    /// How long the client of a stream may read nothing of pending data.
    #[arg(long = "stream-write-timeout", env = "TERRACE_STREAM_WRITE_TIMEOUT", global = true, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) stream_write_timeout: u64,
}

impl StreamSettings {
    /// The configuration of the streams.
    pub(crate) fn config(&self) -> StreamConfig {
        StreamConfig {
            life: Duration::from_secs(self.life),
            heartbeat: Duration::from_secs(self.heartbeat),
            per_account: self.per_account,
            per_address: self.per_address,
            kept_events: self.kept_events,
            kept_bytes: usize::from(self.kept_mib) * 1024 * 1024,
            write_timeout: Duration::from_secs(self.stream_write_timeout),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;
    use terrace_web::StreamConfig;

    fn config(arguments: &[&str]) -> Result<StreamConfig, clap::Error> {
        Ok(Cli::try_parse_from([&["terrace"], arguments].concat())?.settings.streams.config())
    }

    #[test]
    fn defaults_of_streams_match_the_web_crate() {
        assert_eq!(config(&[]).unwrap(), StreamConfig::default());
        let ours = config(&["--stream-life", "60", "--streams-per-account=3"]).unwrap();
        assert_eq!((ours.life.as_secs(), ours.per_account), (60, 3));
        for wrong in ["--stream-life=0", "--streams-per-address=0", "--stream-heartbeat=-1"] {
            assert!(config(&[wrong]).is_err(), "{wrong}");
        }
    }
}
