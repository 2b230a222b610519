//! An open file: reads with several requests on their way, vector reads, writes.

use std::collections::VecDeque;

use pileup_engine::client::{Act, Incomplete, Kind};
use pileup_engine::content::{Adler32, Maker};
use pileup_engine::program::Range;

use crate::check::{self, Check, Found, Pages, Pieces};
use crate::error::Trouble;
use crate::frame::{self, Code, Head, PAGE, PIECE, PIECES, Status};
use crate::session::{Reply, Session, pause};

/// Bytes written at once.
const PORTION: u64 = 128 * 1024;
/// Most requests on their way.
pub(crate) const MOST: usize = 256;

/// A file that a server has opened for a session.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// What the server calls it.
    pub(crate) handle: [u8; 4],
    /// Its size, where the server said it.
    pub(crate) size: Option<u64>,
    /// Whether data moves in pages with checksums.
    pub(crate) pages: bool,
}

/// In what pieces a file is moved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Bytes of a request.
    pub(crate) chunk: u64,
    /// Requests on their way.
    pub(crate) window: usize,
}

/// A request on its way.
struct Flight {
    number: u16,
    offset: u64,
    asked: u32,
    got: u32,
    sum: Option<Adler32>,
    done: bool,
}

/// A read under way.
struct Reading<'a> {
    file: File,
    check: &'a mut Check,
    /// What a caller wants of the data beyond checking.
    keep: Option<&'a mut Vec<u8>>,
    flights: VecDeque<Flight>,
    next: u64,
    end: u64,
    /// Bytes of the range, where they are known.
    promised: Option<u64>,
    chunk: u64,
    /// Sum of all before the first flight.
    sum: Option<u32>,
}

impl File {
    /// Read a range; how much there was. `act.sum` goes on over it when `check` sums.
    ///
    /// # Errors
    /// What went wrong; wrong content is noted in `check` and read on.
    pub(crate) async fn read(
        self,
        session: &mut Session,
        range: Range,
        pace: Pace,
        check: &mut Check,
        keep: Option<&mut Vec<u8>>,
        act: &mut Act,
    ) -> Result<u64, Trouble> {
        session.widen();
        let size = self.size.unwrap_or(u64::MAX);
        let end = range.length.map_or(size, |length| range.offset.saturating_add(length).min(size));
        let sum = if check.sums { Some(act.sum.unwrap_or(1)) } else { None };
        let flights = VecDeque::with_capacity(pace.window.min(MOST));
        let chunk = pace.chunk.clamp(1, 1 << 30);
        let promised = (end != u64::MAX).then(|| end.saturating_sub(range.offset));
        let mut reading = Reading { file: self, check, keep, flights, next: range.offset, end, promised, chunk, sum };
        act.incomplete = None;
        let before = act.bytes;
        loop {
            while reading.flights.len() < pace.window.clamp(1, MOST) && reading.next < reading.end {
                reading.ask(session, act);
            }
            if reading.flights.is_empty() {
                break;
            }
            reading.answer(session, act).await?;
        }
        act.incomplete = None;
        act.sum = reading.sum.or(act.sum);
        Ok(act.bytes - before)
    }

    /// Read pieces of the file by one request, or a few where they are more than fit into one; how much it was.
    ///
    /// # Errors
    /// What went wrong; wrong content is noted in `check` and read on.
    pub(crate) async fn read_pieces(
        self,
        session: &mut Session,
        ranges: &[(u64, u32)],
        check: &mut Check,
        act: &mut Act,
    ) -> Result<u64, Trouble> {
        session.widen();
        let before = act.bytes;
        let mut sum = if check.sums { Some(Adler32::from_checksum(act.sum.unwrap_or(1))) } else { None };
        for some in ranges.chunks(PIECES) {
            let number = session.next();
            let mut list = Vec::with_capacity(some.len() * PIECE);
            for (offset, length) in some {
                list.extend_from_slice(&self.handle);
                list.extend_from_slice(&length.to_be_bytes());
                list.extend_from_slice(&offset.to_be_bytes());
            }
            let limit = some.iter().map(|(_, length)| u64::from(*length) + PIECE as u64).sum();
            loop {
                frame::put(session.output(), number, Code::Readv, [0; 16], &[&list]);
                act.calls += 1;
                act.sent = true;
                let (mut pieces, mut asked) = (Pieces::default(), some.iter().copied());
                let mut moved = 0;
                let mut look = |offset: u64, data: &[u8]| {
                    check.look(offset, data);
                    if let Some(sum) = &mut sum {
                        sum.write(data);
                    }
                    moved += data.len() as u64;
                };
                let mut take = |bytes: &[u8]| pieces.feed(bytes, || asked.next(), &mut look);
                let reply = session.answer(number, &mut take, limit, act).await?;
                act.moved(act.bytes + moved);
                match reply {
                    Reply::Done if pieces.is_whole() && asked.next().is_none() => break,
                    Reply::Done => return Err(Trouble::failed("truncated: not all pieces that were asked for")),
                    Reply::Wait(seconds) => again(session, seconds, act).await,
                    Reply::Redirect(_) => return Err(elsewhere(session)),
                }
            }
        }
        act.sum = sum.map(|sum| sum.finish()).or(act.sum);
        Ok(act.bytes - before)
    }

