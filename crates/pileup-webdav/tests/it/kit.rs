//! What the tests share: one act at a time, a server that follows a script.

use std::future::Future;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pileup_engine::client::{Act, Call, Factory, Failure};
use pileup_engine::program::Step;
use pileup_testing::peer::{self, Listener};
use pileup_testing::{acted, within};
use pileup_webdav::{WebdavClient, WebdavFactory};
use serde_json::Value;

/// Run a future as a worker does.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    within(Duration::from_secs(10), future)
}

/// A request with these words changed.
pub fn step(changes: Value) -> Step {
    pileup_testing::step("request", &changes)
}

/// A client of this target.
pub fn client(settings: Value) -> WebdavClient {
    WebdavFactory::new(&settings.to_string(), []).unwrap().make(0)
}

/// Do one operation and say what came of it.
pub async fn act(client: &mut WebdavClient, step: &Step, key: &str) -> (Result<(), Failure>, Act) {
    numbered(client, step, key, 0).await
}

/// The same on an object of this number.
pub async fn numbered(client: &mut WebdavClient, step: &Step, key: &str, number: u64) -> (Result<(), Failure>, Act) {
    acted(client, &Call::new(77, step, number, key)).await
}

/// A server that does to its n-th connection what the script says.
pub struct Script {
    pub url: String,
    listener: Listener,
    pub heads: Arc<Mutex<Vec<String>>>,
}

/// The server's end of a connection.
pub struct Peer {
    pub stream: TcpStream,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub fn new(script: impl Fn(usize, &mut Peer) + Send + 'static) -> Self {
        let heads = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&heads);
        let listener = Listener::new(move |number, stream| {
            script(number, &mut Peer { stream, heads: Arc::clone(&seen) });
        });
        Self { url: format!("http://127.0.0.1:{}/", listener.port), listener, heads }
    }

    /// One that reads a request and answers with these bytes, then closes.
    pub fn answering(answer: &'static [u8]) -> Self {
        Self::new(move |_, peer| {
            peer.head();
            peer.say(answer);
        })
    }

    pub fn connections(&self) -> usize {
        self.listener.connections()
    }
}

impl Peer {
    /// On a connection that was accepted.
    pub fn of(stream: TcpStream) -> Self {
        Self { stream, heads: Arc::default() }
    }

    /// Take nothing more in from now on: what comes is dropped before this machine acknowledges it.
    pub fn deafen(&self) {
        peer::deafen(&self.stream);
    }

    /// Read the head of a request, and its body when that is short: closing with something unread would be a reset.
    pub fn head(&mut self) -> String {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && self.stream.read(&mut byte).is_ok_and(|read| read == 1) {
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        let size = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")?.parse::<usize>().ok());
        if let Some(size) = size.filter(|size| *size < 100_000) {
            self.stream.read_exact(&mut vec![0; size]).unwrap();
        }
        self.heads.lock().unwrap().push(head.clone());
        head
    }

    pub fn say(&mut self, text: &[u8]) {
        // The client may have gone: that is its test's matter.
        let _ = self.stream.write_all(text);
    }

    /// Close with a reset instead of an end.
    pub fn reset(&mut self) {
        peer::reset(&self.stream);
    }
}
