//! Files below a folder, through the plain system calls.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};

use pileup_pacer::clock;
use serde::Deserialize;

use crate::client::{Act, Call, Client, Factory, Fault};
use crate::content::{self, Adler32, Maker};
use crate::program::{Checksum, Step, Verb};

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
    settings: Settings,
}

impl PosixFactory {
    /// Read the settings (JSON).
    ///
    /// # Errors
    /// What is wrong, in three parts.
    pub fn new(settings: &str) -> Result<Self, String> {
        let settings: Settings = serde_json::from_str(settings).map_err(|error| {
            format!("settings of a posix target: {error}; expected root, a folder (correct the target)")
        })?;
        Ok(Self { settings })
    }
}

impl Factory for PosixFactory {
    type Client = PosixClient;
    const BLOCKING: bool = true;

    fn make(&self, client: u32) -> PosixClient {
        let settings = self.settings.clone();
        PosixClient { settings, number: client, turn: 0, buffer: Vec::new(), begin: 0, kept: None }
    }
}

/// One client of a folder, with a buffer of its own.
pub struct PosixClient {
    settings: Settings,
    number: u32,
    /// Reads at drawn places so far.
    turn: u64,
    buffer: Vec<u8>,
    /// Where in it the buffer begins: at a block.
    begin: usize,
    /// The file of the last read at a drawn place: who reads so keeps it open.
    kept: Option<(PathBuf, File)>,
}

impl Client for PosixClient {
    async fn open(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let path = self.path(call.key)?;
        match call.step.verb {
            Verb::Write => self.write(&path, call, act),
            Verb::Read => self.read(&path, call, act),
            Verb::Stat => stat(&path, call.step, act),
            Verb::List => list(&path, call.step, act),
            Verb::Delete => made(act, || remove(&path), call.step, io::ErrorKind::NotFound),
            Verb::Mkdir => made(act, || fs::create_dir(&path), call.step, io::ErrorKind::AlreadyExists),
            Verb::Noop | Verb::Request => Err(Fault::failed("a folder takes no requests; expected a storage test")),
        }
    }

    async fn close(&mut self) {
        self.kept = None;
    }
}

impl PosixClient {
    /// The path of an object, never outside of the root.
    fn path(&self, key: &str) -> Result<PathBuf, Fault> {
        let relative = Path::new(key.trim_start_matches('/'));
        if relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Ok(self.settings.root.join(relative));
        }
        Err(Fault::failed("the path leaves the target's folder; expected one without .."))
    }

    fn write(&mut self, path: &Path, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let (seed, size) = call.step.content.map_or((0, 0), |content| (content.seed, content.size));
        let maker = Maker::new(seed, call.number);
        self.whole_blocks(&[("size", Some(size)), ("buffer", call.step.buffer)])?;
        self.resize(call.step.buffer);
        act.calls = 1;
        let opened = self.how().write(true).create(true).truncate(true).open(path);
        let mut file = opened.map_err(|error| fault("create", &error))?;
        let mut at = 0;
        while at < size {
            let piece = &mut self.buffer[self.begin..][..length(call.step.buffer, size - at)];
            maker.fill(at, piece);
            act.calls += 1;
            let written = file.write(piece).map_err(|error| fault("write", &error))?;
            at += written as u64;
            act.bytes = at;
        }
        if call.step.checksum == Checksum::Adler32 {
            drop(file);
            return self.compare_sum(path, content::adler32(seed, call.number, size), call.step, act);
        }
        Ok(())
    }

    /// Read back what was written and compare its checksum.
    fn compare_sum(&mut self, path: &Path, expected: u32, step: &Step, act: &mut Act) -> Result<(), Fault> {
        let mut file = File::open(path).map_err(|error| fault("open", &error))?;
        let mut sum = Adler32::new();
        loop {
            let piece = &mut self.buffer[self.begin..][..length(step.buffer, u64::MAX)];
            act.calls += 1;
            let read = file.read(piece).map_err(|error| fault("read", &error))?;
            if read == 0 {
                break;
            }
            sum.write(&piece[..read]);
        }
        if sum.finish() == expected { Ok(()) } else { Err(Fault::failed("the checksum of what was written is wrong")) }
    }

    fn read(&mut self, path: &Path, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let step = call.step;
        let begin = step.place(self.number, self.turn);
        self.whole_blocks(&[("offset", Some(begin)), ("length", step.length), ("buffer", step.buffer)])?;
        self.resize(step.buffer);
        if step.span.is_none() {
            act.calls = 1;
            let mut file = self.how().read(true).open(path).map_err(|error| fault("open", &error))?;
            if begin > 0 {
                file.seek(SeekFrom::Start(begin)).map_err(|error| fault("seek", &error))?;
            }
            return self.take(call, begin, act, |_, piece| file.read(piece));
        }
        self.turn += 1;
        let file = match self.kept.take().filter(|(known, _)| known == path) {
            Some((_, file)) => file,
            None => {
                act.calls = 1;
                self.how().read(true).open(path).map_err(|error| fault("open", &error))?
            }
        };
        let result = self.take(call, begin, act, |at, piece| file.read_at(piece, at));
        if result.is_ok() {
            self.kept = Some((path.to_owned(), file));
        }
        result
    }

    /// Take in what is read from `begin` on, piece by piece: `read` is told the offset and fills the piece as far as it can.
    fn take(
        &mut self,
        call: &Call<'_>,
        begin: u64,
        act: &mut Act,
        mut read: impl FnMut(u64, &mut [u8]) -> io::Result<usize>,
    ) -> Result<(), Fault> {
        let step = call.step;
        let maker = step.content.filter(|_| step.verify).map(|content| Maker::new(content.seed, call.number));
        let most = step.length.unwrap_or(u64::MAX);
        while act.bytes < most {
            let piece = &mut self.buffer[self.begin..][..length(step.buffer, most - act.bytes)];
            act.calls += 1;
            let at = begin + act.bytes;
            let read = read(at, piece).map_err(|error| fault("read", &error))?;
            if act.first_byte == 0 {
                act.first_byte = clock::now();
            }
            if read == 0 {
                break;
            }
            if let Some(wrong) = maker.as_ref().and_then(|maker| maker.first_wrong(at, &piece[..read])) {
                return Err(Fault::failed(format!("wrong content at offset {wrong}")));
            }
            act.bytes += read as u64;
            if self.settings.direct && !(read as u64).is_multiple_of(BLOCK) {
                break; // the end of the file: behind it no block begins
            }
        }
        match expected_length(step, begin) {
            Some(expected) if expected != act.bytes => {
                Err(Fault::failed(format!("{} bytes read; expected {expected}", act.bytes)))
            }
            _ => Ok(()),
        }
    }

    /// How files are opened.
    fn how(&self) -> OpenOptions {
        let mut how = OpenOptions::new();
        how.custom_flags(if self.settings.direct { libc::O_DIRECT } else { 0 });
        how
    }

    /// Around the cache only whole blocks can be moved.
    fn whole_blocks(&self, sizes: &[(&str, Option<u64>)]) -> Result<(), Fault> {
        let wrong = |(_, size): &&(&str, Option<u64>)| size.is_some_and(|size| !size.is_multiple_of(BLOCK));
        match sizes.iter().find(wrong).filter(|_| self.settings.direct) {
            Some((name, size)) => Err(Fault::failed(format!(
                "direct: {name} is {} bytes; expected a multiple of {BLOCK} (change it, or take direct out of the target)",
                size.unwrap_or_default()
            ))),
            None => Ok(()),
        }
    }

    fn resize(&mut self, buffer: Option<u64>) {
        let size = length(buffer, u64::MAX);
        if self.buffer.len() < size + self.begin {
            (self.buffer, self.begin) = if self.settings.direct && size as u64 >= BUFFER {
                huge(size)
            } else {
                let buffer = vec![0; size + BLOCK as usize];
                let begin = buffer.as_ptr().align_offset(BLOCK as usize);
                (buffer, begin)
            };
        }
    }
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

