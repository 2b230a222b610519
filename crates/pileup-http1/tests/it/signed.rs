//! A toy protocol above: HMAC-SHA256 over what a request says and sends, checked by a server of its own from the bytes that came.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method};
use pileup_engine::client::{Act, Failure, Kind};
use pileup_engine::content::{Maker, Object};
use pileup_http1::{Answer, Body, Follows, Request, Session, Settings, Sign, Site, Unsigned, status};
use pileup_testing::peer::Listener;
use pileup_testing::within;
use ring::{digest, hmac};
use serde_json::{Value, json};

const SIGNATURE: HeaderName = HeaderName::from_static("x-toy-signature");
const DATE: HeaderName = HeaderName::from_static("x-toy-date");
const HASH: HeaderName = HeaderName::from_static("x-toy-hash");
static ETAG: [HeaderName; 1] = [http::header::ETAG];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn signature(key: &str, parts: [&str; 5]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key.as_bytes());
    hex(hmac::sign(&key, parts.join("\n").as_bytes()).as_ref())
}

/// The client's side.
struct Toy {
    key: &'static str,
    hashes: bool,
    signed: AtomicU64,
}

impl Toy {
    fn new(key: &'static str, hashes: bool) -> Arc<Self> {
        Arc::new(Self { key, hashes, signed: AtomicU64::new(0) })
    }
}

impl Sign for Toy {
    fn sign(&self, request: &Unsigned<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        let date = self.signed.fetch_add(1, Ordering::SeqCst).to_string();
        let hash = if self.hashes { hex(&request.sha256()) } else { "unsigned".to_owned() };
        let host = request.headers[http::header::HOST].to_str().unwrap();
        let text = signature(self.key, [request.method.as_str(), request.path, host, &date, &hash]);
        let value = |text: &str| HeaderValue::from_str(text).unwrap();
        Ok(vec![(DATE, value(&date)), (HASH, value(&hash)), (SIGNATURE, value(&text))])
    }
}

/// A request as it came.
#[derive(Clone, Debug, Default)]
struct Came {
    path: String,
    host: String,
    range: String,
    body: Vec<u8>,
    /// Whether it was signed, and whether rightly so.
    signed: Option<bool>,
}

fn read(stream: &mut BufReader<TcpStream>, key: &str) -> Option<Came> {
    let mut line = String::new();
    if stream.read_line(&mut line).unwrap_or(0) == 0 {
        return None;
    }
    let (method, rest) = line.split_once(' ').unwrap();
    let (method, path) = (method.to_owned(), rest.split(' ').next().unwrap().to_owned());
    let mut headers = std::collections::HashMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        assert!(headers.insert(name.to_ascii_lowercase(), value.to_owned()).is_none(), "{name} twice");
    }
    let header = |name: &str| headers.get(name).cloned().unwrap_or_default();
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    stream.read_exact(&mut body).unwrap();
    let whole = hex(digest::digest(&digest::SHA256, &body).as_ref());
    let signed = headers.get("x-toy-signature").map(|given| {
        let hash = header("x-toy-hash");
        let parts = [method.as_str(), &path, &header("host"), &header("x-toy-date"), &hash];
        (hash == "unsigned" || hash == whole) && *given == signature(key, parts)
    });
    Some(Came { path, host: header("host"), range: header("range"), body, signed })
}

/// The server's side: it denies access without a right signature, except where it is to send everybody elsewhere.
struct Server {
    listener: Listener,
    came: Arc<Mutex<Vec<Came>>>,
}

impl Server {
    fn new(sends_to: Option<String>) -> Self {
        let came = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&came);
        let listener = Listener::new(move |_, stream| {
            let mut stream = BufReader::new(stream);
            while let Some(request) = read(&mut stream, "secret") {
                let right = request.signed == Some(true);
                seen.lock().unwrap().push(request);
                let answer = match &sends_to {
                    Some(url) => format!("HTTP/1.1 307 x\r\nLocation: {url}\r\nContent-Length: 0\r\n\r\n"),
                    None if right => "HTTP/1.1 200 x\r\nETag: \"7\"\r\nContent-Length: 2\r\n\r\nok".to_owned(),
                    None => "HTTP/1.1 403 x\r\nContent-Length: 0\r\n\r\n".to_owned(),
                };
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        });
        Self { listener, came }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/bucket", self.listener.port)
    }

    fn came(&self) -> Vec<Came> {
        self.came.lock().unwrap().clone()
    }
}

fn site(url: &str, more: Value, signer: Arc<Toy>) -> Arc<Site> {
    let mut settings = json!({"url": url});
    pileup_testing::merge(&mut settings, &more);
    let settings: Settings = serde_json::from_value(settings).unwrap();
    Site::new(&settings, Some(signer)).unwrap()
}

fn object(size: u64) -> Object {
    Object { seed: 3, number: 5, size, entropy: 1.0 }
}

