//! The control plane: the same client for a caller that waits, with answers instead of verdicts.

use std::sync::Arc;
use std::sync::mpsc::{RecvError, Sender, channel};
use std::time::Duration;

use bytes::Bytes;
use http::header::{RANGE, SERVER};
use http::{HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Client, Failure};
use pileup_engine::control::{Attributes, Control, Found, Problem};
use pileup_http1::{Answer, Body, Unusable};
use tokio::runtime::Runtime;

use crate::bucket::{Bucket, S3Client};
use crate::client::S3Factory;
use crate::plan::{Ask, query, value};
use crate::{judge, parts};

/// Queries: what the server calls itself, where the bucket can be listed; and to end all uploads below a folder that were not ended.
const NAME: u16 = 1;
const END_UPLOADS: u16 = 2;
/// Flag of a folder.
const FOLDER: u32 = 2;

/// What the thread of a plane is to do with its client.
type Job = Box<dyn FnOnce(&Runtime, &mut S3Client) + Send>;

/// A client with a thread and a loop of its own, since the session of a client stays on its thread; one call at a time.
pub struct Plane {
    bucket: Arc<Bucket>,
    timeout: Duration,
    /// None: the thread has not begun.
    jobs: Option<Sender<Job>>,
}

impl Plane {
    /// For a target with these settings (JSON); every call ends within `timeout`. Nothing is connected yet.
    ///
    /// # Errors
    /// What is wrong with the settings, in three parts.
    pub fn new(settings: &str, timeout: Duration) -> Result<Self, Unusable> {
        Ok(Self { bucket: S3Factory::new(settings)?.bucket, timeout, jobs: None })
    }

    /// Do something, within the time.
    fn run<T: Send + 'static>(
        &mut self,
        work: impl AsyncFnOnce(&mut S3Client, &mut Act) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let timeout = self.timeout;
        let (tell, told) = channel();
        let job = move |runtime: &Runtime, client: &mut S3Client| {
            let mut act = Act::default();
            let done = runtime.block_on(async { tokio::time::timeout(timeout, work(client, &mut act)).await });
            let _ = tell.send(done.unwrap_or_else(|_| Err(too_late(&act, timeout))));
        };
        let broken =
            |_| Problem::from(Failure::failed("the thread of the session has ended (an internal error of pileup)"));
        let jobs = match &self.jobs {
            Some(jobs) => jobs,
            None => self.jobs.insert(begin(Arc::clone(&self.bucket))?),
        };
        jobs.send(Box::new(job)).map_err(|_| broken(RecvError))?;
        told.recv().map_err(broken)?
    }
}

