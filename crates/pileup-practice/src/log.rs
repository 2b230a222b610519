//! What was done to each request: one line of CSV, written by a thread of its own so that no disk holds up an answer.

use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use pileup_pacer::clock::now;

/// First line of the file.
pub(crate) const HEADER: &str =
    "id,method,path,arrived,began,first_byte,ended,service,status,bytes_in,bytes_out,fault,note\n";
/// How much is gathered before it is handed over without waiting for the second to end.
const ENOUGH: usize = 1 << 20;

/// What was done to a request. Times in ns since the epoch, 0: that never came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// From the header x-pileup-id; 0: none.
    pub(crate) id: u64,
    /// Method.
    pub(crate) method: String,
    /// Path and query as they came.
    pub(crate) path: String,
    /// When its head had been read.
    pub(crate) arrived: i64,
    /// When it got a slot.
    pub(crate) began: i64,
    /// When the head of the answer was handed to the system.
    pub(crate) first_byte: i64,
    /// When the last byte of the answer was handed to the system, or when it was given up.
    pub(crate) ended: i64,
    /// Service time drawn, ns.
    pub(crate) service: u64,
    /// Status of the answer; 0: none.
    pub(crate) status: u16,
    /// Bytes of its body received.
    pub(crate) bytes_in: u64,
    /// Bytes of the answer's body sent.
    pub(crate) bytes_out: u64,
    /// Fault made on purpose; empty: none.
    pub(crate) fault: &'static str,
    /// What a kind of server says of it beside: which token was made or not taken, and why; never the token.
    pub(crate) note: String,
}

impl Line {
    fn write(&self, out: &mut Vec<u8>) {
        let Self { id, method, arrived, began, first_byte, ended, service, status, bytes_in, bytes_out, fault, .. } =
            self;
        // Writing to a Vec cannot fail.
        let _ = write!(out, "{id},{method},");
        field(out, &self.path);
        let _ =
            write!(out, ",{arrived},{began},{first_byte},{ended},{service},{status},{bytes_in},{bytes_out},{fault},");
        field(out, &self.note);
        out.push(b'\n');
    }
}

/// A text as CSV has it.
pub(crate) fn field(out: &mut Vec<u8>, text: &str) {
    if text.contains([',', '"', '\n', '\r']) {
        let _ = write!(out, "\"{}\"", text.replace('"', "\"\""));
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// The half of the log on the server's thread.
pub(crate) struct Log {
    gathered: RefCell<Vec<u8>>,
    writer: Option<Sender<Vec<u8>>>,
}

/// The thread that writes the file.
pub(crate) type Writer = JoinHandle<io::Result<()>>;

/// Make the file and start the thread that writes it. The sender is the way to it; the thread ends when that is dropped.
pub(crate) fn start(path: &Path) -> io::Result<(Sender<Vec<u8>>, Writer)> {
    let mut file = File::create(path)?;
    file.write_all(HEADER.as_bytes())?;
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("practice-log".to_owned());
    Ok((sender, thread.spawn(move || write_all(&mut file, &receiver))?))
}

fn write_all(file: &mut File, lines: &Receiver<Vec<u8>>) -> io::Result<()> {
    let mut result = Ok(());
    for block in lines {
        // After the first error the rest is thrown away: memory must not grow. The error is reported at the end.
        if result.is_ok() {
            result = file.write_all(&block);
        }
    }
    result
}

impl Log {
    /// With the way to the thread that writes; none: nothing is kept.
    pub(crate) fn new(writer: Option<Sender<Vec<u8>>>) -> Rc<Self> {
        Rc::new(Self { gathered: RefCell::new(Vec::new()), writer })
    }

    fn add(&self, line: &Line) {
        if self.writer.is_none() {
            return;
        }
        let mut gathered = self.gathered.borrow_mut();
        line.write(&mut gathered);
        let enough = gathered.len() >= ENOUGH;
        drop(gathered);
        if enough {
            self.flush();
        }
    }

    /// Hand over what has been gathered.
    pub(crate) fn flush(&self) {
        let gathered = std::mem::take(&mut *self.gathered.borrow_mut());
        if let (Some(writer), false) = (&self.writer, gathered.is_empty()) {
            // Fails only when the thread is gone; its error is reported at the end.
            let _ = writer.send(gathered);
        }
    }
}

/// The line of a request on its way through the server: written when the last holder lets go, whatever became of the request.
pub(crate) struct Open {
    line: RefCell<Line>,
    log: Rc<Log>,
    then: RefCell<Option<Then>>,
}

/// What is to be done when it is known how a request ended.
type Then = Box<dyn FnOnce(&Line)>;

impl Open {
    /// A request that has just arrived.
    pub(crate) fn new(line: Line, log: &Rc<Log>) -> Rc<Self> {
        Rc::new(Self { line: RefCell::new(line), log: Rc::clone(log), then: RefCell::new(None) })
    }

    /// Note something.
    pub(crate) fn note(&self, change: impl FnOnce(&mut Line)) {
        change(&mut self.line.borrow_mut());
    }

    /// Have something done when it is known how the request ended.
    pub(crate) fn then(&self, act: impl FnOnce(&Line) + 'static) {
        *self.then.borrow_mut() = Some(Box::new(act));
    }

    /// Look something up.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&Line) -> T) -> T {
        at(&self.line.borrow())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let line = self.line.get_mut();
        if line.ended == 0 {
            line.ended = now();
        }
        if line.first_byte == 0 {
            line.status = 0; // an answer was made but not a byte of it left
        }
        if let Some(then) = self.then.take() {
            then(line);
        }
        self.log.add(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_csv() {
        let mut out = Vec::new();
        let line = Line {
            id: 7,
            method: "GET".to_owned(),
            path: "/a,b".to_owned(),
            arrived: 1,
            began: 2,
            first_byte: 3,
            ended: 4,
            service: 5,
            status: 200,
            bytes_in: 6,
            bytes_out: 8,
            fault: "truncate",
            note: "refused: expired".to_owned(),
        };
        line.write(&mut out);
        assert_eq!(String::from_utf8(out).unwrap(), "7,GET,\"/a,b\",1,2,3,4,5,200,6,8,truncate,refused: expired\n");
    }

    #[test]
    fn the_file_is_complete_when_the_thread_has_ended() {
        let path = std::env::temp_dir().join(format!("pileup-practice-log-{}.csv", std::process::id()));
        let (sender, writer) = start(&path).unwrap();
        let log = Log::new(Some(sender));
        for id in 1..=20_000 {
            drop(Open::new(Line { id, ..Line::default() }, &log));
        }
        log.flush();
        drop(log);
        writer.join().unwrap().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text.lines().count(), 20_001);
        assert!(text.starts_with(HEADER) && text.ends_with(",\n"));
    }
}
