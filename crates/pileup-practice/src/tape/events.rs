//! The truth about the library: a line for everything that happens in it.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use crate::error::Error;
use crate::lines::Lines;
use crate::log::field;

use super::clock::Clock;

/// First line of the file.
pub(crate) const HEADER: &str = "time,library,event,request,path,read,drive,cartridge,value\n";

/// What an event is about; what it has nothing to do with stays empty.
#[derive(Default)]
pub(crate) struct Line<'a> {
    /// Id of a stage request.
    pub(crate) request: &'a str,
    /// Path of a file.
    pub(crate) path: String,
    /// Number of the read.
    pub(crate) read: Option<u32>,
    /// Number of the drive.
    pub(crate) drive: Option<u32>,
    /// Number of the cartridge.
    pub(crate) cartridge: Option<u32>,
    /// As docs/practice.md says of each event.
    pub(crate) value: Option<u64>,
}

/// The file.
pub(crate) struct Events {
    clock: Clock,
    lines: Lines,
}

impl Events {
    /// Begin an empty file, or keep nothing.
    pub(crate) fn open(path: Option<&Path>, clock: Clock) -> Result<Self, Error> {
        let made = path.map(|path| {
            let made = File::create(path).and_then(|mut file| file.write_all(HEADER.as_bytes()).map(|()| file));
            made.map_err(|error| {
                let path = path.display();
                Error::System(format!(
                    "the events {path} cannot be written: {error}; expected a file in a folder that is there (correct events)"
                ))
            })
        });
        Ok(Self { clock, lines: Lines::new(made.transpose()?) })
    }

    /// Whether anything is kept.
    pub(crate) fn kept(&self) -> bool {
        self.lines.kept()
    }

    /// Note what happened at this library time.
    pub(crate) fn note(&mut self, time: i64, event: &str, line: &Line<'_>) {
        let Some(out) = self.lines.next() else { return };
        // Writing to a Vec cannot fail.
        let _ = write!(out, "{},{time},{event},{},", self.clock.to_real(time), line.request);
        field(out, &line.path);
        for number in
            [line.read, line.drive, line.cartridge].into_iter().map(|each| each.map(u64::from)).chain([line.value])
        {
            out.push(b',');
            if let Some(number) = number {
                let _ = write!(out, "{number}");
            }
        }
        out.push(b'\n');
    }

    /// Hand what was noted to the system.
    pub(crate) fn flush(&mut self) {
        self.lines.flush();
    }

    /// Flush; fails when something could not be written since the beginning.
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        self.lines.close("the events of the library")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_csv_in_both_times() {
        let path = std::env::temp_dir().join(format!("pileup-practice-events-{}.csv", std::process::id()));
        let mut events = Events::open(Some(&path), Clock::new(1000, 10.0)).unwrap();
        let line = Line { request: "a-1", path: "/x,y".to_owned(), read: Some(3), value: Some(8), ..Line::default() };
        events.note(50, "wanted", &line);
        events.note(70, "drive down", &Line { drive: Some(2), ..Line::default() });
        events.close().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(text, format!("{HEADER}1005,50,wanted,a-1,\"/x,y\",3,,,8\n1007,70,drive down,,,,2,,\n"));
        let none = Events::open(Some(Path::new("/does/not/exist")), Clock::new(0, 1.0)).err().unwrap().to_string();
        assert!(none.contains("; expected ") && none.ends_with(')'), "{none}");
    }
}
