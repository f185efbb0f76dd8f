//! nginx with nchan, if installed: a common front end for the streams of a service.

use crate::process;
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PROGRAM: &str = "nginx";
/// Where distributions install the module.
const MODULES: [&str; 2] =
    ["/usr/lib/nginx/modules/ngx_nchan_module.so", "/usr/lib64/nginx/modules/ngx_nchan_module.so"];
pub(crate) const PATH: &str = "/subscribe";
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(20);
/// Number of requests sent before their responses are read.
const AT_ONCE: u64 = 64;
/// What nchan adds to the data of an event, including its id: the second of its arrival, and the index within that
/// second.
const AROUND_DATA: usize = "id: 1700000000:0\ndata: \n\n".len();

/// A running server. It ends with this value.
pub(crate) struct Nchan {
    child: Child,
    address: SocketAddr,
    pub(crate) workers: usize,
    publisher: Publisher,
}

impl Nchan {
    /// The version of nginx, and the module; `None` if either is missing.
    pub(crate) fn installed() -> Result<Option<Installed>> {
        let module = MODULES.iter().map(PathBuf::from).find(|module| module.exists());
        match (Command::new(PROGRAM).arg("-v").output(), module) {
            (Ok(output), Some(module)) => {
                Ok(Some(Installed { version: version(&String::from_utf8_lossy(&output.stderr)), module }))
            }
            (Ok(_), None) => Ok(None),
            (Err(error), _) if error.kind() == ErrorKind::NotFound => Ok(None),
            (Err(error), _) => Err(error).context("cannot run nginx"),
        }
    }

    /// Starts a server on a free port that sends its readers events of `size` bytes.
    pub(crate) fn start(installed: &Installed, folder: &Path, workers: usize, size: usize) -> Result<Self> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let file = folder.join(format!("nginx-{workers}.conf"));
        fs::write(&file, configuration(installed, folder, address, workers))?;
        let log = fs::File::create(folder.join("nginx.log"))?;
        let mut child = Command::new(PROGRAM)
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let begun = Instant::now();
        let stream = loop {
            if let Ok(stream) = TcpStream::connect(address) {
                break stream;
            }
            let has_ended = child.try_wait()?.is_some();
            if has_ended || begun.elapsed() > PATIENCE {
                let _ = child.kill();
                let _ = child.wait();
                bail!("{PROGRAM} does not start:\n{}", fs::read_to_string(folder.join("nginx.log"))?);
            }
            thread::sleep(POLL);
        };
        let publisher = Publisher { stream, request: request(size), answers: Vec::new() };
        let nchan = Self { child, address, workers, publisher };
        // It listens before its workers run, whose CPU time is measured.
        while nchan.pids()?.len() <= workers {
            ensure!(begun.elapsed() < PATIENCE, "{PROGRAM} has no {workers} workers after {PATIENCE:?}");
            thread::sleep(POLL);
        }
        Ok(nchan)
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The ids of all its processes.
    pub(crate) fn pids(&self) -> Result<Vec<u32>> {
        let mut pids = process::children(self.child.id())?;
        pids.push(self.child.id());
        Ok(pids)
    }

    /// Publishes this many events, and waits until the server has acknowledged them.
    pub(crate) fn publish(&mut self, count: u64) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let now = left.min(AT_ONCE);
            self.publisher.publish(now)?;
            left -= now;
        }
        Ok(())
    }
}

impl Drop for Nchan {
    fn drop(&mut self) {
        // Killing it would leave its workers running.
        let stop = Command::new("sh")
            .args(["-c", "kill -s TERM \"$1\"", "sh", &self.child.id().to_string()])
            .status();
        if !stop.is_ok_and(|stopped| stopped.success()) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// An installation of nginx with nchan.
pub(crate) struct Installed {
    pub(crate) version: String,
    module: PathBuf,
}

/// A connection with pipelined requests.
struct Publisher {
    stream: TcpStream,
    request: Vec<u8>,
    answers: Vec<u8>,
}

impl Publisher {
    fn publish(&mut self, count: u64) -> Result<()> {
        let all = self.request.repeat(usize::try_from(count)?);
        self.stream.write_all(&all)?;
        let mut piece = [0; 16 * 1024];
        for _ in 0..count {
            let extent = loop {
                if let Some(extent) = crate::http::measure(&self.answers)? {
                    break extent;
                }
                let length = self.stream.read(&mut piece)?;
                ensure!(length > 0, "{PROGRAM} closes the publisher's connection");
                self.answers.extend_from_slice(piece.get(..length).unwrap_or_default());
            };
            ensure!(matches!(extent.status, 201 | 202), "publishing is answered {}", extent.status);
            self.answers.drain(..extent.total);
        }
        Ok(())
    }
}

fn request(size: usize) -> Vec<u8> {
    let data = "x".repeat(size.saturating_sub(AROUND_DATA));
    crate::http::request("POST", "/publish", &[], Some(&data))
}

/// Without logs, with events in memory, and with as many connections as descriptors, as its documentation recommends
/// for many readers. Each worker has its own listening socket, so that readers are distributed evenly.
fn configuration(installed: &Installed, folder: &Path, address: SocketAddr, workers: usize) -> String {
    let (module, folder) = (installed.module.display(), folder.display());
    format!(
        "load_module {module};
worker_processes {workers};
worker_rlimit_nofile 20000;
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log warn;
events {{
    worker_connections 20000;
}}
http {{
    access_log off;
    tcp_nodelay on;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    nchan_shared_memory_size 256M;
    server {{
        listen {address} reuseport backlog=4096;
        location = /publish {{
            nchan_publisher;
            nchan_channel_id topic;
            nchan_message_buffer_length 4096;
            nchan_message_timeout 5m;
        }}
        location = {PATH} {{
            nchan_subscriber eventsource;
            nchan_channel_id topic;
            nchan_subscriber_first_message newest;
            nchan_eventsource_ping_interval 15;
        }}
    }}
}}
"
    )
}

/// `nginx version: nginx/1.22.1` → `nginx 1.22.1`.
fn version(text: &str) -> String {
    let number = text.trim().split_once("nginx/").map_or("of an unknown version", |(_, number)| number);
    format!("nginx {number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn its_version_is_the_program_s() {
        assert_eq!(version("nginx version: nginx/1.22.1\n"), "nginx 1.22.1");
        assert_eq!(version(""), "nginx of an unknown version");
    }

    #[test]
    fn events_have_the_size_that_is_asked_for() {
        let text = String::from_utf8(request(200)).unwrap();
        let (head, data) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /publish HTTP/1.1\r\n"));
        assert_eq!(data.len() + AROUND_DATA, 200);
    }
}
