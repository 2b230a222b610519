//! A client: what each verb of a program does to the files below a folder.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use pileup_engine::client::{Act, Call, Client, Factory, Failure, NOT_OURS};
use pileup_engine::content::{Adler32, Maker};
use pileup_engine::program::{Checksum, Range, Step, Verb};
use pileup_engine::refusal::PressError;
use pileup_pacer::clock;
use serde::Deserialize;

use crate::beneath::{Beneath, Root};

/// Bytes per call, where the test says nothing.
const BUFFER: u64 = 1 << 20;

/// Where and in what pieces files are moved without the cache of the system: what every file system takes.
const BLOCK: u64 = 4096;

/// Size of a huge page.
const HUGE: usize = 2 << 20;

/// Settings of a target, as `ClientSpec.settings` of protocol `posix` writes them.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    root: PathBuf,
    /// Whether to go around the cache of the system.
    #[serde(default)]
    direct: bool,
}

/// Makes the clients of one folder.
pub struct PosixFactory {
    direct: bool,
    root: Arc<Root>,
}

impl PosixFactory {
    /// Read the settings (JSON).
    ///
    /// # Errors
    /// What is wrong, in three parts.
    pub fn new(settings: &str) -> Result<Self, PressError> {
        let settings: Settings = serde_json::from_str(settings).map_err(|problem| PressError::Unread {
            what: "settings of a posix target",
            problem,
            expected: "root, a folder (correct the target)",
        })?;
        Ok(Self { direct: settings.direct, root: Arc::new(Root::new(settings.root)) })
    }
}

impl Factory for PosixFactory {
    type Client = PosixClient;
    const BLOCKING: bool = true;

    fn make(&self, client: u32) -> PosixClient {
        let beneath = Beneath::new(Arc::clone(&self.root));
        PosixClient { direct: self.direct, beneath, number: client, turn: 0, buffer: Vec::new(), begin: 0, kept: None }
    }
}

/// One client of a folder, with a buffer of its own.
pub struct PosixClient {
    direct: bool,
    beneath: Beneath,
    number: u32,
    /// Reads so far.
    turn: u64,
    buffer: Vec<u8>,
    /// Where in it the buffer begins: at a block.
    begin: usize,
    /// The file of the last operation, where its step keeps it open.
    kept: Option<Kept>,
}

/// An open file, which may stay open.
struct Kept {
    key: String,
    file: File,
    /// Whether it is open for writing.
    write: bool,
}

impl Client for PosixClient {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let path = || path(call.key);
        match call.step.verb {
            Verb::Noop => Ok(()),
            Verb::Write => self.write(call, act),
            Verb::Read => self.read(call, act),
            Verb::Open => self.look_into(&path()?, act),
            Verb::Checksum => self.compare_sum(&path()?, call, act),
            Verb::Stat => self.stat(&path()?, call, act),
            Verb::List => self.list(&path()?, call.step, act),
            Verb::Rename => self.rename(&path()?, call, act),
            Verb::Delete => {
                let path = path()?;
                made(act, || self.beneath.remove(&path), call.step, io::ErrorKind::NotFound)
            }
            Verb::Mkdir => {
                let path = path()?;
                made(act, || self.beneath.make_folder(&path), call.step, io::ErrorKind::AlreadyExists)
            }
            Verb::Request => Err(Failure::failed("a folder takes no requests; expected a storage test")),
            Verb::Connect => {
                Err(Failure::failed("a folder has no sessions; expected a target that is reached over a network"))
            }
            verb => Err(Failure::unable(verb)),
        }
    }

    async fn close(&mut self) {
        self.kept = None;
    }
}

impl PosixClient {
    fn write(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let size = call.content.map_or(0, |object| object.size);
        self.whole_blocks(&[("size", Some(size)), ("buffer", call.step.buffer)])?;
        self.resize(call.step.buffer);
        let mut kept = self.opened(call, act)?;
        let moved = self.give(&mut kept.file, call, size, act);
        self.kept = (call.step.keep && moved.is_ok()).then_some(kept);
        moved?;
        if call.step.checksum == Checksum::Adler32 {
            return self.compare_sum(&path(call.key)?, call, act);
        }
        Ok(())
    }

    /// Write the known content from the begin on.
    fn give(&mut self, file: &mut File, call: &Call<'_>, size: u64, act: &mut Act) -> Result<(), Failure> {
        let maker = call.content.map(|object| Maker::new(&object));
        let mut sum = call.sums.then(Adler32::new);
        let mut at = 0;
        while let Some(maker) = maker.as_ref().filter(|_| at < size) {
            let piece = &mut self.buffer[self.begin..][..length(call.step.buffer, size - at)];
            maker.fill(at, piece);
            act.calls += 1;
            let written = file.write_at(piece, at).map_err(|error| failure("write", &error))?;
            if let Some(sum) = &mut sum {
                sum.write(&piece[..written]);
            }
            at += written as u64;
            act.moved(at);
        }
        act.sum = sum.map(|sum| sum.finish());
        Ok(())
    }

