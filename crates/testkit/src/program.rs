//! Runs the service's program for tests that exercise it as users do.

use crate::client::Client;
use crate::contract::Contract;
use crate::wait::{PATIENCE, wait_at_most};
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::{NamedTempFile, TempDir};

const POLL: Duration = Duration::from_millis(10);
/// The number of log lines that are useful after a failure.
const LOG_TAIL: usize = 200;

/// The path of the `terrace` program, which `cargo xtask test` builds and passes as `TERRACE_BIN`: Cargo gives a test
/// no program of another package. Fails with instructions if it is missing.
pub fn terrace_program() -> Result<PathBuf> {
    let path = env::var_os("TERRACE_BIN").map(PathBuf::from).context(
        "this test runs the `terrace` program: run `cargo xtask test`, which builds it, or set TERRACE_BIN",
    )?;
    ensure!(path.is_file(), "TERRACE_BIN: there is no {}", path.display());
    Ok(path)
}

/// The command line and environment of the program: its own working folder, and only the variables that are set here.
#[derive(Debug, Clone)]
pub struct Invocation {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    folder: Arc<TempDir>,
}

impl Invocation {
    /// The program without demo content, rate limits and bounds for new accounts, on any free port, with cheap password
    /// hashing, and with its data in its folder. All of this is set in the environment, so that arguments override it.
    ///
    /// # Errors
    ///
    /// Returns an error if the program is not available.
    pub fn new() -> Result<Self> {
        let bare = Self {
            program: terrace_program()?,
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: Arc::new(tempfile::Builder::new().prefix("terrace-run-").tempdir()?),
        };
        Ok(bare
            .env("TERRACE_LISTEN", "127.0.0.1:0")
            .env("TERRACE_DEMO", "never")
            .env("TERRACE_RATE_LIMITS", "off")
            .env("TERRACE_NEW_ACCOUNT_HOURS", "0")
            .env("TERRACE_WORKERS", "2")
            .env("TERRACE_PASSWORD_MEMORY_KIB", "8")
            .env("TERRACE_PASSWORD_PASSES", "1"))
    }

    /// The same, using the database at `url`.
    ///
    /// # Errors
    ///
    /// Returns an error if the program is not available.
    pub fn on(url: &str) -> Result<Self> {
        Ok(Self::new()?.env("DATABASE_URL", url))
    }

    /// Appends arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable, replacing its previous value.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Removes an environment variable.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    /// The working folder. It is removed with the last invocation or program that shares it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the program until it exits.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be started or does not exit in time.
    pub fn run(&self) -> Result<Ended> {
        self.spawn()?.wait(PATIENCE)
    }

    /// Starts the server and returns when it is ready.
    ///
    /// # Errors
    ///
    /// Returns an error with the output if the server does not become ready.
    pub fn serve(&self) -> Result<Program> {
        let mut running = self.spawn()?;
        let address = running.address()?;
        let contract = Arc::new(Contract::read(address).context("the service does not answer")?);
        let program = Program { running, address, contract };
        program.wait_until_ready(PATIENCE)?;
        Ok(program)
    }

    /// Starts the program without waiting for it to exit.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be started.
    pub fn begin(&self) -> Result<Chore> {
        self.spawn().map(Chore)
    }

    fn spawn(&self) -> Result<Running> {
        let said = NamedTempFile::new_in(self.folder())?;
        let log = NamedTempFile::new_in(self.folder())?;
        let child = Command::new(&self.program)
            .args(&self.arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder())
            .stdin(Stdio::null())
            .stdout(said.reopen()?)
            .stderr(log.reopen()?)
            .spawn()
            .with_context(|| format!("cannot run {}", self.program.display()))?;
        Ok(Running { child, said, log, _folder: Arc::clone(&self.folder) })
    }
}

/// The result of a program that exited.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub said: String,
    /// Its standard error.
    pub log: String,
}

impl Ended {
    /// The standard output of a program that exited with code 0.
    ///
    /// # Errors
    ///
    /// Returns an error if the exit code was not 0.
    pub fn succeeded(self) -> Result<String> {
        ensure!(self.code == Some(0), "it ended with {:?}:\n{}{}", self.code, self.said, self.log);
        Ok(self.said)
    }

