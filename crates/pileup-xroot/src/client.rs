//! A client: its sessions, and asking with all that may come between a question and its answer: redirects, waits, a server that has gone.

use std::sync::Arc;

use pileup_engine::client::{Act, BESIDE_RELAY, Failure};
use pileup_net::stream::Rest;
use smallvec::SmallVec;

use crate::error::Trouble;
use crate::file::File;
use crate::frame::{self, Attributes, Code, Parsed};
use crate::session::{Ask, Fate, Reply, Session, keep, pause};
use crate::target::{Place, Target};

/// Most redirects of one question.
const HOPS: u32 = 16;
/// Most sessions kept, home among them.
const SESSIONS: usize = 8;
/// Longest answer that is kept as a whole.
const ANSWER: u64 = 16 << 20;
/// The same for attributes, which are some numbers.
const ATTRIBUTES: u64 = 4096;
/// Longest listing.
pub(crate) const LISTING: u64 = 64 << 20;

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// To be read.
    Read,
    /// To be written again.
    Write,
    /// To be written where nothing is yet.
    New,
    /// To be written again, with the folders above it made.
    WritePath,
}

/// A file that stays open for the next operation.
struct Kept {
    path: String,
    mode: Mode,
    place: Option<Place>,
    file: File,
}

/// One virtual client.
pub struct XrootClient {
    pub(crate) target: Arc<Target>,
    pub(crate) number: u32,
    /// Reads so far.
    pub(crate) turn: u64,
    /// That at home is first, and near the rest of the client: it is in each operation.
    sessions: SmallVec<[Session; 1]>,
    kept: Option<Kept>,
    /// Where the path of an object is made: memory that is used again.
    path: String,
    /// Whether something unexpected has come on an idle session.
    pub(crate) unasked: bool,
}

impl XrootClient {
    pub(crate) fn new(target: Arc<Target>, number: u32) -> Self {
        Self { target, number, turn: 0, sessions: SmallVec::new(), kept: None, path: String::new(), unasked: false }
    }

    /// Log in at home, where that has not been done.
    pub(crate) async fn connect(&mut self) -> Result<(), Trouble> {
        if self.sessions.is_empty() {
            self.sessions.push(Session::connect(&self.target, None, self.number).await?);
        }
        Ok(())
    }

    /// End all sessions.
    pub(crate) async fn disconnect(&mut self) {
        self.kept = None;
        for session in &mut self.sessions {
            session.end().await;
        }
        self.sessions.clear();
    }

    /// An operation has ended: what cannot be used again goes.
    pub(crate) async fn rest(&mut self) {
        if !self.target.keep_alive {
            self.disconnect().await;
        }
        for at in (0..self.sessions.len()).rev() {
            if self.sessions[at].is_broken() {
                self.drop_session(at);
            } else {
                self.sessions[at].rest();
            }
        }
    }

    /// The session there, connected when there is none: its number in `sessions`, and whether it is new.
    async fn session(&mut self, place: Option<&Place>, act: &Act) -> Result<(usize, bool), Trouble> {
        if let Some(at) = self.good(place, act).await {
            return Ok((at, false));
        }
        let session = Session::connect(&self.target, place, self.number).await?;
        if self.sessions.len() >= SESSIONS {
            self.drop_session(1);
        }
        let at = if place.is_none() { 0 } else { self.sessions.len() };
        self.sessions.insert(at, session);
        self.sessions[at].begin(act).await;
        Ok((at, true))
    }

    /// The session there when it is still good for an operation, which begins.
    async fn good(&mut self, place: Option<&Place>, act: &Act) -> Option<usize> {
        let at = self.sessions.iter().position(|session| session.is_at(place))?;
        let rest = self.sessions[at].begin(act).await;
        if rest == Rest::Silent {
            return Some(at);
        }
        self.unasked |= matches!(rest, Rest::Unasked(_));
        self.drop_session(at);
        None
    }

    fn drop_session(&mut self, at: usize) {
        let gone = self.sessions.remove(at);
        if self.kept.as_ref().is_some_and(|kept| gone.is_at(kept.place.as_ref())) {
            self.kept = None;
        }
    }

