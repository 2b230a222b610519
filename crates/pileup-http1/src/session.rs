//! One virtual client's connections: one request after another, redirects followed.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use http::header::{AUTHORIZATION, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use pileup_engine::client::{Act, BESIDE_RELAY, EXPECT_WAIT, Failure, Incomplete, Kind, OwnWait};
use pileup_net::stream::Rest;
use pileup_pacer::clock::now;

use crate::answer::Answer;
use crate::connect::{Link, NoAnswer};
use crate::error;
use crate::redirect::{self, Destination};
use crate::request::{Follows, Headers, Out, Request};
use crate::server::{Known, Server};
use crate::sign::Unsigned;
use crate::site::Site;
use crate::upload::Notes;
use crate::wire::{Wanted, Wire};

/// Longest path of a request.
const PATH: usize = 64 * 1024;
/// Most connections that a client keeps, each to another server.
const KEPT: usize = 8;

/// One client of a target: it has at most one connection to each server, which no other client uses.
pub struct Session {
    site: Arc<Site>,
    number: u32,
    home: Known,
    links: Vec<Link>,
    /// Whether something unexpected has come on an idle connection.
    unasked: bool,
    /// About the body that is being sent.
    sent: Rc<Cell<Notes>>,
}

/// A request as it is sent to one server.
#[derive(Clone, Copy)]
struct Sent<'a> {
    server: &'a Known,
    path: &'a str,
    request: &'a Request<'a>,
    /// Whether the server is asked before the body is sent.
    asks: bool,
    /// What the operation had moved before the request, bytes.
    before: u64,
}

impl Session {
    /// Of client `number` of a target: clients with different numbers begin with different addresses of its host.
    #[must_use]
    pub fn new(site: &Arc<Site>, number: u32) -> Self {
        let home = Rc::new(Arc::clone(&site.home));
        Self { site: Arc::clone(site), number, home, links: Vec::new(), unasked: false, sent: Rc::default() }
    }

    /// Connect to the target, where connections are kept.
    ///
    /// # Errors
    /// Why there is no connection.
    pub async fn open(&mut self) -> Result<(), Failure> {
        if self.site.keep_alive && self.links.is_empty() {
            let link = self.connected(&self.home).await?;
            self.links.push(link);
        }
        Ok(())
    }

