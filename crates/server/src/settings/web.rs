//! Settings of the HTTP server.

use clap::Args;
use std::time::Duration;
use terrace_kernel::text::{TextError, line};
use terrace_web::WebConfig;

/// The HTTP server.
#[derive(Debug, Args)]
#[command(next_help_heading = "HTTP")]
pub(crate) struct WebSettings {
    /// The name of the club, as clients show it: one line of 1 to 80 characters.
    #[arg(long, env = "TERRACE_CLUB_NAME", global = true, default_value = "Terrace", value_name = "NAME", value_parser = club_name)]
    pub(crate) club_name: String,
    /// Threads that serve; by default one per core.
    #[arg(long, env = "TERRACE_WORKERS", global = true, value_name = "COUNT")]
    pub(crate) workers: Option<usize>,
    /// Maximum number of connections of each worker.
    #[arg(
        long,
        env = "TERRACE_MAX_CONNECTIONS",
        global = true,
        default_value_t = 15_000,
        value_name = "COUNT"
    )]
    pub(crate) max_connections: usize,
    /// The largest JSON body, in bytes.
    #[arg(long, env = "TERRACE_JSON_LIMIT", global = true, default_value_t = 65_536, value_name = "BYTES")]
    pub(crate) json_limit: usize,
    /// Memory in MiB for encoded posts, from which pages of feeds are put together; 0 reads them for each page.
    #[arg(long, env = "TERRACE_POST_MEMORY_MIB", global = true, default_value_t = 64, value_name = "MIB")]
    pub(crate) post_memory_mib: u32,
    /// How long a client may take to send its request's head.
    #[arg(long, env = "TERRACE_CLIENT_TIMEOUT", global = true, default_value_t = 10, value_name = "SECONDS")]
    pub(crate) client_timeout: u64,
    /// How long a client may take to send its request's body.
    #[arg(long, env = "TERRACE_BODY_TIMEOUT", global = true, default_value_t = 30, value_name = "SECONDS")]
    pub(crate) body_timeout: u64,
    /// How long an idle connection is kept.
    #[arg(long, env = "TERRACE_KEEP_ALIVE", global = true, default_value_t = 75, value_name = "SECONDS")]
    pub(crate) keep_alive: u64,
    /// How long /readyz fails before a stopping server refuses new connections.
    #[arg(long, env = "TERRACE_DRAIN_DELAY", global = true, default_value_t = 0, value_name = "SECONDS")]
    pub(crate) drain_delay: u64,
    /// How long requests in flight may take when the program stops.
    #[arg(
        long,
        env = "TERRACE_SHUTDOWN_TIMEOUT",
        global = true,
        default_value_t = 5,
        value_name = "SECONDS"
    )]
    pub(crate) shutdown_timeout: u64,
}

fn club_name(text: &str) -> Result<String, TextError> {
    line(text, 1, 80)
}

impl WebSettings {
    /// Copies the settings into the web configuration.
    pub(crate) fn apply(&self, config: WebConfig) -> WebConfig {
        WebConfig {
            club_name: self.club_name.clone(),
            json_limit: self.json_limit,
            post_memory: u64::from(self.post_memory_mib) * 1024 * 1024,
            body_timeout: Duration::from_secs(self.body_timeout),
            workers: self.workers,
            max_connections: self.max_connections,
            keep_alive: Duration::from_secs(self.keep_alive),
            head_timeout: Duration::from_secs(self.client_timeout),
            drain_delay: Duration::from_secs(self.drain_delay),
            shutdown_timeout: Duration::from_secs(self.shutdown_timeout),
            ..config
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;
    use terrace_web::WebConfig;

    #[test]
    fn the_name_of_the_club_is_one_line() {
        let name = |arguments: &[&str]| {
            let cli = Cli::try_parse_from([&["terrace"], arguments].concat())?;
            Ok::<_, clap::Error>(cli.settings.web.apply(WebConfig::default()).club_name)
        };
        assert_eq!(name(&[]).unwrap(), WebConfig::default().club_name);
        assert_eq!(name(&["--club-name", " Moorland Foxes "]).unwrap(), "Moorland Foxes");
        for wrong in ["", " ", "a\nb", &"x".repeat(81)] {
            assert!(name(&["--club-name", wrong]).is_err(), "{wrong}");
        }
    }
}
