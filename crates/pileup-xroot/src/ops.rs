//! The verbs: what is asked for each, and when its answer passes.

use pileup_engine::client::{Act, Call, Client, Failure, NOT_OURS};
use pileup_engine::content::{Maker, Object};
use pileup_engine::program::{Checksum, Range, Step, Verb};

use crate::check::Check;
use crate::client::{LISTING, Mode, XrootClient, about};
use crate::error::{self, Trouble, UNSUPPORTED};
use crate::file::{File, Pace};
use crate::frame::{self, Code};
use crate::listing::Listing;
use crate::session::{Ask, Session};

/// Bytes of a request where the step says nothing.
const CHUNK: u64 = 4 << 20;
/// Bytes asked for before they are wanted, where neither step nor target says anything: what xrdcp does, four requests at a time.
const AHEAD: u64 = 3 * CHUNK;
/// Longest piece of a vector read: servers take a little less than 2 MiB.
const LONGEST: u64 = (2 << 20) - 16;

impl Client for XrootClient {
    async fn open(&mut self) -> Result<(), Failure> {
        if self.target.keep_alive {
            self.connect().await.map_err(|trouble| trouble.failure)?;
        }
        Ok(())
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        if call.step.verb == Verb::Noop {
            return Ok(());
        }
        let path = self.path(call.key)?;
        let result = match call.step.verb {
            Verb::Stat => self.do_stat(&path, call, act).await,
            Verb::List => self.do_list(&path, call.step, act).await,
            Verb::Delete => self.remove(&path, call.step.missing_ok, act).await,
            Verb::Mkdir => self.make_folder(&path, call.step.missing_ok, false, act).await,
            Verb::Rename => self.do_rename(&path, call, act).await,
            Verb::Checksum => self.compare_sum(&path, call, act).await,
            Verb::Connect => self.visit(act).await,
            // what goes on in an open file needs more memory than all else: it has some of its own
            Verb::Open => Box::pin(self.look_into(&path, act)).await,
            Verb::Read => Box::pin(self.do_read(&path, call, act)).await,
            Verb::Write => Box::pin(self.do_write(&path, call, act)).await,
            Verb::Request | Verb::Noop => {
                Err(Trouble::failed("an xroot target takes no requests; expected a storage test"))
            }
            verb => Err(Failure::unable(verb).into()),
        };
        self.keep_path(path);
        self.rest().await;
        let unasked = std::mem::take(&mut self.unasked);
        result.map_err(|trouble| trouble.failure)?;
        if unasked {
            return Err(Failure::failed("the server sent more than its answer to the request before"));
        }
        Ok(())
    }

    async fn close(&mut self) {
        self.disconnect().await;
    }
}

impl XrootClient {
    async fn do_stat(&mut self, path: &str, call: &Call<'_>, act: &mut Act) -> Result<(), Trouble> {
        let found = self.stat(path, act).await?;
        size(found.size, call.verified())
    }

    async fn do_list(&mut self, path: &str, step: &Step, act: &mut Act) -> Result<(), Trouble> {
        let mut entries = 0;
        self.list(path, false, |_, _| entries += 1, act).await?;
        match step.expect.entries {
            Some(expected) if entries != expected => {
                Err(Trouble::failed(format!("{entries} entries, expected {expected}")))
            }
            _ => Ok(()),
        }
    }

    /// List a folder, with attributes or without.
    pub(crate) async fn list(
        &mut self,
        path: &str,
        attributes: bool,
        mut entry: impl FnMut(&[u8], Option<frame::Attributes>),
        act: &mut Act,
    ) -> Result<(), Trouble> {
        // bit 2: attributes
        let body = frame::body(&[(15, &[if attributes { 2 } else { 0 }])]);
        let mut listing = Listing::default();
        let mut take = |piece: &[u8]| listing.feed(piece, &mut entry);
        self.ask(&Ask { body, ..about(Code::Dirlist, path) }, &mut take, LISTING, act).await?;
        listing.finish(entry).map_err(Trouble::garbage)
    }

