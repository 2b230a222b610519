//! `PracticeStorage`, `PracticeS3`, `PracticeBatch`, `PracticeIssuer` and `PracticeTape` for Python.

use pileup_practice::{Error, Server};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

/// The practice storage server, running in threads of its own from the moment it is made.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct PracticeStorage(Server);

fn raised(error: Error) -> PyErr {
    match error {
        Error::Settings(text) => PyValueError::new_err(text),
        Error::System(text) => PyOSError::new_err(text),
    }
}

#[pymethods]
impl PracticeStorage {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        py.detach(|| Server::start(settings)).map(Self).map_err(raised)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(raised)
    }
}

/// The practice S3, running in threads of its own from the moment it is made.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct PracticeS3(Server);

#[pymethods]
impl PracticeS3 {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        py.detach(|| Server::s3(settings)).map(Self).map_err(raised)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(raised)
    }
}

/// The practice batch system, running in threads of its own from the moment it is made.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct PracticeBatch(Server);

#[pymethods]
impl PracticeBatch {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        py.detach(|| Server::batch(settings)).map(Self).map_err(raised)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(raised)
    }
}

/// The practice token issuer, running in threads of its own from the moment it is made.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct PracticeIssuer(Server);

#[pymethods]
impl PracticeIssuer {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        py.detach(|| Server::issuer(settings)).map(Self).map_err(raised)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(raised)
    }
}

/// The practice tape library, running in threads of its own from the moment it is made.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct PracticeTape(Server);

#[pymethods]
impl PracticeTape {
    #[new]
    fn new(py: Python<'_>, settings: &str) -> PyResult<Self> {
        py.detach(|| Server::tape(settings)).map(Self).map_err(raised)
    }

    #[getter]
    fn port(&self) -> u16 {
        self.0.port()
    }

    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.stop()).map_err(raised)
    }
}
