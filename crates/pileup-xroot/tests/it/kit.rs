//! What the tests share: one act at a time, a server that follows a script.

use std::future::Future;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pileup_engine::client::{Act, Call, Factory, Failure};
use pileup_engine::program::Step;
pub use pileup_testing::acted;
use pileup_testing::peer::{self, Listener};
use pileup_testing::within;
use pileup_xroot::{XrootClient, XrootFactory};
use serde_json::Value;

/// Run a future as a worker does.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    within(Duration::from_secs(20), future)
}

/// A stat with these words changed.
pub fn step(changes: Value) -> Step {
    pileup_testing::step("stat", &changes)
}

/// Client 0 of this target.
pub fn client(settings: Value) -> XrootClient {
    XrootFactory::new(&settings.to_string()).unwrap().make(0)
}

/// Do one operation and say what came of it.
pub async fn act(client: &mut XrootClient, changes: Value, key: &str) -> (Result<(), Failure>, Act) {
    let step = step(changes);
    acted(client, &Call::new(77, &step, 0, key)).await
}

pub fn failed(text: &str) -> Result<(), Failure> {
    Err(Failure::failed(text))
}

/// All requests that came: what was asked, about what.
type Asked = Arc<Mutex<Vec<(u16, Vec<u8>)>>>;

/// A server that does to its n-th connection what the script says.
pub struct Script {
    listener: Listener,
    pub asked: Asked,
}

/// The server's end of a connection.
pub struct Peer {
    pub stream: TcpStream,
    asked: Asked,
}

/// A request as it came.
#[derive(Debug)]
pub struct Request {
    pub stream: u16,
    pub code: u16,
}

impl Script {
    pub fn new(script: impl Fn(usize, &mut Peer) + Send + Sync + 'static) -> Self {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, script) = (Arc::clone(&asked), Arc::new(script));
        let listener = Listener::new(move |number, stream| {
            stream.set_nodelay(true).unwrap();
            let (script, asked) = (Arc::clone(&script), Arc::clone(&seen));
            std::thread::spawn(move || script(number, &mut Peer { stream, asked }));
        });
        Self { listener, asked }
    }

    /// One that greets as it should, then follows the script.
    pub fn greeting(script: impl Fn(usize, &mut Peer) + Send + Sync + 'static) -> Self {
        Self::new(move |number, peer| {
            peer.greet(&[]);
            script(number, peer);
        })
    }

    /// One that answers the first question after the greeting with these frames: (status, body), of the question's number.
    pub fn answering(answers: &'static [(u16, &'static [u8])]) -> Self {
        Self::greeting(move |_, peer| {
            let asked = peer.request();
            for (status, body) in answers {
                peer.say(asked.stream, *status, body);
            }
            peer.linger();
        })
    }

    pub fn url(&self) -> String {
        format!("root://127.0.0.1:{}//base", self.port())
    }

    pub fn port(&self) -> u16 {
        self.listener.port
    }

    pub fn connections(&self) -> usize {
        self.listener.connections()
    }
}

impl Peer {
    /// Take nothing more in from now on: what comes is dropped before this machine acknowledges it.
    pub fn deafen(&self) {
        peer::deafen(&self.stream);
    }

    /// Read the handshake, and answer to protocol and login; `login` is what follows the session's id.
    pub fn greet(&mut self, login: &[u8]) {
        let mut hello = [0; 20];
        self.stream.read_exact(&mut hello).unwrap();
        assert_eq!(hello[..], [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 7, 220]);
        let asked = self.request();
        self.raw(&[0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 5, 0x11, 0, 0, 0, 1]);
        assert_eq!(asked.code, 3006);
        self.say(asked.stream, 0, &[0, 0, 5, 0x11, 0, 0x20, 0, 1]);
        let asked = self.request();
        assert_eq!(asked.code, 3007);
        self.say(asked.stream, 0, &[&[7; 16], login].concat());
    }

    /// Read a request; ends the thread quietly when there is none.
    pub fn request(&mut self) -> Request {
        let mut head = [0; 24];
        if self.stream.read_exact(&mut head).is_err() {
            std::panic::resume_unwind(Box::new(())); // the client has gone
        }
        let mut data = vec![0; u32::from_be_bytes(head[20..].try_into().unwrap()) as usize];
        self.stream.read_exact(&mut data).unwrap();
        let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
        self.asked.lock().unwrap().push((word(2), data));
        Request { stream: word(0), code: word(2) }
    }

    /// Send an answer.
    pub fn say(&mut self, stream: u16, status: u16, body: &[u8]) {
        self.head(stream, status, body.len() as i32);
        self.raw(body);
    }

    /// Send the head of an answer.
    pub fn head(&mut self, stream: u16, status: u16, length: i32) {
        let mut head = stream.to_be_bytes().to_vec();
        head.extend(status.to_be_bytes());
        head.extend(length.to_be_bytes());
        self.raw(&head);
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        // The client may have gone: that is its test's matter.
        let _ = self.stream.write_all(bytes);
    }

    /// Stay until the client goes.
    pub fn linger(&mut self) {
        let mut rest = [0; 4096];
        while self.stream.read(&mut rest).is_ok_and(|read| read > 0) {}
    }
}