/// Begin the thread; it ends when nobody can send it anything any more.
fn begin(bucket: Arc<Bucket>) -> Result<Sender<Job>, Failure> {
    let no_loop = |error: std::io::Error| Failure::failed(format!("no loop can be made: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(no_loop)?;
    let (jobs, taken) = channel::<Job>();
    let thread = std::thread::Builder::new().name("s3 session".to_owned());
    let work = move || {
        let mut client = S3Client::new(&bucket, 0);
        for job in taken {
            job(&runtime, &mut client);
        }
        runtime.block_on(client.close());
    };
    thread.spawn(work).map_err(no_loop)?;
    Ok(jobs)
}

fn too_late(act: &Act, timeout: Duration) -> Problem {
    let limit = format!("within {} s", timeout.as_secs_f64());
    Problem::from(if act.sent {
        Failure::ambiguous(format!("no answer {limit}"))
    } else {
        Failure::failed(format!("could not be done {limit}"))
    })
}

impl Control for Plane {
    fn connect(&mut self) -> Result<(), Problem> {
        self.run(async |client, _| Ok(client.open().await?))
    }

    fn stat(&mut self, key: &str) -> Result<Attributes, Problem> {
        let key = key.to_owned();
        self.run(async move |client, act| {
            if !key.trim_matches('/').is_empty() {
                match client.head(&key, 0, act).await {
                    Ok(size) => return Ok(Attributes { size: size.unwrap_or(0), flags: 0, changed: 0 }),
                    Err(problem) if problem.found != Found::Nothing => return Err(problem),
                    Err(_) => {}
                }
            }
            folder(client, &key, act).await
        })
    }

    fn list(&mut self, key: &str) -> Result<Vec<(Vec<u8>, Attributes)>, Problem> {
        let key = key.to_owned();
        self.run(async move |client, act| {
            let begin = client.bucket.place.folder(&key).len();
            let mut found = Vec::new();
            client
                .list(&key, None, 0, act, |entry| {
                    let name = entry.key.get(begin..).unwrap_or_default().trim_end_matches('/');
                    let flags = if entry.folder { FOLDER } else { 0 };
                    found.push((name.into(), Attributes { size: entry.size, flags, changed: entry.changed }));
                })
                .await?;
            Ok(found)
        })
    }

    fn read(&mut self, key: &str, offset: u64, length: Option<u64>) -> Result<Vec<u8>, Problem> {
        let key = key.to_owned();
        self.run(async move |client, act| {
            let last = length.map_or_else(String::new, |length| (offset + length).saturating_sub(1).to_string());
            let whole = offset == 0 && length.is_none();
            let mut ask = Ask::new(Method::GET, client.path(&key, ""), 0);
            if !whole {
                ask = ask.and(RANGE, value(&format!("bytes={offset}-{last}"))?);
            }
            client.ask(&ask, act, async |answer, act| bytes(answer, whole, act).await).await
        })
    }

    fn write(&mut self, key: &str, data: &[u8], _: bool, new: bool) -> Result<(), Problem> {
        let body = if data.is_empty() { Body::Empty } else { Body::Fixed(Bytes::copy_from_slice(data)) };
        let sum = self.bucket.checksum.map(|sum| sum.of(data));
        let key = key.to_owned();
        self.run(async move |client, act| client.put(&key, body, sum, new, 0, act).await)
    }

    fn delete(&mut self, key: &str) -> Result<(), Problem> {
        let key = key.to_owned();
        self.run(async move |client, act| client.delete(&key, 0, act).await)
    }

    fn mkdir(&mut self, _: &str, _: bool) -> Result<(), Problem> {
        Ok(()) // a prefix needs no making
    }

    fn rename(&mut self, _: &str, _: &str) -> Result<(), Problem> {
        Err(Failure::failed("S3 gives no object another name").into())
    }

    fn query(&mut self, code: u16, argument: &str) -> Result<Vec<u8>, Problem> {
        let argument = argument.to_owned();
        match code {
            NAME => self.run(async |client, act| name(client, act).await),
            END_UPLOADS => self.run(async move |client, act| {
                Ok(parts::end_all(client, &argument, act).await?.to_string().into_bytes())
            }),
            _ => Err(Failure::failed(format!("no query {code}")).into()),
        }
    }

    fn checksum(&mut self, key: &str) -> Result<(String, String), Problem> {
        let key = key.to_owned();
        self.run(async move |client, act| client.stated_sum(&key, act).await)
    }

    fn close(&mut self) {
        self.jobs = None; // the thread closes the connections and ends
    }
}

/// Whether anything is in a folder; the target's own is always there.
async fn folder(client: &mut S3Client, key: &str, act: &mut Act) -> Result<Attributes, Problem> {
    let prefix = client.bucket.place.folder(key);
    let path = client.bucket.place.bucket(&query(&[("list-type", "2"), ("max-keys", "1"), ("prefix", &prefix)]));
    let mut found = key.trim_matches('/').is_empty();
    let page = crate::listing::Page::new(|_| found = true);
    client.document(&Ask::new(Method::GET, path, 0), "a listing", page, act).await?;
    if found {
        Ok(Attributes { size: 0, flags: FOLDER, changed: 0 })
    } else {
        Err(Problem { failure: Failure::failed("nothing is there"), found: Found::Nothing })
    }
}

async fn bytes(answer: &mut Answer, whole: bool, act: &mut Act) -> Result<Vec<u8>, Problem> {
    match answer.status() {
        StatusCode::OK if !whole => Err(Failure::failed("HTTP 200 OK, though only a part was asked for").into()),
        status if status.is_success() => {
            let mut data = Vec::new();
            while let Some(piece) = answer.piece().await? {
                data.extend_from_slice(piece);
            }
            Ok(data)
        }
        _ => Err(judge::refused(answer, false, act).await),
    }
}

/// What the server calls itself, by an answer that says why where the bucket cannot be listed.
async fn name(client: &mut S3Client, act: &mut Act) -> Result<Vec<u8>, Problem> {
    let prefix = client.bucket.place.folder("");
    let path = client.bucket.place.bucket(&query(&[("list-type", "2"), ("max-keys", "1"), ("prefix", &prefix)]));
    let page = crate::listing::Page::new(|_| {});
    let mut told = Vec::new();
    client
        .ask(&Ask::new(Method::GET, path, 0), act, async |answer, act| {
            told = answer.headers().get(SERVER).map(HeaderValue::as_bytes).unwrap_or_default().to_vec();
            let status = answer.status();
            let found = judge::document(answer, "a listing", page, act).await?;
            found.map_err(|instead| Problem::from(crate::error::instead("a listing", status, &instead)))
        })
        .await?;
    Ok(told)
}
