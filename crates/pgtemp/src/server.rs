//! The life cycle of the server: create, start, stop, kill, restart.

use crate::account::Account;
use crate::client;
use crate::guard::{Guard, PID_FILE};
use crate::processes;
use crate::programs::Programs;
use anyhow::{Context, Result, bail, ensure};
use std::env;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The superuser of the server. It has no password: the server listens on this machine only.
const OWNER: &str = "terrace";
/// How long a server may take to start, including crash recovery, or to stop.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(25);

/// Options of a throwaway server.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Force writes to disk. It only matters if the whole machine fails, not if the server is killed, so it is off
    /// unless the cost of forced writes is being measured.
    pub fsync: bool,
    /// Further settings of the server, each as `name=value`, as in `postgresql.conf`.
    pub settings: Vec<String>,
}

/// A PostgreSQL server that lives as long as this value, and at most as long as this process.
#[derive(Debug)]
pub struct ThrowawayPostgres {
    programs: Programs,
    account: Option<Account>,
    options: Options,
    port: u16,
    server: Option<Child>,
    // Dropped in this order: the guard removes the folder, and removing `home` then finds nothing.
    _guard: Guard,
    home: TempDir,
}

impl ThrowawayPostgres {
    /// Creates and starts a server that is ready for connections. Fails with advice if PostgreSQL is not installed, and
    /// with the server's log if it does not start within 30 seconds.
    pub fn start() -> Result<Self> {
        Self::start_with(Options::default())
    }

    /// Like [`ThrowawayPostgres::start`], with options.
    pub fn start_with(options: Options) -> Result<Self> {
        Self::start_in(&env::temp_dir(), options)
    }

    /// Like [`ThrowawayPostgres::start_with`], with all data in a new folder inside `folder`. If this process runs as
    /// root, the server runs under another account, which must be able to enter the folder.
    pub fn start_in(folder: &Path, options: Options) -> Result<Self> {
        let programs = Programs::find()?;
        let home = tempfile::Builder::new().prefix("terrace-pg-").tempdir_in(folder)?;
        let guard = Guard::watch(home.path())?;
        let account = Account::needed(home.path())?;
        if let Some(account) = account {
            account.give(home.path())?;
        }
        let mut postgres = Self { programs, account, options, port: 0, server: None, _guard: guard, home };
        postgres.initialise()?;
        postgres.start_on_a_free_port()?;
        Ok(postgres)
    }

