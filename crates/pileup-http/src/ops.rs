//! A client: one request after another, on connections of its own, redirects followed.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use bytes::Bytes;
use http::header::LOCATION;
use http::{Method, StatusCode};
use pileup_engine::client::{Act, Call, Client, EXPECT_WAIT, Fault, Incomplete, Kind, OwnWait};
use pileup_engine::program::{Range, Verb};
use pileup_net::stream::Rest;
use pileup_pacer::clock::now;

use crate::Target;
use crate::connect::{Link, NoAnswer};
use crate::error;
use crate::judge::judge;
use crate::plan::{self, PROPFIND, Plan};
use crate::redirect::{self, Destination};
use crate::request::{Headers, Request};
use crate::server::Server;
use crate::upload::{Notes, Upload};
use crate::wire::{Head, Wire};

/// Most that is read of an answer nobody looks at, so that its connection can be used again.
const DRAINED: u64 = 64 * 1024;
/// Longest path of a request.
const PATH: usize = 64 * 1024;
/// Most connections that a client keeps, each to another server.
const KEPT: usize = 8;
/// Most ranges of one request.
const RANGES: u64 = 4096;

/// One virtual client: it has at most one connection to each server, and nobody else uses those.
pub struct HttpClient {
    target: Arc<Target>,
    number: u32,
    /// Operations so far.
    turn: u64,
    home: Known,
    links: Vec<(Known, Link)>,
    /// Whether something has come on a connection at rest that nobody has asked for.
    unasked: bool,
    /// About the body that is being sent.
    sent: Rc<Cell<Notes>>,
}

/// A server as one client holds it: a count of its own, so that clients on several cores do not share one.
type Known = Rc<Arc<Server>>;

/// An answer whose head has come.
pub(crate) struct Answer {
    server: Known,
    pub(crate) link: Link,
    pub(crate) head: Head,
    /// Path that was asked for, where it is another than at first.
    pub(crate) path: Option<String>,
}

/// Where a request is sent.
#[derive(Clone, Copy)]
struct Place<'a> {
    server: &'a Known,
    path: &'a str,
}

impl Client for HttpClient {
    async fn open(&mut self) -> Result<(), Fault> {
        if self.target.keep_alive && self.links.is_empty() {
            self.links.push((Rc::clone(&self.home), self.home.connect(self.number).await?));
        }
        Ok(())
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        match call.step.verb {
            Verb::Noop => return Ok(()),
            Verb::Connect => {
                act.calls = 1;
                self.home.connect(self.number).await?.end().await;
                return Ok(());
            }
            _ => {}
        }
        let mut plan = Plan::new(call, &self.target.address, self.target.asks)?;
        self.turn += 1;
        let done = match call.step.verb {
            Verb::Read => self.read(&mut plan, call, act).await,
            _ => self.ask(&mut plan, call, act).await,
        };
        let unasked = std::mem::take(&mut self.unasked);
        done?;
        if call.sums && call.step.verb == Verb::Write {
            act.sum = Some(self.sent.get().sum);
        }
        if unasked { Err(error::surplus_before()) } else { Ok(()) }
    }

    async fn close(&mut self) {
        for (_, link) in self.links.drain(..) {
            link.end().await;
        }
    }
}

impl HttpClient {
    pub(crate) fn new(target: Arc<Target>, number: u32) -> Self {
        let home = Rc::new(Arc::clone(&target.home));
        Self { target, number, turn: 0, home, links: Vec::new(), unasked: false, sent: Rc::default() }
    }

    /// One request with its answer.
    async fn ask(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let mut answer = self.exchange(plan, call, act).await?;
        let result = judge(&mut answer, plan, call, act).await;
        let put_back = self.put_back(answer).await;
        result.and(put_back)
    }

    /// Read what the step says: one range or several, each by itself or some in one request.
    async fn read(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let mut ranges = call.step.ranges(self.number, self.turn, call.content.map(|object| object.size));
        let together = call.step.pieces.max(1);
        if together > RANGES {
            return Err(Fault::failed(format!("{together} pieces in a request; expected at most {RANGES} over HTTP")));
        }
        while let Some(first) = ranges.next() {
            plan.moved = act.bytes;
            if together == 1 {
                self.read_range(plan, first, call, act).await?;
                continue;
            }
            plan.parts.clear();
            plan.parts.push(first);
            plan.parts.extend(ranges.by_ref().take(usize::try_from(together - 1).unwrap_or(0)));
            self.ask(plan, call, act).await?;
        }
        act.sum = plan.sum.take().map(|sum| sum.finish());
        Ok(())
    }