    /// Ask, there where the question is answered; data of the answer, at most `limit` bytes, goes to `take`. Returns which session answered.
    ///
    /// A kept session may turn out to be dead. What had not left is asked on a new one. What had left is asked again only where the server has not
    /// read it and asking twice changes nothing; it is counted as a further call and as a repeat. Where the server may have had it in its
    /// hands it is ambiguous, and so it stays when there is no second session.
    pub(crate) async fn ask(
        &mut self,
        ask: &Ask<'_>,
        take: &mut impl FnMut(&[u8]) -> Parsed<()>,
        limit: u64,
        act: &mut Act,
    ) -> Result<usize, Trouble> {
        let (mut hops, mut place, mut opaque) = (0, None, String::new());
        let mut first: Option<Trouble> = None;
        loop {
            let session = self.session(place.as_ref(), act).await;
            let (at, fresh) = session.map_err(|trouble| first.take().unwrap_or(trouble))?;
            act.repeats += u32::from(first.take().is_some());
            let session = &mut self.sessions[at];
            let number = session.ask(&self.target, ask, &opaque, act).await?;
            match session.answer(number, take, limit, act).await {
                Ok(Reply::Done) => return Ok(at),
                Ok(Reply::Wait(seconds)) => pause(seconds, act).await,
                Ok(Reply::Redirect(to)) => {
                    hops += 1;
                    if hops > HOPS {
                        return Err(Trouble::failed(format!("redirected more than {HOPS} times")));
                    }
                    place = self.target.place(&to);
                    if place.is_some() && self.target.is_relayed() {
                        act.noted(BESIDE_RELAY);
                    }
                    opaque = to.opaque;
                }
                Err(trouble) => {
                    let stale = trouble.code == 0 && !fresh && session.is_broken();
                    match session.fate() {
                        Fate::Unsent if stale => (act.sent, act.calls) = (false, act.calls - 1),
                        Fate::Unread if stale && ask.again => first = Some(trouble),
                        _ => return Err(trouble),
                    }
                    self.drop_session(at);
                }
            }
        }
    }

    /// Ask and keep the answer.
    pub(crate) async fn ask_for(&mut self, ask: &Ask<'_>, act: &mut Act) -> Result<Vec<u8>, Trouble> {
        let mut answer = Vec::new();
        self.ask(ask, &mut keep(&mut answer), ANSWER, act).await?;
        Ok(answer)
    }

    /// Attributes of an object.
    pub(crate) async fn stat(&mut self, path: &str, act: &mut Act) -> Result<Attributes, Trouble> {
        let mut answer = SmallVec::<[u8; 128]>::new(); // some numbers: in the memory of the client itself
        let mut take = |piece: &[u8]| {
            answer.extend_from_slice(piece);
            Ok(())
        };
        self.ask(&about(Code::Stat, path), &mut take, ATTRIBUTES, act).await?;
        frame::attributes(&answer).map_err(Trouble::garbage)
    }

    /// Ask the server something (kXR_query).
    pub(crate) async fn query(&mut self, code: u16, text: &str, act: &mut Act) -> Result<Vec<u8>, Trouble> {
        let body = frame::body(&[(0, &code.to_be_bytes())]);
        // 3: checksum, 4: attributes, 5: space, 64: of the site's, all about a path
        let opaque = matches!(code, 3..=5);
        self.ask_for(&Ask { body, opaque, ..about(Code::Query, text) }, act).await
    }

    /// Have the server bring or drop files, named one in each line (kXR_prepare); returns what it calls the request.
    pub(crate) async fn prepare(
        &mut self,
        options: u8,
        more: u16,
        text: &str,
        act: &mut Act,
    ) -> Result<Vec<u8>, Trouble> {
        let body = frame::body(&[(0, &[options]), (4, &more.to_be_bytes())]);
        self.ask_for(&Ask { body, opaque: false, again: false, ..about(Code::Prepare, text) }, act).await
    }

    /// The checksum that the server has of a file: its kind and its digits.
    pub(crate) async fn checksum(&mut self, path: &str, act: &mut Act) -> Result<(String, String), Trouble> {
        let answer = self.query(3, path, act).await?;
        frame::checksum(&answer).map_err(Trouble::garbage)
    }