    /// The URL of a database on this server. It does not change when the server is restarted.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/{database}", self.port)
    }

    /// Creates an empty database and returns its URL.
    pub fn create_database(&self, name: &str) -> Result<String> {
        client::check_name(name)?;
        client::execute(&self.url("postgres"), &[&format!("CREATE DATABASE {name}")])?;
        Ok(self.url(name))
    }

    /// Creates a copy of a database that has no connections, and returns its URL.
    pub fn create_database_from(&self, name: &str, template: &str) -> Result<String> {
        client::check_name(name)?;
        client::check_name(template)?;
        let statement = format!("CREATE DATABASE {name} TEMPLATE {template}");
        client::execute(&self.url("postgres"), &[&statement])?;
        Ok(self.url(name))
    }

    /// Stops the server permanently. Dropping it does the same, without reporting errors.
    pub fn stop(mut self) -> Result<()> {
        self.end("QUIT")
    }

    /// Shuts the server down in order and closes its connections; [`ThrowawayPostgres::start_server`] starts it again
    /// with its data. Has no effect if it is not running.
    pub fn stop_server(&mut self) -> Result<()> {
        self.end("INT")
    }

    /// Kills the server with SIGKILL, to simulate a crash. Its connections break a moment later, when their processes
    /// notice. Has no effect if it is not running.
    pub fn kill_server(&mut self) -> Result<()> {
        self.end("KILL")
    }

    /// Starts a stopped or killed server with the same data on the same port, and waits until it has recovered.
    pub fn start_server(&mut self) -> Result<()> {
        ensure!(self.server.is_none(), "the server runs already");
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.launch(deadline)? {
                Launch::Ready => return Ok(()),
                // The last processes of a killed server keep its shared memory for a moment.
                Launch::Refused(log) if is_in_use(&log) && Instant::now() < deadline => thread::sleep(POLL),
                Launch::Refused(log) => bail!("PostgreSQL does not start:\n{log}"),
            }
        }
    }

    /// Starts the server again if it has exited by itself, as a supervisor does; returns whether it had.
    pub fn revive_server(&mut self) -> Result<bool> {
        let server = self.server.as_mut().context("the server was stopped")?;
        if server.try_wait()?.is_none() {
            return Ok(false);
        }
        self.server = None;
        self.start_server()?;
        Ok(true)
    }

    /// Shuts the server down in order and starts it again.
    pub fn restart_server(&mut self) -> Result<()> {
        self.stop_server()?;
        self.start_server()
    }

    /// The process id of the server's main process, the parent of all others; `None` if it is not running.
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(std::process::Child::id)
    }

    /// Suspends all processes of the server: connections stay open, the kernel accepts new ones, and no request is
    /// answered. [`ThrowawayPostgres::thaw_server`] resumes them. Linux only.
    pub fn freeze_server(&self) -> Result<()> {
        let server = self.server.as_ref().context("the server does not run")?;
        // The main process first, so that it starts no others meanwhile.
        processes::signal_all(&[server.id()], "STOP")?;
        processes::signal_all(&processes::family(server.id())?, "STOP")
    }

    /// Resumes a frozen server.
    pub fn thaw_server(&self) -> Result<()> {
        let server = self.server.as_ref().context("the server does not run")?;
        let mut family = processes::family(server.id())?;
        family.reverse();
        processes::signal_all(&family, "CONT")
    }

    fn start_on_a_free_port(&mut self) -> Result<()> {
        for _ in 0..5 {
            self.port = free_port()?;
            match self.launch(Instant::now() + PATIENCE)? {
                Launch::Ready => return Ok(()),
                // Another process took the port after it was found free.
                Launch::Refused(log) if is_in_use(&log) => {}
                Launch::Refused(log) => bail!("PostgreSQL does not start:\n{log}"),
            }
        }
        bail!("PostgreSQL found no free port in five attempts")
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("data")
    }

    fn log(&self) -> PathBuf {
        self.home.path().join("server.log")
    }

    /// One of the server's programs, run under the right account and without PostgreSQL settings from the environment.
    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.path(name));
        for (variable, _) in env::vars_os() {
            if variable.to_str().is_some_and(|text| text.starts_with("PG")) {
                command.env_remove(variable);
            }
        }
        command.env("LC_ALL", "C").current_dir(self.home.path()).stdin(Stdio::null());
        if let Some(account) = self.account {
            account.run(&mut command);
        }
        command
    }

    fn initialise(&self) -> Result<()> {
        let output = self
            .program("initdb")
            .args(["--locale=C", "--encoding=UTF8", "--auth=trust", "--no-sync", "-U", OWNER, "-D"])
            .arg(self.data())
            .output()
            .context("cannot run initdb")?;
        ensure!(
            output.status.success(),
            "initdb failed:\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    fn launch(&mut self, deadline: Instant) -> Result<Launch> {
        let log = OpenOptions::new().create(true).append(true).open(self.log())?;
        let seen = log.metadata()?.len();
        let mut server = self.spawn(log)?;
        fs::write(self.home.path().join(PID_FILE), server.id().to_string())?;
        loop {
            if server.try_wait()?.is_some() {
                fs::remove_file(self.home.path().join(PID_FILE))?;
                return Ok(Launch::Refused(self.log_since(seen)?));
            }
            if self.answers() {
                self.server = Some(server);
                return Ok(Launch::Ready);
            }
            if Instant::now() >= deadline {
                self.server = Some(server);
                self.end("KILL")?;
                bail!("PostgreSQL is not ready after {PATIENCE:?}:\n{}", self.log_since(seen)?);
            }
            thread::sleep(POLL);
        }
    }

    /// Whether this server answers on the port, and not another one that took the port first.
    fn answers(&self) -> bool {
        client::execute(&self.url("postgres"), &["SHOW data_directory"])
            .is_ok_and(|folder| self.data().as_os_str() == folder.as_str())
    }

    fn spawn(&self, log: File) -> Result<Child> {
        let fsync = if self.options.fsync { "fsync=on" } else { "fsync=off" };
        self.program("postgres")
            .arg("-D")
            .arg(self.data())
            .arg("-k")
            .arg(self.home.path())
            .args(["-p", &self.port.to_string()])
            .args(["-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "max_connections=200"])
            .args(["-c", "shared_buffers=128MB"])
            .args(["-c", fsync])
            .args(self.options.settings.iter().flat_map(|setting| ["-c", setting.as_str()]))
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("cannot run postgres")
    }

    fn log_since(&self, seen: u64) -> Result<String> {
        let log = fs::read(self.log())?;
        let start = usize::try_from(seen)?;
        Ok(String::from_utf8_lossy(log.get(start..).unwrap_or_default()).into_owned())
    }

    /// Sends a signal that ends the server and waits until it exits; kills it if that takes too long.
    fn end(&mut self, name: &str) -> Result<()> {
        let Some(mut server) = self.server.take() else {
            return Ok(());
        };
        // A frozen server would react to no signal but SIGKILL.
        if name != "KILL" {
            processes::signal_all(&processes::family(server.id()).unwrap_or_default(), "CONT")?;
        }
        let sent = signal(&server, name);
        let deadline = Instant::now() + PATIENCE;
        while sent.is_ok() && server.try_wait()?.is_none() && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        let in_time = server.try_wait()?.is_some();
        if !in_time {
            server.kill()?;
            server.wait()?;
        }
        fs::remove_file(self.home.path().join(PID_FILE))?;
        sent?;
        ensure!(in_time, "PostgreSQL did not stop within {PATIENCE:?} and was killed");
        Ok(())
    }
}

impl Drop for ThrowawayPostgres {
    fn drop(&mut self) {
        // The data is removed too, so an orderly shutdown is not needed; the guard handles failures.
        let _ = self.end("QUIT");
    }
}

/// The result of an attempt to start the server.
enum Launch {
    Ready,
    /// It exited at once; contains its log.
    Refused(String),
}

/// Whether the log reports a port or shared memory that is in use.
fn is_in_use(log: &str) -> bool {
    log.contains("in use")
}

/// The shell's built-in `kill`, because the program may be missing on a minimal system.
fn signal(process: &Child, name: &str) -> Result<()> {
    let status = Command::new("sh")
        .args(["-c", "kill -s \"$1\" \"$2\"", "sh", name, &process.id().to_string()])
        .status()
        .context("cannot run sh")?;
    ensure!(status.success(), "cannot send SIG{name} to the server");
    Ok(())
}

/// A free port below the ephemeral range: while the server is down, a client that retries could otherwise be assigned
/// the port itself and connect to itself.
fn free_port() -> Result<u16> {
    const FIRST: u64 = 20_000;
    const COUNT: u64 = 12_000;
    for _ in 0..200 {
        let port = u16::try_from(FIRST + RandomState::new().hash_one(()) % COUNT)?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("no free port on 127.0.0.1 in 200 attempts")
}
