//! A session: one connection, logged in, that carries one operation after another.

use std::sync::Arc;
use std::time::Duration;

use pileup_engine::client::{Act, Failure};
use pileup_net::stream::{Rest, Stream};
use pileup_net::token::is_over;
use pileup_pacer::clock::now;

use crate::error::{self, Trouble};
use crate::frame::{self, Code, Head, Parsed, Redirect, Server, Status};
use crate::target::{Place, Target};
use crate::wire::{Broken, Wire};

/// Longest text of an error, a redirect, a message, an answer to login.
const TEXT: u32 = 64 * 1024;

/// What is asked about a path.
pub(crate) struct Ask<'a> {
    /// The request.
    pub(crate) code: Code,
    /// Its own 16 bytes; of a rename the length of the first path is filled in.
    pub(crate) body: [u8; 16],
    /// The path, or what is in its place.
    pub(crate) path: &'a str,
    /// The second path of a rename.
    pub(crate) to: Option<&'a str>,
    /// Whether it is about a path, to which an opaque part can be added.
    pub(crate) opaque: bool,
    /// Whether asking twice is the same as asking once and changes nothing.
    pub(crate) again: bool,
}

/// What came of it, when it was no error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The answer.
    Done,
    /// Ask there.
    Redirect(Redirect),
    /// Ask again after so many seconds.
    Wait(u32),
}

/// What became of a request that has no whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Some of an answer has come.
    Answered,
    /// Nothing of it has left.
    Unsent,
    /// It has left, but the server has not read it.
    Unread,
    /// It has left, and the server may have read it.
    Sent,
}

/// One connection, logged in.
pub(crate) struct Session {
    wire: Wire,
    place: Option<Place>,
    server: Server,
    /// Whether what is said on it cannot be heard: encrypted, or within this machine.
    private: bool,
    /// The token that it has shown last.
    shown: Option<Arc<str>>,
    /// Number of the last request.
    number: u16,
    /// When an operation had its first answer last, ns since the epoch.
    answered: i64,
    /// Requests without their last answer.
    pending: u32,
    /// Whether it cannot be used any more.
    broken: bool,
    /// Whether its connection broke before the server had read what left last.
    unread: bool,
}

impl Session {
    /// Connect and log in: at home, or at the place of a redirect. Clients with different numbers begin with different addresses.
    pub(crate) async fn connect(target: &Target, place: Option<&Place>, client: u32) -> Result<Self, Trouble> {
        Box::pin(Self::connected(target, place, client)).await // kilobytes that no operation on a session needs
    }

    async fn connected(target: &Target, place: Option<&Place>, client: u32) -> Result<Self, Trouble> {
        let tcp = target.connect(place, client).await?;
        let near = target.is_near(place, &tcp);
        let wants = target.wants_tls(place, near);
        let wire = Wire::new(Stream::Plain(tcp));
        let mut session = Self {
            wire,
            place: place.cloned(),
            server: Server::default(),
            private: near,
            shown: None,
            number: 0,
            answered: 0,
            pending: 0,
            broken: false,
            unread: false,
        };
        session.greet(wants).await?;
        if session.server.goes_to_tls() {
            session = session.encrypted(target).await?;
        } else if wants {
            let why = if target.is_tls(place) { "the url asks for it" } else { "a token must not travel unencrypted" };
            return Err(Trouble::failed(format!("the server has no TLS, but {why}")));
        }
        session.log_in(target, client).await?;
        Ok(session)
    }

