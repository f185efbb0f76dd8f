//! Checks of the configuration and of the machine.

use crate::doctor::findings::Findings;
use crate::folders;
#[cfg(unix)]
use crate::permissions;
use crate::settings::{Demo, PaymentMode, Settings, Switch};
use std::path::Path;
use terrace_web::{AllowedHost, PublicUrl};

/// Below these limits a busy server soon runs out of file handles or disk space. The sizes are in bytes.
const FEW_FILES: u64 = 10_000;
const LITTLE_SPACE: u64 = 1 << 30;
const NO_SPACE: u64 = 100 << 20;

/// Checks the settings alone, without connecting to anything.
pub(super) fn configuration(settings: &Settings, findings: &mut Findings) {
    match settings.web_config() {
        Ok(config) => addresses(settings, config.public_url.as_ref(), findings),
        Err(error) => findings.fail("public URL", format!("{error:#}")),
    }
    let reachable = is_reachable(settings);
    if settings.rate_limits == Switch::Off {
        findings.warn("rate limits", "are off: clients can guess passwords and fill the database");
    } else {
        findings.ok("rate limits", "are on");
    }
    match settings.cron_secret() {
        Ok(Some(_)) => findings.ok("cron secret", "is set"),
        Ok(None) => findings.ok("cron secret", "is not set: the routes under /api/cron are closed"),
        Err(error) => findings.fail("cron secret", format!("{error:#}")),
    }
    match settings.minting.minter() {
        Ok(Some(_)) => findings.ok("minter", "is configured"),
        Ok(None) => {}
        Err(error) => findings.fail("minter", format!("{error:#}")),
    }
    wallets(settings, reachable, findings);
    push(settings, findings);
    payments(settings, reachable, findings);
    if settings.demo == Demo::Always && reachable {
        findings.warn("demo", "--demo always puts accounts with a published password on a reachable address");
    }
    if settings.jobs == Switch::Off {
        findings.warn("jobs", "are off here: another process must run them");
    }
}

/// The provider of wallets.
fn wallets(settings: &Settings, reachable: bool, findings: &mut Findings) {
    match (settings.wallets.webhook(), settings.has_sandbox_wallets()) {
        (Ok(Some(_)), _) => findings.ok("wallet provider", "is configured"),
        (Ok(None), Ok(true)) if reachable => {
            findings.warn("wallet provider", "--wallets sandbox: the wallets of fans exist on no network");
        }
        (Ok(None), Ok(true)) => findings.ok("wallet provider", "is the sandbox"),
        // An invalid public URL is already reported above.
        (Ok(None), Ok(false) | Err(_)) => {}
        (Err(error), _) => findings.fail("wallet provider", format!("{error:#}")),
    }
}

/// The keys of push messages.
fn push(settings: &Settings, findings: &mut Findings) {
    // An invalid public URL is already reported above.
    let site = settings.site().unwrap_or_default();
    match (settings.push.sender(site.as_ref()), settings.push.keys()) {
        (Ok(Some(_)), Ok(Some(keys))) => {
            let (id, others) = (keys.current().id, keys.count().saturating_sub(1));
            findings.ok("push", format!("the key is {id}, and {others} are of earlier subscriptions"));
        }
        (Ok(_), Ok(_)) => findings.ok("push", "no key is set: no push messages are sent"),
        (Err(error), _) | (_, Err(error)) => findings.fail("push", format!("{error:#}")),
    }
}

