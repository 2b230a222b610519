//! The truth in a file of lines: what was noted is handed to the system before the client has its answer.

use std::fs::File;
use std::io::{self, Write};

use crate::error::Error;

/// A file that lines are added to, or nothing at all.
#[derive(Default)]
pub(crate) struct Lines {
    gathered: Vec<u8>,
    file: Option<File>,
    broken: Option<io::Error>,
}

impl Lines {
    /// Behind what is in the file; none: nothing is kept.
    pub(crate) fn new(file: Option<File>) -> Self {
        Self { gathered: Vec::new(), file, broken: None }
    }

    /// Where the next line is written to; none: nothing is kept.
    pub(crate) fn next(&mut self) -> Option<&mut Vec<u8>> {
        self.file.as_ref().map(|_| &mut self.gathered)
    }

    /// Whether anything is kept.
    pub(crate) fn kept(&self) -> bool {
        self.file.is_some()
    }

    /// Hand what was noted to the system.
    pub(crate) fn flush(&mut self) {
        if let (Some(file), false) = (&mut self.file, self.gathered.is_empty()) {
            if let Err(error) = file.write_all(&self.gathered) {
                self.broken.get_or_insert(error); // reported at the end: what is served goes on
            }
            self.gathered.clear();
            self.gathered.shrink_to(1 << 20);
        }
    }

    /// Flush; fails when something could not be written since the beginning. `what` are these lines.
    pub(crate) fn close(&mut self, what: &str) -> Result<(), Error> {
        self.flush();
        self.broken.take().map_or(Ok(()), |error| {
            Err(Error::System(format!("{what} are not complete: {error}; expected room for them (free some)")))
        })
    }
}