    /// Handshake, and what protocol is spoken.
    async fn greet(&mut self, wants_tls: bool) -> Result<(), Trouble> {
        let number = self.next();
        frame::put_greeting(self.wire.output(), number, wants_tls);
        let first = self.wire.take::<16>().await.map_err(unfriendly)?;
        // an answer to nothing, of 8 bytes: version and kind of server
        if first.starts_with(b"HTTP/") {
            return Err(Trouble::failed("the server speaks HTTP on this port, not xroot"));
        }
        if first[..8] != [0, 0, 0, 0, 0, 0, 0, 8] {
            return Err(Trouble::failed("the server does not speak xroot on this port"));
        }
        let mut text = Vec::new();
        let reply = self.answer(number, &mut keep(&mut text), u64::from(TEXT), &mut Act::default()).await?;
        if reply != Reply::Done {
            return Err(Trouble::garbage("neither yes nor no to what protocol is spoken"));
        }
        self.server = frame::server(&text).map_err(Trouble::garbage)?;
        Ok(())
    }

    /// Go on in TLS.
    async fn encrypted(self, target: &Target) -> Result<Self, Trouble> {
        let host = target.name(self.place.as_ref()).to_owned();
        let trust = target.trust(self.place.as_ref()).map_err(Trouble::failed)?;
        let tcp = self.wire.into_tcp().ok_or_else(|| Trouble::garbage("more than what protocol is spoken"))?;
        let stream = Stream::encrypt(tcp, trust, &host).await?;
        Ok(Self { wire: Wire::new(stream), private: true, ..self })
    }

    async fn log_in(&mut self, target: &Target, client: u32) -> Result<(), Trouble> {
        let number = self.next();
        frame::put_login(self.wire.output(), number, &target.user(client));
        let text = self.entry(number).await?;
        let asked = frame::login(&text).map_err(Trouble::garbage)?;
        if asked.is_empty() {
            return Ok(());
        }
        for way in &asked {
            if let Some(credentials) = target.credentials(way, self.private, client)? {
                self.shown = target.token();
                let number = self.next();
                frame::put_credentials(self.wire.output(), number, way, &credentials);
                return self.entry(number).await.map(drop);
            }
        }
        let what = "expected one that takes a token over TLS (ztn) or a name (unix)";
        Err(Failure::refused(format!("login: the server asks for authentication ({}); {what}", asked.join(", ")))
            .into())
    }

    /// The answer to a part of the login.
    async fn entry(&mut self, number: u16) -> Result<Vec<u8>, Trouble> {
        let mut text = Vec::new();
        let reply = self.answer(number, &mut keep(&mut text), u64::from(TEXT), &mut Act::default()).await;
        let reply = reply.map_err(|trouble| match trouble.code {
            0 => Trouble::failed(format!("login: {}", trouble.failure.message)),
            _ => trouble,
        })?;
        match reply {
            Reply::Done => Ok(text),
            Reply::Wait(_) => Err(Failure::refused("login: the server asks to come again later").into()),
            Reply::Redirect(_) => Err(Trouble::failed("login: the server sends elsewhere")),
        }
    }

    /// Whether it leads there.
    pub(crate) fn is_at(&self, place: Option<&Place>) -> bool {
        self.place.as_ref() == place
    }

    /// Where a redirect led it; none: home.
    pub(crate) fn place(&self) -> Option<Place> {
        self.place.clone()
    }

    /// Whether something is wrong with it that only a new one fixes.
    pub(crate) fn is_broken(&self) -> bool {
        self.broken || self.pending > 0
    }

    /// What became of the last request, which has no answer.
    pub(crate) fn fate(&self) -> Fate {
        if self.wire.begun() {
            Fate::Answered
        } else if !self.wire.left() {
            Fate::Unsent
        } else if self.unread {
            Fate::Unread
        } else {
            Fate::Sent
        }
    }

    /// Whether the server has pages with checksums.
    pub(crate) fn has_pages(&self) -> bool {
        self.server.has_pages()
    }

    /// Begin an operation; says what has come since the last: a server that closed the session has usually said so by then.
    pub(crate) async fn begin(&mut self, act: &Act) -> Rest {
        self.wire.begin();
        if self.is_broken() { Rest::Closed } else { self.wire.at_rest(!act.follows(self.answered)).await }
    }

    /// What is asked next is answered with data.
    pub(crate) fn widen(&mut self) {
        self.wire.widen();
    }