/// How much a read must give; none when nothing is known of the object.
fn expected_length(step: &Step, begin: u64) -> Option<u64> {
    let content = step.content.filter(|_| step.verify)?;
    let rest = content.size.saturating_sub(begin);
    Some(step.length.unwrap_or(rest).min(rest))
}

/// Length of the next piece: the buffer's, at least 1, or what is left.
fn length(buffer: Option<u64>, left: u64) -> usize {
    usize::try_from(buffer.unwrap_or(BUFFER).clamp(1, 1 << 30).min(left)).unwrap_or(1 << 30)
}

fn stat(path: &Path, step: &Step, act: &mut Act) -> Result<(), Fault> {
    act.calls = 1;
    let found = fs::metadata(path).map_err(|error| fault("stat", &error))?;
    match step.content.filter(|_| step.verify) {
        Some(content) if found.len() != content.size => {
            Err(Fault::failed(format!("size is {} bytes; expected {}", found.len(), content.size)))
        }
        _ => Ok(()),
    }
}

fn list(path: &Path, step: &Step, act: &mut Act) -> Result<(), Fault> {
    act.calls = 1;
    let mut entries = 0;
    for entry in fs::read_dir(path).map_err(|error| fault("list", &error))? {
        entry.map_err(|error| fault("list", &error))?;
        entries += 1;
    }
    match step.expect.entries {
        Some(expected) if expected != entries => Err(Fault::failed(format!("{entries} entries; expected {expected}"))),
        _ => Ok(()),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if fs::symlink_metadata(path)?.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) }
}

/// Do something that may find its work already done.
fn made(act: &mut Act, work: impl FnOnce() -> io::Result<()>, step: &Step, done: io::ErrorKind) -> Result<(), Fault> {
    act.calls = 1;
    match work() {
        Err(error) if step.missing_ok && error.kind() == done => Ok(()),
        result => result.map_err(|error| fault(if step.verb == Verb::Mkdir { "mkdir" } else { "delete" }, &error)),
    }
}

/// Name what a system call has said, without the path: alike errors are counted together.
fn fault(act: &str, error: &io::Error) -> Fault {
    let message = format!("{act}: {error}");
    match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM | libc::EROFS | libc::EDQUOT | libc::ENOSPC | libc::EBUSY) => {
            Fault::refused(message)
        }
        _ => Fault::failed(message),
    }
}
