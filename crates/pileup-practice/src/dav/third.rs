//! Third-party copies (WLCG HTTP-TPC 1.0): an object is fetched from another server (`Source`), or sent to one (`Destination`). The answer is
//! 202, with performance markers while the copy goes on and a last line that says how it has ended.
//!
//! Other servers are reached without TLS, and only those on this machine: nobody can be reached through a practice server.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::header::{AUTHORIZATION, HOST, HeaderName, IF_NONE_MATCH};
use http::{HeaderMap, HeaderValue, Method, Request, Response, Uri};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use pileup_pacer::clock::now;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::answer::{Answer, plain};
use crate::core::Core;
use crate::front::Kind;
use crate::log::Open;
use crate::report::Cut;
use crate::storage::{Room, Storage, text, trouble};
use crate::store::{Node, Path, Store, Trouble};
use crate::wire::Turn;

const SOURCE: HeaderName = HeaderName::from_static("source");
const DESTINATION: HeaderName = HeaderName::from_static("destination");
/// What the names of headers begin with that the other server gets.
const FORWARDED: &str = "transferheader";
/// Why a copy has failed: words for the last line of the report.
type Why = String;

/// The other server of a copy, and which way the object goes.
pub(crate) struct Other {
    url: Uri,
    fetches: bool,
}

/// The other server that a request names; none: it is about this one alone.
pub(crate) fn other(headers: &HeaderMap) -> Option<Other> {
    let url = |name: HeaderName| text(headers, &name).and_then(|text| text.trim().parse::<Uri>().ok());
    if let Some(url) = url(SOURCE) {
        return Some(Other { url, fetches: true });
    }
    let host = text(headers, &HOST).unwrap_or_default();
    let url = url(DESTINATION)?;
    let elsewhere = url.authority().is_some_and(|authority| !authority.as_str().eq_ignore_ascii_case(host));
    elsewhere.then_some(Other { url, fetches: false })
}

/// Begin a copy: it goes on while the answer is sent, and ends when the client leaves.
pub(crate) fn begin(
    server: &Storage,
    turn: &Turn,
    path: &Path,
    headers: &HeaderMap,
    other: Other,
    overwrite: bool,
) -> Answer {
    let store = server.store.borrow();
    let object = match store.get(&path.names) {
        _ if other.fetches => match store.may_put(path) {
            Ok(true) if !overwrite => return trouble(Trouble::Taken),
            Ok(_) => Bytes::new(),
            Err(cause) => return trouble(cause),
        },
        Some(Node::Object(object)) if !path.folder => object.data.clone(),
        _ => return trouble(Trouble::Missing),
    };
    let (reports, report) = unbounded_channel();
    let copy = Copy {
        core: Rc::clone(&server.core),
        store: Rc::clone(&server.store),
        open: Rc::clone(&turn.open),
        path: path.clone(),
        headers: forwarded(headers),
        overwrite,
        fault: [Kind::Truncate, Kind::ErrorIn202, Kind::WrongByte].into_iter().find(|kind| turn.meets(*kind)),
        every: server.markers,
        moved: Rc::default(),
        reports,
    };
    turn.reports(report);
    tokio::task::spawn_local(copy.run(other, object));
    plain(http::StatusCode::ACCEPTED)
}

/// The headers for the other server.
fn forwarded(headers: &HeaderMap) -> HeaderMap {
    let of = |(name, value): (&HeaderName, &HeaderValue)| {
        let name = name.as_str().strip_prefix(FORWARDED)?;
        Some((HeaderName::from_bytes(name.as_bytes()).ok()?, value.clone()))
    };
    headers.iter().filter_map(of).collect()
}

/// A copy under way.
struct Copy {
    core: Rc<Core>,
    store: Rc<RefCell<Store>>,
    open: Rc<Open>,
    path: Path,
    /// For the other server.
    headers: HeaderMap,
    overwrite: bool,
    fault: Option<Kind>,
    /// Time between two reports, ns.
    every: i64,
    /// Bytes so far.
    moved: Rc<Cell<u64>>,
    reports: UnboundedSender<Result<Bytes, Cut>>,
}

impl Copy {
    /// Make it, and report on it.
    async fn run(self, other: Other, object: Bytes) {
        self.report(&self.marker());
        let mut copying = pin!(self.make(&other, object));
        let mut due = now() + self.every;
        let result = loop {
            tokio::select! {
                result = &mut copying => break result,
                () = self.core.pacer.sleep_until(due) => {
                    due += self.every;
                    self.report(&self.marker());
                }
                () = self.reports.closed() => return self.note("the client left"),
            }
        };
        if result.is_err() && self.fault == Some(Kind::Truncate) {
            self.note("cut off on purpose");
            let _ = self.reports.send(Err(Cut));
            return;
        }
        self.note(if result.is_ok() { "copied" } else { "not copied" });
        let said = result.map_or_else(|why| format!("failure: {why}\n"), |()| "success: Created\n".to_owned());
        self.report(&format!("{}{said}", self.marker()));
    }

    fn note(&self, what: &str) {
        self.open.note(|line| line.note = format!("{what}, {} bytes moved", self.moved.get()));
    }

    /// How far it is.
    fn marker(&self) -> String {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        format!(
            "Perf Marker\n    Timestamp: {time}\n    Stripe Index: 0\n    Stripe Bytes Transferred: {}\n    \
             Total Stripe Count: 1\nEnd\n",
            self.moved.get()
        )
    }

    fn report(&self, text: &str) {
        let _ = self.reports.send(Ok(Bytes::from(text.to_owned()))); // who has left gets no report
    }