    /// Nothing is asked for the moment.
    pub(crate) fn rest(&mut self) {
        self.wire.rest();
    }

    /// Say that nothing more comes.
    pub(crate) async fn end(&mut self) {
        self.wire.end().await;
    }

    /// It must not be used again.
    pub(crate) fn give_up(&mut self) {
        self.broken = true;
    }

    /// The number of a new request.
    pub(crate) fn next(&mut self) -> u16 {
        self.number = self.number.checked_add(1).unwrap_or(1);
        self.pending += 1;
        self.number
    }

    /// A request that was answered goes out once more.
    pub(crate) fn renew(&mut self) {
        self.pending += 1;
    }

    /// The last answer to a request has come.
    pub(crate) fn done(&mut self) {
        self.pending = self.pending.saturating_sub(1);
    }

    /// Where to write requests; they leave with the next `head` or `flush`.
    pub(crate) fn output(&mut self) -> &mut Vec<u8> {
        self.wire.output()
    }

    /// Let all leave that was written.
    pub(crate) async fn flush(&mut self) -> Result<(), Trouble> {
        let done = self.wire.flush().await;
        done.map_err(|broken| self.trouble(&broken))
    }

    fn trouble(&mut self, broken: &Broken) -> Trouble {
        self.broken = true;
        self.unread = self.wire.was_not_read(broken);
        error::no_answer(broken, self.wire.begun())
    }

    /// What came is not of the protocol.
    pub(crate) fn garbage(&mut self, what: &'static str) -> Trouble {
        self.trouble(&Broken::Garbage(what))
    }

    /// The next bytes, few.
    pub(crate) async fn take<const N: usize>(&mut self) -> Result<[u8; N], Trouble> {
        let taken = self.wire.take().await;
        taken.map_err(|broken| self.trouble(&broken))
    }

    /// The next `length` bytes, in pieces.
    pub(crate) async fn body(&mut self, length: u32, each: impl FnMut(&[u8]) -> Parsed<()>) -> Result<(), Trouble> {
        let done = self.wire.body(u64::from(length), each).await;
        done.map_err(|broken| self.trouble(&broken))
    }

    /// A short body as a whole.
    async fn text(&mut self, head: Head) -> Result<Vec<u8>, Trouble> {
        if head.length > TEXT {
            return Err(self.garbage("a text of more than 64 KiB"));
        }
        let mut text = Vec::new();
        self.body(head.length, keep(&mut text)).await?;
        Ok(text)
    }

    /// The head of the next answer: one that was announced (kXR_waitresp) comes within a message, other messages are skipped.
    pub(crate) async fn head(&mut self, act: &mut Act) -> Result<Head, Trouble> {
        loop {
            let head = frame::head(self.take().await?);
            if act.first_byte == 0 {
                act.first_byte = now();
                self.answered = act.first_byte;
            }
            let head = head.map_err(|what| self.garbage(what))?;
            if head.status != Status::Attention {
                return Ok(head);
            }
            if head.length < 16 {
                self.text(head).await?;
                continue;
            }
            let first = self.take().await?;
            match frame::attention(first, head.length) {
                Err(what) => return Err(self.garbage(what)),
                Ok(Some(inner)) => return Ok(inner),
                Ok(None) => drop(self.text(Head { length: head.length - 16, ..head }).await?),
            }
        }
    }

    /// What an answer without data says: an error, another place, a time to wait; none when the answer is yet to come.
    pub(crate) async fn other(&mut self, head: Head) -> Result<Option<Reply>, Trouble> {
        if !matches!(head.status, Status::Error | Status::Redirect | Status::Wait | Status::WaitAnswer) {
            return Err(self.garbage("an answer of another kind than the one asked for"));
        }
        let text = self.text(head).await?;
        if head.status == Status::WaitAnswer {
            return Ok(None);
        }
        self.done();
        let reply = match head.status {
            Status::Error => frame::error(&text).map(|(code, words)| Err(self.refused(code, &words))),
            Status::Redirect => frame::redirect(&text).map(|place| Ok(Some(Reply::Redirect(place)))),
            _ => frame::wait(&text).map(|seconds| Ok(Some(Reply::Wait(seconds)))),
        };
        reply.unwrap_or_else(|what| Err(self.garbage(what)))
    }

