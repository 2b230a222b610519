//! From what a block of Python raised to the outcome of its operation.

use pileup_record::{Cause, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyString;

/// Longest message kept, characters.
const LONGEST: usize = 500;

/// What judges where no test says so, looked up when the first exception comes.
static JUDGE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Attribute of pileup's own exceptions: number of the cause.
const CAUSE: &str = "cause";

/// How an operation ended whose block raised something.
pub struct Told {
    /// Outcome.
    pub outcome: Outcome,
    /// Message for people.
    pub error: String,
    /// Why, where more is known than the message.
    pub cause: Cause,
}

/// How an operation ended whose block raised this, as `judge` says: `pileup.plugin.verdict` where there is none.
///
/// # Errors
/// When it cannot be imported.
pub fn of_exception(judge: Option<&Py<PyAny>>, problem: &Bound<'_, PyAny>) -> PyResult<Told> {
    let py = problem.py();
    let judge = match judge {
        Some(judge) => judge.bind(py),
        None => JUDGE.import(py, "pileup.plugin.verdict", "verdict_on")?,
    };
    let told = judge.call1((problem,)).and_then(|told| told.extract::<(i64, Bound<'_, PyString>)>());
    let judged = told.and_then(|(outcome, error)| Ok((numbered(outcome)?, error.to_string_lossy().into_owned())));
    let (outcome, error) = judged.unwrap_or_else(|_| {
        // the block's own exception goes on, whatever goes wrong in judging it
        (Outcome::Failed, problem.get_type().name().map(|name| name.to_string()).unwrap_or_default())
    });
    Ok(Told { outcome, error: cut(&error).to_owned(), cause: cause_of(problem) })
}

/// The cause that an exception names; none for one that names none.
fn cause_of(problem: &Bound<'_, PyAny>) -> Cause {
    let named = problem.getattr(CAUSE).and_then(|number| number.extract::<u8>());
    named.ok().and_then(Cause::of).unwrap_or_default()
}

/// The outcome of this number.
///
/// # Errors
/// ValueError when there is none.
pub fn numbered(number: i64) -> PyResult<Outcome> {
    u8::try_from(number).ok().and_then(Outcome::of).ok_or_else(|| {
        PyValueError::new_err(format!(
            "outcome {number} is unknown; expected 0 (passed) to 5 (lost) (see model.record.Outcome)"
        ))
    })
}

/// The cause of this number.
///
/// # Errors
/// ValueError when there is none.
pub fn cause(number: i64) -> PyResult<Cause> {
    u8::try_from(number).ok().and_then(Cause::of).ok_or_else(|| {
        PyValueError::new_err(format!(
            "cause {number} is unknown; expected 0 (not known) to 5 (lost by the system) (see model.cause.Cause)"
        ))
    })
}

/// The message as far as it is kept.
#[must_use]
pub fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end])
}