    async fn make(&self, other: &Other, object: Bytes) -> Result<(), Why> {
        if other.fetches { self.fetch(&other.url).await } else { self.send(&other.url, object).await }
    }

    /// How many of so many bytes go through: half of them where the copy is to fail.
    fn goes(&self, size: u64) -> u64 {
        if matches!(self.fault, Some(Kind::Truncate | Kind::ErrorIn202)) { size / 2 } else { size }
    }

    async fn fetch(&self, from: &Uri) -> Result<(), Why> {
        let mut answer = self.ask(Method::GET, from, Source::empty()).await?;
        let stated = answer.body().size_hint().exact();
        let mut room = Room::new(&self.store);
        let mut data = Vec::new();
        while let Some(frame) = answer.body_mut().frame().await {
            let frame = frame.map_err(|_| "the source ended early".to_owned())?;
            let Ok(piece) = frame.into_data() else { continue };
            room.grow(piece.len() as u64).map_err(|_| "no room".to_owned())?;
            self.core.pass(piece.len()).await;
            data.extend_from_slice(&piece);
            self.moved.set(data.len() as u64);
            if stated.is_some_and(|size| self.goes(size) < size && self.moved.get() >= self.goes(size)) {
                return Err("an error on purpose".to_owned());
            }
        }
        if let Some(first) = data.first_mut().filter(|_| self.fault == Some(Kind::WrongByte)) {
            *first ^= 0xff;
        }
        let mut store = self.store.borrow_mut();
        if store.may_put(&self.path) == Ok(true) && !self.overwrite {
            return Err("something is there already".to_owned());
        }
        let put = store.put(&self.path, Bytes::from(data));
        drop(store);
        put.map_err(|_| "the folder is not there".to_owned())?;
        room.keep();
        Ok(())
    }

    async fn send(&self, to: &Uri, mut object: Bytes) -> Result<(), Why> {
        if self.fault == Some(Kind::WrongByte) && !object.is_empty() {
            let mut spoilt = object.to_vec();
            spoilt[0] ^= 0xff;
            object = Bytes::from(spoilt);
        }
        let goes = self.goes(object.len() as u64);
        let (core, moved) = (Rc::clone(&self.core), Rc::clone(&self.moved));
        self.ask(Method::PUT, to, Source { core: Some(core), rest: object, moved, goes, pass: None }).await.map(drop)
    }

    /// Send a request to the other server; its answer passes.
    async fn ask(&self, method: Method, url: &Uri, body: Source) -> Result<Response<Incoming>, Why> {
        let tcp = connect(url).await?;
        let gone = |_| "the connection to the other server broke".to_owned();
        let (mut sender, connection) = http1::handshake(TokioIo::new(tcp)).await.map_err(gone)?;
        tokio::task::spawn_local(async {
            let _ = connection.await; // what goes wrong with it is seen by who asks
        });
        let path = url.path_and_query().map_or("/", |path| path.as_str());
        let mut request = Request::builder().method(&method).uri(path);
        if let Some(headers) = request.headers_mut() {
            headers.extend(self.headers.clone());
            let host = url.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
            headers.extend(host.map(|host| (HOST, host)));
            if method == Method::PUT && !self.overwrite {
                headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
            }
        }
        let request = request.body(body).map_err(|_| "the other server cannot be asked".to_owned())?;
        let answer = sender.send_request(request).await.map_err(gone)?;
        let shown = if self.headers.contains_key(AUTHORIZATION) { "" } else { " (no token for it was given)" };
        match answer.status().as_u16() {
            200..=299 => Ok(answer),
            status @ (401 | 403) => Err(format!("the other server answers {status}{shown}")),
            status => Err(format!("the other server answers {status}")),
        }
    }
}

/// Connect to another server, on this machine.
async fn connect(url: &Uri) -> Result<TcpStream, Why> {
    if url.scheme_str() != Some("http") {
        return Err("this server copies over http alone".to_owned());
    }
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    let address = if host.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { host };
    let near = address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    if !near {
        return Err("this server copies within its machine alone".to_owned());
    }
    TcpStream::connect((address, url.port_u16().unwrap_or(80)))
        .await
        .map_err(|_| "the other server cannot be reached".to_owned())
}

/// A wait for the pipe.
type Wait = Pin<Box<dyn Future<Output = ()>>>;

/// What is sent to the other server, at the bandwidth of this one.
struct Source {
    /// None: nothing is sent.
    core: Option<Rc<Core>>,
    rest: Bytes,
    moved: Rc<Cell<u64>>,
    /// How many bytes go through before it breaks off.
    goes: u64,
    /// The wait for the pipe, for the piece that is sent next.
    pass: Option<(usize, Wait)>,
}

impl Source {
    fn empty() -> Self {
        Self { core: None, rest: Bytes::new(), moved: Rc::default(), goes: 0, pass: None }
    }
}

impl Body for Source {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let left = self.goes.saturating_sub(self.moved.get());
        if left == 0 {
            return Poll::Ready(Some(Err(std::io::Error::other("broken off on purpose"))));
        }
        if self.pass.is_none() {
            let Some(core) = self.core.clone() else { return Poll::Ready(None) };
            let size = (left.min(self.rest.len() as u64) as usize).min(core.pipe.piece());
            self.pass = Some((size, Box::pin(async move { core.pass(size).await })));
        }
        let Some((size, pass)) = &mut self.pass else { return Poll::Ready(None) };
        ready!(pass.as_mut().poll(context));
        let size = *size;
        self.pass = None;
        let piece = self.rest.split_to(size);
        self.moved.set(self.moved.get() + size as u64);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}
