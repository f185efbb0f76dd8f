//! The service's own program, for tests that run it as its users do.

use crate::client::Client;
use crate::contract::Contract;
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

/// How long the program may take to start, to do a chore, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);
/// As much of a log as somebody reads after a failure.
const LOG_TAIL: usize = 200;

/// The path of the `terrace` program, which `cargo xtask test` builds and passes as `TERRACE_BIN`: Cargo hands
/// a test no program of another package. Fails, and says what to do, where there is none.
pub fn terrace_program() -> Result<PathBuf> {
    let path = env::var_os("TERRACE_BIN").map(PathBuf::from).context(
        "this test runs the `terrace` program: run `cargo xtask test`, which builds it, or set TERRACE_BIN",
    )?;
    ensure!(path.is_file(), "TERRACE_BIN: there is no {}", path.display());
    Ok(path)
}

/// How the program is called: in a folder of its own, in an environment that holds nothing but what is said here.
#[derive(Debug, Clone)]
pub struct Invocation {
    program: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(String, OsString)>,
    folder: Arc<TempDir>,
}

impl Invocation {
    /// The program without demo content, without rate limits, without bounds for new accounts, on any free port, with passwords that are cheap to
    /// check, and with its data in its folder. All of that is said in the environment, so that arguments override
    /// it.
    ///
    /// # Errors
    ///
    /// When there is no program to be had.
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

    /// The same on the database that `url` names.
    ///
    /// # Errors
    ///
    /// When there is no program to be had.
    pub fn on(url: &str) -> Result<Self> {
        Ok(Self::new()?.env("DATABASE_URL", url))
    }

    /// With these arguments behind those that it has.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// With this variable in its environment, in the place of what it was.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self.environment.push((name.to_owned(), value.into()));
        self
    }

    /// Without this variable.
    #[must_use]
    pub fn without_env(mut self, name: &str) -> Self {
        self.environment.retain(|(known, _)| known != name);
        self
    }

    /// The folder that it runs in. It goes with the last invocation or program that shares it.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs it to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be run or does not end.
    pub fn run(&self) -> Result<Ended> {
        self.spawn()?.wait(PATIENCE)
    }

    /// Serves until it is told to stop, and returns when it is ready.
    ///
    /// # Errors
    ///
    /// When it does not get that far; with what it said.
    pub fn serve(&self) -> Result<Program> {
        let mut running = self.spawn()?;
        let address = running.address()?;
        let contract = Arc::new(Contract::read(address).context("the service does not answer")?);
        let program = Program { running, address, contract };
        program.wait_until_ready(PATIENCE)?;
        Ok(program)
    }

    /// Begins a run that need not come to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be run.
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

/// What became of a program that has ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// What it said on its standard output.
    pub said: String,
    /// What it said on its standard error.
    pub log: String,
}

impl Ended {
    /// What it said, provided that it ended with 0.
    ///
    /// # Errors
    ///
    /// When it did not.
    pub fn succeeded(self) -> Result<String> {
        ensure!(self.code == Some(0), "it ended with {:?}:\n{}{}", self.code, self.said, self.log);
        Ok(self.said)
    }

    /// Everything that it said, anywhere.
    pub fn words(&self) -> String {
        format!("{}{}", self.said, self.log)
    }
}

/// A process that is killed with its value, and whose log goes to the output of the test, which Cargo shows when
/// the test fails.
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

    /// Where it says that it listens.
    fn address(&mut self) -> Result<SocketAddr> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = self.said()?;
            // Only whole lines: it may be in the middle of one.
            let lines = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
            if let Some(address) = lines.map(str::trim_end).find_map(listening) {
                return Ok(address);
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status}:\n{}{}", self.said()?, self.log()?);
            }
            ensure!(Instant::now() < deadline, "it does not say where it listens: {said:?}");
            thread::sleep(POLL);
        }
    }

    fn wait(&mut self, patience: Duration) -> Result<Ended> {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Ended { code: status.code(), said: self.said()?, log: self.log()? });
            }
            ensure!(Instant::now() < deadline, "it has not ended after {patience:?}");
            thread::sleep(POLL);
        }
    }

    /// What the system says of its memory under a name, in KiB.
    fn memory(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let kib = status.lines().find_map(|line| line.strip_prefix(name))?;
        kib.split_whitespace().next()?.parse().ok()
    }

    /// The shell's own `kill`, because a small system may lack the program.
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
        // It may have ended already.
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

/// The program at a chore. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Chore(Running);

