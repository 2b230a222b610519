//! A client: what each verb of a program asks for over S3, and whether the answer passes.

use std::sync::Arc;

use http::header::{IF_NONE_MATCH, RANGE};
use http::{HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Call, Client, Factory, Failure};
use pileup_engine::content::Object;
use pileup_engine::control::Problem;
use pileup_engine::program::{Checksum, Range, Verb};
use pileup_http1::{Answer, Body, Reading, Session, Sign, Site, Unusable, size};

use crate::document::{Collect, Instead};
use crate::listing::{Entry, Page};
use crate::plan::{Ask, CHECKSUM_MODE, able, query, value};
use crate::settings::{Place, Settings};
use crate::sign::Signer;
use crate::sums::{Algorithm, written};
use crate::{error, judge, parts};

const NOT_OURS_TO_SUM: &str = "checksum: over S3 that of files that pileup has not written is not compared";
/// Most pages of a listing, of a thousand entries each as a rule.
const PAGES: u64 = 1_000_000;

/// What all clients of a target have in common.
pub(crate) struct Bucket {
    pub(crate) site: Arc<Site>,
    pub(crate) place: Place,
    pub(crate) part_size: Option<u64>,
    pub(crate) checksum: Option<Algorithm>,
}

/// Makes the clients of one target.
pub struct S3Factory {
    pub(crate) bucket: Arc<Bucket>,
}

impl S3Factory {
    /// Read the settings (JSON) and the files they name.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new(settings_json: &str) -> Result<Self, Unusable> {
        let mut settings = Settings::read(settings_json)?;
        let who = settings.credentials.take();
        let signer = who.map(|who| Arc::new(Signer::new(who, &settings.region, settings.payload)) as Arc<dyn Sign>);
        let site = Site::new(&settings.http, signer)?;
        let (part_size, checksum) = (settings.part_size, settings.checksum);
        Ok(Self { bucket: Arc::new(Bucket { site, place: Place::new(&settings), part_size, checksum }) })
    }
}

impl Factory for S3Factory {
    type Client = S3Client;
    const BLOCKING: bool = false;

    fn reconnect_pause(&self) -> u64 {
        self.bucket.site.reconnect_pause()
    }

    fn make(&self, client: u32) -> S3Client {
        S3Client::new(&self.bucket, client)
    }
}

/// One virtual client of a target.
pub struct S3Client {
    pub(crate) bucket: Arc<Bucket>,
    session: Session,
    number: u32,
    /// Operations so far.
    turn: u64,
}

impl Client for S3Client {
    async fn open(&mut self) -> Result<(), Failure> {
        self.session.open().await
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        match call.step.verb {
            Verb::Noop => return Ok(()),
            Verb::Connect => {
                act.calls = 1;
                return self.session.connect().await;
            }
            _ => able(call)?,
        }
        self.turn += 1;
        let done = match call.step.verb {
            Verb::Read => self.read(call, act).await,
            Verb::Write => self.write(call, act).await,
            Verb::Stat | Verb::Open => self.look(call, act).await,
            Verb::Checksum => self.checksum(call, act).await,
            Verb::List => self.count(call, act).await,
            Verb::Delete => self.delete(call.key, call.id, act).await,
            // able() has let it pass: a prefix needs no making
            Verb::Mkdir => Ok(()),
            verb => Err(Failure::unable(verb).into()),
        };
        let settled = self.session.settle();
        done.map_err(|problem| problem.failure)?;
        settled
    }

    async fn close(&mut self) {
        self.session.close().await;
    }
}

impl S3Client {
    /// Of this number.
    pub(crate) fn new(bucket: &Arc<Bucket>, number: u32) -> Self {
        let session = Session::new(&bucket.site, number);
        Self { bucket: Arc::clone(bucket), session, number, turn: 0 }
    }

    /// The path of an object, with a query unless that is empty.
    pub(crate) fn path(&self, name: &str, query: &str) -> String {
        self.bucket.place.path(&self.bucket.place.key(name), query)
    }

    /// Send a request, and have its answer judged.
    pub(crate) async fn ask<T>(
        &mut self,
        ask: &Ask,
        act: &mut Act,
        judge: impl AsyncFnOnce(&mut Answer, &mut Act) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let asks = self.bucket.site.asks(ask.body.size());
        let mut answer = self.session.ask(&ask.request(asks), act).await?;
        let result = judge(&mut answer, act).await;
        let kept = self.session.keep(answer).await;
        let given = result?;
        kept?;
        Ok(given)
    }

