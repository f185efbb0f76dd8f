//! An in-memory bucket that implements the part of the S3 protocol that the tests need: PUT, GET, `DeleteObjects` and
//! `ListObjectsV2` of whole objects, with one request per connection.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

type Objects = Arc<Mutex<BTreeMap<String, Vec<u8>>>>;

/// The bucket. Its thread ends with the process.
pub(super) struct Bucket {
    address: SocketAddr,
    objects: Objects,
}

impl Bucket {
    pub(super) fn serve() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, objects) = (listener.local_addr().unwrap(), Objects::default());
        let served = Arc::clone(&objects);
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, &served)));
        Self { address, objects }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(super) fn put(&self, path: String, bytes: &str) {
        self.objects.lock().unwrap().insert(path, bytes.into());
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.objects.lock().unwrap().keys().cloned().collect()
    }
}

fn answer(mut stream: TcpStream, objects: &Objects) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let length = lines.iter().filter_map(|line| line.split_once(": "));
    let length = length.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.map(|(_, value)| value.parse().unwrap()).next().unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let words: Vec<_> = lines[0].split(' ').collect();
    let (path, query) = words[1].split_once('?').unwrap_or((words[1], ""));
    assert!(
        lines.iter().any(|line| line.to_ascii_lowercase().starts_with("authorization: aws4-hmac-sha256"))
    );

    let mut objects = objects.lock().unwrap();
    let (status, body) = match words[0] {
        "PUT" => {
            objects.insert(path.to_owned(), body);
            (200, Vec::new())
        }
        "POST" if query == "delete" => {
            let asked = String::from_utf8(body).unwrap();
            let keys = asked.split("<Key>").skip(1).filter_map(|rest| rest.split_once("</Key>"));
            let mut xml = "<DeleteResult>".to_owned();
            for (key, _) in keys {
                objects.remove(&format!("{path}/{key}"));
                write!(xml, "<Deleted><Key>{key}</Key></Deleted>").unwrap();
            }
            (200, (xml + "</DeleteResult>").into_bytes())
        }
        "GET" if query.contains("list-type=2") => (200, list(path, query, &objects).into_bytes()),
        "GET" => match objects.get(path) {
            Some(bytes) => (200, bytes.clone()),
            None => (404, b"<Error><Code>NoSuchKey</Code></Error>".to_vec()),
        },
        other => panic!("{other} {path}"),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nETag: \"x\"\r\nConnection: close\r\n\
         Last-Modified: Fri, 01 May 2026 12:00:00 GMT\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
}

fn list(path: &str, query: &str, objects: &BTreeMap<String, Vec<u8>>) -> String {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let begins = format!("{}/{}", path.trim_end_matches('/'), prefix.replace("%2F", "/"));
    let mut xml = "<ListBucketResult><IsTruncated>false</IsTruncated>".to_owned();
    for (name, bytes) in objects.iter().filter(|(name, _)| name.starts_with(&begins)) {
        let key = name.strip_prefix("/fans/").unwrap();
        write!(
            xml,
            "<Contents><Key>{key}</Key><Size>{}</Size><ETag>x</ETag>\
             <LastModified>2026-05-01T12:00:00.000Z</LastModified></Contents>",
            bytes.len()
        )
        .unwrap();
    }
    xml + "</ListBucketResult>"
}