    /// The trouble of an error that the server gave: of a no to a token that was over, with the cause.
    fn refused(&self, code: u32, words: &str) -> Trouble {
        let about_token = matches!(code, error::NOT_AUTHORIZED | error::AUTH_FAILED);
        let over = about_token && self.shown.as_deref().is_some_and(is_over);
        let trouble = error::said(code, words);
        Trouble { failure: trouble.failure.of_bearer(over), ..trouble }
    }

    /// The answer to the one request that is under way; its data, at most `limit` bytes, goes to `take`.
    pub(crate) async fn answer(
        &mut self,
        number: u16,
        take: &mut impl FnMut(&[u8]) -> Parsed<()>,
        limit: u64,
        act: &mut Act,
    ) -> Result<Reply, Trouble> {
        let mut got = 0;
        loop {
            let head = self.head(act).await?;
            if head.stream != number {
                return Err(self.garbage("an answer to nothing that was asked"));
            }
            if !matches!(head.status, Status::Ok | Status::SoFar) {
                match self.other(head).await? {
                    Some(reply) => return Ok(reply),
                    None => continue,
                }
            }
            got += u64::from(head.length);
            if got > limit {
                return Err(self.garbage("more than was asked for"));
            }
            self.body(head.length, &mut *take).await?;
            if head.status == Status::Ok {
                self.done();
                return Ok(Reply::Done);
            }
        }
    }

    /// Ask about a path, with what must be added to it: the target's, the redirect's.
    pub(crate) async fn ask(
        &mut self,
        target: &Target,
        ask: &Ask<'_>,
        more: &str,
        act: &mut Act,
    ) -> Result<u16, Trouble> {
        let number = self.next();
        let mut opaque = String::new();
        if ask.opaque {
            self.shown = target.opaque(more, self.private, &mut opaque).inspect_err(|_| self.done())?;
        }
        let mut body = ask.body;
        let data: [&[u8]; 5] = match ask.to {
            None => [ask.path.as_bytes(), opaque.as_bytes(), &[], &[], &[]],
            Some(to) => {
                let length = u16::try_from(ask.path.len() + opaque.len()).unwrap_or(u16::MAX);
                body[14..].copy_from_slice(&length.to_be_bytes());
                [ask.path.as_bytes(), opaque.as_bytes(), b" ", to.as_bytes(), opaque.as_bytes()]
            }
        };
        if ask.code == Code::Dirlist {
            self.widen();
        }
        frame::put(self.wire.output(), number, ask.code, body, &data);
        act.calls += 1;
        act.sent = true;
        Ok(number)
    }
}

/// Keep what comes.
pub(crate) fn keep(into: &mut Vec<u8>) -> impl FnMut(&[u8]) -> Parsed<()> {
    |piece| {
        into.extend_from_slice(piece);
        Ok(())
    }
}

/// Wait as long as the server asks, at least a moment: it may ask again at once.
pub(crate) async fn pause(seconds: u32, act: &mut Act) {
    (act.sent, act.waits) = (false, true); // what was asked has not been done
    tokio::time::sleep(Duration::from_secs(u64::from(seconds)).max(Duration::from_millis(10))).await;
    act.waits = false;
}

/// The first bytes of a server did not come.
fn unfriendly(broken: Broken) -> Trouble {
    let trouble = error::no_answer(&broken, false);
    Trouble::failed(match trouble.failure.message.strip_suffix(" before the answer") {
        Some(what) => format!("{what} in the handshake"),
        None => trouble.failure.message.clone(),
    })
}
