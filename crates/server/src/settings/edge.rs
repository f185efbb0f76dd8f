//! Settings of the public HTTP interface.

use clap::{Args, ValueEnum};
use std::time::Duration;
use terrace_web::{
    AllowedHost, CorsOrigin, ForwardingHeader, MetricsOnMain, Network, TrustedProxies, WebConfig,
};

/// What faces the internet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Edge")]
pub(crate) struct EdgeSettings {
    /// Networks of proxies that are trusted to report client addresses, such as 10.0.0.0/8,192.0.2.7; none by default.
    #[arg(
        long,
        env = "TERRACE_TRUSTED_PROXIES",
        global = true,
        value_delimiter = ',',
        value_name = "CIDR,…"
    )]
    pub(crate) trusted_proxies: Vec<Network>,
    /// The header in which these proxies report it. Clients can forge the other one.
    #[arg(
        long,
        env = "TERRACE_FORWARDED_HEADER",
        global = true,
        value_enum,
        default_value_t = Header::XForwardedFor
    )]
    pub(crate) forwarded_header: Header,
    /// Origins, each a scheme with a host and perhaps a port, whose pages may read answers and write, with credentials;
    /// * lets every page read public data, without credentials. None by default.
    #[arg(long, env = "TERRACE_CORS_ORIGINS", global = true, value_delimiter = ',', value_name = "ORIGIN,…")]
    pub(crate) cors_origins: Vec<CorsOrigin>,
    /// Hosts, without ports, that are accepted in addition to the public URL's and loopback ones, such as
    /// terrace.internal; * accepts every host, which disables the protection against DNS rebinding.
    #[arg(long, env = "TERRACE_ALLOWED_HOSTS", global = true, value_delimiter = ',', value_name = "HOST,…")]
    pub(crate) allowed_hosts: Vec<AllowedHost>,
    /// Which clients may read /metrics on the main address. With --metrics-listen, none may.
    #[arg(long, env = "TERRACE_METRICS_ACCESS", global = true, value_enum, default_value_t = MetricsAccess::Local)]
    pub(crate) metrics_access: MetricsAccess,
    /// The largest head of a request, in bytes; 131072 at most.
    #[arg(long, env = "TERRACE_HEAD_LIMIT", global = true, default_value_t = 32_768, value_name = "BYTES")]
    pub(crate) head_limit: usize,
    /// How long a client may read nothing of a pending response.
    #[arg(long, env = "TERRACE_WRITE_TIMEOUT", global = true, default_value_t = 30, value_name = "SECONDS")]
    pub(crate) write_timeout: u64,
    /// How long a request may take once its body has arrived; must exceed the duration of any successful request.
    #[arg(long, env = "TERRACE_ANSWER_TIMEOUT", global = true, default_value_t = 20, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) answer_timeout: u64,
}

/// The header in which proxies report the client's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Header {
    /// X-Forwarded-For, as most proxies write it.
    XForwardedFor,
    /// Forwarded (RFC 7239).
    Forwarded,
}

/// Which clients may read /metrics on the main address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MetricsAccess {
    /// Clients on this machine that connect directly, under a loopback host.
    Local,
    /// Every client.
    Open,
}

impl EdgeSettings {
    /// Which clients may read `/metrics` on the main address, given whether metrics have an address of their
    /// own.
    pub(crate) fn metrics_on_main(&self, has_own_address: bool) -> MetricsOnMain {
        match self.metrics_access {
            _ if has_own_address => MetricsOnMain::Off,
            MetricsAccess::Local => MetricsOnMain::Local,
            MetricsAccess::Open => MetricsOnMain::Open,
        }
    }

    /// Copies the settings into the web configuration.
    pub(crate) fn apply(&self, config: WebConfig) -> WebConfig {
        WebConfig {
            trusted_proxies: TrustedProxies {
                networks: self.trusted_proxies.clone(),
                header: match self.forwarded_header {
                    Header::XForwardedFor => ForwardingHeader::XForwardedFor,
                    Header::Forwarded => ForwardingHeader::Forwarded,
                },
            },
            cors_origins: self.cors_origins.clone(),
            allowed_hosts: self.allowed_hosts.clone(),
            head_limit: self.head_limit,
            write_timeout: Duration::from_secs(self.write_timeout),
            answer_timeout: Duration::from_secs(self.answer_timeout),
            ..config
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;
    use clap::Parser;
    use terrace_web::{MetricsOnMain, WebConfig};

    fn config(arguments: &[&str]) -> Result<WebConfig, clap::Error> {
        let cli = Cli::try_parse_from([&["terrace"], arguments].concat())?;
        Ok(cli.settings.edge.apply(WebConfig::default()))
    }

    #[test]
    fn no_proxy_is_trusted_by_default() {
        let (ours, default) = (config(&[]).unwrap(), WebConfig::default());
        assert_eq!(ours.trusted_proxies, default.trusted_proxies);
        assert_eq!((ours.cors_origins, ours.head_limit), (default.cors_origins, default.head_limit));
        assert_eq!(
            (ours.write_timeout, ours.answer_timeout),
            (default.write_timeout, default.answer_timeout)
        );
    }

    #[test]
    fn metrics_are_local_unless_opened_or_moved() {
        for (arguments, has_own_address, expected) in [
            (&[][..], false, MetricsOnMain::Local),
            (&["--metrics-access=open"], false, MetricsOnMain::Open),
            (&["--metrics-access=open"], true, MetricsOnMain::Off),
            (&[], true, MetricsOnMain::Off),
        ] {
            let cli = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap();
            assert_eq!(cli.settings.edge.metrics_on_main(has_own_address), expected, "{arguments:?}");
        }
    }

    #[test]
    fn lists_are_separated_by_commas_and_validated() {
        let ours =
            config(&["--trusted-proxies", "10.0.0.0/8,::1", "--forwarded-header", "forwarded"]).unwrap();
        assert_eq!(ours.trusted_proxies.networks.len(), 2);
        let ours = config(&["--cors-origins=https://a.example,http://localhost:5173"]).unwrap();
        assert_eq!(ours.cors_origins.len(), 2);
        let ours = config(&["--allowed-hosts=terrace.internal,10.0.0.7,*"]).unwrap();
        assert_eq!(ours.allowed_hosts.len(), 3);
        for wrong in ["--allowed-hosts=terrace:3004", "--allowed-hosts=https://terrace"] {
            assert!(config(&[wrong]).is_err(), "{wrong}");
        }
        for wrong in ["--trusted-proxies=10.0.0.1/8", "--trusted-proxies=proxy", "--cors-origins=a.example"] {
            assert!(config(&[wrong]).is_err(), "{wrong}");
        }
    }
}