    /// The standard output and the standard error.
    pub fn words(&self) -> String {
        format!("{}{}", self.said, self.log)
    }
}

/// A process that is killed when this value is dropped. Its log is then written to the output of the test, which Cargo
/// shows if the test fails.
#[derive(Debug)]
struct Running {
    child: Child,
    said: NamedTempFile,
    log: NamedTempFile,
    _folder: Arc<TempDir>,
}

impl Running {
    fn said(&self) -> Result<String> {
        text(&self.said)
    }

    fn log(&self) -> Result<String> {
        text(&self.log)
    }

    /// The address that it reports to listen on.
    fn address(&mut self) -> Result<SocketAddr> {
        let mut address = None;
        wait_at_most(PATIENCE, "the process has printed its address", || {
            let said = self.said()?;
            // Only complete lines: a line may be partially written.
            let lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            address = lines.map(str::trim_end).find_map(listening);
            if address.is_none()
                && let Some(status) = self.child.try_wait()?
            {
                bail!("it ended with {status}:\n{}{}", self.said()?, self.log()?);
            }
            Ok(address.is_some())
        })?;
        address.context("no address")
    }

    fn wait(&mut self, patience: Duration) -> Result<Ended> {
        wait_at_most(patience, "the process has ended", || Ok(self.child.try_wait()?.is_some()))?;
        Ok(Ended { code: self.child.wait()?.code(), said: self.said()?, log: self.log()? })
    }

    /// Whether it exits within `time`.
    fn ends_within(&mut self, time: Duration) -> Result<bool> {
        let deadline = Instant::now() + time;
        loop {
            if self.child.try_wait()?.is_some() {
                return Ok(true);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            thread::sleep(left.min(POLL));
        }
    }

    /// The value of a field of `/proc/PID/status`, in KiB.
    fn memory(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let kib = status.lines().find_map(|line| line.strip_prefix(name))?;
        kib.split_whitespace().next()?.parse().ok()
    }

    /// The shell's built-in `kill`, because the program may be missing on a minimal system.
    fn signal(&self, name: &str) -> Result<()> {
        let status = Command::new("sh")
            .args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &self.child.id().to_string()])
            .status()
            .context("cannot run sh")?;
        ensure!(status.success(), "cannot send SIG{name}");
        Ok(())
    }

    fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have exited already.
        let _ = self.kill();
        let log = self.log().unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        let tail = lines.get(lines.len().saturating_sub(LOG_TAIL)..).unwrap_or_default();
        if !tail.is_empty() {
            eprintln!("--- the log of process {}\n{}\n---", self.child.id(), tail.join("\n"));
        }
    }
}

fn text(file: &NamedTempFile) -> Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(file.path())?).into_owned())
}

fn listening(line: &str) -> Option<SocketAddr> {
    let (_, port) = line.strip_prefix("Terrace listens on http://")?.rsplit_once(':')?;
    Some(([127, 0, 0, 1], port.parse().ok()?).into())
}

/// A running chore of the program. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Chore(Running);

impl Chore {
    /// Whether it has exited by itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the status of the process cannot be read.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.child.try_wait()?.is_some())
    }

    /// Whether it exits within `time`, for a process that is killed at a random moment.
    ///
    /// # Errors
    ///
    /// Returns an error if the status of the process cannot be read.
    pub fn ends_within(&mut self, time: Duration) -> Result<bool> {
        self.0.ends_within(time)
    }

    /// Its standard error so far.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    pub fn log(&self) -> Result<String> {
        self.0.log()
    }

    /// Its peak memory so far, in KiB; `None` if the system does not report it, and after it exited.
    pub fn peak_kib(&self) -> Option<u64> {
        self.0.memory("VmHWM:")
    }

    /// Waits until its log contains this text.
    ///
    /// # Errors
    ///
    /// Returns an error if it exits first, or the text does not appear in time.
    pub fn wait_for_words(&mut self, words: &str) -> Result<()> {
        wait_at_most(PATIENCE, &format!("the log contains {words:?}"), || {
            // Read before the log, which a process that ends completes.
            let has_ended = self.has_ended()?;
            let is_there = self.log()?.contains(words);
            ensure!(is_there || !has_ended, "it ended without {words:?}:\n{}", self.log()?);
            Ok(is_there)
        })
    }

    /// Sends SIGINT, as Ctrl-C does.
    ///
    /// # Errors
    ///
    /// Returns an error if the signal cannot be sent.
    pub fn interrupt(&self) -> Result<()> {
        self.0.signal("INT")
    }

    /// Waits until it exits.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exit in time.
    pub fn wait(&mut self) -> Result<Ended> {
        self.0.wait(PATIENCE)
    }

    /// Kills it at once, to simulate a crash.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be killed.
    pub fn kill(&mut self) -> Result<()> {
        self.0.kill()
    }
}

