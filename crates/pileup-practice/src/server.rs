//! A request on its way: arrival, queue, slot, service time, work, answer. What the work is, the kind of server knows.

use std::rc::Rc;

use bytes::Bytes;
use http::header::{EXPECT, SERVER};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use pileup_pacer::clock::now;
use pileup_schedule::Law;

use crate::answer::{Answer, says};
use crate::body::AnswerBody;
use crate::core::Core;
use crate::error::Error;
use crate::fault::Met;
use crate::front::Kind;
use crate::log::{Line, Open};
use crate::report::Cut;
use crate::wire::{Current, Turn};

/// Largest body of a request that is read although nobody wants it, so that its connection can be used again.
const DRAINED: u64 = 1 << 20;
/// Longer than anybody waits, ns: a few years.
const NEVER: i64 = 100_000_000_000_000_000;
/// In the log: the server was away, on purpose.
const AWAY: &str = "away";

/// What a server does with the requests that have got through.
pub(crate) trait Work: 'static {
    /// Law of the time for which a request holds its slot.
    fn cost(&self, method: &Method, path: &str) -> &Law;

    /// Scopes of which a token must have one, where tokens are looked at; empty: any token will do.
    fn scopes(&self, _method: &Method, _path: &str) -> &'static [&'static str] {
        &[]
    }

    /// Do what is asked.
    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer;

    /// Write an answer in the words of what is served.
    fn dress(&self, answer: Answer) -> Answer {
        answer
    }

    /// Whether the server was away after this request had arrived: then it is never answered.
    fn away_since(&self, _arrived: i64) -> bool {
        false
    }

    /// How often there is something to be done beside the requests, ns.
    fn every(&self) -> i64 {
        1_000_000_000
    }

    /// When it is to be done besides: ready then.
    async fn due(&self) {
        std::future::pending().await
    }

    /// Do it.
    fn tick(&self) {}

    /// Nothing more will be asked: bring to disk what has to be.
    fn close(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// A server: how a request is handled, and what is done with it.
pub(crate) struct Server<W> {
    pub(crate) core: Rc<Core>,
    pub(crate) work: W,
}

impl Core {
    /// What is answered before any work: no right, or refused on purpose.
    fn gate(&self, turn: &Turn, request: &Request<Incoming>, scopes: &[&str], met: Option<Met>) -> Option<Answer> {
        let arrived = turn.open.look(|line| line.arrived);
        match self.door.admit(request, scopes, arrived) {
            Ok(None) => {}
            Ok(Some(claims)) => {
                turn.limit(claims.scope);
                turn.open.note(|line| line.note = claims.jti);
            }
            Err(refusal) => {
                turn.open.note(|line| refusal.why.clone_into(&mut line.note));
                return Some(refusal.answer());
            }
        }
        met.filter(|met| met.kind == Kind::Refuse).map(|_| says(503, "refused on purpose"))
    }

    /// Keep the answer back for as long as the ghost says, or until the server is stopped or the client has had enough.
    async fn haunt(&self, met: Option<Met>) -> Result<(), Cut> {
        let length = met.map_or(0, |met| met.length);
        let mut stop = self.stop.clone();
        let until = now() + if length > 0 { length.min(NEVER) } else { NEVER };
        tokio::select! {
            () = self.pacer.sleep_until(until) => Ok(()),
            _ = stop.wait_for(|stop| *stop) => Err(Cut),
        }
    }

    /// Make the answer ready to be sent, with its fault.
    fn finish(self: &Rc<Self>, turn: &Rc<Turn>, answer: Answer, met: Option<Met>) -> Response<AnswerBody> {
        let (mut head, data) = answer.into_parts();
        head.headers.insert(SERVER, HeaderValue::from_static(concat!("pileup-practice/", env!("CARGO_PKG_VERSION"))));
        let of_an_object = matches!(head.status, StatusCode::OK | StatusCode::PARTIAL_CONTENT) && !data.is_empty();
        let mut body = AnswerBody::new(self, turn, data);
        let done = match met {
            Some(met) if met.kind == Kind::Truncate && body.size_hint().exact() > Some(0) => {
                body = body.cut();
                Some(met.kind)
            }
            Some(met) if met.kind == Kind::WrongByte && of_an_object => {
                body = body.spoil(met.draw);
                Some(met.kind)
            }
            Some(met) if met.kind == Kind::Refuse && head.status == StatusCode::SERVICE_UNAVAILABLE => Some(met.kind),
            Some(met) if met.kind == Kind::Error && head.status.as_u16() == met.status => Some(met.kind),
            _ => None,
        };
        turn.open.note(|line| {
            line.status = head.status.as_u16();
            line.fault = done.map_or(line.fault, Kind::name);
        });
        turn.answer();
        Response::from_parts(head, body)
    }
}

impl<W: Work> Server<W> {
    /// Serve one request. Its line is there from the call on, not from the first poll: a client that has left by then may let it never come.
    pub(crate) fn serve(
        self: Rc<Self>,
        current: &Current,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<AnswerBody>, Cut>> + use<W> {
        let turn = Turn::new(Open::new(arrival(&request), &self.core.log));
        *current.borrow_mut() = Some(Rc::clone(&turn));
        self.lead(turn, request)
    }

    /// Lead a request through.
    async fn lead(self: Rc<Self>, turn: Rc<Turn>, mut request: Request<Incoming>) -> Result<Response<AnswerBody>, Cut> {
        let core = &self.core;
        let number = core.next.replace(core.next.get() + 1);
        let arrived = turn.open.look(|line| line.arrived);
        let met = core.faults.meet(number, request.method().as_str(), request.uri().path(), arrived);
        let answer = match core.gate(&turn, &request, self.work.scopes(request.method(), request.uri().path()), met) {
            Some(answer) => answer,
            None => self.queue(&turn, number, met, &mut request).await,
        };
        match turn.open.look(|line| line.fault) {
            AWAY => return Err(Cut),
            fault if fault == Kind::Ghost.name() => core.haunt(met).await?,
            _ => {}
        }
        drain(&turn, &mut request).await;
        Ok(core.finish(&turn, self.work.dress(answer), met))
    }

    /// Wait for a slot, hold it for the service time, then do the work.
    async fn queue(&self, turn: &Turn, number: u64, met: Option<Met>, request: &mut Request<Incoming>) -> Answer {
        let core = &self.core;
        let Some(slot) = core.slots.take().await else { return says(503, "the queue is full") };
        let began = core.thaw(turn, slot.since().max(turn.open.look(|line| line.arrived))).await;
        let service = self.work.cost(request.method(), request.uri().path()).draw(core.seed, 0, number);
        turn.open.note(|line| {
            line.began = began;
            line.service = service;
        });
        let ends = core.hold(began, service).await;
        slot.free(core.thaw(turn, ends).await);
        match met {
            Some(met) if met.kind == Kind::Stall => {
                turn.open.note(|line| line.fault = Kind::Stall.name());
                core.pacer.sleep_until(now().saturating_add(met.length)).await;
            }
            Some(met) if met.kind == Kind::Ghost => turn.open.note(|line| line.fault = Kind::Ghost.name()),
            Some(met) if met.kind == Kind::Error => return says(met.status, "an error on purpose"),
            Some(met) => turn.meet(met.kind),
            _ => {}
        }
        if self.work.away_since(turn.open.look(|line| line.arrived)) {
            turn.open.note(|line| line.fault = AWAY);
            return says(503, "away");
        }
        self.work.act(turn, request).await
    }
}

/// Read what is left of a short body, so that the connection is fit for the next request. One that is only sent when asked for is not.
async fn drain(turn: &Turn, request: &mut Request<Incoming>) {
    let waits = request.headers().contains_key(EXPECT);
    let body = request.body_mut();
    if waits || body.is_end_stream() || body.size_hint().exact().is_none_or(|size| size > DRAINED) {
        return;
    }
    while let Some(Ok(frame)) = body.frame().await {
        let size = frame.data_ref().map_or(0, Bytes::len) as u64;
        turn.open.note(|line| line.bytes_in += size);
    }
}

/// The line of a request that has just arrived.
fn arrival(request: &Request<Incoming>) -> Line {
    let id = request.headers().get("x-pileup-id").and_then(|value| value.to_str().ok()?.parse().ok());
    Line {
        id: id.unwrap_or(0),
        method: request.method().as_str().to_owned(),
        path: request.uri().path_and_query().map_or_else(String::new, |path| path.as_str().to_owned()),
        arrived: now(),
        ..Line::default()
    }
}
