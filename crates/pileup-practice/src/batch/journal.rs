//! The truth about the jobs: a line for everything that happened to one. It is also what a restarted server reads its state from.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use crate::error::Error;
use crate::lines::Lines;
use crate::log::field;

/// First line of the file.
pub(crate) const HEADER: &str = "time,event,id,name,user,value\n";

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A server has started: process id.
    Start(u64),
    /// Accepted: id, name, user, duration.
    Submitted(u64, String, String, u64),
    /// The answer with its id left the server.
    Acknowledged(u64),
    /// Not accepted: name, user, why.
    Refused(String, String, String),
    /// It began to run.
    Started(u64),
    /// It ended in this state.
    Ended(u64, String),
    /// Taken out of the queue after its end.
    Purged(u64),
    /// Everything up to here outlives a crash.
    Checkpoint,
    /// The server broke off; away for so long, ns.
    Crash(u64),
    /// Forgotten in a crash.
    Lost(u64),
    /// The server ended in order.
    Stop,
}

impl Event {
    fn write(&self, time: i64, out: &mut Vec<u8>) {
        let mut line = |event: &str, id: &str, name: &str, user: &str, value: &str| {
            // Writing to a Vec cannot fail.
            let _ = write!(out, "{time},{event},{id},");
            field(out, name);
            out.push(b',');
            field(out, user);
            out.push(b',');
            field(out, value);
            out.push(b'\n');
        };
        match self {
            Self::Start(process) => line("start", "", "", "", &process.to_string()),
            Self::Submitted(id, name, user, duration) => {
                line("submitted", &id.to_string(), name, user, &duration.to_string());
            }
            Self::Acknowledged(id) => line("acknowledged", &id.to_string(), "", "", ""),
            Self::Refused(name, user, why) => line("refused", "", name, user, why),
            Self::Started(id) => line("started", &id.to_string(), "", "", ""),
            Self::Ended(id, state) => line("ended", &id.to_string(), "", "", state),
            Self::Purged(id) => line("purged", &id.to_string(), "", "", ""),
            Self::Checkpoint => line("checkpoint", "", "", "", ""),
            Self::Crash(away) => line("crash", "", "", "", &away.to_string()),
            Self::Lost(id) => line("lost", &id.to_string(), "", "", ""),
            Self::Stop => line("stop", "", "", "", ""),
        }
    }

    /// Read a line; none: it is not one, or torn.
    fn read(line: &str) -> Option<(i64, Self)> {
        let [time, event, id, name, user, value] = fields(line)?.try_into().ok()?;
        let number = |text: String| text.parse::<u64>().ok();
        let event = match event.as_str() {
            "start" => Self::Start(number(value)?),
            "submitted" => Self::Submitted(number(id)?, name, user, number(value)?),
            "acknowledged" => Self::Acknowledged(number(id)?),
            "refused" => Self::Refused(name, user, value),
            "started" => Self::Started(number(id)?),
            "ended" => Self::Ended(number(id)?, value),
            "purged" => Self::Purged(number(id)?),
            "checkpoint" => Self::Checkpoint,
            "crash" => Self::Crash(number(value)?),
            "lost" => Self::Lost(number(id)?),
            "stop" => Self::Stop,
            _ => return None,
        };
        Some((time.parse().ok()?, event))
    }
}

/// The fields of a line of CSV; none when a quote stays open.
fn fields(line: &str) -> Option<Vec<String>> {
    let (mut found, mut field, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => quoted = !quoted,
            ',' if !quoted => found.push(std::mem::take(&mut field)),
            _ => field.push(letter),
        }
    }
    found.push(field);
    if quoted { None } else { Some(found) }
}

/// The file: a server that is killed has answered nothing that is not in it.
#[derive(Default)]
pub(crate) struct Journal(Lines);