/// The payment provider.
fn payments(settings: &Settings, reachable: bool, findings: &mut Findings) {
    if settings.payments == PaymentMode::Stripe {
        match (settings.stripe.adapter(), settings.site()) {
            (Ok(stripe), Ok(Some(_))) if stripe.is_live() => {
                findings.ok("payments", "go to Stripe: cards are charged");
            }
            (Ok(_), Ok(Some(_))) => findings.warn("payments", "go to Stripe with a test key: no money moves"),
            (Ok(_), _) => findings.fail("payments", "--payments stripe needs --public-url".to_owned()),
            (Err(error), _) => findings.fail("payments", format!("{error:#}")),
        }
        return;
    }
    match settings.has_sandbox() {
        Ok(true) if reachable && settings.payments == PaymentMode::Sandbox => {
            findings.warn("payments", "--payments sandbox: every visitor can buy for money without paying");
        }
        Ok(true) => findings.ok("payments", "go to the sandbox: no money moves"),
        Ok(false) => findings.ok("payments", "are off: nothing is sold for money"),
        // An invalid public URL is already reported above.
        Err(_) => {}
    }
}

/// Whether other accounts than the one that runs the program can read its data.
#[cfg(unix)]
pub(super) fn permissions(settings: &Settings, findings: &mut Findings) {
    let wider = permissions::wider(settings);
    for permissions::Wider { path, mode, narrow } in &wider {
        let path = path.display();
        findings.warn(
            "permissions",
            format!("{path} is {mode:03o}, wider than it should be: chmod {narrow:o} {path}"),
        );
    }
    if wider.is_empty() {
        findings.ok("permissions", "only the owner can read the data folder");
    }
}

/// Whether clients on other machines can reach the service.
pub(super) fn is_reachable(settings: &Settings) -> bool {
    settings.public_url.is_some() || !settings.listen.ip().is_loopback()
}

fn addresses(settings: &Settings, public_url: Option<&PublicUrl>, findings: &mut Findings) {
    match public_url {
        Some(url) if url.is_https() => {
            findings.ok("public URL", format!("{url}"));
            // This program does not speak TLS, so an https URL implies a proxy in front of it.
            if settings.edge.trusted_proxies.is_empty() {
                findings.warn(
                    "proxies",
                    "none is trusted: behind one, all visitors share one address and its rate limits; name it with \
                     --trusted-proxies",
                );
            } else {
                let count = settings.edge.trusted_proxies.len();
                findings.ok("proxies", format!("{count} networks are trusted with the addresses of clients"));
            }
        }
        Some(url) => {
            findings.warn("public URL", format!("{url} is not https: cookies and passwords can be read"));
        }
        None if settings.listen.ip().is_loopback() => {
            findings.ok("public URL", "not set; only this machine can reach the service");
        }
        None => findings.warn(
            "public URL",
            format!(
                "not set, and {} can be reached: browsers cannot sign in, cookies are not Secure, and only IP addresses \
                 and --allowed-hosts are answered",
                settings.listen
            ),
        ),
    }
    if settings.edge.allowed_hosts.iter().any(AllowedHost::is_any) {
        findings
            .warn("hosts", "--allowed-hosts * answers under every host: DNS rebinding can read the service");
    }
    if !settings.edge.cors_origins.is_empty() {
        let count = settings.edge.cors_origins.len();
        findings.ok("CORS", format!("{count} origins may read answers (--cors-origins)"));
    }
}

/// Whether the embedded database exists; the check must not create it. Whether a server's database exists
/// shows when it is queried.
pub(super) fn database_is_there(settings: &Settings, findings: &mut Findings) -> bool {
    let url = match settings.database_url() {
        Ok(url) => url,
        Err(error) => {
            findings.fail("database", format!("{error:#}"));
            return false;
        }
    };
    match folders::embedded(&url) {
        Some(path) if !path.exists() => {
            let words = format!("there is none at {} yet: the first start makes it", path.display());
            findings.warn("database", words);
            false
        }
        Some(_) | None => true,
    }
}

/// Checks the free disk space and the limit of file handles.
#[cfg(unix)]
pub(super) fn machine(settings: &Settings, findings: &mut Findings) {
    files(rustix::process::getrlimit(rustix::process::Resource::Nofile).current, findings);
    // The first start creates the data folder.
    let folder = folders::nearest(&settings.data_dir);
    match rustix::fs::statvfs(folder) {
        Ok(found) => disk(found.f_bavail.saturating_mul(found.f_frsize), folder, findings),
        Err(error) => findings.fail("disk", format!("{}: {error}", folder.display())),
    }
}