    /// The checksum of a file, by reading it: a file system keeps none. What is read does not count as bytes moved.
    fn compare_sum(&mut self, path: &Path, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        self.resize(call.step.buffer);
        let mut file = self.beneath.open(path, libc::O_RDONLY).map_err(|error| failure("open", &error))?;
        let mut sum = Adler32::new();
        loop {
            let piece = &mut self.buffer[self.begin..][..length(call.step.buffer, u64::MAX)];
            act.calls += 1;
            let read = file.read(piece).map_err(|error| failure("read", &error))?;
            if read == 0 {
                break;
            }
            sum.write(&piece[..read]);
        }
        call.judge_sum(sum.finish())
    }

    fn read(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let step = call.step;
        let ranges = step.ranges(self.number, self.turn, call.content.map(|object| object.size));
        self.whole_blocks(&[("offset", Some(step.offset)), ("length", step.length), ("buffer", step.buffer)])?;
        self.resize(step.buffer);
        self.turn += 1;
        let kept = self.opened(call, act)?;
        advise(&kept.file, step);
        let mut sum = call.sums.then(Adler32::new);
        let mut result = Ok(());
        for range in ranges {
            result = result.and_then(|()| self.take(&kept.file, range, call, &mut sum, act));
        }
        self.kept = (step.keep && result.is_ok()).then_some(kept);
        act.sum = sum.map(|sum| sum.finish());
        result
    }

    /// Take in one range, piece by piece.
    fn take(
        &mut self,
        file: &File,
        range: Range,
        call: &Call<'_>,
        sum: &mut Option<Adler32>,
        act: &mut Act,
    ) -> Result<(), Failure> {
        let maker = call.verified().map(|object| Maker::new(&object));
        let (before, most) = (act.bytes, range.length.unwrap_or(u64::MAX));
        let mut got = 0;
        while got < most {
            let piece = &mut self.buffer[self.begin..][..length(call.step.buffer, most - got)];
            let at = range.offset + got;
            ask_ahead(file, call.step, at, piece.len() as u64);
            act.calls += 1;
            let read = file.read_at(piece, at).map_err(|error| failure("read", &error))?;
            if act.first_byte == 0 {
                act.first_byte = clock::now();
            }
            if read == 0 {
                break;
            }
            if let Some(wrong) = maker.as_ref().and_then(|maker| maker.first_wrong(at, &piece[..read])) {
                return Err(Failure::failed(format!("wrong content at offset {wrong}")));
            }
            if let Some(sum) = sum {
                sum.write(&piece[..read]);
            }
            got += read as u64;
            act.moved(before + got);
            if self.direct && !(read as u64).is_multiple_of(BLOCK) {
                break; // the end of the file: behind it no block begins
            }
        }
        match expected_length(call, range) {
            Some(expected) if expected != got => Err(Failure::failed(format!("{got} bytes read; expected {expected}"))),
            _ => Ok(()),
        }
    }

    /// The file of the operation before where it is kept, else opened now.
    fn opened(&mut self, call: &Call<'_>, act: &mut Act) -> Result<Kept, Failure> {
        let step = call.step;
        let write = step.verb == Verb::Write;
        if let Some(kept) = self.kept.take().filter(|kept| kept.key == call.key && kept.write == write) {
            return Ok(kept);
        }
        let path = path(call.key)?;
        act.calls += 1;
        let direct = if self.direct { libc::O_DIRECT } else { 0 };
        let (how, what) = match (write, step.new) {
            (false, _) => (libc::O_RDONLY, "open"),
            (true, false) => (libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC | libc::O_NOFOLLOW, "create"),
            (true, true) => (libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW, "create"),
        };
        let file = self.beneath.open(&path, how | direct).map_err(|error| failure_of(step, what, &error))?;
        Ok(Kept { key: call.key.to_owned(), file, write })
    }

    /// Open a file and close it again.
    fn look_into(&mut self, path: &Path, act: &mut Act) -> Result<(), Failure> {
        act.calls = 2;
        self.beneath.open(path, libc::O_RDONLY).map(drop).map_err(|error| failure("open", &error))
    }

    fn rename(&mut self, from: &Path, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        act.calls = 1;
        let to = path(&call.renamed())?;
        let moved = self.beneath.rename(from, &to, call.step.new);
        moved.map_err(|error| failure_of(call.step, "rename", &error))
    }

    fn stat(&mut self, path: &Path, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        act.calls = 1;
        let found = self.beneath.size(path).map_err(|error| failure("stat", &error))?;
        match call.verified() {
            Some(content) if found != content.size => {
                Err(Failure::failed(format!("size is {found} bytes; expected {}", content.size)))
            }
            _ => Ok(()),
        }
    }

