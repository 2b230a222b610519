//! Verbs with a second target: a copy that one of the two servers makes, and the checksum of what is at the second one.
//!
//! The active server gets the request (WLCG HTTP-TPC 1.0): the second target fetches the object (`Source`, a pull), or the step's own target
//! sends it (`Destination`, a push). What gives access to the other server goes with it in headers that begin with `TransferHeader`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderName, HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Call, Failure, Incomplete, Kind, NOT_OURS};
use pileup_engine::program::{Destination, Verb};
use pileup_http1::{Answer, Body, Follows, Request, Session, Site, digest};

use crate::markers::{End, Markers};
use crate::plan::{DESTINATION, OVERWRITE, WANT_DIGEST, extension, inside, value};

const SOURCE: HeaderName = HeaderName::from_static("source");
/// Whether a certificate is delegated first: it is not.
const CREDENTIAL: HeaderName = HeaderName::from_static("credential");
const STREAMS: HeaderName = HeaderName::from_static("x-number-of-streams");
/// What the names of headers begin with that the active server sends to the other one, in the spelling that XRootD 5 looks for.
const FORWARDED: &str = "TransferHeader";
/// Operation of the time between two performance markers.
const MARKER: &str = "marker";

/// The second targets of a program, by their names in the suite.
pub(crate) type Others = BTreeMap<String, Arc<Site>>;
type Headers = Vec<(HeaderName, HeaderValue)>;

/// Does the verbs with a second target for one virtual client.
pub(crate) struct Between {
    others: Vec<Other>,
}

struct Other {
    name: String,
    site: Arc<Site>,
    session: Session,
}

/// An object at one of the two targets, and the way there.
struct Place<'a> {
    site: &'a Site,
    session: &'a mut Session,
    /// Path and query.
    path: String,
}

impl Between {
    /// For client `number`.
    pub(crate) fn new(others: &Others, number: u32) -> Self {
        let other = |(name, site): (&String, &Arc<Site>)| Other {
            name: name.clone(),
            site: Arc::clone(site),
            session: Session::new(site, number),
        };
        Self { others: others.iter().map(other).collect() }
    }

    /// Do what the step says with the object of the call and that of the same number at its second target.
    pub(crate) async fn act(
        &mut self,
        to: &Destination,
        site: &Site,
        own: &mut Session,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<(), Failure> {
        let Some(other) = self.others.iter_mut().find(|other| other.name == to.target) else {
            return Err(Failure::failed("the second target is not open; expected one that the test names"));
        };
        let key = call.there();
        inside(call.key, call.step)?;
        inside(&key, call.step)?;
        let here = Place { site, session: own, path: site.address.object(call.key, false) };
        let path = other.site.address.object(&key, false);
        let there = Place { site: &other.site, session: &mut other.session, path };
        match call.step.verb {
            Verb::Copy => copy(here, there, to, call, act).await,
            Verb::Checksum => compare(here, there, call, act).await,
            verb => Err(Failure::unable(verb)),
        }
    }

    /// End all connections in order.
    pub(crate) async fn close(&mut self) {
        for other in &mut self.others {
            other.session.close().await;
        }
    }
}

impl Place<'_> {
    fn url(&self) -> String {
        self.site.url(&self.path)
    }

