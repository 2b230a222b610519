//! What the tests share: a server with its log, and a client that does nothing of its own.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use pileup_practice::Server;
use serde_json::{Value, json};

pub struct Storage {
    pub server: Server,
    log: PathBuf,
}

/// A line of the log.
#[derive(Debug)]
pub struct Line {
    pub id: u64,
    pub method: String,
    pub path: String,
    pub arrived: i64,
    pub began: i64,
    pub first_byte: i64,
    pub ended: i64,
    pub service: i64,
    pub status: u16,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub fault: String,
}

impl Storage {
    pub fn new(mut settings: Value) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("pileup-practice-{}-{}.csv", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let log = std::env::temp_dir().join(name);
        settings["log"] = json!(log);
        Self { server: Server::start(&settings.to_string()).unwrap(), log }
    }

    pub fn connect(&self) -> Connection {
        Connection::to(self.server.port())
    }

    /// Stop it and read its log, in the order of the ids.
    pub fn lines(self) -> Vec<Line> {
        self.server.stop().unwrap();
        let text = std::fs::read_to_string(&self.log).unwrap();
        let mut lines: Vec<_> = text.lines().skip(1).map(line).collect();
        lines.sort_by_key(|line| line.id);
        lines
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        let _ = self.server.stop(); // what it writes at its end goes, too
        let _ = std::fs::remove_file(&self.log);
    }
}

fn line(text: &str) -> Line {
    let fields: Vec<_> = text.split(',').collect();
    assert_eq!(fields.len(), 13, "{text}");
    let time = |place: usize| fields[place].parse::<i64>().unwrap();
    Line {
        id: fields[0].parse().unwrap(),
        method: fields[1].to_owned(),
        path: fields[2].to_owned(),
        arrived: time(3),
        began: time(4),
        first_byte: time(5),
        ended: time(6),
        service: time(7),
        status: fields[8].parse().unwrap(),
        bytes_in: fields[9].parse().unwrap(),
        bytes_out: fields[10].parse().unwrap(),
        fault: fields[11].to_owned(),
    }
}

/// A batch system with its journal, and the log of its requests.
pub struct Batch {
    pub server: Server,
    pub journal: PathBuf,
}

impl Batch {
    pub fn new(mut settings: Value) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("pileup-practice-jobs-{}-{}.csv", std::process::id(), NEXT.fetch_add(1, Ordering::SeqCst));
        let journal = std::env::temp_dir().join(name);
        settings["jobs"] = json!(journal);
        Self { server: Server::batch(&settings.to_string()).unwrap(), journal }
    }

    pub fn connect(&self) -> Connection {
        Connection::to(self.server.port())
    }

    /// Stop it and read its journal: (event, id, name, value).
    pub fn events(self) -> Vec<(i64, String, u64, String, String)> {
        self.server.stop().unwrap();
        let text = std::fs::read_to_string(&self.journal).unwrap();
        let event = |line: &str| {
            let fields: Vec<_> = line.split(',').map(str::to_owned).collect();
            let id = fields[2].parse().unwrap_or(0);
            (fields[0].parse().unwrap(), fields[1].clone(), id, fields[3].clone(), fields[5].clone())
        };
        text.lines().skip(1).map(event).collect()
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let _ = self.server.stop();
        let _ = std::fs::remove_file(&self.journal);
    }
}

pub struct Connection(pub TcpStream);

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub head: String,
    pub body: Vec<u8>,
}

impl Answer {
    /// Value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        let wanted = |line: &&str| line.split_once(": ").is_some_and(|(found, _)| found.eq_ignore_ascii_case(name));
        self.head.lines().find(wanted).and_then(|line| line.split_once(": ")).map(|(_, value)| value)
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

impl Connection {
    pub fn to(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(stream)
    }

    /// Ask for something and read the JSON that comes.
    pub fn json(&mut self, line: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let answer = self.ask(line, &[], &body);
        (answer.status, serde_json::from_slice(&answer.body).unwrap())
    }

    /// Send a request with an id and these headers, body included.
    pub fn send(&mut self, id: u64, line: &str, headers: &[&str], body: &[u8]) {
        let mut text = format!("{line} HTTP/1.1\r\nhost: h\r\nx-pileup-id: {id}\r\n");
        if !body.is_empty() || line.starts_with("PUT") {
            text += &format!("content-length: {}\r\n", body.len());
        }
        for header in headers {
            text += &format!("{header}\r\n");
        }
        let mut bytes = (text + "\r\n").into_bytes();
        bytes.extend_from_slice(body);
        self.0.write_all(&bytes).unwrap();
    }

    pub fn head(&mut self) -> Option<String> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if self.0.read(&mut byte).ok()? == 0 {
                return None;
            }
            head.push(byte[0]);
        }
        String::from_utf8(head).ok()
    }

    /// Read an answer; none: the connection ended before.
    pub fn answer(&mut self, has_body: bool) -> Option<Answer> {
        let head = self.head()?;
        let mut answer = Answer { status: head[9..12].parse().unwrap(), head, body: Vec::new() };
        if has_body && let Some(size) = answer.header("content-length") {
            answer.body = vec![0; size.parse().unwrap()];
            self.0.read_exact(&mut answer.body).ok()?;
        }
        Some(answer)
    }

    pub fn ask(&mut self, line: &str, headers: &[&str], body: &[u8]) -> Answer {
        self.send(0, line, headers, body);
        self.answer(!line.starts_with("HEAD")).unwrap()
    }
}