    /// Remove a file or a folder.
    pub(crate) async fn remove(&mut self, path: &str, missing_ok: bool, act: &mut Act) -> Result<(), Trouble> {
        let mut result = Err(Trouble { failure: Failure::failed(""), code: error::IS_FOLDER });
        if !path.ends_with('/') {
            result = self.ask_for(&about(Code::Rm, path), act).await;
        }
        if result.as_ref().is_err_and(|trouble| trouble.code == error::IS_FOLDER) {
            result = self.ask_for(&about(Code::Rmdir, path), act).await;
        }
        passed_if(result, error::NOT_FOUND, missing_ok)
    }

    /// Make a folder, with those above it or without.
    pub(crate) async fn make_folder(
        &mut self,
        path: &str,
        there_ok: bool,
        parents: bool,
        act: &mut Act,
    ) -> Result<(), Trouble> {
        let body = frame::body(&[(0, &[u8::from(parents)]), (14, &0o755u16.to_be_bytes())]);
        let result = self.ask_for(&Ask { body, ..about(Code::Mkdir, path) }, act).await;
        passed_if(result, error::EXISTS, there_ok)
    }

    async fn do_rename(&mut self, path: &str, call: &Call<'_>, act: &mut Act) -> Result<(), Trouble> {
        let to = self.path(&call.renamed())?;
        self.rename(path, &to, act).await.map_err(|trouble| not_ours(trouble, call.step))
    }

    /// Give an object another name.
    pub(crate) async fn rename(&mut self, path: &str, to: &str, act: &mut Act) -> Result<(), Trouble> {
        self.ask_for(&Ask { to: Some(to), ..about(Code::Mv, path) }, act).await.map(drop)
    }

    /// Ask for the checksum and compare it.
    async fn compare_sum(&mut self, path: &str, call: &Call<'_>, act: &mut Act) -> Result<(), Trouble> {
        let optional = call.step.checksum == Checksum::IfStated;
        let (kind, sum) = match self.checksum(path, act).await {
            Err(trouble) if optional && trouble.code == UNSUPPORTED => return Ok(act.not_stated(call.step)?),
            asked => asked?,
        };
        let stated = u32::from_str_radix(&sum, 16).ok().filter(|_| kind.eq_ignore_ascii_case("adler32"));
        match stated {
            Some(stated) => Ok(call.judge_sum(stated)?),
            None if optional => Ok(act.not_stated(call.step)?),
            None => Err(Trouble::failed("the server states a checksum of another kind than adler32")),
        }
    }

    /// Open a file and close it again.
    async fn look_into(&mut self, path: &str, act: &mut Act) -> Result<(), Trouble> {
        let file = self.opened(path, Mode::Read, act).await?;
        self.put_by(file, None, Ok(()), act).await
    }

    async fn do_read(&mut self, path: &str, call: &Call<'_>, act: &mut Act) -> Result<(), Trouble> {
        let step = call.step;
        let turn = self.turn;
        self.turn += 1;
        let (at, file) = self.opened(path, Mode::Read, act).await?;
        act.first_byte = 0; // that of the data
        let whole = step.checksum == Checksum::Adler32 && step.span.is_none();
        let mut check = Check::new(call.verified(), call.sums || whole);
        let ranges = step.ranges(self.number, turn, file.size.or(call.content.map(|object| object.size)));
        let pace = self.pace(step);
        let done = match file.size.map_or(Ok(()), |found| size(found, call.verified())) {
            Err(trouble) => Err(trouble),
            Ok(()) if step.pieces > 1 => pieces(file, self.at(at), ranges, step.pieces, &mut check, act).await,
            Ok(()) => one_by_one(file, self.at(at), ranges, pace, &mut check, call, act).await,
        };
        let done = done.and_then(|()| check.finish());
        let first = act.first_byte;
        self.put_by((at, file), step.keep.then_some((path, Mode::Read)), done, act).await?;
        act.first_byte = first;
        match act.sum.filter(|_| whole) {
            Some(sum) => self.compare_sum(path, &Call { sum: Some(sum), content: call.content, ..*call }, act).await,
            None => Ok(()),
        }
    }

