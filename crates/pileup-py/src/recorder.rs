//! `Recorder` for Python.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::ledger::Ledger;

/// Writes operations of one place into a table file (docs/record.md); one thread of its own, blocks each second.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Recorder(pub Arc<pileup_record::Recorder>);

#[pymethods]
impl Recorder {
    #[new]
    fn new(path: PathBuf, place: u16) -> PyResult<Self> {
        Ok(Self(pileup_record::Recorder::create(&path, place)?))
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.0.rows()
    }

    fn ledger(&self) -> Ledger {
        Ledger::of(&self.0)
    }

    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.0.flush())?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        Ok(py.detach(|| self.0.close())?)
    }
}
