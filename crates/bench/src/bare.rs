//! The bare limit of a read: a handler that returns prepared bytes, in a separate process, with as many workers and the
//! same server settings as the service.

use crate::client::{Caller, Served};
use crate::http::{self, Response};
use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::web::{Bytes, Data};
use actix_web::{App, HttpResponse, HttpServer, web};
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The hidden subcommand that runs this program as the bare handler.
pub(crate) const COMMAND: &str = "bare-http";

/// Headers that the framework adds by itself.
const WRITTEN_ANYWAY: [&str; 4] = ["content-length", "transfer-encoding", "date", "connection"];

#[derive(Debug, Args)]
pub(crate) struct BareHttp {
    /// The answer as it came over the wire.
    #[arg(long)]
    bytes_file: PathBuf,
    /// The path that is answered.
    #[arg(long)]
    path: String,
    #[arg(long)]
    workers: usize,
}

/// Serves until its standard input closes, which happens however the parent process ends.
pub(crate) fn serve(arguments: &BareHttp) -> Result<()> {
    let bytes = fs::read(&arguments.bytes_file)?;
    let extent = http::measure(&bytes)?.context("the answer is cut short")?;
    let answer = Data::new(Answer::of(Response::read(&bytes, extent)?)?);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
    let path = arguments.path.clone();
    let server =
        HttpServer::new(move || App::new().app_data(answer.clone()).route(&path, web::get().to(hand_out)))
            .workers(arguments.workers)
            .keep_alive(std::time::Duration::from_secs(75))
            .tcp_nodelay(true)
            .disable_signals()
            .listen(listener)?;
    std::thread::spawn(|| {
        // A read error means the same: the parent process is gone.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    actix_web::rt::System::new().block_on(server.run())?;
    Ok(())
}

struct Answer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Bytes,
}

impl Answer {
    fn of(response: Response) -> Result<Self> {
        let headers = response.headers.iter().filter(|(name, _)| !WRITTEN_ANYWAY.contains(&name.as_str()));
        let headers = headers.map(|(name, value)| Ok((name.parse()?, HeaderValue::from_str(value)?)));
        Ok(Self {
            status: StatusCode::from_u16(response.status)?,
            headers: headers.collect::<Result<_>>()?,
            body: response.body.into(),
        })
    }
}

async fn hand_out(answer: Data<Answer>) -> HttpResponse {
    let mut response = HttpResponse::build(answer.status);
    for (name, value) in &answer.headers {
        response.append_header((name.clone(), value.clone()));
    }
    if answer.body.is_empty() { response.finish() } else { response.body(answer.body.clone()) }
}

/// A running bare handler. It ends with this value.
pub(crate) struct Bare {
    child: Child,
    address: SocketAddr,
}

impl Bare {
    /// Starts a handler for `path` that returns `response`.
    pub(crate) fn start(folder: &Path, path: &str, response: &Response, workers: usize) -> Result<Self> {
        let file = folder.join("answer");
        fs::write(&file, wire(response))?;
        let mut child = Command::new(std::env::current_exe()?)
            .arg(COMMAND)
            .arg("--bytes-file")
            .arg(&file)
            .args(["--path", path, "--workers", &workers.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the bare handler")?;
        let mut line = String::new();
        let output = child.stdout.take().context("the bare handler's output is elsewhere")?;
        let mut bare = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        BufReader::new(output).read_line(&mut line)?;
        bare.address = line.trim().parse().context("the bare handler does not start")?;
        Ok(bare)
    }

    pub(crate) fn served(&self) -> Served {
        Served { address: self.address, pid: self.child.id(), database: None }
    }

    /// Fails unless the handler's response is the same: the body, and the number of headers of each name.
    pub(crate) fn check(&self, request: &[u8], expected: &Response) -> Result<()> {
        let answer = Caller::open(self.address)?.ask(request)?;
        let names = |response: &Response| {
            let mut names: Vec<String> = response.headers.iter().map(|(name, _)| name.clone()).collect();
            names.retain(|name| name != "content-length" && name != "transfer-encoding");
            names.sort();
            names
        };
        ensure!(answer.status == expected.status, "the bare handler answers {}", answer.status);
        ensure!(answer.body == expected.body, "the bare handler answers other bytes");
        ensure!(names(&answer) == names(expected), "the bare handler answers other headers");
        Ok(())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        // The process has no state to save.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A response in wire format, in one piece.
fn wire(response: &Response) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {} X\r\ncontent-length: {}\r\n", response.status, response.body.len());
    for (name, value) in &response.headers {
        if !WRITTEN_ANYWAY.contains(&name.as_str()) {
            head.extend([name, ": ", value, "\r\n"]);
        }
    }
    head.push_str("\r\n");
    [head.as_bytes(), &response.body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_survives_the_way_to_the_other_process() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        for (status, body) in [(200, "{}"), (304, "")] {
            let response = Response {
                status,
                headers: vec![header("date", "now"), header("etag", "\"a\""), header("vary", "Cookie")],
                body: body.as_bytes().to_vec(),
            };
            let bytes = wire(&response);
            let extent = http::measure(&bytes).unwrap().unwrap();
            let answer = Answer::of(Response::read(&bytes, extent).unwrap()).unwrap();
            assert_eq!((answer.status.as_u16(), &answer.body[..]), (status, body.as_bytes()));
            let names: Vec<_> = answer.headers.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["etag", "vary"]);
        }
    }
}