    fn list(&mut self, path: &Path, step: &Step, act: &mut Act) -> Result<(), Failure> {
        act.calls = 1;
        let entries = self.beneath.count(path).map_err(|error| failure("list", &error))?;
        match step.expect.entries {
            Some(expected) if expected != entries => {
                Err(Failure::failed(format!("{entries} entries; expected {expected}")))
            }
            _ => Ok(()),
        }
    }

    /// Around the cache only whole blocks can be moved.
    fn whole_blocks(&self, sizes: &[(&str, Option<u64>)]) -> Result<(), Failure> {
        let wrong = |(_, size): &&(&str, Option<u64>)| size.is_some_and(|size| !size.is_multiple_of(BLOCK));
        match sizes.iter().find(wrong).filter(|_| self.direct) {
            Some((name, size)) => Err(Failure::failed(format!(
                "direct: {name} is {} bytes; expected a multiple of {BLOCK} (change it, or take direct out of the target)",
                size.unwrap_or_default()
            ))),
            None => Ok(()),
        }
    }

    fn resize(&mut self, buffer: Option<u64>) {
        let size = length(buffer, u64::MAX);
        if self.buffer.len() < size + self.begin {
            (self.buffer, self.begin) = if self.direct && size as u64 >= BUFFER {
                huge(size)
            } else {
                let buffer = vec![0; size + BLOCK as usize];
                let begin = buffer.as_ptr().align_offset(BLOCK as usize);
                (buffer, begin)
            };
        }
    }
}

/// The path of an object below the root.
fn path(key: &str) -> Result<PathBuf, Failure> {
    let relative = Path::new(key.trim_start_matches('/'));
    if relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
        return Ok(relative.to_owned());
    }
    Err(Failure::failed("the path leaves the target's folder; expected one without .."))
}

/// A buffer on huge pages where the system has them, and where in it they begin: a disk that moves data into memory itself takes far
/// fewer pieces then.
fn huge(size: usize) -> (Vec<u8>, usize) {
    let length = size.next_multiple_of(HUGE);
    let mut buffer: Vec<u8> = vec![0; length + HUGE];
    let begin = buffer.as_ptr().align_offset(HUGE);
    // SAFETY: the range lies in the buffer, begins at a page, and the advice changes nothing that a program can see.
    unsafe {
        libc::madvise(buffer[begin..].as_mut_ptr().cast(), length, libc::MADV_HUGEPAGE);
    }
    (buffer, begin)
}

/// How much a range must give; none when nothing is known of the object.
fn expected_length(call: &Call<'_>, range: Range) -> Option<u64> {
    let rest = call.verified()?.size.saturating_sub(range.offset);
    Some(range.length.unwrap_or(rest).min(rest))
}

/// Advise the system how the file will be read: with `read_ahead` it reads ahead only what it is asked to.
fn advise(file: &File, step: &Step) {
    if step.read_ahead.is_some() {
        // SAFETY: the file is open, and the advice changes nothing that a program can see.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
    }
}

/// Ask for what comes behind the next piece.
fn ask_ahead(file: &File, step: &Step, at: u64, piece: u64) {
    let Some(ahead) = step.read_ahead.filter(|ahead| *ahead > 0) else { return };
    let (begin, length) = (libc::off_t::try_from(at + piece), libc::off_t::try_from(ahead));
    if let (Ok(begin), Ok(length)) = (begin, length) {
        // SAFETY: as above.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), begin, length, libc::POSIX_FADV_WILLNEED) };
    }
}

/// Length of the next piece: the buffer's, at least 1, or what is left.
fn length(buffer: Option<u64>, left: u64) -> usize {
    usize::try_from(buffer.unwrap_or(BUFFER).clamp(1, 1 << 30).min(left)).unwrap_or(1 << 30)
}

/// Do something that may find its work already done.
fn made(act: &mut Act, work: impl FnOnce() -> io::Result<()>, step: &Step, done: io::ErrorKind) -> Result<(), Failure> {
    act.calls = 1;
    match work() {
        Err(error) if step.missing_ok && error.kind() == done => Ok(()),
        result => result.map_err(|error| failure(if step.verb == Verb::Mkdir { "mkdir" } else { "delete" }, &error)),
    }
}

/// The same for a name that must be new.
fn failure_of(step: &Step, act: &str, error: &io::Error) -> Failure {
    if step.new && error.kind() == io::ErrorKind::AlreadyExists {
        return Failure::failed(NOT_OURS);
    }
    failure(act, error)
}

/// Name what a system call has said, without the path: alike errors are counted together.
fn failure(act: &str, error: &io::Error) -> Failure {
    let message = match error.raw_os_error() {
        Some(libc::EXDEV) if act != "rename" => {
            format!("{act}: a symbolic link leads out of the target's folder; expected none")
        }
        Some(libc::ELOOP) => format!("{act}: a symbolic link, which is not followed"),
        _ => format!("{act}: {error}"),
    };
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM | libc::EROFS | libc::EDQUOT | libc::ENOSPC | libc::EBUSY) => {
            Failure::refused(message)
        }
        number => Failure::failed(message).of_system(number),
    }
}
