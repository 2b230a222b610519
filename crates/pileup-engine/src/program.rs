//! A test as data: the steps of one iteration, as `model/program.py` writes them. Neutral of any protocol.

use std::fmt::Write;

use pileup_schedule::bits;
use serde::Deserialize;

/// Streams of the draws of places, one for each client.
const PLACES: u64 = 0x706c_6163_6573_0000;

/// What a step does to its object.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Nothing, or waiting for `cost_ns`.
    Noop,
    /// A request with a method of its own.
    Request,
    /// Write a whole object.
    Write,
    /// Read an object or a part of it.
    Read,
    /// Ask for the attributes of an object.
    Stat,
    /// List a folder.
    List,
    /// Remove an object.
    Delete,
    /// Make a folder.
    Mkdir,
}

/// In which order the objects of a step are taken.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// In turn over all iterations.
    #[default]
    Sequential,
    /// Drawn anew each time, seeded.
    Random,
}

/// Which object a step acts on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// Begin of the names.
    pub prefix: String,
    /// Number of objects.
    pub count: u64,
    /// Digits of the number in the name.
    pub width: usize,
    /// The names themselves; empty: made from prefix and number.
    pub names: Vec<String>,
    /// How they are taken.
    pub order: Order,
}

impl Keys {
    /// Number of objects, at least 1.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.names.is_empty() { self.count.max(1) } else { self.names.len() as u64 }
    }

    /// Write the name of object `number` into `name`.
    pub fn write_name(&self, number: u64, name: &mut String) {
        name.clear();
        if let Some(known) = usize::try_from(number).ok().and_then(|number| self.names.get(number)) {
            name.push_str(known);
            return;
        }
        // writing into a String cannot fail
        let _ = write!(name, "{}{number:0width$}", self.prefix, width = self.width);
    }
}

/// Known content: a function of (seed, object number, offset). See docs/engine.md.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Seed of the pool.
    pub seed: u64,
    /// Size of the whole object in bytes.
    pub size: u64,
}

/// What an answer must be.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Statuses that pass; empty: any 2xx.
    pub statuses: Vec<u16>,
    /// Text that must occur in the first MiB of the answer.
    pub contains: Option<String>,
    /// Number of entries of a listing.
    pub entries: Option<u64>,
}

/// Which checksum goes with the content.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Checksum {
    /// None.
    #[default]
    None,
    /// Adler-32, the grid's usual one (RFC 1950).
    Adler32,
}

/// One operation of an iteration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Name of the operation in the record.
    pub operation: String,
    /// What is done.
    pub verb: Verb,
    /// On which object.
    pub keys: Keys,
    /// How often in an iteration, with successive objects.
    pub repeat: u64,
    /// What is written, or what a read must give.
    pub content: Option<Content>,
    /// Where a read begins, bytes.
    pub offset: u64,
    /// How much is read, bytes; none: to the end.
    pub length: Option<u64>,
    /// Read `length` bytes at a place drawn anew each time, a multiple of `length` behind `offset`, within so many bytes of the object; none: at
    /// `offset`.
    #[serde(default)]
    pub span: Option<u64>,
    /// Bytes moved at a time: a call on a file system, a range request over HTTP; none: as the protocol does by itself.
    pub buffer: Option<u64>,
    /// Whether what is read is compared with the known content.
    pub verify: bool,
    /// Checksum sent or asked for.
    pub checksum: Checksum,
    /// Method of a request.
    pub method: String,
    /// Headers of a request.
    pub headers: Vec<(String, String)>,
    /// What passes.
    pub expect: Expect,
    /// Whether a missing object passes a delete, an existing one a mkdir.
    pub missing_ok: bool,
    /// Time that a noop takes, nanoseconds.
    pub cost_ns: u64,
}

impl Step {
    /// Where the `turn`-th read of a client begins.
    #[must_use]
    pub fn place(&self, client: u32, turn: u64) -> u64 {
        let (Some(span), Some(length)) = (self.span, self.length.filter(|length| *length > 0)) else {
            return self.offset;
        };
        let places = (span.saturating_sub(self.offset) / length).max(1);
        let seed = self.content.map_or(0, |content| content.seed);
        self.offset + bits(seed, PLACES ^ u64::from(client), turn) % places * length
    }
}

/// The steps of one iteration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// In this order.
    pub steps: Vec<Step>,
}

impl Program {
    /// Check what its types do not say.
    ///
    /// # Errors
    /// In three parts.
    pub fn check(&self) -> Result<(), String> {
        if self.steps.is_empty() {
            return Err("the program has no steps; expected one or more (correct the test)".to_owned());
        }
        match self.steps.iter().find(|step| step.repeat == 0 || step.operation.is_empty()) {
            Some(step) => Err(format!(
                "step {:?} is done {} times; expected a name and one time or more (correct the test)",
                step.operation, step.repeat
            )),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_names() {
        let mut name = String::new();
        let keys = Keys { prefix: "d/f".into(), count: 10, width: 6, ..Keys::default() };
        keys.write_name(7, &mut name);
        assert_eq!((name.as_str(), keys.count()), ("d/f000007", 10));
        let keys = Keys { names: vec!["a".into(), "b".into()], ..Keys::default() };
        keys.write_name(1, &mut name);
        assert_eq!((name.as_str(), keys.count()), ("b", 2));
    }
}