    /// Write the content of an object of this size from the begin on.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) async fn write(
        self,
        session: &mut Session,
        maker: &Maker,
        size: u64,
        pace: Pace,
        sums: bool,
        act: &mut Act,
    ) -> Result<(), Trouble> {
        let mut sum = check::sum(sums);
        let fill = |at: u64, buffer: &mut [u8]| {
            maker.fill(at, buffer);
            if let Some(sum) = &mut sum {
                sum.write(buffer);
            }
        };
        self.put(session, size, pace, fill, act).await?;
        act.sum = sum.map(|sum| sum.finish());
        Ok(())
    }

    /// Write so many bytes, made by `fill` at their place.
    pub(crate) async fn put(
        self,
        session: &mut Session,
        size: u64,
        pace: Pace,
        mut fill: impl FnMut(u64, &mut [u8]),
        act: &mut Act,
    ) -> Result<(), Trouble> {
        let chunk = pace.chunk.clamp(1, 1 << 30);
        // whole pages, but for the last: their checksums are then those of the file's pages
        let chunk = if self.pages { chunk.next_multiple_of(PAGE as u64) } else { chunk };
        let mut flights = VecDeque::new();
        let mut at = 0;
        while at < size || !flights.is_empty() {
            if at < size && flights.len() < pace.window.clamp(1, MOST) {
                let length = chunk.min(size - at);
                flights.push_back(self.send(session, at, length, &mut fill, act).await?);
                at += length;
            } else {
                self.written(session, &mut flights, act).await?;
            }
        }
        Ok(())
    }

    /// Send one request to write, portion by portion.
    async fn send(
        self,
        session: &mut Session,
        offset: u64,
        length: u64,
        fill: &mut impl FnMut(u64, &mut [u8]),
        act: &mut Act,
    ) -> Result<u16, Trouble> {
        let number = session.next();
        let body = frame::body(&[(0, &self.handle), (4, &offset.to_be_bytes())]);
        let (code, pages) = if self.pages { (Code::PgWrite, length.div_ceil(PAGE as u64)) } else { (Code::Write, 0) };
        let stated = u32::try_from(length + 4 * pages).unwrap_or(u32::MAX);
        frame::put_head(session.output(), number, code, body, stated);
        act.calls += 1;
        act.sent = true;
        let mut done = 0;
        while done < length {
            let portion = PORTION.min(length - done) as usize;
            let output = session.output();
            let unit = if self.pages { PAGE } else { portion };
            for begin in (0..portion).step_by(unit) {
                let size = unit.min(portion - begin);
                let from = output.len() + if self.pages { 4 } else { 0 };
                output.resize(from + size, 0);
                fill(offset + done + begin as u64, &mut output[from..]);
                if self.pages {
                    let sum = crc32c::crc32c(&output[from..]);
                    output[from - 4..from].copy_from_slice(&sum.to_be_bytes());
                }
            }
            session.flush().await?;
            done += portion as u64;
            act.moved(act.bytes + portion as u64);
        }
        Ok(number)
    }

    /// Take the answer to one of these writes.
    async fn written(self, session: &mut Session, flights: &mut VecDeque<u16>, act: &mut Act) -> Result<(), Trouble> {
        let head = session.head(act).await?;
        let Some(place) = flights.iter().position(|number| *number == head.stream) else {
            return Err(session.garbage("an answer to nothing that was asked"));
        };
        match head.status {
            Status::Ok if !self.pages && head.length == 0 => {}
            Status::Checked if self.pages => {
                let checked = checked(session, head, Code::PgWrite).await?;
                if checked.length > 0 {
                    session.give_up();
                    return Err(Trouble::failed(
                        "the server found pages with another checksum than they were sent with",
                    ));
                }
            }
            _ => match session.other(head).await? {
                None => return Ok(()),
                Some(Reply::Redirect(_)) => return Err(elsewhere(session)),
                Some(_) => {
                    session.give_up();
                    return Err(Trouble::failed("the server asks to wait in the middle of a write"));
                }
            },
        }
        session.done();
        flights.remove(place);
        Ok(())
    }
}

