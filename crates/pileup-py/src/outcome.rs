//! From what a block of Python raised to the outcome of its operation.

use pileup_record::{Cause, Outcome};
use pyo3::exceptions::{PyAssertionError, PyTimeoutError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

/// Longest message kept, characters.
const LONGEST: usize = 500;

/// The exceptions that mean something, imported when the first one comes.
struct Classes {
    refused: Py<PyType>,
    ambiguous: Py<PyType>,
    verdict: Py<PyType>,
    cancelled: Py<PyType>,
}

static CLASSES: PyOnceLock<Classes> = PyOnceLock::new();

fn classes(py: Python<'_>) -> PyResult<&Classes> {
    CLASSES.get_or_try_init(py, || {
        let class = |module: &str, name: &str| -> PyResult<Py<PyType>> {
            Ok(py.import(module)?.getattr(name)?.cast_into::<PyType>()?.unbind())
        };
        Ok(Classes {
            refused: class("pileup.model.errors", "Refused")?,
            ambiguous: class("pileup.model.errors", "Ambiguous")?,
            verdict: class("pileup.model.errors", "VerdictException")?,
            cancelled: class("asyncio", "CancelledError")?,
        })
    })
}

/// Outcome and message of an operation whose block raised this.
///
/// # Errors
/// When the exception classes cannot be imported.
pub fn of_exception(problem: &Bound<'_, PyAny>) -> PyResult<(Outcome, String)> {
    let py = problem.py();
    let known = classes(py)?;
    let is = |class: &Py<PyType>| problem.is_instance(class.bind(py));
    let no_answer = problem.is_instance_of::<PyTimeoutError>() || is(&known.cancelled)?;
    let outcome = if is(&known.refused)? {
        Outcome::Refused
    } else if no_answer || is(&known.ambiguous)? {
        Outcome::Ambiguous
    } else {
        Outcome::Failed
    };
    // Somebody's exception may fail to print itself: the record goes on without its words.
    let text = problem.str().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    let verdict = is(&known.verdict)? || problem.is_instance_of::<PyAssertionError>();
    Ok((outcome, cut(&message(&text, verdict, no_answer, problem)).to_owned()))
}

fn message(text: &str, verdict: bool, no_answer: bool, problem: &Bound<'_, PyAny>) -> String {
    match (text.is_empty(), verdict || no_answer) {
        (true, _) if no_answer => "no answer in time".to_owned(),
        (false, true) => text.to_owned(),
        (empty, _) => {
            let name = problem.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            if empty { name } else { format!("{name}: {text}") }
        }
    }
}

/// The outcome of this number.
///
/// # Errors
/// ValueError when there is none.
pub fn numbered(number: i64) -> PyResult<Outcome> {
    u8::try_from(number).ok().and_then(Outcome::of).ok_or_else(|| {
        PyValueError::new_err(format!(
            "outcome {number} is none; expected 0 (passed) to 5 (lost) (see model.record.Outcome)"
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
            "cause {number} is none; expected 0 (not known) to 3 (cancelled) (see model.cause.Cause)"
        ))
    })
}

/// The message as far as it is kept.
#[must_use]
pub fn cut(text: &str) -> &str {
    text.char_indices().nth(LONGEST).map_or(text, |(end, _)| &text[..end])
}
