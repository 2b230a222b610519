//! One client of a bucket: its requests, whoever asks for them.

use std::sync::Arc;

use http::header::IF_NONE_MATCH;
use http::{HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Failure};
use pileup_engine::control::Problem;
use pileup_http1::{Answer, Body, Session, Site};

use crate::document::{Collect, Instead};
use crate::listing::{Entry, Page};
use crate::plan::{Ask, CHECKSUM_MODE, query, value};
use crate::settings::Place;
use crate::sums::{Algorithm, written};
use crate::{error, judge};

/// Most pages of a listing, of a thousand entries each as a rule.
const PAGES: u64 = 1_000_000;

/// What all clients of a target have in common.
pub(crate) struct Bucket {
    pub(crate) site: Arc<Site>,
    pub(crate) place: Place,
    pub(crate) part_size: Option<u64>,
    pub(crate) checksum: Option<Algorithm>,
}

/// One virtual client of a target.
pub struct S3Client {
    pub(crate) bucket: Arc<Bucket>,
    pub(crate) session: Session,
    pub(crate) number: u32,
    /// Operations so far.
    pub(crate) turn: u64,
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

    /// The size of an object, bytes, where the answer states it.
    pub(crate) async fn head(&mut self, name: &str, id: u64, act: &mut Act) -> Result<Option<u64>, Problem> {
        let ask = Ask::new(Method::HEAD, self.path(name, ""), id);
        let look = async |answer: &mut Answer, act: &mut Act| {
            judge::plain(answer, false, act).await?;
            Ok(answer.stated())
        };
        self.ask(&ask, act, look).await
    }

    /// The question for the checksum of an object.
    pub(crate) fn sum_of(&self, name: &str, id: u64) -> Ask {
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
