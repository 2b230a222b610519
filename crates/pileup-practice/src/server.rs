//! A request on its way: arrival, queue, slot, service time, answer.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::rc::Rc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, EXPECT, SERVER, WWW_AUTHENTICATE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use pileup_pacer::{Pacer, clock::now};
use pileup_schedule::Law;

use crate::body::AnswerBody;
use crate::fault::{Faults, Met};
use crate::log::{Line, Log, Open};
use crate::methods::{self, Answer};
use crate::pipe::Pipe;
use crate::settings::{Kind, Settings};
use crate::slots::Slots;
use crate::store::Store;
use crate::wire::{Current, Turn};

/// Largest body of a request that is read although nobody wants it, so that its connection can be used again.
const DRAINED: u64 = 1 << 20;

/// What all connections share. One thread, no locks.
pub(crate) struct Server {
    pub(crate) store: RefCell<Store>,
    pub(crate) pipe: Pipe,
    pub(crate) faults: Faults,
    pub(crate) pacer: Pacer,
    pub(crate) log: Rc<Log>,
    slots: Slots,
    service: Law,
    seed: u64,
    /// The Authorization header that is asked for.
    token: Option<String>,
    /// Number of the next request.
    next: Cell<u64>,
}

impl Server {
    /// A server that starts now.
    pub(crate) fn new(settings: &Settings, pacer: Pacer, log: Rc<Log>) -> Rc<Self> {
        Rc::new(Self {
            store: RefCell::new(Store::new(settings.capacity)),
            pipe: Pipe::new(settings.bandwidth, pacer.clone()),
            faults: Faults::new(settings.faults.clone(), settings.seed, now()),
            pacer,
            log,
            slots: Slots::new(settings.threads, settings.queue),
            service: settings.service.clone(),
            seed: settings.seed,
            token: settings.token.as_ref().map(|token| format!("Bearer {token}")),
            next: Cell::new(0),
        })
    }

    /// Serve one request. Its line is there from the call on, not from the first poll: a client that has left by then may let it never come.
    pub(crate) fn serve(
        self: Rc<Self>,
        current: &Current,
        request: Request<Incoming>,
    ) -> impl Future<Output = Result<Response<AnswerBody>, Infallible>> + use<> {
        let turn = Turn::new(Open::new(arrival(&request), &self.log));
        *current.borrow_mut() = Some(Rc::clone(&turn));
        self.lead(turn, request)
    }

    /// Lead a request through.
    async fn lead(
        self: Rc<Self>,
        turn: Rc<Turn>,
        mut request: Request<Incoming>,
    ) -> Result<Response<AnswerBody>, Infallible> {
        let number = self.next.replace(self.next.get() + 1);
        let arrived = turn.open.look(|line| line.arrived);
        let met = self.faults.meet(number, request.method().as_str(), arrived);
        let answer = match self.gate(&request, met) {
            Some(answer) => answer,
            None => self.queue(&turn, number, met, &mut request).await,
        };
        drain(&turn, &mut request).await;
        Ok(self.finish(&turn, answer, met))
    }

    /// What is answered before any work: no right, or refused on purpose.
    fn gate(&self, request: &Request<Incoming>, met: Option<Met>) -> Option<Answer> {
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if self.token.as_ref().is_some_and(|token| given != Some(token.as_bytes())) {
            let mut answer = methods::says(401, "a bearer token is needed");
            answer.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return Some(answer);
        }
        met.filter(|met| met.kind == Kind::Refuse).map(|_| methods::says(503, "refused on purpose"))
    }

    /// Wait for a slot, hold it for the service time, then do the work.
    async fn queue(&self, turn: &Turn, number: u64, met: Option<Met>, request: &mut Request<Incoming>) -> Answer {
        let Some(slot) = self.slots.take().await else { return methods::says(503, "the queue is full") };
        self.thaw(turn).await;
        let began = now();
        let service = self.service.draw(self.seed, 0, number);
        turn.open.note(|line| {
            line.began = began;
            line.service = service;
        });
        if service > 0 {
            let ends = began.saturating_add(i64::try_from(service).unwrap_or(i64::MAX));
            self.pacer.sleep_until(ends).await;
        }
        self.thaw(turn).await;
        drop(slot);
        match met {
            Some(met) if met.kind == Kind::Stall => {
                turn.open.note(|line| line.fault = Kind::Stall.name());
                self.pacer.sleep_until(now().saturating_add(met.length)).await;
            }
            Some(met) if met.kind == Kind::Error => return methods::says(met.status, "an error on purpose"),
            _ => {}
        }
        methods::act(self, turn, request).await
    }

    /// Wait until the server is not frozen.
    async fn thaw(&self, turn: &Turn) {
        while let Some(until) = self.faults.frozen_until(now()) {
            turn.open.note(|line| line.fault = Kind::Stall.name());
            self.pacer.sleep_until(until).await;
        }
    }

    /// Wait until these bytes of a request are through the pipe.
    pub(crate) async fn pass(&self, bytes: usize) {
        if let Some(sleep) = self.pipe.book(bytes) {
            sleep.await;
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