impl Journal {
    /// Open the file behind what is there already, or keep nothing. Hands every event that is there to `replay`.
    pub(crate) fn open(path: Option<&Path>, replay: impl FnMut(i64, &Event)) -> Result<Self, Error> {
        let Some(path) = path else { return Ok(Self::default()) };
        let failed = |error: io::Error| {
            let path = path.display();
            Error::System(format!(
                "the journal {path} cannot be used: {error}; expected one of a practice batch system, or a new file (correct jobs)"
            ))
        };
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        if file.metadata().map_err(failed)?.len() == 0 {
            file.write_all(HEADER.as_bytes()).map_err(failed)?;
        } else {
            read(&mut file, replay).map_err(failed)?;
        }
        Ok(Self(Lines::new(Some(file))))
    }

    /// Note what happened.
    pub(crate) fn note(&mut self, time: i64, event: &Event) {
        if let Some(out) = self.0.next() {
            event.write(time, out);
        }
    }

    /// Hand what was noted to the system.
    pub(crate) fn flush(&mut self) {
        self.0.flush();
    }

    /// Flush; fails when something could not be written since the beginning.
    pub(crate) fn close(&mut self) -> Result<(), Error> {
        self.0.close("the events of the jobs")
    }
}

/// Read what is there; a torn last line is cut off.
fn read(file: &mut File, mut replay: impl FnMut(i64, &Event)) -> io::Result<()> {
    let mut reader = BufReader::new(&*file);
    let mut line = String::new();
    let mut whole = 0;
    loop {
        line.clear();
        let size = reader.read_line(&mut line)?;
        let torn = size > 0 && !line.ends_with('\n');
        if size == 0 || torn {
            break;
        }
        if whole == 0 && line != HEADER {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it begins with something else"));
        }
        if whole > 0 {
            let found = Event::read(line.trim_end_matches('\n'));
            let (time, event) = found
                .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, format!("it holds the line {line:?}")))?;
            replay(time, &event);
        }
        whole += size as u64;
    }
    file.set_len(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let events = [
            Event::Start(17),
            Event::Submitted(7, "a \"quoted\", name".to_owned(), "me".to_owned(), 5),
            Event::Acknowledged(7),
            Event::Refused("b".to_owned(), "me".to_owned(), "limit of 5 jobs, all in use".to_owned()),
            Event::Started(7),
            Event::Ended(7, "failed".to_owned()),
            Event::Purged(7),
            Event::Checkpoint,
            Event::Crash(9),
            Event::Lost(8),
            Event::Stop,
        ];
        for event in events {
            let mut out = Vec::new();
            event.write(3, &mut out);
            let line = String::from_utf8(out).unwrap();
            assert_eq!(Event::read(line.trim_end()), Some((3, event)), "{line}");
        }
        for line in ["", "3,began,1,,,", "x,stop,,,,", "3,stop,,,", "3,lost,x,,,", "3,stop,\",,,"] {
            assert_eq!(Event::read(line), None, "{line}");
        }
    }

    #[test]
    fn a_torn_tail_is_cut_off_and_a_strange_file_is_left_alone() {
        let path = std::env::temp_dir().join(format!("pileup-practice-journal-{}.csv", std::process::id()));
        let mut journal = Journal::open(Some(&path), |_, _| {}).unwrap();
        journal.note(5, &Event::Lost(3));
        journal.close().unwrap();
        OpenOptions::new().append(true).open(&path).unwrap().write_all(b"6,lost,4,,").unwrap();
        let mut seen = Vec::new();
        let mut journal = Journal::open(Some(&path), |time, event| seen.push((time, event.clone()))).unwrap();
        journal.note(7, &Event::Stop);
        journal.close().unwrap();
        assert_eq!(seen, [(5, Event::Lost(3))]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEADER}5,lost,3,,,\n7,stop,,,,\n"));
        for strange in ["other\n", "time,event,id,name,user,value\nnonsense\n"] {
            std::fs::write(&path, strange).unwrap();
            let error = Journal::open(Some(&path), |_, _| {}).err().map(|error| error.to_string());
            assert!(error.is_some_and(|text| text.contains("cannot be used: it ")), "{strange}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), strange);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