fn bytes_of(object: &Object, begin: u64, end: u64) -> Vec<u8> {
    let mut bytes = vec![0; usize::try_from(end - begin).unwrap()];
    Maker::new(object).fill(begin, &mut bytes);
    bytes
}

fn request(site: &Site, method: Method, key: &str, body: Body) -> Request<'static> {
    Request {
        confided: &[],
        method,
        path: site.address.object(key, false).into(),
        headers: Vec::new(),
        body,
        id: 7,
        sums: true,
        asks: false,
        repeatable: false,
        follows: Follows::Anywhere,
        answers: &[],
        keeps: &ETAG,
    }
}

async fn text(answer: &mut Answer) -> Vec<u8> {
    let mut text = Vec::new();
    while let Some(piece) = answer.piece().await.unwrap() {
        text.extend_from_slice(piece);
    }
    text
}

fn run<T>(future: impl Future<Output = T>) -> T {
    within(Duration::from_secs(10), future)
}

#[test]
fn what_is_sent_is_what_was_signed() {
    let server = Server::new(None);
    let site = site(&server.url(), json!({}), Toy::new("secret", true));
    let large = object(200_000);
    run(async {
        let (mut session, mut act) = (Session::new(&site, 0), Act::default());
        let bodies = [
            (Body::None, Vec::new()),
            (Body::Empty, Vec::new()),
            (Body::Fixed(Bytes::from_static(b"<xml/>")), b"<xml/>".to_vec()),
            (Body::whole(large), bytes_of(&large, 0, 200_000)),
            (Body::Known { object: large, begin: 70_000, end: 150_001 }, bytes_of(&large, 70_000, 150_001)),
        ];
        for (number, (body, sent)) in bodies.into_iter().enumerate() {
            let asked = request(&site, Method::PUT, &format!("a b/{number}?x"), body);
            let mut answer = session.ask(&asked, &mut act).await.unwrap();
            assert_eq!(answer.status(), 200, "{number}");
            assert_eq!((text(&mut answer).await, answer.headers()["etag"].as_bytes()), (b"ok".to_vec(), &b"\"7\""[..]));
            session.keep(answer).await.unwrap();
            let came = server.came().pop().unwrap();
            assert_eq!((came.path, came.body), (format!("/bucket/a%20b/{number}%3Fx"), sent));
        }
        assert_eq!((act.calls, server.listener.connections()), (5, 1), "on one connection");
    });
}

#[test]
fn a_wrong_key_is_refused_and_headers_of_the_request_are_signed_with_it() {
    let server = Server::new(None);
    for (key, expected) in [("secret", 200), ("another", 403)] {
        let site = site(&server.url(), json!({}), Toy::new(key, false));
        run(async {
            let (mut session, mut act) = (Session::new(&site, 0), Act::default());
            let range = (http::header::RANGE, HeaderValue::from_static("bytes=0-1"));
            let asked = Request { headers: vec![range], ..request(&site, Method::GET, "f", Body::None) };
            let answer = session.ask(&asked, &mut act).await.unwrap();
            assert_eq!(answer.status(), expected);
            if expected == 403 {
                assert_eq!(status(answer.status()).kind, Kind::Refused);
            }
        });
        let came = server.came().pop().unwrap();
        assert_eq!((came.range.as_str(), came.signed), ("bytes=0-1", Some(expected == 200)));
    }
}

#[test]
fn a_redirect_is_signed_anew_for_who_may_know_us_and_not_at_all_for_others() {
    let pool = Server::new(None);
    let door = Server::new(Some(format!("{}/f", pool.url())));
    for (trust, expected) in [(json!([]), None), (json!(["127.0.0.1"]), Some(true))] {
        let site = site(&door.url(), json!({"trust": trust}), Toy::new("secret", false));
        let status = run(async {
            let (mut session, mut act) = (Session::new(&site, 0), Act::default());
            let answer = session.ask(&request(&site, Method::GET, "f", Body::None), &mut act).await.unwrap();
            assert_eq!((act.calls, answer.path()), (2, Some("/bucket/f")));
            answer.status()
        });
        assert_eq!(status, if expected.is_some() { 200 } else { 403 });
        let (first, second) = (door.came().pop().unwrap(), pool.came().pop().unwrap());
        assert_eq!((first.signed, second.signed), (Some(true), expected));
        assert_eq!(second.host, format!("127.0.0.1:{}", pool.listener.port));
    }
}

#[test]
fn a_protocol_above_can_have_settings_of_its_own_beside_these() {
    #[derive(serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Above {
        region: String,
        #[serde(flatten)]
        http: Settings,
    }
    let read = |text: &str| serde_json::from_str::<Above>(text).map(|above| (above.region, above.http.url));
    assert_eq!(
        read(r#"{"region": "x", "url": "http://h/", "redirects": 2}"#).unwrap(),
        ("x".into(), "http://h/".into())
    );
    assert!(
        read(r#"{"region": "x", "url": "http://h/", "redirect": 2}"#).unwrap_err().to_string().contains("redirect")
    );
}