    /// Ask for something in XML; `what` it is.
    pub(crate) async fn document<C: Collect>(
        &mut self,
        ask: &Ask,
        what: &str,
        collect: C,
        act: &mut Act,
    ) -> Result<C, Problem> {
        let found = self.ask(ask, act, async |answer, act| {
            let status = answer.status();
            Ok(judge::document(answer, what, collect, act).await?.map_err(|instead| (status, instead)))
        });
        found.await?.map_err(|(status, instead): (StatusCode, Instead)| error::instead(what, status, &instead).into())
    }

    /// Read what the step says, in one request or several.
    async fn read(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let (number, turn, mut reading) = (self.number, self.turn, Reading::new(false));
        let ranges = async |parts: &[Range], act: &mut Act| {
            reading.set(parts);
            self.get(call, &mut reading, act).await.map_err(|problem| problem.failure)?;
            Ok(reading.total())
        };
        Ok(pileup_http1::read(call, number, turn, act, ranges).await?)
    }

    async fn get(&mut self, call: &Call<'_>, reading: &mut Reading, act: &mut Act) -> Result<(), Problem> {
        let mut ask = Ask::new(Method::GET, self.path(call.key, ""), call.id);
        let (checksum, part_size) = (self.bucket.checksum, self.bucket.part_size);
        let summed = checksum.zip(call.verified()).filter(|_| reading.part().is_none());
        match reading.range() {
            Some(range) => ask = ask.and(RANGE, range),
            None if summed.is_some() => ask = ask.and(CHECKSUM_MODE, HeaderValue::from_static("ENABLED")),
            None => {}
        }
        self.ask(&ask, act, async |answer, act| {
            if !reading.passes(answer.status(), call) {
                let whole = answer.status() == StatusCode::OK && reading.part().is_some();
                if whole {
                    return Err(Failure::failed("HTTP 200 OK, though only a part was asked for").into());
                }
                return Err(judge::refused(answer, false, act).await);
            }
            reading.take(answer, call, act).await?;
            match summed.and_then(|(sum, object)| sum.confirms(answer.headers(), &object, part_size)) {
                Some(false) => Err(wrong_sum().into()),
                _ => Ok(()),
            }
        })
        .await
    }

    /// Write an object: in parts if it is large enough for the target's part size.
    async fn write(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        match (call.content, self.bucket.part_size) {
            (Some(object), Some(part)) if object.size > part => parts::write(self, call, object, part, act).await,
            (content, _) => {
                let sum = self.bucket.checksum.map(|sum| match content {
                    Some(object) => sum.of_content(&object, 0, object.size),
                    None => sum.of(b""),
                });
                let body = content.map_or(Body::Empty, Body::whole);
                self.put(call.key, body, sum, call.step.new, call.id, act).await
            }
        }
    }

    /// Write an object by one request; `new`: where nothing is yet.
    pub(crate) async fn put(
        &mut self,
        name: &str,
        body: Body,
        sum: Option<Vec<u8>>,
        new: bool,
        id: u64,
        act: &mut Act,
    ) -> Result<(), Problem> {
        let mut ask = Ask::new(Method::PUT, self.path(name, ""), id).with(body);
        if new {
            ask = ask.and(IF_NONE_MATCH, HeaderValue::from_static("*"));
        }
        if let Some((algorithm, sum)) = self.bucket.checksum.zip(sum) {
            ask = ask.and(algorithm.header(), value(&written(&sum))?);
        }
        self.ask(&ask, act, async |answer, act| judge::plain(answer, new, act).await).await
    }

    /// Look at an object: what it must be, and that it is there.
    async fn look(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let stated = self.head(call.key, call.id, act).await?;
        match (call.content, stated) {
            (Some(object), Some(stated)) => Ok(size(stated, Some(object.size))?),
            // RFC 9110, 8.6: it may be left out
            (Some(object), None) if object.size > 0 => Err(Failure::failed("the answer states no size").into()),
            _ => Ok(()),
        }
    }

