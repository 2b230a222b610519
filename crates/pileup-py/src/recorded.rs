//! Operations of an iteration that others timed, and the labels of operations.

use pileup_pacer::clock;
use pileup_record::{Outcome, Row};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyMapping;

/// Times before this one, ns since the epoch (2001), are taken for seconds or milliseconds.
const EARLIEST: i64 = 1_000_000_000_000_000_000;
/// Characters that are kept of a label's value.
const LONGEST: usize = 100;

/// What somebody else has timed.
pub struct Timed {
    pub start: i64,
    pub end: Option<i64>,
    pub outcome: Outcome,
    pub bytes: u64,
    pub calls: u32,
    pub first_byte: i64,
}

impl Timed {
    /// Its row, without id, texts and what it has from its iteration.
    ///
    /// # Errors
    /// ValueError for times that cannot be ns since the epoch.
    pub fn row(&self) -> PyResult<Row> {
        let end = self.end.unwrap_or_else(clock::now);
        for (name, time) in [("start", self.start), ("end", end)] {
            if time < EARLIEST {
                return Err(PyValueError::new_err(format!(
                    "{name} is {time}; expected nanoseconds since the epoch (like time.time_ns(); seconds times 1_000_000_000)"
                )));
            }
        }
        Ok(Row {
            intended: self.start,
            start: self.start,
            first_byte: self.first_byte,
            end: end.max(self.start),
            bytes: self.bytes,
            calls: self.calls,
            outcome: self.outcome,
            ..Row::default()
        })
    }
}

/// Labels as they are in the record: `name=value,...`, sorted.
///
/// # Errors
/// TypeError for what is not a mapping, ValueError for a name that no check could select.
pub fn labels_text(labels: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    let Some(labels) = labels else { return Ok(String::new()) };
    let wrong = || {
        let found = labels.repr().map(|text| text.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!(
            "labels are {found:.100}; expected a mapping of names to values ({{\"server\": \"a\"}})"
        ))
    };
    let mapping = labels.cast::<PyMapping>().map_err(|_| wrong())?;
    let mut pairs = Vec::new();
    for item in mapping.items()? {
        let (label, value): (String, Bound<'_, PyAny>) = item.extract().map_err(|_| wrong())?;
        if !is_name(&label) {
            return Err(PyValueError::new_err(format!(
                "label {label:?} is not a name; expected letters, digits, _ and -, a letter first (checks select by it: read[server=a])"
            )));
        }
        let value = plain(&value.str()?.to_string_lossy());
        if !value.is_empty() {
            pairs.push(format!("{label}={value}"));
        }
    }
    pairs.sort();
    Ok(pairs.join(","))
}

fn is_name(text: &str) -> bool {
    let rest = |each: char| each.is_ascii_alphanumeric() || each == '_' || each == '-';
    text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') && text.chars().all(rest)
}

/// A value as checks can name it: without what separates labels.
fn plain(text: &str) -> String {
    let clean = |each: char| if matches!(each, ',' | '=' | ']') || each.is_control() { '_' } else { each };
    text.trim().chars().take(LONGEST).map(clean).collect()
}