/// Not implemented on this platform.
#[cfg(not(unix))]
pub(super) fn machine(_settings: &Settings, findings: &mut Findings) {
    findings.warn("machine", "free space and file handles are not looked at on this system");
}

fn files(limit: Option<u64>, findings: &mut Findings) {
    match limit {
        Some(limit) if limit < FEW_FILES => findings.warn(
            "file handles",
            format!(
                "{limit}: each connection takes one; allow {FEW_FILES} or more (ulimit -n, LimitNOFILE=)"
            ),
        ),
        Some(limit) => findings.ok("file handles", format!("{limit}")),
        None => findings.ok("file handles", "without limit"),
    }
}

fn disk(free: u64, folder: &Path, findings: &mut Findings) {
    let words = format!("{} MiB free in {}", free >> 20, folder.display());
    if free < NO_SPACE {
        findings.fail("disk", words);
    } else if free < LITTLE_SPACE {
        findings.warn("disk", words);
    } else {
        findings.ok("disk", words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use crate::doctor::findings::Level;
    use clap::Parser;

    fn found(arguments: &[&str]) -> Findings {
        let cli = Cli::try_parse_from([&["terrace"], arguments].concat()).unwrap();
        let mut findings = Findings::default();
        configuration(&cli.settings, &mut findings);
        findings
    }

    fn level(arguments: &[&str], subject: &str) -> Vec<Level> {
        found(arguments).of(subject).into_iter().map(|(level, _)| level).collect()
    }

    #[test]
    fn a_reachable_service_gets_more_warnings() {
        let https = "--public-url=https://fans.example";
        let everywhere = "--listen=0.0.0.0:3004";
        for (arguments, subject, expected) in [
            (vec![], "public URL", vec![Level::Ok]),
            (vec![everywhere], "public URL", vec![Level::Warn]),
            (vec!["--public-url=http://fans.example"], "public URL", vec![Level::Warn]),
            (vec!["--public-url=fans.example"], "public URL", vec![Level::Fail]),
            (vec![https], "public URL", vec![Level::Ok]),
            (vec![https], "proxies", vec![Level::Warn]),
            (vec![https, "--trusted-proxies=10.0.0.0/8"], "proxies", vec![Level::Ok]),
            (vec!["--allowed-hosts=*"], "hosts", vec![Level::Warn]),
            (vec!["--allowed-hosts=terrace.internal"], "hosts", vec![]),
            (vec!["--rate-limits=off"], "rate limits", vec![Level::Warn]),
            (vec!["--cron-secret=short"], "cron secret", vec![Level::Fail]),
            (vec!["--minter-url=https://mint.example"], "minter", vec![Level::Fail]),
            (vec!["--wallet-url=https://wallets.example"], "wallet provider", vec![Level::Fail]),
            (vec!["--wallets=sandbox", everywhere], "wallet provider", vec![Level::Warn]),
            (vec!["--wallets=off"], "wallet provider", vec![]),
            (vec!["--demo=always", everywhere], "demo", vec![Level::Warn]),
            (vec!["--demo=always"], "demo", vec![]),
            (vec!["--jobs=off"], "jobs", vec![Level::Warn]),
        ] {
            assert_eq!(level(&arguments, subject), expected, "{arguments:?} {subject}");
        }
    }

    #[test]
    fn the_machine_has_limits() {
        let mut findings = Findings::default();
        for limit in [Some(1024), Some(10_000), None] {
            files(limit, &mut findings);
        }
        for free in [50 << 20, 500 << 20, 5 << 30] {
            disk(free, Path::new("data"), &mut findings);
        }
        let levels = |subject| findings.of(subject).into_iter().map(|(level, _)| level).collect::<Vec<_>>();
        assert_eq!(levels("file handles"), [Level::Warn, Level::Ok, Level::Ok]);
        assert_eq!(levels("disk"), [Level::Fail, Level::Warn, Level::Ok]);
    }
}
