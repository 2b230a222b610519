//! The table file: a header, then blocks with a checksum each, only ever appended to.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};

use crate::row::{COLUMNS, ROW_SIZE, Row, as_bytes};

const MAGIC: &[u8; 8] = b"PILEUP1\n";
const BLOCK: &[u8; 4] = b"PBLK";
const ROWS: u32 = 1;
const STRINGS: u32 = 2;

/// Where a table goes: a file, or something that fails in a test.
pub trait Sink: Write + Send {
    /// Cut off everything from this position on.
    fn cut(&mut self, length: u64) -> io::Result<()>;
}

impl Sink for File {
    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }
}

/// Appends blocks; a block that cannot be written completely is removed again.
pub struct TableWriter {
    sink: Box<dyn Sink>,
    length: u64,
    sequence: u32,
}

impl TableWriter {
    /// Begin a table of operations.
    pub fn begin(mut sink: Box<dyn Sink>, place: u16) -> io::Result<Self> {
        let header = serde_json::json!({
            "format": 1, "table": "operations", "place": place, "row_size": ROW_SIZE, "columns": COLUMNS,
        })
        .to_string();
        let mut start = MAGIC.to_vec();
        start.extend_from_slice(&u32::try_from(header.len()).unwrap_or_default().to_le_bytes());
        start.extend_from_slice(header.as_bytes());
        sink.write_all(&start)?;
        Ok(Self { sink, length: start.len() as u64, sequence: 0 })
    }

    /// Append rows.
    pub fn rows(&mut self, rows: &[Row]) -> io::Result<()> {
        self.block(ROWS, u32::try_from(rows.len()).unwrap_or_default(), as_bytes(rows))
    }

    /// Append texts, laid out as in the file.
    pub fn strings(&mut self, count: u32, payload: &[u8]) -> io::Result<()> {
        self.block(STRINGS, count, payload)
    }

    fn block(&mut self, kind: u32, count: u32, payload: &[u8]) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        let size = u32::try_from(payload.len()).map_err(|_| io::Error::other("a block is larger than 4 GiB"))?;
        let mut head = BLOCK.to_vec();
        for number in [kind, count, size, crc32fast::hash(payload), self.sequence] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        let written = self.sink.write_all(&head).and_then(|()| self.sink.write_all(payload));
        if let Err(error) = written {
            // A torn block in the middle would hide all that comes after it.
            let _ = self.sink.cut(self.length);
            return Err(error);
        }
        self.length += (head.len() + payload.len()) as u64;
        self.sequence = self.sequence.wrapping_add(1);
        Ok(())
    }
}