impl Chore {
    /// Whether it has ended by itself.
    ///
    /// # Errors
    ///
    /// When nobody can tell.
    pub fn has_ended(&mut self) -> Result<bool> {
        Ok(self.0.child.try_wait()?.is_some())
    }

    /// What it has said on its standard error.
    ///
    /// # Errors
    ///
    /// When that cannot be read.
    pub fn log(&self) -> Result<String> {
        self.0.log()
    }

    /// The most memory that it has held so far, in KiB; none where the system does not tell, and once it has ended.
    pub fn peak_kib(&self) -> Option<u64> {
        self.0.memory("VmHWM:")
    }

    /// Waits until its log holds these words.
    ///
    /// # Errors
    ///
    /// When it ends without them, or never says them.
    pub fn wait_for_words(&mut self, words: &str) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while !self.log()?.contains(words) {
            ensure!(!self.has_ended()?, "it ended without {words:?}:\n{}", self.log()?);
            ensure!(Instant::now() < deadline, "it does not say {words:?}:\n{}", self.log()?);
            thread::sleep(POLL);
        }
        Ok(())
    }

    /// Presses Ctrl-C.
    ///
    /// # Errors
    ///
    /// When it cannot be told.
    pub fn interrupt(&self) -> Result<()> {
        self.0.signal("INT")
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// When it does not end.
    pub fn wait(&mut self) -> Result<Ended> {
        self.0.wait(PATIENCE)
    }

    /// Kills it at once, as a crash would.
    ///
    /// # Errors
    ///
    /// When it cannot be killed.
    pub fn kill(&mut self) -> Result<()> {
        self.0.kill()
    }
}

/// The program as it serves. It is killed when this value is dropped.
#[derive(Debug)]
pub struct Program {
    running: Running,
    address: SocketAddr,
    contract: Arc<Contract>,
}

impl Program {
    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it promises of its answers.
    pub fn contract(&self) -> &Contract {
        &self.contract
    }

    /// A client that nobody has signed in.
    pub fn client(&self) -> Client {
        Client::new(format!("http://{}", self.address), Arc::clone(&self.contract))
    }

    /// What it has said on its standard output.
    ///
    /// # Errors
    ///
    /// When that cannot be read.
    pub fn said(&self) -> Result<String> {
        self.running.said()
    }

    /// What it has said on its standard error.
    ///
    /// # Errors
    ///
    /// When that cannot be read.
    pub fn log(&self) -> Result<String> {
        self.running.log()
    }

    /// How much memory it holds, in KiB; none where the system does not tell.
    pub fn resident_kib(&self) -> Option<u64> {
        self.running.memory("VmRSS:")
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.running.child.id()
    }

    /// How many descriptors it holds, of files and of connections; none where the system does not tell.
    pub fn descriptors(&self) -> Option<usize> {
        fs::read_dir(format!("/proc/{}/fd", self.id())).ok().map(Iterator::count)
    }

    /// Asks until it is ready and says how long that took.
    ///
    /// # Errors
    ///
    /// When it is not ready in time.
    pub fn wait_until_ready(&self, patience: Duration) -> Result<Duration> {
        let started = Instant::now();
        let request = format!("GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.address);
        loop {
            let answer = crate::raw::raw(self.address, request.as_bytes())?;
            if answer.is_some_and(|answer| answer.status == 200) {
                return Ok(started.elapsed());
            }
            ensure!(started.elapsed() < patience, "it is not ready after {patience:?}");
            thread::sleep(POLL);
        }
    }

    /// Kills it at once, as a crash would.
    ///
    /// # Errors
    ///
    /// When it cannot be killed.
    pub fn kill(&mut self) -> Result<()> {
        self.running.kill()
    }

    /// Tells it to stop in order.
    ///
    /// # Errors
    ///
    /// When it cannot be told.
    pub fn terminate(&self) -> Result<()> {
        self.running.signal("TERM")
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// When it does not end in time.
    pub fn wait(&mut self, patience: Duration) -> Result<Ended> {
        self.running.wait(patience)
    }

    /// Tells it to stop in order and waits for its end.
    ///
    /// # Errors
    ///
    /// When it does not end.
    pub fn stop(&mut self) -> Result<Ended> {
        self.terminate()?;
        self.wait(PATIENCE)
    }

    /// Holds it, until it is resumed, where it happens to be.
    ///
    /// # Errors
    ///
    /// When it cannot be held.
    pub fn pause(&self) -> Result<()> {
        self.running.signal("STOP")
    }

    /// Lets it go on.
    ///
    /// # Errors
    ///
    /// When it cannot be told.
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
