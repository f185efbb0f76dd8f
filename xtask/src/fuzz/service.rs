//! The service under test: the real program, with separate data.

use anyhow::{Context, Result, bail, ensure};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The bearer secret of the operator's routes.
pub(super) const CRON_SECRET: &str = "the operator's secret, 32 bytes or more";

const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(20);

/// The process. It is killed when the value is dropped.
pub(super) struct Service {
    child: Child,
    folder: PathBuf,
    /// `http://` and the address on which it listens.
    pub(super) url: String,
}

impl Service {
    /// Starts it in `folder`, with demo content, and waits until it listens. Settings of the environment do
    /// not count.
    pub(super) fn start(terrace: &Path, folder: &Path, database: Option<&str>) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let settings = [
            ("TERRACE_LISTEN", "127.0.0.1:0"),
            ("TERRACE_DATA_DIR", "data"),
            ("TERRACE_DEMO", "always"),
            ("TERRACE_CRON_SECRET", CRON_SECRET),
            // The tests are about the service, not about its rate limits or Argon2.
            ("TERRACE_RATE_LIMITS", "off"),
            ("TERRACE_PASSWORD_MEMORY_KIB", "8"),
            ("TERRACE_PASSWORD_PASSES", "1"),
            // Without these, routes of the minter and of push messages answer that there are none. Nothing is sent: nothing
            // listens on the port, and the host does not exist.
            ("TERRACE_MINTER_URL", "http://127.0.0.1:9/"),
            ("TERRACE_MINTER_SECRET", "a-secret-of-the-minter-for-fuzzing"),
            ("TERRACE_PUSH_KEY", "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE"),
            ("TERRACE_PUSH_CONTACT", "mailto:fuzz@terrace.invalid"),
            ("TERRACE_PUSH_HOSTS", "push.terrace.invalid"),
            // A stream without events ends by itself.
            ("TERRACE_STREAM_LIFE", "1"),
        ];
        let child = Command::new(terrace)
            .env_clear()
            .envs(settings)
            .envs(database.map(|url| ("DATABASE_URL", url)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("said"))?)
            .stderr(File::create(folder.join("log"))?)
            .spawn()
            .with_context(|| format!("cannot run {}", terrace.display()))?;
        let mut service = Self { child, folder: folder.to_owned(), url: String::new() };
        service.url = service.address()?;
        Ok(service)
    }

    /// The address on which the log says that it listens.
    fn address(&mut self) -> Result<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = fs::read_to_string(self.folder.join("said"))?;
            if let Some(url) = listening(&said) {
                return Ok(url);
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the service ended with {status}:\n{}", self.log()?);
            }
            ensure!(Instant::now() < deadline, "the service does not say where it listens: {said:?}");
            thread::sleep(POLL);
        }
    }

    /// Lines of its log that report a defect. Fails if it has ended, which is a defect, too.
    pub(super) fn defects(&mut self) -> Result<Vec<String>> {
        let log = self.log()?;
        if let Some(status) = self.child.try_wait()? {
            bail!("the service ended with {status} in the middle of the run:\n{log}");
        }
        Ok(log.lines().filter(|line| reports_defect(line)).map(str::to_owned).collect())
    }

    fn log(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&fs::read(self.folder.join("log"))?).into_owned())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The address in the log's line about it, once that line is whole.
fn listening(said: &str) -> Option<String> {
    let mut whole = said.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let (_, port) = whole
        .find_map(|line| line.trim_end().strip_prefix("Terrace listens on http://")?.rsplit_once(':'))?;
    Some(format!("http://127.0.0.1:{}", port.parse::<u16>().ok()?))
}

fn reports_defect(line: &str) -> bool {
    line.contains(" panicked at ") || line.contains(" ERROR ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_a_whole_line() {
        let url = Some("http://127.0.0.1:3004".to_owned());
        assert_eq!(listening("Terrace listens on http://localhost:3004\n"), url);
        assert_eq!(listening("its data lies in data\nTerrace listens on http://127.0.0.1:3004\n"), url);
        for other in ["Terrace listens on http://localhost:30", "Terrace listens on http://localhost\n", ""] {
            assert_eq!(listening(other), None, "{other}");
        }
    }
}
