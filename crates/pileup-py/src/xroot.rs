//! `XrootSession` for Python: one xroot session for whoever prepares, looks and clears up, not for what is measured.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pileup_engine::client::Kind;
use pileup_xroot::Trouble;
use pileup_xroot::frame::Attributes;
use pileup_xroot::plane::Plane;
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyOSError, PyPermissionError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Numbers of the protocol's errors that Python has classes for.
const NOT_FOUND: u32 = 3011;
const EXISTS: u32 = 3018;

/// One session, blocking; calls from several threads wait for each other.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct XrootSession(Mutex<Plane>);

fn raised(trouble: Trouble) -> PyErr {
    let text = trouble.failure.message;
    match (trouble.failure.kind, trouble.code) {
        (_, NOT_FOUND) => PyFileNotFoundError::new_err(text),
        (_, EXISTS) => PyFileExistsError::new_err(text),
        (Kind::Refused, _) => PyPermissionError::new_err(text),
        (Kind::Ambiguous, _) => PyTimeoutError::new_err(text),
        (Kind::Failed, _) => PyOSError::new_err(text),
    }
}

impl XrootSession {
    /// Do something without the GIL.
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Plane) -> Result<T, Trouble> + Send) -> PyResult<T> {
        py.detach(|| work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))).map_err(raised)
    }
}

const fn plain(of: Attributes) -> (u64, u32, i64) {
    (of.size, of.flags, of.changed)
}

#[pymethods]
impl XrootSession {
    #[new]
    #[pyo3(signature = (settings, timeout = 30.0))]
    fn new(py: Python<'_>, settings: &str, timeout: f64) -> PyResult<Self> {
        let time = Duration::try_from_secs_f64(timeout).ok().filter(|time| !time.is_zero()).ok_or_else(|| {
            PyValueError::new_err(format!("timeout {timeout} is no time to wait; expected seconds above 0"))
        })?;
        let plane = py.detach(|| Plane::new(settings, time));
        let plane = plane.map_err(|wrong| PyValueError::new_err(wrong.to_string()))?;
        Ok(Self(Mutex::new(plane)))
    }

    fn connect(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, Plane::connect)
    }

    fn stat(&self, py: Python<'_>, path: &str) -> PyResult<(u64, u32, i64)> {
        self.with(py, |plane| plane.stat(path)).map(plain)
    }

    fn list(&self, py: Python<'_>, path: &str) -> PyResult<Vec<(String, u64, u32, i64)>> {
        let found = self.with(py, |plane| plane.list(path))?;
        let entry = |(name, of): (Vec<u8>, Attributes)| {
            (String::from_utf8_lossy(&name).into_owned(), of.size, of.flags, of.changed)
        };
        Ok(found.into_iter().map(entry).collect())
    }

    #[pyo3(signature = (path, offset = 0, length = None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        offset: u64,
        length: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let data = self.with(py, |plane| plane.read(path, offset, length))?;
        Ok(PyBytes::new(py, &data))
    }

    #[pyo3(signature = (path, data, make_path = false, new = false))]
    fn write(&self, py: Python<'_>, path: &str, data: &[u8], make_path: bool, new: bool) -> PyResult<()> {
        self.with(py, |plane| plane.write(path, data, make_path, new))
    }

    fn delete(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.with(py, |plane| plane.delete(path))
    }

    #[pyo3(signature = (path, parents = false))]
    fn mkdir(&self, py: Python<'_>, path: &str, parents: bool) -> PyResult<()> {
        self.with(py, |plane| plane.mkdir(path, parents))
    }

    fn rename(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        self.with(py, |plane| plane.rename(old, new))
    }

    fn query<'py>(&self, py: Python<'py>, code: u16, argument: &str) -> PyResult<Bound<'py, PyBytes>> {
        let answer = self.with(py, |plane| plane.query(code, argument))?;
        Ok(PyBytes::new(py, &answer))
    }

    fn checksum(&self, py: Python<'_>, path: &str) -> PyResult<(String, String)> {
        self.with(py, |plane| plane.checksum(path))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).close());
    }
}