/// A running server. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Program {
    running: Running,
    address: SocketAddr,
    contract: Arc<Contract>,
}

impl Program {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The contract of its responses.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// A client that is not signed in.
    pub fn client(&self) -> Client {
        Client::new(format!("http://{}", self.address), Arc::clone(&self.contract))
    }

    /// Its standard output so far.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    pub fn said(&self) -> Result<String> {
        self.running.said()
    }

    /// Its standard error so far.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be read.
    pub fn log(&self) -> Result<String> {
        self.running.log()
    }

    /// Its resident memory, in KiB; `None` if the system does not report it.
    pub fn resident_kib(&self) -> Option<u64> {
        self.running.memory("VmRSS:")
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.running.child.id()
    }

    /// The number of its open descriptors, of files and connections; `None` if the system does not report it.
    pub fn descriptors(&self) -> Option<usize> {
        fs::read_dir(format!("/proc/{}/fd", self.id())).ok().map(Iterator::count)
    }

    /// Polls until it is ready and returns how long that took.
    ///
    /// # Errors
    ///
    /// Returns an error if it is not ready in time.
    pub fn wait_until_ready(&self, patience: Duration) -> Result<Duration> {
        let started = Instant::now();
        let request = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        wait_at_most(patience, "the process is ready", || {
            let answer = crate::raw::raw(self.address, request.as_bytes())?;
            Ok(answer.is_some_and(|answer| answer.status == 200))
        })?;
        Ok(started.elapsed())
    }

    /// Whether it exits within `time`, for a process that is killed at a random moment.
    ///
    /// # Errors
    ///
    /// Returns an error if the status of the process cannot be read.
    pub fn ends_within(&mut self, time: Duration) -> Result<bool> {
        self.running.ends_within(time)
    }

    /// Kills it at once, to simulate a crash.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be killed.
    pub fn kill(&mut self) -> Result<()> {
        self.running.kill()
    }

    /// Sends SIGTERM, which requests an orderly shutdown.
    ///
    /// # Errors
    ///
    /// Returns an error if the signal cannot be sent.
    pub fn terminate(&self) -> Result<()> {
        self.running.signal("TERM")
    }

    /// Waits until it exits.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exit in time.
    pub fn wait(&mut self, patience: Duration) -> Result<Ended> {
        self.running.wait(patience)
    }

    /// Requests an orderly shutdown and waits until it exits.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not exit in time.
    pub fn stop(&mut self) -> Result<Ended> {
        self.terminate()?;
        self.wait(PATIENCE)
    }

    /// Suspends it with SIGSTOP until it is resumed.
    ///
    /// # Errors
    ///
    /// Returns an error if the signal cannot be sent.
    pub fn pause(&self) -> Result<()> {
        self.running.signal("STOP")
    }

    /// Resumes it with SIGCONT.
    ///
    /// # Errors
    ///
    /// Returns an error if the signal cannot be sent.
    pub fn resume(&self) -> Result<()> {
        self.running.signal("CONT")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_the_line_that_says_it() {
        let address = Some(([127, 0, 0, 1], 3004).into());
        assert_eq!(listening("Terrace listens on http://localhost:3004"), address);
        for other in ["its data lies in http://localhost:3004", "Terrace listens on http://localhost", ""] {
            assert_eq!(listening(other), None, "{other}");
        }
    }
}
