//! What the tests share: steps from JSON, one act at a time, a server that follows a script.

use std::future::Future;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pileup_engine::client::{Act, Call, Client, Factory, Fault};
use pileup_engine::program::Step;
use pileup_http::{HttpClient, HttpFactory};
use serde_json::{Value, json};

/// Run a future as a worker does.
pub fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new().block_on(&runtime, async {
        tokio::time::timeout(Duration::from_secs(10), future).await.expect("the test takes too long")
    })
}

/// A step with these words changed.
pub fn step(changes: Value) -> Step {
    let mut step = json!({
        "operation": "op", "verb": "request",
        "keys": {"prefix": "", "count": 1, "width": 6, "names": [], "order": "sequential"},
        "repeat": 1, "content": null, "offset": 0, "length": null, "buffer": null, "verify": true, "checksum": "none", "method": "",
        "headers": [], "expect": {"statuses": [], "contains": null, "entries": null}, "missing_ok": false, "cost_ns": 0,
    });
    for (word, value) in changes.as_object().unwrap() {
        match (step[word].as_object_mut(), value) {
            (Some(inner), Value::Object(more)) => inner.extend(more.clone()),
            _ => step[word] = value.clone(),
        }
    }
    serde_json::from_value(step).unwrap()
}

/// A client of this target.
pub fn client(settings: Value) -> HttpClient {
    HttpFactory::new(&settings.to_string()).unwrap().make(0)
}

/// Do one operation and say what came of it.
pub async fn act(client: &mut HttpClient, step: &Step, key: &str) -> (Result<(), Fault>, Act) {
    numbered(client, step, key, 0).await
}

/// The same on an object of this number.
pub async fn numbered(client: &mut HttpClient, step: &Step, key: &str, number: u64) -> (Result<(), Fault>, Act) {
    let mut act = Act::default();
    let call = Call::new(77, step, number, key);
    let result = client.act(&call, &mut act).await;
    (result, act)
}

/// A server that does to its n-th connection what the script says.
pub struct Script {
    pub url: String,
    pub connections: Arc<AtomicUsize>,
    pub heads: Arc<Mutex<Vec<String>>>,
}

/// The server's end of a connection.
pub struct Peer {
    pub stream: TcpStream,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Script {
    pub fn new(script: impl Fn(usize, &mut Peer) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://127.0.0.1:{}/", listener.local_addr().unwrap().port());
        let connections = Arc::new(AtomicUsize::new(0));
        let heads = Arc::new(Mutex::new(Vec::new()));
        let (counter, seen) = (Arc::clone(&connections), Arc::clone(&heads));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
                let number = counter.fetch_add(1, Ordering::SeqCst);
                script(number, &mut Peer { stream, heads: Arc::clone(&seen) });
            }
        });
        Self { url, connections, heads }
    }

    /// One that reads a request and answers with these bytes, then closes.
    pub fn answering(answer: &'static [u8]) -> Self {
        Self::new(move |_, peer| {
            peer.head();
            peer.say(answer);
        })
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

impl Peer {
    /// On a connection that was accepted.
    pub fn of(stream: TcpStream) -> Self {
        Self { stream, heads: Arc::default() }
    }

    /// Take nothing more in from now on: what comes is dropped before this machine acknowledges it.
    pub fn deafen(&self) {
        let mut nothing = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: 0 }; // return 0 bytes of every packet
        let program = libc::sock_fprog { len: 1, filter: &raw mut nothing };
        let size = std::mem::size_of::<libc::sock_fprog>() as libc::socklen_t;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&self.stream);
        // SAFETY: the descriptor is open, and the program is one of one instruction, which the kernel copies.
        let done = unsafe {
            libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, (&raw const program).cast(), size)
        };
        assert_eq!(done, 0);
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
        let linger = libc::linger { l_onoff: 1, l_linger: 0 };
        let size = std::mem::size_of::<libc::linger>() as libc::socklen_t;
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(&self.stream);
        // SAFETY: the descriptor is open and `linger` is what this option takes.
        let done = unsafe {
            libc::setsockopt(descriptor, libc::SOL_SOCKET, libc::SO_LINGER, std::ptr::from_ref(&linger).cast(), size)
        };
        assert_eq!(done, 0);
    }
}