    async fn do_write(&mut self, path: &str, call: &Call<'_>, act: &mut Act) -> Result<(), Trouble> {
        let mode = if call.step.new { Mode::New } else { Mode::Write };
        let (at, file) = self.opened(path, mode, act).await.map_err(|trouble| not_ours(trouble, call.step))?;
        let pace = self.pace(call.step);
        let done = match &call.content {
            None => Ok(()),
            Some(object) => file.write(self.at(at), &Maker::new(object), object.size, pace, call.sums, act).await,
        };
        self.put_by((at, file), call.step.keep.then_some((path, mode)), done, act).await?;
        if call.step.checksum == Checksum::Adler32 {
            return self.compare_sum(path, call, act).await;
        }
        Ok(())
    }

    /// In what pieces a step moves a file.
    fn pace(&self, step: &Step) -> Pace {
        let chunk = step.buffer.unwrap_or(CHUNK).max(1);
        let usual = if step.buffer.is_some() { 0 } else { AHEAD };
        let ahead = step.read_ahead.or(self.target.read_ahead).unwrap_or(usual);
        Pace { chunk, window: usize::try_from(ahead.div_ceil(chunk)).unwrap_or(usize::MAX).saturating_add(1) }
    }
}

/// Read range after range.
async fn one_by_one(
    file: File,
    session: &mut Session,
    ranges: impl Iterator<Item = Range>,
    pace: Pace,
    check: &mut Check,
    call: &Call<'_>,
    act: &mut Act,
) -> Result<(), Trouble> {
    for range in ranges {
        let got = file.read(session, range, pace, check, None, act).await?;
        let there = file.size.map(|size| size.saturating_sub(range.offset));
        let known = call.verified().map(|object| object.size.saturating_sub(range.offset));
        let expected = known.or(there).map(|rest| range.length.unwrap_or(rest).min(rest));
        if let Some(expected) = expected.filter(|expected| *expected != got) {
            return Err(Trouble::failed(format!("truncated: {got} of {expected} bytes")));
        }
    }
    Ok(())
}

/// Read by vectors of so many pieces.
async fn pieces(
    file: File,
    session: &mut Session,
    mut ranges: impl Iterator<Item = Range>,
    count: u64,
    check: &mut Check,
    act: &mut Act,
) -> Result<(), Trouble> {
    let count = usize::try_from(count).unwrap_or(frame::PIECES);
    let mut list = Vec::new();
    loop {
        list.clear();
        for range in ranges.by_ref().take(count) {
            let length = range.length.unwrap_or_default();
            let fits = u32::try_from(length).ok().filter(|_| length <= LONGEST);
            let fits =
                fits.ok_or_else(|| Trouble::failed("a piece of a vector read is longer than 2 MiB less 16 bytes"))?;
            list.push((range.offset, fits));
        }
        if list.is_empty() {
            return Ok(());
        }
        file.read_pieces(session, &list, check, act).await?;
    }
}

/// Compare a size with what is known.
fn size(found: u64, object: Option<Object>) -> Result<(), Trouble> {
    match object {
        Some(object) if object.size != found => Err(Trouble::failed(format!("size {found}, expected {}", object.size))),
        _ => Ok(()),
    }
}

/// The same, in plain words where something is under a name that must be new.
fn not_ours(trouble: Trouble, step: &Step) -> Trouble {
    if step.new && trouble.code == error::EXISTS {
        return Trouble { failure: Failure::failed(NOT_OURS), ..trouble };
    }
    trouble
}

/// Whether it came off, or an error of this number says that there was nothing to do.
fn passed_if<T>(result: Result<T, Trouble>, code: u32, ok: bool) -> Result<(), Trouble> {
    match result {
        Err(trouble) if ok && trouble.code == code => Ok(()),
        result => result.map(drop),
    }
}