    /// Send a request without a body and wait for the head of its answer.
    async fn ask(
        &mut self,
        method: Method,
        headers: Headers,
        confided: &[(String, HeaderValue)],
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<Answer, Failure> {
        let looks = method == Method::HEAD;
        let request = Request {
            method,
            path: Cow::Borrowed(&self.path),
            confided,
            headers,
            body: Body::None,
            id: call.id,
            sums: false,
            asks: false,
            repeatable: looks,
            follows: if looks { Follows::Anywhere } else { Follows::Same },
            answers: &call.step.expect.statuses,
            keeps: &[],
        };
        self.session.ask(&request, act).await
    }

    /// What HEAD says of the object: its size and its Adler-32, where they are stated.
    async fn look(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(Option<u64>, Option<u32>), Failure> {
        let wanted = vec![(WANT_DIGEST, HeaderValue::from_static("adler32"))];
        let answer = self.ask(Method::HEAD, wanted, &[], call, act).await?;
        let found = (answer.stated(), digest(answer.headers()));
        let result = if answer.status().is_success() { Ok(found) } else { Err(answer.failure()) };
        let kept = self.session.keep(answer).await;
        let settled = self.session.settle();
        let found = result?;
        kept.and(settled).map(|()| found)
    }
}

/// Have one of the servers copy the object to the other.
async fn copy(
    mut here: Place<'_>,
    mut there: Place<'_>,
    to: &Destination,
    call: &Call<'_>,
    act: &mut Act,
) -> Result<(), Failure> {
    if here.url() == there.url() {
        return Err(Failure::failed("source and destination are the same object; expected two"));
    }
    let size = match call.content {
        Some(object) => Some(object.size),
        None => {
            let size = here.look(call, act).await?.0;
            (act.first_byte, act.sent, act.incomplete) = (0, false, None);
            size
        }
    };
    let (active, passive) = if to.pull { (&mut there, &mut here) } else { (&mut here, &mut there) };
    let (headers, confided) = (headers(to, passive, call)?, forwarded(active.site, passive.site)?);
    let mut answer = active.ask(extension(b"COPY")?, headers, &confided, call, act).await?;
    let result = judge(&mut answer, size, call, act).await;
    let kept = active.session.keep(answer).await;
    let settled = active.session.settle();
    result.and(kept).and(settled)
}

fn headers(to: &Destination, passive: &Place<'_>, call: &Call<'_>) -> Result<Headers, Failure> {
    let mut headers = vec![
        (if to.pull { SOURCE } else { DESTINATION }, value(&passive.url())?),
        (OVERWRITE, HeaderValue::from_static(if call.step.new { "F" } else { "T" })),
        (CREDENTIAL, HeaderValue::from_static("none")),
    ];
    if let Some(streams) = to.streams {
        headers.push((STREAMS, HeaderValue::from(streams)));
    }
    for (name, value) in &call.step.headers {
        headers.push(pileup_http1::header(name, value).map_err(Failure::failed)?);
    }
    Ok(headers)
}

/// What the active server needs to be given access by the passive one.
fn forwarded(active: &Site, passive: &Site) -> Result<Vec<(String, HeaderValue)>, Failure> {
    let credentials = passive.credentials()?;
    if !credentials.is_empty() && !active.is_hidden() {
        return Err(Failure::failed(
            "the credentials of one target would travel unencrypted to the other; expected https, or a loopback address",
        ));
    }
    Ok(credentials.into_iter().map(|(name, value)| (format!("{FORWARDED}{name}"), value)).collect())
}

/// Why a status does not pass; none: it does.
fn refusal(answer: &Answer, call: &Call<'_>) -> Option<Failure> {
    let (status, expected) = (answer.status(), &call.step.expect.statuses);
    let passes = if expected.is_empty() {
        status.is_success() && status != StatusCode::MULTI_STATUS
    } else {
        expected.contains(&status.as_u16())
    };
    if passes {
        return None;
    }
    Some(match status {
        StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED => {
            Failure::failed(format!("HTTP {}: the server makes no third-party copies", status.as_u16()))
        }
        StatusCode::PRECONDITION_FAILED if call.step.new => Failure::failed(NOT_OURS),
        _ => answer.failure(),
    })
}

/// Whether the copy was made. Any answer but a no may report on it and say at its end that it has failed.
async fn judge(answer: &mut Answer, size: Option<u64>, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
    let status = answer.status();
    if let Some(failure) = refusal(answer, call) {
        let _ = answer.drain(None).await;
        return Err(failure);
    }
    // the server may have copied it, or do so yet, until it says how that has ended
    act.incomplete = act.incomplete.map(|incomplete| Incomplete { kind: Kind::Ambiguous, ..incomplete });
    let mut markers = Markers::default();
    let mut got = 0;
    loop {
        match answer.piece().await {
            Ok(Some(piece)) => {
                got += piece.len() as u64;
                let ended = markers.feed(piece);
                act.came(got);
                if ended {
                    note(markers.bytes(), act);
                }
            }
            Ok(None) => break,
            Err(_) => {
                return Err(match markers.finish() {
                    End::Failure(why) => failed(&why),
                    _ => Failure::ambiguous("the report on the copy broke off"),
                });
            }
        }
    }
    let moved = size.unwrap_or_else(|| markers.bytes());
    match markers.finish() {
        End::Failure(why) => return Err(failed(&why)),
        End::Silent => return Err(Failure::ambiguous("the report on the copy ended without a result")),
        End::Nothing if status == StatusCode::ACCEPTED => {
            return Err(Failure::ambiguous("HTTP 202 Accepted without a report on the copy"));
        }
        End::Nothing | End::Success => {}
    }
    if moved > act.bytes {
        note(moved, act);
    }
    Ok(())
}

fn failed(why: &str) -> Failure {
    Failure::failed(format!("the copy failed: {why}"))
}

/// Take in how much has been moved, with the time since it was known last.
fn note(moved: u64, act: &mut Act) {
    let (begun, more) = (act.parts.last().map_or(act.first_byte, |part| part.ended), moved.saturating_sub(act.bytes));
    act.part(MARKER, begun, more);
    act.moved(act.bytes + more);
}

/// Compare the Adler-32 of the copy with that of the known content, else with what the source states.
async fn compare(mut here: Place<'_>, mut there: Place<'_>, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
    let Some(copy) = there.look(call, act).await?.1 else { return act.not_stated(call.step) };
    if call.content.is_some() {
        return call.judge_sum(copy);
    }
    match here.look(call, act).await?.1 {
        None => act.not_stated(call.step),
        Some(source) if source == copy => Ok(()),
        Some(_) => Err(Failure::failed("checksum: the adler32 of the copy is not that of the source")),
    }
}
