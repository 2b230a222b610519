//! A press from outside: loads and programs as JSON with a few changes, a folder with a recorder, and its rows as they are in the file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pileup_engine::press::{Frame, Press};
use pileup_engine::program::{Program, Step};
use pileup_record::{Outcome, Recorder, Row};
use serde_json::json;

use crate::merge;

/// A folder with a record, removed in the end.
pub struct Bench {
    /// Writes the record.
    pub recorder: Arc<Recorder>,
    /// The folder; files for clients go into `data` below it.
    pub folder: PathBuf,
}

impl Bench {
    /// One of this name.
    pub fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("pileup-engine-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(folder.join("data")).unwrap();
        Self { recorder: Recorder::create(&folder.join("operations.table"), 0).unwrap(), folder }
    }

    /// A press with a load of one iteration, with changes.
    pub fn press(&self, changes: &str) -> Arc<Press> {
        Press::new(Arc::clone(&self.recorder), &load(changes)).unwrap()
    }

    /// The rows in the file, in the order of their ids.
    pub fn lines(&self) -> Vec<Line> {
        self.recorder.flush().unwrap();
        let mut lines = read(&std::fs::read(self.folder.join("operations.table")).unwrap());
        lines.sort_by_key(|line| line.id);
        lines
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A row as docs/record.md lays it out, read by offsets.
#[allow(missing_docs)] // named as there
#[derive(Debug)]
pub struct Line {
    pub id: u64,
    pub parent: u64,
    pub intended: i64,
    pub start: i64,
    pub first_byte: i64,
    pub end: i64,
    pub bytes: u64,
    pub key: String,
    pub error: String,
    pub operation: String,
    pub client: u32,
    pub calls: u32,
    pub phase: u8,
    pub outcome: u8,
}

fn u32_at(data: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(data[at..at + 4].try_into().unwrap())
}

fn i64_at(data: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(data[at..at + 8].try_into().unwrap())
}

fn read(file: &[u8]) -> Vec<Line> {
    let mut at = 12 + u32_at(file, 8) as usize;
    let (mut texts, mut lines) = (HashMap::from([(0, String::new())]), Vec::new());
    while at < file.len() {
        assert_eq!(&file[at..at + 4], b"PBLK");
        let (kind, size) = (u32_at(file, at + 4), u32_at(file, at + 12) as usize);
        let payload = &file[at + 24..at + 24 + size];
        if kind == 1 {
            lines.extend(payload.chunks(size_of::<Row>()).map(|row| line(row, &texts)));
        } else {
            take_texts(payload, &mut texts);
        }
        at += 24 + size;
    }
    lines
}

fn take_texts(payload: &[u8], texts: &mut HashMap<u32, String>) {
    let mut at = 0;
    while at < payload.len() {
        let length = u32_at(payload, at + 4) as usize;
        let text = String::from_utf8(payload[at + 8..at + 8 + length].to_vec()).unwrap();
        texts.insert(u32_at(payload, at), text);
        at += 8 + length;
    }
}

fn line(row: &[u8], texts: &HashMap<u32, String>) -> Line {
    let text = |at| texts[&u32_at(row, at)].clone();
    Line {
        id: i64_at(row, 0).unsigned_abs(),
        parent: i64_at(row, 8).unsigned_abs(),
        intended: i64_at(row, 16),
        start: i64_at(row, 24),
        first_byte: i64_at(row, 32),
        end: i64_at(row, 40),
        bytes: i64_at(row, 48).unsigned_abs(),
        key: text(56),
        error: text(60),
        operation: text(64),
        client: u32_at(row, 72),
        calls: u32_at(row, 76),
        phase: row[85],
        outcome: row[86],
    }
}

/// A load of one iteration, with changes.
pub fn load(changes: &str) -> String {
    let base = r#"{"case": 1, "name": "t", "target": 0, "place": 0, "shard": 0, "shards": 1, "seed": 7, "start": 0, "kind": "once",
        "times": null, "clients": null, "rate": null, "arrivals": "constant", "ramp": 0, "warm_up": 0, "for": null, "think": null,
        "phase": null, "timeout": 5000000000, "pacing": "normal", "workers": 1, "errors_in_a_row": null, "operations": null}"#;
    let mut load = serde_json::from_str(base).unwrap();
    merge(&mut load, &serde_json::from_str(changes).unwrap());
    load.to_string()
}

/// A program of noops on four objects, with changes.
pub fn program(steps: &[&str]) -> Program {
    Program { steps: steps.iter().map(|changes| step(changes)).collect(), repeat: 1 }
}

/// A noop on one of four objects, with changes.
pub fn step(changes: &str) -> Step {
    let mut base = json!({
        "operation": "act", "keys": {"prefix": "f", "count": 4, "width": 2}, "buffer": 65536,
    });
    merge(&mut base, &serde_json::from_str(changes).unwrap());
    crate::step("noop", &base)
}

/// Frames until it is over; panics when it does not end.
pub fn finish(press: &Press) -> Vec<Frame> {
    let begin = Instant::now();
    let mut frames = Vec::new();
    while !press.wait(Duration::from_millis(50)) {
        frames.push(press.frame());
        assert!(begin.elapsed() < Duration::from_secs(20), "it does not end");
    }
    frames.push(press.frame());
    frames
}

/// How many rows of all frames ended so.
pub fn count(frames: &[Frame], outcome: Outcome, iteration: bool) -> u64 {
    let rows = frames.iter().flat_map(|frame| &frame.rows).filter(|row| row.iteration == iteration);
    rows.map(|row| row.outcomes[outcome as usize]).sum()
}