    /// Make a further connection, and end it.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn connect(&mut self, act: &mut Act) -> Result<(), Failure> {
        act.calls = 1;
        self.connected(&self.home).await?.end().await;
        Ok(())
    }

    async fn connected(&self, server: &Known) -> Result<Link, Failure> {
        let connecting = Box::pin(server.connect(self.number)); // kilobytes that no request on a connection needs
        Ok(Link::new(server, connecting.await?))
    }

    /// End all connections in order.
    pub async fn close(&mut self) {
        for link in self.links.drain(..) {
            link.end().await;
        }
    }

    /// Adler-32 of the body that was sent last, where the request asked for it.
    #[must_use]
    pub fn sent_sum(&self) -> u32 {
        self.sent.get().sum
    }

    /// Report once whether a server has sent something unexpected since the last call.
    ///
    /// # Errors
    /// When one has: the connection of the current operation is faulty.
    pub fn settle(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.unasked) { Err(error::surplus_before()) } else { Ok(()) }
    }

    /// Send a request, and go where the answer sends us; the answer is to be given back to `keep`. `act` learns of bytes, calls and waits.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn ask(&mut self, request: &Request<'_>, act: &mut Act) -> Result<Answer, Failure> {
        let home = Rc::clone(&self.home);
        let mut elsewhere: Option<(Known, String)> = None;
        let (mut hops, mut asks, before) = (0, request.asks, act.bytes);
        loop {
            let (server, path) = match &elsewhere {
                None => (&home, request.path.as_ref()),
                Some((server, path)) => (server, path.as_str()),
            };
            let sent = Sent { server, path, request, asks, before };
            let mut answer = self.send(&sent, act).await?;
            let status = answer.status();
            if status == StatusCode::EXPECTATION_FAILED && asks {
                asks = false; // RFC 9110, 10.1.1: once more without
                continue;
            }
            let Some(next) = self.leads_to(&answer, &sent)? else {
                answer.link.coming_mut().path = elsewhere.map(|(_, path)| path);
                return Ok(answer);
            };
            self.keep(answer).await?;
            if hops == self.site.redirects {
                let most = self.site.redirects;
                return Err(Failure::failed(format!(
                    "redirected more than {most} times, the last time by HTTP {}",
                    status.as_u16()
                )));
            }
            hops += 1;
            (act.first_byte, act.sent) = (0, false);
            if home.is_relayed() && !next.0.is_relayed() {
                act.noted(BESIDE_RELAY);
            }
            elsewhere = Some(next);
        }
    }

    /// Where an answer sends the request; none: nowhere.
    #[inline]
    fn leads_to(&self, answer: &Answer, sent: &Sent<'_>) -> Result<Option<(Known, String)>, Failure> {
        let (status, request) = (answer.status(), sent.request);
        if !status.is_redirection() {
            return Ok(None);
        }
        let expected = request.answers.contains(&status.as_u16());
        let followed = self.site.redirects > 0 && redirect::leads_on(status, &request.method) && !expected;
        if !followed || request.follows == Follows::Never {
            return Ok(None);
        }
        let Some(location) = answer.headers().get(LOCATION) else {
            return Ok(None);
        };
        let location = location.to_str().ok();
        let to = location.and_then(|text| redirect::destination(text, sent.server.is_encrypted(), sent.path));
        if request.follows == Follows::Same
            && !self.site.redirect_writes
            && let Some(to) = &to
            && !redirect::stays(to, &self.site.address.host, &request.path)
        {
            return Err(Failure::failed(format!(
                "HTTP {} sends {} to another host or path, which is not followed; expected an answer (the target's redirect_writes: anywhere allows it)",
                status.as_u16(),
                request.method
            )));
        }
        match to {
            None => Err(Failure::failed(format!("HTTP {} to what is not a url of an HTTP server", status.as_u16()))),
            Some(Destination::Path(path)) => Ok(Some((Rc::clone(sent.server), path))),
            Some(Destination::Elsewhere(address, path)) => {
                Ok(Some((Rc::new(self.site.servers.find(&address).map_err(Failure::failed)?), path)))
            }
        }
    }

    /// Send the request and wait for the head of its answer.
    ///
    /// A kept connection may turn out to be dead. What had not left is sent on a new one. What had left is sent again only where the server
    /// has not read it, and where the request is `repeatable`; it is counted as a further call and as a repeat. Where the server may have had
    /// it in its hands it is ambiguous, whatever the method, and so it stays when there is no second connection.
    async fn send(&mut self, sent: &Sent<'_>, act: &mut Act) -> Result<Answer, Failure> {
        let mut kept = self.kept(sent, act).await;
        let mut fresh = kept.is_none();
        loop {
            let trouble = match self.attempt(kept.take(), sent, act).await {
                Ok(answer) => return Ok(answer),
                Err(trouble) => trouble,
            };
            match trouble {
                NoAnswer::Stale { left: false, .. } if !fresh => (act.sent, act.calls) = (false, act.calls - 1),
                NoAnswer::Stale { unread: true, failure, .. } if !fresh && sent.request.repeatable => {
                    kept = Some(self.connected(sent.server).await.map_err(|_| failure)?);
                    act.repeats += 1;
                }
                trouble => return Err(failure_of(trouble)),
            }
            fresh = true;
        }
    }

    /// The connection to this server that was kept, when it is still good. A connection that has just been read is not looked at.
    async fn kept(&mut self, sent: &Sent<'_>, act: &Act) -> Option<Link> {
        let at = self.links.iter().position(|link| Arc::ptr_eq(link.server(), sent.server))?;
        let mut link = self.links.remove(at);
        if sent.request.repeatable && act.follows(link.coming().came) && link.is_over() {
            return Some(link);
        }
        let rest = link.at_rest().await;
        self.unasked |= matches!(rest, Rest::Unasked(_));
        if rest == Rest::Silent { Some(link) } else { None }
    }

    async fn attempt(&mut self, kept: Option<Link>, sent: &Sent<'_>, act: &mut Act) -> Result<Answer, NoAnswer> {
        act.asks();
        if sent.path.len() > PATH {
            return Err(NoAnswer::Final(Failure::failed("path of the request: longer than 64 KiB")));
        }
        let mut link = match kept {
            Some(link) => link,
            None => self.connected(sent.server).await.map_err(NoAnswer::Final)?,
        };
        let shown = self.begin(&mut link, sent).map_err(NoAnswer::Final)?;
        act.calls += 1;
        (act.sent, act.incomplete) = (true, None);
        let has_body = sent.request.body.size().is_some();
        let watch = |wire: &mut Wire| {
            if has_body {
                self.watch(wire, sent.before, act);
            }
        };
        let come = link.head(watch).await;
        act.holds = None;
        come?;
        let stated = link.coming().head.stated;
        act.incomplete = Some(Incomplete { got: 0, stated, kind: Kind::Failed });
        let came = now();
        if act.first_byte == 0 {
            act.first_byte = came;
        }
        Ok(Answer::new(link, shown, came))
    }

    /// Begin the exchange of a request on a connection; returns the token that it shows.
    #[inline]
    fn begin(&self, link: &mut Link, sent: &Sent<'_>) -> Result<Option<Arc<str>>, Failure> {
        let Sent { server, path, request, asks, .. } = *sent;
        let headers = headers(request, path, server)?;
        let own = matches!(&headers, Headers::Own(headers) if headers.contains_key(AUTHORIZATION));
        let shown = server.token()?.filter(|_| !own);
        let (method, id, size, token) = (&request.method, request.id, request.body.size(), shown.as_deref());
        let confided = if server.confided { request.confided } else { &[] };
        let out = Out { method, path, id, size, asks, token, headers, confided };
        let body = request.body.upload(&self.sent, request.sums);
        let wanted = Wanted { bodiless: request.method == Method::HEAD, keeps: request.keeps };
        link.begin(|into| out.write(into), body, wanted, asks);
        Ok(shown)
    }

    /// Take in what has moved on a connection.
    fn watch(&self, wire: &mut Wire, before: u64, act: &mut Act) {
        act.moved(before + self.sent.get().bytes);
        act.holds = wire.holds();
        if let Some((begun, ended)) = wire.take_wait() {
            act.own_waits.push(OwnWait { what: EXPECT_WAIT, begun, ended });
        }
    }

    /// Take an answer back: read it to its end where that is near, and keep its connection for the next request.
    ///
    /// # Errors
    /// When more has come than the answer.
    pub async fn keep(&mut self, mut answer: Answer) -> Result<(), Failure> {
        let read = answer.is_read();
        let whole = self.site.keep_alive && (read || answer.drain(None).await.is_ok_and(|whole| whole));
        let surplus = answer.link.has_surplus();
        if !self.site.keep_alive || surplus {
            answer.link.end().await;
        } else if whole {
            answer.link.rest();
            if self.links.len() == KEPT {
                self.links.remove(0);
            }
            self.links.push(answer.link);
        }
        if surplus { Err(error::surplus()) } else { Ok(()) }
    }
}

/// All headers of a request to a server, but for those of `Out`; signed where the server may see that.
fn headers<'a>(request: &Request<'_>, path: &str, server: &'a Server) -> Result<Headers<'a>, Failure> {
    if request.headers.is_empty() && server.signer.is_none() {
        return Ok(Headers::Written(&server.written));
    }
    let mut headers: HeaderMap = server.headers.clone();
    let put = |headers: &mut HeaderMap, more: &[(http::HeaderName, http::HeaderValue)]| {
        for (name, value) in more {
            headers.insert(name, value.clone());
        }
    };
    put(&mut headers, &request.headers);
    if let Some(signer) = &server.signer {
        let unsigned = Unsigned { method: &request.method, path, headers: &headers, body: &request.body };
        let signature = signer.sign(&unsigned)?;
        put(&mut headers, &signature);
    }
    Ok(Headers::Own(Box::new(headers)))
}

fn failure_of(trouble: NoAnswer) -> Failure {
    match trouble {
        NoAnswer::Stale { left: false, .. } => Failure::failed("connection closed before the request was sent"),
        NoAnswer::Stale { failure, .. } | NoAnswer::Final(failure) => failure,
    }
}
