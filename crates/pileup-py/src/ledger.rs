//! `Ledger` for Python: asynchronous operations.

use std::sync::Arc;

use pileup_pacer::clock;
use pileup_record::{End, Recorder, Refusal};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::outcome;
use crate::tally::told;

/// The exception that says why an operation cannot begin.
pub fn refused(refusal: Refusal, name: &str, key: &str) -> PyErr {
    match refusal {
        Refusal::Open => PyValueError::new_err(format!(
            "operation {name:?} on {key:?} is open already; expected a key that no open operation of that name has (end it first, or make keys unique)"
        )),
        Refusal::Closed => PyRuntimeError::new_err(format!(
            "operation {name:?} begins after its place has ended; expected one before the end of the run (the load was stopped)"
        )),
    }
}

/// Operations that are open at one place, over all its cases (plugin.Ledger).
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Ledger {
    recorder: Arc<Recorder>,
    inner: Arc<pileup_record::Ledger>,
}

impl Ledger {
    /// That of a recorder.
    pub fn of(recorder: &Arc<Recorder>) -> Self {
        Self { recorder: Arc::clone(recorder), inner: recorder.ledger() }
    }
}

/// Key, outcome, end, message, as Python gives them.
type Ended = (String, i64, Option<i64>, String);

#[pymethods]
impl Ledger {
    #[pyo3(signature = (name, key, outcome = 0, end = None, error = "", *, bytes = 0, cause = 0))]
    #[allow(clippy::too_many_arguments)] // as Python names them
    fn end(
        &self,
        name: &str,
        key: &str,
        outcome: i64,
        end: Option<i64>,
        error: &str,
        bytes: u64,
        cause: i64,
    ) -> PyResult<bool> {
        let (outcome, cause) = (outcome::numbered(outcome)?, outcome::cause(cause)?);
        let (time, error) = (end.unwrap_or_else(clock::now), outcome::cut(error));
        Ok(self.inner.end(name, key, &End { outcome, time, error, bytes, cause }))
    }

    #[pyo3(signature = (name, ends, *, cause = 0))]
    fn end_many(&self, py: Python<'_>, name: &str, ends: Vec<Ended>, cause: i64) -> PyResult<usize> {
        let (now, cause) = (clock::now(), outcome::cause(cause)?);
        let known = ends.iter().map(|(_, outcome, ..)| outcome::numbered(*outcome)).collect::<PyResult<Vec<_>>>()?;
        let ends = ends.iter().zip(known).map(|((key, _, end, error), outcome)| {
            let (time, error) = (end.unwrap_or(now), outcome::cut(error));
            (key.as_str(), End { outcome, time, error, bytes: 0, cause })
        });
        Ok(py.detach(|| self.inner.end_many(name, ends)))
    }

    #[pyo3(signature = (name, key, to, at = None))]
    fn turn(&self, name: &str, key: &str, to: &str, at: Option<i64>) -> bool {
        self.inner.turn(name, key, to, at.unwrap_or_else(clock::now))
    }

    #[pyo3(signature = (name = ""))]
    fn open(&self, name: &str) -> usize {
        self.inner.open(name)
    }

    #[pyo3(signature = (name, most = None))]
    fn keys(&self, name: &str, most: Option<usize>) -> Vec<String> {
        let keys = self.inner.keys(name, most.unwrap_or(usize::MAX));
        keys.iter().map(ToString::to_string).collect()
    }

    fn since(&self, name: &str, key: &str) -> Option<i64> {
        self.inner.since(name, key)
    }

    fn frames<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let frames = py.detach(|| self.inner.frames());
        let plain = frames.iter().map(|frame| {
            let plain = PyDict::new(py);
            plain.set_item("case", frame.case)?;
            plain.set_item("in_flight", frame.in_flight)?;
            let rows = frame.rows.iter().map(|row| told(py, &self.recorder, row)).collect::<PyResult<Vec<_>>>()?;
            plain.set_item("rows", PyList::new(py, rows)?)?;
            Ok(plain)
        });
        PyList::new(py, plain.collect::<PyResult<Vec<_>>>()?)
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.inner.close(clock::now()));
    }
}
