//! The file that a recorder leaves, read back by the smallest reader.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;

use super::*;
use crate::row::{COLUMNS, Outcome, ROW_SIZE, as_bytes};

/// What a reader finds in a table: texts by number, rows as bytes, the length of what is whole.
#[derive(Default, Debug, PartialEq, Clone)]
struct Found {
    texts: Vec<(u32, String)>,
    rows: Vec<Vec<u8>>,
    whole: usize,
}

fn number(data: &[u8], at: usize) -> Option<usize> {
    Some(u32::from_le_bytes(data.get(at..at + 4)?.try_into().unwrap()) as usize)
}

fn texts(payload: &[u8], count: usize) -> Vec<(u32, String)> {
    let mut at = 0;
    (0..count)
        .map(|_| {
            let (id, length) = (number(payload, at).unwrap(), number(payload, at + 4).unwrap());
            at += 8 + length;
            (u32::try_from(id).unwrap(), String::from_utf8(payload[at - length..at].to_vec()).unwrap())
        })
        .collect()
}

/// The smallest reader of docs/record.md.
fn read(data: &[u8]) -> Option<Found> {
    if data.get(..8)? != b"PILEUP1\n" {
        return None;
    }
    let mut found = Found { whole: 12 + number(data, 8)?, ..Found::default() };
    let header: serde_json::Value = serde_json::from_slice(data.get(12..found.whole)?).ok()?;
    assert_eq!(header["row_size"], ROW_SIZE);
    for sequence in 0.. {
        let at = found.whole;
        let block = (|| {
            (data.get(at..at + 4)? == b"PBLK").then_some(())?;
            let [kind, count, size, sum, order] = [4, 8, 12, 16, 20].map(|offset| number(data, at + offset));
            let payload = data.get(at + 24..at + 24 + size?)?;
            (crc32fast::hash(payload) as usize == sum? && order? == sequence).then_some((kind?, count?, payload))
        })();
        let Some((kind, count, payload)) = block else { break };
        match kind {
            1 => found.rows.extend(payload.chunks(ROW_SIZE).map(<[u8]>::to_vec)),
            _ => found.texts.extend(texts(payload, count)),
        }
        found.whole = at + 24 + payload.len();
    }
    Some(found)
}

fn path(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("pileup-record-{name}-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

fn row(local: &mut Local, key: &str) -> Row {
    let (id, place, key) = (local.next_id(), local.place(), local.string(key));
    Row { id, place, key, outcome: Outcome::Failed, intended: -1, ..Row::default() }
}

#[test]
fn what_threads_push_stands_in_the_file_with_unique_ids() {
    let path = path("threads");
    let recorder = Recorder::create(&path, 3).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let mut local = recorder.local();
            scope.spawn(move || {
                for number in 0..5000 {
                    let row = row(&mut local, &format!("key {thread} {}", number % 100));
                    local.push(row);
                }
            });
        }
    });
    recorder.flush().unwrap();
    assert_eq!(recorder.rows(), 20_000);
    recorder.close().unwrap();
    recorder.close().unwrap();
    let found = read(&std::fs::read(&path).unwrap()).unwrap();
    assert_eq!((found.rows.len(), found.texts.len()), (20_000, 400));
    let mut ids: Vec<u64> = found.rows.iter().map(|row| u64::from_le_bytes(row[..8].try_into().unwrap())).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 20_000);
    assert!(ids.iter().all(|id| id >> 48 == 3 && id & 0xffff_ffff_ffff > 0));
    std::fs::remove_file(path).unwrap();
}

