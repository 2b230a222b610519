//! `Relay` for Python.

use pileup_relay::{Error, Relay as Inner};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Serialize;

/// A TCP relay, running in a thread of its own from the moment it is made.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Relay(Inner);

fn raised(error: Error) -> PyErr {
    match error {
        Error::Settings(text) => PyValueError::new_err(text),
        Error::System(text) => PyOSError::new_err(text),
    }
}

fn json(of: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(of).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

#[pymethods]
impl Relay {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        py.detach(|| Inner::start(settings)).map(Self).map_err(raised)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn change(&self, path: &str) -> PyResult<()> {
        self.0.change(path).map_err(raised)
    }

    fn counts(&self) -> PyResult<String> {
        json(&self.0.counts())
    }

    #[pyo3(signature = (open = false))]
    fn trace(&self, py: Python<'_>, open: bool) -> PyResult<String> {
        py.detach(|| json(&self.0.trace(open)))
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.0.stop());
    }
}