    /// The file, opened now, or by the operation before where that kept it; with the session it is open in.
    pub(crate) async fn opened(&mut self, path: &str, mode: Mode, act: &mut Act) -> Result<(usize, File), Trouble> {
        if let Some(kept) = self.kept.take()
            && let Some(at) = self.good(kept.place.as_ref(), act).await
        {
            if kept.path == path && kept.mode == mode {
                return Ok((at, kept.file));
            }
            // this belongs to the operation before: nobody counts it
            let calls = act.calls;
            self.put_by((at, kept.file), None, Ok(()), act).await?;
            act.calls = calls;
        }
        // bits of kXR_open: 2 delete, 8 new, 0x10 read, 0x20 update, 0x40 asynchronous, 0x100 make the path, 0x400 attributes in the answer
        let options: u16 = match mode {
            Mode::Read => 0x10 | 0x40 | 0x400,
            Mode::Write => 0x2 | 0x20 | 0x40 | 0x400,
            Mode::New => 0x8 | 0x20 | 0x40 | 0x400,
            Mode::WritePath => 0x2 | 0x20 | 0x40 | 0x100 | 0x400,
        };
        let body = frame::body(&[(0, &0o644u16.to_be_bytes()), (2, &options.to_be_bytes())]);
        let (mut answer, again) = (Vec::new(), mode == Mode::Read);
        let ask = Ask { body, again, ..about(Code::Open, path) };
        let at = self.ask(&ask, &mut keep(&mut answer), u64::from(u16::MAX), act).await?;
        let session = &mut self.sessions[at];
        let (handle, attributes) = frame::opened(&answer).map_err(|what| session.garbage(what))?;
        let size = attributes.map(|attributes| attributes.size);
        if self.target.pages && !session.has_pages() {
            session.give_up();
            return Err(Trouble::failed(
                "the server has no pages with checksums; expected one that has (take page_checksums out)",
            ));
        }
        Ok((at, File { handle, size, pages: self.target.pages }))
    }

    /// The session of this number.
    pub(crate) fn at(&mut self, at: usize) -> &mut Session {
        &mut self.sessions[at]
    }

    /// Close a file, or keep it open for the next operation. What was done with it comes first.
    pub(crate) async fn put_by<T>(
        &mut self,
        (at, file): (usize, File),
        kept: Option<(&str, Mode)>,
        done: Result<T, Trouble>,
        act: &mut Act,
    ) -> Result<T, Trouble> {
        let session = &mut self.sessions[at];
        if session.is_broken() {
            return done;
        }
        if let (Some((path, mode)), true) = (kept, done.is_ok() && self.target.keep_alive) {
            self.kept = Some(Kept { path: path.to_owned(), mode, place: session.place(), file });
            return done;
        }
        let body = frame::body(&[(0, &file.handle)]);
        let closed = loop {
            let ask = Ask { body, opaque: false, again: false, ..about(Code::Close, "") };
            let number = session.ask(&self.target, &ask, "", act).await?;
            match session.answer(number, &mut |_| Ok(()), u64::from(u16::MAX), act).await {
                Ok(Reply::Done) => break Ok(()),
                Ok(Reply::Wait(seconds)) => {
                    session.renew();
                    pause(seconds, act).await;
                    session.done();
                }
                Ok(Reply::Redirect(_)) => {
                    session.give_up();
                    break Err(Trouble::failed("the server sends elsewhere to close a file"));
                }
                Err(trouble) => break Err(trouble),
            }
        };
        let done = done?;
        closed?;
        Ok(done)
    }

    /// A session beside the client's own, ended at once.
    pub(crate) async fn visit(&mut self, act: &mut Act) -> Result<(), Trouble> {
        act.calls = 1;
        let mut session = Session::connect(&self.target, None, self.number).await?;
        act.sent = true;
        session.end().await;
        Ok(())
    }

    /// Make the path of an object, in memory that [`Self::keep_path`] keeps.
    pub(crate) fn path(&mut self, key: &str) -> Result<String, Failure> {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        self.target.address.path(key, &mut path).map_err(Failure::failed)?;
        Ok(path)
    }

    /// The operation on an object has ended.
    pub(crate) fn keep_path(&mut self, path: String) {
        self.path = path;
    }
}

/// A question about a path that changes nothing.
pub(crate) fn about(code: Code, path: &str) -> Ask<'_> {
    let again = !matches!(code, Code::Mkdir | Code::Mv | Code::Open | Code::Rm | Code::Rmdir);
    Ask { code, body: [0; 16], path, to: None, opaque: true, again }
}
