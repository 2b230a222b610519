//! Counts and histograms of one operation, for Python.

use pileup_record::{Recorder, SEPARATOR, TallyRow};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

/// What a frame reports on one operation.
pub fn told<'py>(py: Python<'py>, recorder: &Recorder, row: &TallyRow) -> PyResult<Bound<'py, PyDict>> {
    let plain = PyDict::new(py);
    let name = recorder.name_of(row.operation);
    let name = name.as_deref().unwrap_or_default();
    let (name, labels) = name.split_once(SEPARATOR).unwrap_or((name, ""));
    plain.set_item("operation", name)?;
    plain.set_item("labels", labels)?;
    plain.set_item("iteration", row.iteration)?;
    plain.set_item("phase", row.phase as u8)?;
    for (word, count) in ["passed", "failed", "refused", "ambiguous", "unfinished", "lost"].iter().zip(row.outcomes) {
        plain.set_item(word, count)?;
    }
    plain.set_item("bytes", row.bytes)?;
    plain.set_item("calls", row.calls)?;
    plain.set_item("timed_out", row.timed_out)?;
    plain.set_item("repeated", row.repeated)?;
    plain.set_item("done", row.done)?;
    plain.set_item("moved", row.moved)?;
    plain.set_item("response", PyBytes::new(py, &row.response))?;
    plain.set_item("service", PyBytes::new(py, &row.service))?;
    Ok(plain)
}
