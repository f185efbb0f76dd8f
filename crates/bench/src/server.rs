//! Runs the service as shipped: the `terrace` program in a separate process.

use crate::client::{Caller, Served};
use crate::http;
use crate::process;
use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long it may take to start, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(20);
/// The polling interval for measuring when it accepts connections.
const CLOSE_LOOK: Duration = Duration::from_micros(200);
/// The sampling interval for the memory of a maintenance command.
const WATCH: Duration = Duration::from_millis(10);
/// The secret that operators' programs send.
pub(crate) const CRON_SECRET: &str = "the cron secret of the harness, which is public";

/// How the program is run.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) workers: usize,
    /// The main process of the PostgreSQL server that its databases may be on.
    pub(crate) postgres: Option<u32>,
}

impl Program {
    /// The program with a database, ignoring the settings in the environment.
    fn command(&self, data: &Path, url: &str) -> Command {
        let mut command = Command::new(&self.path);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("TERRACE_") || name.contains("DATABASE_URL") || name == "RUST_LOG" {
                command.env_remove(&*name);
            }
        }
        command.arg("--data-dir").arg(data).args(["--database-url", url, "--demo", "never"]);
        command.args(["--rate-limits", "off", "--workers", &self.workers.to_string()]);
        command.stdin(Stdio::null());
        command
    }

    /// Creates the tables and loads the catalogue of leagues and teams.
    pub(crate) fn seed(&self, data: &Path, url: &str) -> Result<()> {
        let output = self.command(data, url).arg("seed").output().context("cannot run terrace")?;
        ensure!(output.status.success(), "terrace seed: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Runs a maintenance command; returns whether it succeeded, and its output.
    pub(crate) fn maintain(&self, data: &Path, url: &str, arguments: &[&str]) -> Result<(bool, String)> {
        let mut command = self.command(data, url);
        let output = command.arg("maintain").args(arguments).output().context("cannot run terrace")?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }

    /// Runs a maintenance command and samples its memory.
    pub(crate) fn watch(&self, data: &Path, url: &str, arguments: &[&str]) -> Result<Chore> {
        let log = data.join("maintain.log");
        let file = File::create(&log)?;
        let mut command = self.command(data, url);
        command.arg("maintain").args(arguments).stdout(file.try_clone()?).stderr(file);
        let begun = Instant::now();
        let mut child = command.spawn().context("cannot run terrace")?;
        let mut peak = 0.0;
        let status = loop {
            if let Some(status) = child.try_wait()? {
                break status;
            }
            // The kernel reports nothing about a process that has just ended.
            peak = process::peak(child.id()).unwrap_or(peak);
            thread::sleep(WATCH);
        };
        let took = begun.elapsed();
        let said = fs::read_to_string(&log)?;
        ensure!(status.success(), "terrace maintain {}: {said}", arguments.join(" "));
        Ok(Chore { took, peak, said })
    }

    /// Imports an edge list; returns how long it took.
    pub(crate) fn bring_in(&self, data: &Path, url: &str, list: &Path) -> Result<Duration> {
        let mut command = self.command(data, url);
        command.arg("seed").arg("--follow-graph").arg(list);
        let begun = Instant::now();
        let output = command.output().context("cannot run terrace")?;
        let took = begun.elapsed();
        ensure!(output.status.success(), "terrace seed: {}", String::from_utf8_lossy(&output.stderr));
        Ok(took)
    }

    /// The name and version of the program.
    pub(crate) fn version(&self) -> Result<String> {
        let output = Command::new(&self.path).arg("--version").output().context("cannot run terrace")?;
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    fn database_of(&self, url: &str) -> Option<u32> {
        self.postgres.filter(|_| url.starts_with("postgres"))
    }

    /// Starts the service on a free port and waits until it is ready.
    pub(crate) fn serve(&self, data: &Path, url: &str) -> Result<Terrace> {
        self.serve_with(data, url, &[])
    }

    /// The same with further arguments.
    pub(crate) fn serve_with(&self, data: &Path, url: &str, arguments: &[&str]) -> Result<Terrace> {
        let log = data.join("terrace.log");
        let mut child = self
            .command(data, url)
            .args(arguments)
            .args(["--cron-secret", CRON_SECRET, "serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(File::create(&log)?)
            .spawn()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        let mut output = BufReader::new(child.stdout.take().context("the program's output is elsewhere")?);
        let port = announced_port(&mut output);
        let (address, database) = (SocketAddr::from(([127, 0, 0, 1], 0)), self.database_of(url));
        let mut terrace = Terrace { child, address, database, _output: output };
        let Some(port) = port? else {
            // It has exited; its log has the reason.
            bail!("terrace does not start:\n{}", fs::read_to_string(&log)?);
        };
        terrace.address.set_port(port);
        terrace.wait_until_ready()?;
        Ok(terrace)
    }

    /// Starts the service on a port that was free, and waits only until it accepts connections.
    pub(crate) fn start(&self, data: &Path, url: &str) -> Result<Started> {
        let free = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let begun = Instant::now();
        let mut child = self
            .command(data, url)
            .args(["--cron-secret", CRON_SECRET, "serve", "--listen", &free.to_string()])
            .stdout(Stdio::piped())
            .stderr(File::create(data.join("terrace.log"))?)
            .spawn()
            .with_context(|| format!("cannot run {}", self.path.display()))?;
        let output = BufReader::new(child.stdout.take().context("the program's output is elsewhere")?);
        let terrace = Terrace { child, address: free, database: self.database_of(url), _output: output };
        while TcpStream::connect(free).is_err() {
            ensure!(begun.elapsed() < PATIENCE, "terrace cannot be reached after {PATIENCE:?}");
            thread::sleep(CLOSE_LOOK);
        }
        Ok(Started { terrace, begun, accepted: Instant::now() })
    }
}

/// The result of a maintenance command.
#[derive(Debug, Clone)]
pub(crate) struct Chore {
    pub(crate) took: Duration,
    /// Its peak memory, in MiB.
    pub(crate) peak: f64,
    pub(crate) said: String,
}

/// A service that was just started.
pub(crate) struct Started {
    pub(crate) terrace: Terrace,
    /// When the process was started.
    pub(crate) begun: Instant,
    /// When it first accepted a connection.
    pub(crate) accepted: Instant,
}

/// The port that it reports to listen on; `None` if it exits without.
fn announced_port(output: &mut impl BufRead) -> Result<Option<u16>> {
    let mut line = String::new();
    while output.read_line(&mut line)? > 0 {
        if let Some(address) = line.trim().strip_prefix("Terrace listens on ") {
            let port = address.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
            return port.map(Some).with_context(|| format!("no port in {address}"));
        }
        line.clear();
    }
    Ok(None)
}

/// A running service. It ends with this value.
pub(crate) struct Terrace {
    child: Child,
    address: SocketAddr,
    /// The main process of its database, if that is a separate server.
    database: Option<u32>,
    // Kept open: a program that cannot print may fail.
    _output: BufReader<ChildStdout>,
}

impl Terrace {
    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn served(&self) -> Served {
        Served { address: self.address, pid: self.pid(), database: self.database }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn caller(&self) -> Result<Caller> {
        Caller::open(self.address)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        let request = http::request("GET", "/readyz", &[], None);
        while !self
            .caller()
            .and_then(|mut caller| caller.ask(&request))
            .is_ok_and(|ready| ready.status == 200)
        {
            ensure!(Instant::now() < deadline, "terrace is not ready after {PATIENCE:?}");
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// The metrics of the service.
    pub(crate) fn metrics(&self) -> Result<Metrics> {
        Ok(Metrics(self.caller()?.get("/metrics", &[])?.text()))
    }

    /// Waits until a live read model was loaded, and returns how many seconds the load took.
    pub(crate) fn until_read(&self, model: &str) -> Result<f64> {
        let deadline = Instant::now() + PATIENCE;
        let label = format!("model=\"{model}\"");
        let mut caller = self.caller()?;
        loop {
            let metrics = Metrics(caller.get("/metrics", &[])?.text());
            if metrics.labelled("terrace_live_load_seconds_count", &label) > 0.0 {
                return Ok(metrics.labelled("terrace_live_load_seconds_sum", &label));
            }
            ensure!(Instant::now() < deadline, "{model} is not read after {PATIENCE:?}");
            thread::sleep(POLL);
        }
    }

    /// Shuts down in order, so that its database is complete in one file.
    pub(crate) fn stop(mut self) -> Result<()> {
        signal(self.child.id(), "TERM")?;
        let deadline = Instant::now() + PATIENCE;
        while self.child.try_wait()?.is_none() {
            ensure!(Instant::now() < deadline, "terrace did not stop within {PATIENCE:?}");
            thread::sleep(POLL);
        }
        Ok(())
    }
}

/// Kills a process at once, to simulate a crash.
pub(crate) fn kill(pid: u32) -> Result<()> {
    signal(pid, "KILL")
}

/// Uses the shell's built-in `kill`, because the program may be missing on a minimal system.
fn signal(pid: u32, name: &str) -> Result<()> {
    let words = ["-c", "kill -s \"$1\" \"$2\"", "sh", name, &pid.to_string()];
    let sent = Command::new("sh").args(words).status()?;
    ensure!(sent.success(), "cannot send SIG{name} to terrace");
    Ok(())
}

impl Drop for Terrace {
    fn drop(&mut self) {
        // The data is removed as well; after `stop` there is no process left to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Metrics in the Prometheus text format.
pub(crate) struct Metrics(String);

impl Metrics {
    /// The sum over all series of this name.
    pub(crate) fn total(&self, name: &str) -> f64 {
        self.labelled(name, "")
    }

    /// The sum over the series of this name with this label.
    pub(crate) fn labelled(&self, name: &str, label: &str) -> f64 {
        let values = self.0.lines().filter_map(|line| {
            let rest = line.strip_prefix(name)?;
            let (labels, value) = rest.rsplit_once(' ')?;
            let is_one = labels.is_empty() || labels.starts_with('{');
            (is_one && labels.contains(label)).then(|| value.parse::<f64>().ok())?
        });
        values.sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_summed_over_their_series() {
        let metrics = Metrics("# HELP a\na_sum 3\na_sum{b=\"c d\"} 4.5\na_sum_of 9\nb_sum 1\n".to_owned());
        assert!((metrics.total("a_sum") - 7.5).abs() < 1e-9);
        assert!(metrics.total("c").abs() < 1e-9);
        assert!((metrics.labelled("a_sum", "b=\"c d\"") - 4.5).abs() < 1e-9);
    }

    #[test]
    fn the_port_is_read_from_what_the_program_says() {
        let mut output = "its data\nTerrace listens on http://localhost:4711\nmore\n".as_bytes();
        assert_eq!(announced_port(&mut output).unwrap(), Some(4711));
        assert_eq!(announced_port(&mut "".as_bytes()).unwrap(), None);
        assert!(announced_port(&mut "Terrace listens on nothing\n".as_bytes()).is_err());
    }
}