#[test]
fn nothing_is_on_its_way_while_somebody_flushes() {
    let path = path("race");
    let recorder = Recorder::create(&path, 0).unwrap();
    let pushed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..300 {
                    let mut local = recorder.local();
                    for _ in 0..BATCH / 2 + 700 {
                        let row = row(&mut local, "k");
                        local.push(row);
                        pushed.fetch_add(1, Ordering::AcqRel);
                    }
                }
            });
        }
        for _ in 0..500 {
            let before = pushed.load(Ordering::Acquire);
            recorder.flush().unwrap();
            assert!(recorder.rows() >= before, "what was pushed before the flush is in the file after it");
        }
    });
    recorder.close().unwrap();
    assert_eq!((recorder.rows(), recorder.dropped()), (pushed.load(Ordering::Acquire), 0));
    assert!(lock(&recorder.shared.locals).is_empty(), "threads that have ended leave nothing behind");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn an_idle_thread_does_not_sit_on_its_rows() {
    let path = path("idle");
    let recorder = Recorder::create(&path, 0).unwrap();
    let mut local = recorder.local();
    let row = row(&mut local, "k");
    local.push(row);
    let begin = Instant::now();
    while recorder.rows() == 0 && begin.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(recorder.rows(), 1, "in the file although nobody flushed");
    assert_eq!(read(&std::fs::read(&path).unwrap()).unwrap().rows, [as_bytes(&[row])]);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn after_closing_rows_are_counted_as_dropped() {
    let path = path("closed");
    let recorder = Recorder::create(&path, 0).unwrap();
    let mut local = recorder.local();
    recorder.close().unwrap();
    let row = row(&mut local, "k");
    local.push(row);
    drop(local);
    recorder.local().push(row);
    assert_eq!((recorder.rows(), recorder.dropped()), (0, 2));
    let Err(error) = Recorder::create(&path, 0) else { panic!("a record must not be written over") };
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert!(error.to_string().contains("expected a new file"));
    std::fs::remove_file(path).unwrap();
}

/// A disk with so much room.
struct Small(Arc<Mutex<Vec<u8>>>, usize);

impl Write for Small {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut disk = lock(&self.0);
        let room = self.1.saturating_sub(disk.len()).min(data.len());
        disk.extend_from_slice(&data[..room]);
        if room == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(room) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Sink for Small {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        lock(&self.0).truncate(usize::try_from(length).unwrap());
        Ok(())
    }
}

#[test]
fn a_full_disk_is_told_and_keeps_the_earlier_part() {
    let disk = Arc::new(Mutex::new(Vec::new()));
    let recorder = Recorder::begin(Box::new(Small(Arc::clone(&disk), 2000)), 0, "small".into()).unwrap();
    let mut local = recorder.local();
    let mut pushed = 0;
    while recorder.flush().is_ok() {
        let row = row(&mut local, "k");
        local.push(row);
        pushed += 1;
        assert!(pushed < 100, "the disk never fills");
    }
    let error = recorder.flush().unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(error.to_string().contains("expected room on the disk"), "{error}");
    assert_eq!(recorder.error().unwrap(), error.to_string());
    assert!(recorder.close().is_err());
    let found = read(&lock(&disk)).unwrap();
    assert_eq!((found.rows.len() as u64, found.whole), (recorder.rows(), lock(&disk).len()));
    assert_eq!(recorder.rows() + recorder.dropped(), pushed);
    assert!(recorder.rows() > 0 && recorder.dropped() > 0);
}

fn small_file() -> Vec<u8> {
    let disk = Arc::new(Mutex::new(Vec::new()));
    let recorder = Recorder::begin(Box::new(Small(Arc::clone(&disk), usize::MAX)), 0, "memory".into()).unwrap();
    let mut local = recorder.local();
    for key in ["one", "two", "one", "three"] {
        let row = row(&mut local, key);
        local.push(row);
        recorder.flush().unwrap();
    }
    recorder.close().unwrap();
    lock(&disk).clone()
}

#[test]
fn a_torn_tail_loses_only_the_last_block() {
    let data = small_file();
    let whole = read(&data).unwrap();
    assert_eq!((whole.rows.len(), whole.texts.len(), whole.whole), (4, 3, data.len()));
    let header = 12 + number(&data, 8).unwrap();
    for length in header..data.len() {
        let found = read(&data[..length]).unwrap();
        assert!(found.whole <= length && found.rows.len() < 4);
        assert_eq!(found.rows, whole.rows[..found.rows.len()]);
        let known: Vec<u32> = found.texts.iter().map(|(id, _)| *id).collect();
        let named = |row: &Vec<u8>| u32::from_le_bytes(row[56..60].try_into().unwrap());
        assert!(found.rows.iter().all(|row| known.contains(&named(row))), "texts come before their rows");
    }
    assert!((0..header).all(|length| read(&data[..length]).is_none()));
}

#[test]
fn a_flipped_bit_in_a_payload_ends_the_reading_there() {
    let data = small_file();
    let whole = read(&data).unwrap();
    let header = 12 + number(&data, 8).unwrap();
    let first = header + 24;
    for at in [first, first + 9, data.len() - 1, data.len() - ROW_SIZE] {
        let mut broken = data.clone();
        broken[at] ^= 4;
        let found = read(&broken).unwrap();
        assert!(found.whole <= at && found.rows.len() < 4);
        assert_eq!(found.rows, whole.rows[..found.rows.len()]);
    }
}

#[test]
fn columns_fill_the_row() {
    let size = |kind: &str| usize::from(kind.as_bytes()[kind.len() - 1] - b'0');
    assert_eq!(COLUMNS.iter().map(|(_, kind)| size(kind)).sum::<usize>(), ROW_SIZE);
}