    async fn read_range(&mut self, plan: &mut Plan, range: Range, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        match call.step.buffer {
            Some(buffer) => self.read_by_buffer(plan, range, buffer.max(1), call, act).await,
            None => {
                // XRootD 5.5 promises what lies behind the end, and sends nothing at all
                let rest = call.content.map_or(0, |object| object.size.saturating_sub(range.offset));
                let length = range.length.map(|length| if rest > 0 { length.min(rest) } else { length });
                plan.set_part(Range { length, ..range });
                self.ask(plan, call, act).await
            }
        }
    }

    /// Read by one range request after another, as a client with a buffer of that size does; a part that is short is the last.
    async fn read_by_buffer(
        &mut self,
        plan: &mut Plan,
        range: Range,
        buffer: u64,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<(), Fault> {
        let size = call.content.map(|object| object.size);
        let asked = range.length.map(|length| range.offset.saturating_add(length));
        let mut end = [size, asked].into_iter().flatten().min();
        let mut at = range.offset;
        loop {
            let length = end.map_or(buffer, |end| buffer.min(end.saturating_sub(at)).max(1));
            plan.set_part(Range { offset: at, length: Some(length) });
            plan.moved = act.bytes;
            self.ask(plan, call, act).await?;
            let got = act.bytes - plan.moved;
            at += got;
            end = [end, plan.total].into_iter().flatten().min();
            if got < length || end.is_some_and(|end| at >= end) {
                return Ok(());
            }
        }
    }

    fn body(&self, call: &Call<'_>) -> Upload {
        self.sent.set(Notes::default());
        match (call.step.verb, call.content) {
            (Verb::List, _) => Upload::Fixed(Bytes::from_static(PROPFIND.as_bytes())),
            (Verb::Write | Verb::Request, Some(object)) => Upload::known(&object, Rc::clone(&self.sent), call.sums),
            _ => Upload::Empty,
        }
    }

    /// Ask, and go where the answer sends us.
    async fn exchange(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<Answer, Fault> {
        let home = Rc::clone(&self.home);
        let mut elsewhere: Option<(Known, String)> = None;
        let mut hops = 0;
        loop {
            let place = match &elsewhere {
                None => Place { server: &home, path: &plan.path },
                Some((server, path)) => Place { server, path },
            };
            let mut answer = self.exchange_at(place, plan, call, act).await?;
            let status = answer.head.status;
            if status == StatusCode::EXPECTATION_FAILED && plan.asks {
                plan.asks = false; // RFC 9110, 10.1.1: once more without
                continue;
            }
            let next = self.leads_to(&answer, place, plan, call)?;
            let Some(next) = next else {
                answer.path = elsewhere.map(|(_, path)| path);
                return Ok(answer);
            };
            self.put_back(answer).await?;
            if hops == self.target.redirects {
                let most = self.target.redirects;
                return Err(Fault::failed(format!(
                    "redirected more than {most} times, the last time by HTTP {}",
                    status.as_u16()
                )));
            }
            hops += 1;
            (act.first_byte, act.sent) = (0, false);
            elsewhere = Some(next);
        }
    }

    /// Where an answer sends the request; none: nowhere.
    fn leads_to(
        &self,
        answer: &Answer,
        place: Place<'_>,
        plan: &Plan,
        call: &Call<'_>,
    ) -> Result<Option<(Known, String)>, Fault> {
        let status = answer.head.status;
        let expected = call.step.expect.statuses.contains(&status.as_u16());
        let followed = self.target.redirects > 0 && redirect::leads_on(status, &plan.method) && !expected;
        let Some(location) = answer.head.headers.get(LOCATION).filter(|_| followed && Plan::follows(call.step)) else {
            return Ok(None);
        };
        let location = location.to_str().ok();
        let to = location.and_then(|text| redirect::destination(text, place.server.is_encrypted(), place.path));
        if Plan::stays(call.step)
            && !self.target.redirect_writes
            && let Some(to) = &to
            && !redirect::stays(to, &self.target.address.host, &plan.path)
        {
            return Err(Fault::failed(format!(
                "HTTP {} sends {} to another host or path, which is not followed; expected an answer (the target's redirect_writes: anywhere allows it)",
                status.as_u16(),
                plan.method
            )));
        }
        match to {
            None => Err(Fault::failed(format!("HTTP {} to what is no url of an HTTP server", status.as_u16()))),
            Some(Destination::Path(path)) => Ok(Some((Rc::clone(place.server), path))),
            Some(Destination::Elsewhere(address, path)) => {
                Ok(Some((Rc::new(self.target.servers.find(&address).map_err(Fault::failed)?), path)))
            }
        }
    }

    /// Send the request and wait for the head of its answer.
    ///
    /// A kept connection may turn out to be dead. What had not left is sent on a new one. What had left is sent again only where the server
    /// has not read it, and where doing it twice is the same as doing it once, for what it does and for what is answered (RFC 9110, 9.2.2);
    /// it is counted as a further call and as a repeat. Where the server may have had it in its hands it is ambiguous, whatever the method, and so
    /// it stays when there is no second connection.
    async fn exchange_at(
        &mut self,
        place: Place<'_>,
        plan: &Plan,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<Answer, Fault> {
        let safe = matches!(plan.method.as_str(), "GET" | "HEAD" | "PROPFIND" | "OPTIONS");
        let again = safe || (call.step.missing_ok && matches!(call.step.verb, Verb::Delete | Verb::Mkdir));
        let kept = self.kept(place.server).await;
        let fresh = kept.is_none();
        match self.attempt(kept, place, plan, call, act).await {
            Ok(answer) => Ok(answer),
            Err(NoAnswer::Stale { left: false, .. }) if !fresh => {
                (act.sent, act.calls) = (false, act.calls - 1);
                self.attempt(None, place, plan, call, act).await.map_err(fault_of)
            }
            Err(NoAnswer::Stale { unread: true, fault, .. }) if !fresh && again => {
                let link = place.server.connect(self.number).await.map_err(|_| fault)?;
                act.repeats += 1;
                self.attempt(Some(link), place, plan, call, act).await.map_err(fault_of)
            }
            Err(trouble) => Err(fault_of(trouble)),
        }
    }

    /// The connection to this server that was kept, when it is still good.
    async fn kept(&mut self, server: &Known) -> Option<Link> {
        let at = self.links.iter().position(|(known, _)| Arc::ptr_eq(known, server))?;
        let mut link = self.links.remove(at).1;
        let rest = link.at_rest().await;
        self.unasked |= matches!(rest, Rest::Unasked(_));
        if rest == Rest::Silent { Some(link) } else { None }
    }

    async fn attempt(
        &mut self,
        kept: Option<Link>,
        Place { server, path }: Place<'_>,
        plan: &Plan,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<Answer, NoAnswer> {
        if path.len() > PATH {
            return Err(NoAnswer::Final(Fault::failed("path of the request: longer than 64 KiB")));
        }
        let headers = plan.headers(call, server).map_err(NoAnswer::Final)?;
        let token = server.token().map_err(NoAnswer::Final)?;
        let token =
            token.as_deref().filter(|_| matches!(headers, Headers::Written(_) | Headers::Own { token: true, .. }));
        let (method, asks) = (&plan.method, plan.asks);
        let request = Request { method, path, id: call.id, size: plan::size(call), asks, token, headers };
        let mut link = match kept {
            Some(link) => link,
            None => server.connect(self.number).await.map_err(NoAnswer::Final)?,
        };
        act.calls += 1;
        (act.sent, act.incomplete) = (true, None);
        let (body, bodiless) = (self.body(call), plan.method == Method::HEAD);
        let watch = |wire: &mut Wire| {
            act.moved(plan.moved + self.sent.get().bytes);
            act.holds = wire.holds();
            let wait = wire.take_wait();
            act.own_waits.extend(wait.map(|(begun, ended)| OwnWait { what: EXPECT_WAIT, begun, ended }));
        };
        let head = link.exchange(|into| request.write(into), body, bodiless, asks, watch).await;
        act.holds = None;
        let head = head?;
        act.incomplete = Some(Incomplete { got: 0, stated: head.stated, kind: Kind::Failed });
        if act.first_byte == 0 {
            act.first_byte = now();
        }
        Ok(Answer { server: Rc::clone(server), link, head, path: None })
    }

    /// Keep the connection of an answer, read to its end.
    ///
    /// # Errors
    /// When more has come than the answer.
    async fn put_back(&mut self, mut answer: Answer) -> Result<(), Fault> {
        let whole = self.target.keep_alive && answer.drain(None).await.is_ok_and(|whole| whole);
        let surplus = answer.link.has_surplus();
        if !self.target.keep_alive || surplus {
            answer.link.end().await;
        } else if whole {
            answer.link.rest();
            if self.links.len() == KEPT {
                self.links.remove(0);
            }
            self.links.push((answer.server, answer.link));
        }
        if surplus { Err(error::surplus()) } else { Ok(()) }
    }
}

impl Answer {
    /// Read the rest of the body and forget it; false when it is too long for that. `act` counts it.
    pub(crate) async fn drain(&mut self, mut act: Option<&mut Act>) -> Result<bool, Fault> {
        let (mut got, stated) = (0, self.head.stated);
        let before = act.as_ref().map_or(0, |act| act.bytes);
        while let Some(piece) = self.link.piece().await {
            got += piece.map_err(|error| error::broken_body(&error, got, stated))?.len() as u64;
            if let Some(act) = &mut act {
                act.moved(before + got);
            }
            if got > DRAINED {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn fault_of(trouble: NoAnswer) -> Fault {
    match trouble {
        NoAnswer::Stale { left: false, .. } => Fault::failed("connection closed before the request was sent"),
        NoAnswer::Stale { fault, .. } | NoAnswer::Final(fault) => fault,
    }
}