    /// The size of an object, bytes, where the answer states it.
    pub(crate) async fn head(&mut self, name: &str, id: u64, act: &mut Act) -> Result<Option<u64>, Problem> {
        let ask = Ask::new(Method::HEAD, self.path(name, ""), id);
        let look = async |answer: &mut Answer, act: &mut Act| {
            judge::plain(answer, false, act).await?;
            Ok(answer.stated())
        };
        self.ask(&ask, act, look).await
    }

    /// Compare the checksum that the server states, whichever it is, with that of the known content.
    async fn checksum(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let (content, part_size): (Option<Object>, _) = (call.content, self.bucket.part_size);
        self.ask(&self.sum_of(call.key, call.id), act, async |answer, act| {
            judge::plain(answer, false, act).await?;
            let Some(object) = content else { return Ok(no_sum(call, act, NOT_OURS_TO_SUM)?) };
            let confirms = |sum: Algorithm| sum.confirms(answer.headers(), &object, part_size);
            match Algorithm::ALL.into_iter().find_map(confirms) {
                Some(true) => Ok(()),
                Some(false) => Err(wrong_sum().into()),
                None => Ok(no_sum(call, act, "checksum: the server states none that can be compared")?),
            }
        })
        .await
    }

    /// The question for the checksum of an object.
    fn sum_of(&self, name: &str, id: u64) -> Ask {
        Ask::new(Method::HEAD, self.path(name, ""), id).and(CHECKSUM_MODE, HeaderValue::from_static("ENABLED"))
    }

    /// The checksum that the server has of an object, as it writes it.
    pub(crate) async fn stated_sum(&mut self, name: &str, act: &mut Act) -> Result<(String, String), Problem> {
        self.ask(&self.sum_of(name, 0), act, async |answer, act| {
            judge::plain(answer, false, act).await?;
            let stated = Algorithm::ALL.into_iter().find_map(|algorithm| {
                let sum = answer.headers().get(algorithm.header())?.to_str().ok()?;
                Some((algorithm.word().to_ascii_lowercase(), sum.to_owned()))
            });
            stated.ok_or_else(|| Failure::failed("the server states no checksum").into())
        })
        .await
    }

    async fn count(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let mut entries = 0;
        self.list(call.key, None, call.id, act, |_| entries += 1).await?;
        match call.step.expect.entries {
            Some(expected) if entries != expected => {
                Err(Failure::failed(format!("{entries} entries, expected {expected}")).into())
            }
            _ => Ok(()),
        }
    }

    /// List a folder, page by page; at most so many entries, if that is said, and then of one page. Its own marker is no entry.
    pub(crate) async fn list(
        &mut self,
        name: &str,
        most: Option<u32>,
        id: u64,
        act: &mut Act,
        mut each: impl FnMut(Entry),
    ) -> Result<(), Problem> {
        let folder = self.bucket.place.folder(name);
        let mut token: Option<String> = None;
        let limit = most.map(|most| most.to_string());
        for _ in 0..PAGES {
            let mut pairs = vec![("delimiter", "/"), ("list-type", "2"), ("prefix", folder.as_str())];
            pairs.extend(limit.as_deref().map(|limit| ("max-keys", limit)));
            pairs.extend(token.as_deref().map(|token| ("continuation-token", token)));
            let ask = Ask::new(Method::GET, self.bucket.place.bucket(&query(&pairs)), id);
            let page = Page::new(|entry: Entry| {
                if entry.key != folder {
                    each(entry);
                }
            });
            let found = self.document(&ask, "a listing", page, act).await?;
            token = found.next().map_err(|why| error::not_xml("a listing", why))?;
            if token.is_none() || limit.is_some() {
                return Ok(());
            }
        }
        Err(Failure::failed(format!("the listing has more than {PAGES} pages")).into())
    }

    /// Remove an object; one that is not there is the same to S3.
    pub(crate) async fn delete(&mut self, name: &str, id: u64, act: &mut Act) -> Result<(), Problem> {
        let ask = Ask::new(Method::DELETE, self.path(name, ""), id);
        self.ask(&ask, act, async |answer, act| judge::plain(answer, false, act).await).await
    }
}

fn wrong_sum() -> Failure {
    Failure::failed("checksum: what the server states is not the sum of what was written")
}

/// Nothing could be verified, which a step may allow.
fn no_sum(call: &Call<'_>, act: &mut Act, why: &str) -> Result<(), Failure> {
    act.not_stated = call.step.checksum == Checksum::IfStated;
    if act.not_stated { Ok(()) } else { Err(Failure::failed(why)) }
}
