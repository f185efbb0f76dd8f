//! Settings of the trends.

use clap::Args;
use std::time::Duration;
use terrace_app::AppConfig;

/// Trends.
#[derive(Debug, Args)]
#[command(next_help_heading = "Trends")]
pub(crate) struct TrendSettings {
    /// How often trends are refreshed.
    #[arg(long = "trends-every", env = "TERRACE_TRENDS_EVERY", global = true, default_value_t = 120, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) every: u64,
    /// How old a post may be to be trending.
    #[arg(long = "trends-window-hours", env = "TERRACE_TRENDS_WINDOW_HOURS", global = true, default_value_t = 168, value_name = "HOURS", value_parser = clap::value_parser!(u64).range(1..=8760))]
    pub(crate) window: u64,
    /// Half-life of a post's score.
    #[arg(long = "trends-half-life", env = "TERRACE_TRENDS_HALF_LIFE", global = true, default_value_t = 360, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=525_600))]
    pub(crate) half_life: u64,
    /// How long an old ranking can be paged through after it was replaced.
    #[arg(long = "trends-keep", env = "TERRACE_TRENDS_KEEP", global = true, default_value_t = 15, value_name = "MINUTES", value_parser = clap::value_parser!(u64).range(1..=1440))]
    pub(crate) keep: u64,
}

impl TrendSettings {
    /// Copies the settings into the application's configuration.
    pub(crate) fn apply(&self, config: &mut AppConfig) {
        const MINUTE: u64 = 60;
        config.trend_period = Duration::from_secs(self.every);
        config.trend_window = Duration::from_secs(self.window.saturating_mul(60 * MINUTE));
        config.trend_half_life = Duration::from_secs(self.half_life.saturating_mul(MINUTE));
        config.trend_keep = Duration::from_secs(self.keep.saturating_mul(MINUTE));
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;
    use terrace_app::AppConfig;

    fn config(arguments: &[&str]) -> Result<AppConfig, clap::Error> {
        let cli = Cli::try_parse_from([&["terrace"], arguments].concat())?;
        let mut config = AppConfig::default();
        cli.settings.trends.apply(&mut config);
        Ok(config)
    }

    #[test]
    fn defaults_of_trends_match_the_application() {
        let figures = |config: AppConfig| {
            [config.trend_period, config.trend_window, config.trend_half_life, config.trend_keep]
        };
        assert_eq!(figures(config(&[]).unwrap()), figures(AppConfig::default()));
        let ours =
            config(&["--trends-every", "60", "--trends-window-hours", "2", "--trends-half-life=3"]).unwrap();
        assert_eq!(figures(ours).map(|figure| figure.as_secs()), [60, 7200, 180, 900]);
        for wrong in
            ["--trends-every=0", "--trends-half-life=0", "--trends-keep=-1", "--trends-window-hours=x"]
        {
            assert!(config(&[wrong]).is_err(), "{wrong}");
        }
    }
}