impl Reading<'_> {
    /// Ask for the next chunk.
    fn ask(&mut self, session: &mut Session, act: &mut Act) {
        let asked = u32::try_from(self.chunk.min(self.end - self.next)).unwrap_or(1 << 30);
        let number = session.next();
        let (offset, sum) = (self.next, check::sum(self.check.sums));
        let flight = Flight { number, offset, asked, got: 0, sum, done: false };
        self.put(session, &flight, act);
        self.flights.push_back(flight);
        self.next += u64::from(asked);
    }

    fn put(&self, session: &mut Session, flight: &Flight, act: &mut Act) {
        let (offset, asked) = (flight.offset.to_be_bytes(), flight.asked.to_be_bytes());
        let body = frame::body(&[(0, &self.file.handle), (4, &offset), (12, &asked)]);
        let code = if self.file.pages { Code::PgRead } else { Code::Read };
        frame::put(session.output(), flight.number, code, body, &[]);
        act.calls += 1;
        act.sent = true;
    }

    /// Take one frame of an answer.
    async fn answer(&mut self, session: &mut Session, act: &mut Act) -> Result<(), Trouble> {
        let head = session.head(act).await?;
        // how much of the whole range there is when nothing more comes
        act.incomplete.get_or_insert(Incomplete { got: 0, stated: self.promised, kind: Kind::Ambiguous });
        let Some(place) = self.flights.iter().position(|flight| flight.number == head.stream && !flight.done) else {
            return Err(session.garbage("an answer to nothing that was asked"));
        };
        let last = match head.status {
            Status::Ok | Status::SoFar if !self.file.pages => {
                self.data(session, head, place, act).await?;
                head.status == Status::Ok
            }
            Status::Checked if self.file.pages => self.pages(session, head, place, act).await?,
            _ => match session.other(head).await? {
                None => return Ok(()),
                Some(Reply::Wait(seconds)) if self.flights[place].got == 0 => {
                    again(session, seconds, act).await;
                    self.put(session, &self.flights[place], act);
                    return Ok(());
                }
                Some(_) => return Err(elsewhere(session)),
            },
        };
        if last {
            session.done();
            let flight = &mut self.flights[place];
            flight.done = true;
            if flight.got < flight.asked {
                self.end = self.end.min(flight.offset + u64::from(flight.got)); // the end of the file
            }
            self.land();
        }
        Ok(())
    }

    /// Forget the requests at the front that are done.
    fn land(&mut self) {
        while self.flights.front().is_some_and(|flight| flight.done) {
            let Some(flight) = self.flights.pop_front() else { return };
            if let (Some(sum), Some(part)) = (self.sum, flight.sum) {
                self.sum = Some(check::join_sums(sum, part.finish(), u64::from(flight.got)));
            }
        }
    }

    /// Take plain data.
    async fn data(&mut self, session: &mut Session, head: Head, place: usize, act: &mut Act) -> Result<(), Trouble> {
        let flight = &mut self.flights[place];
        if head.length > flight.asked - flight.got {
            return Err(session.garbage("more data than was asked for"));
        }
        let (check, keep) = (&mut *self.check, &mut self.keep);
        let look = |data: &[u8]| {
            flight.look(data, check, keep, act);
            Ok(())
        };
        session.body(head.length, look).await
    }

    /// Take pages with checksums; whether they were the last.
    async fn pages(&mut self, session: &mut Session, head: Head, place: usize, act: &mut Act) -> Result<bool, Trouble> {
        let checked = checked(session, head, Code::PgRead).await?;
        let flight = &mut self.flights[place];
        if u64::from(checked.length) > check::with_sums(u64::from(flight.asked - flight.got)) {
            return Err(session.garbage("more data than was asked for"));
        }
        let at = flight.offset + u64::from(flight.got);
        if checked.length > 0 && checked.offset != at {
            return Err(session.garbage("pages from another place than asked for"));
        }
        let (check, keep) = (&mut *self.check, &mut self.keep);
        let mut pages = Pages::new(at, checked.length);
        let most = flight.offset + u64::from(flight.asked);
        let look = |bytes: &[u8]| {
            pages.feed(bytes, |found| match found {
                Found::Data(_, data) => flight.look(data, check, keep, act),
                Found::Torn(at) => check.torn(at),
            })?;
            if pages.at() > most { Err("more data than was asked for") } else { Ok(()) }
        };
        session.body(checked.length, look).await?;
        Ok(!checked.partial)
    }
}

impl Flight {
    /// Take the next data of this request.
    fn look(&mut self, data: &[u8], check: &mut Check, keep: &mut Option<&mut Vec<u8>>, act: &mut Act) {
        check.look(self.offset + u64::from(self.got), data);
        if let Some(sum) = &mut self.sum {
            sum.write(data);
        }
        if let Some(keep) = keep {
            keep.extend_from_slice(data);
        }
        self.got = self.got.saturating_add(u32::try_from(data.len()).unwrap_or(u32::MAX));
        act.moved(act.bytes + data.len() as u64);
        act.came(act.incomplete.map_or(0, |incomplete| incomplete.got) + data.len() as u64);
    }
}

/// The begin of an answer with checksums.
async fn checked(session: &mut Session, head: Head, code: Code) -> Result<frame::Checked, Trouble> {
    if head.length as usize != frame::CHECKED {
        return Err(session.garbage("pages with a head of another length"));
    }
    let body = session.take().await?;
    frame::checked(body, head.stream, code).map_err(|what| session.garbage(what))
}

/// Wait in the middle of a file; who is cut off meanwhile leaves a session that nobody must use again.
async fn again(session: &mut Session, seconds: u32, act: &mut Act) {
    session.renew(); // the same request goes out once more
    pause(seconds, act).await;
}

/// A file that is open at one place cannot be read on at another.
fn elsewhere(session: &mut Session) -> Trouble {
    session.give_up();
    Trouble::failed("the server sends elsewhere in the middle of a file")
}
