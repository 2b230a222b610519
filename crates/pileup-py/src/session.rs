//! `Session` for Python: one session of a protocol for whoever prepares, looks and clears up, not for what is measured.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pileup_engine::client::Kind;
use pileup_engine::control::{Attributes, Control, Found, Problem};
use pyo3::exceptions::{
    PyFileExistsError, PyFileNotFoundError, PyOSError, PyPermissionError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::press::value_error;
use crate::protocols;

/// One session, blocking; calls from several threads wait for each other.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Session(Mutex<Box<dyn Control>>);

fn raised(py: Python<'_>, problem: Problem) -> PyErr {
    let (text, cause) = (problem.failure.message.clone(), problem.failure.cause);
    let error = match (problem.failure.kind, problem.found) {
        (_, Found::Nothing) => PyFileNotFoundError::new_err(text),
        (_, Found::Something) => PyFileExistsError::new_err(text),
        (Kind::Refused, _) => PyPermissionError::new_err(text),
        (Kind::Ambiguous, _) => PyTimeoutError::new_err(text),
        (Kind::Failed, _) => PyOSError::new_err(text),
    };
    // of pileup's own exceptions it is an attribute of this name, too
    let _ = error.value(py).setattr("cause", cause as u8);
    error
}

impl Session {
    /// Do something without the GIL.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn Control) -> Result<T, Problem> + Send,
    ) -> PyResult<T> {
        py.detach(|| work(self.0.lock().unwrap_or_else(PoisonError::into_inner).as_mut()))
            .map_err(|problem| raised(py, problem))
    }
}

const fn plain(of: Attributes) -> (u64, u32, i64) {
    (of.size, of.flags, of.changed)
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (protocol, settings, timeout = 30.0))]
    fn new(py: Python<'_>, protocol: &str, settings: &str, timeout: f64) -> PyResult<Self> {
        let time = Duration::try_from_secs_f64(timeout).ok().filter(|time| !time.is_zero()).ok_or_else(|| {
            PyValueError::new_err(format!("timeout {timeout} is not a time to wait; expected seconds above 0"))
        })?;
        let session = py.detach(|| protocols::session(protocol, settings, time));
        Ok(Self(Mutex::new(session.map_err(value_error)?)))
    }

    fn connect(&self, py: Python<'_>) -> PyResult<()> {
        self.with(py, |session| session.connect())
    }

    fn stat(&self, py: Python<'_>, path: &str) -> PyResult<(u64, u32, i64)> {
        self.with(py, |session| session.stat(path)).map(plain)
    }

    fn list(&self, py: Python<'_>, path: &str) -> PyResult<Vec<(String, u64, u32, i64)>> {
        let found = self.with(py, |session| session.list(path))?;
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
        let data = self.with(py, |session| session.read(path, offset, length))?;
        Ok(PyBytes::new(py, &data))
    }

    #[pyo3(signature = (path, data, make_path = false, new = false))]
    fn write(&self, py: Python<'_>, path: &str, data: &[u8], make_path: bool, new: bool) -> PyResult<()> {
        self.with(py, |session| session.write(path, data, make_path, new))
    }

    fn delete(&self, py: Python<'_>, path: &str) -> PyResult<()> {
        self.with(py, |session| session.delete(path))
    }

    #[pyo3(signature = (path, parents = false))]
    fn mkdir(&self, py: Python<'_>, path: &str, parents: bool) -> PyResult<()> {
        self.with(py, |session| session.mkdir(path, parents))
    }

    fn rename(&self, py: Python<'_>, old: &str, new: &str) -> PyResult<()> {
        self.with(py, |session| session.rename(old, new))
    }

    fn query<'py>(&self, py: Python<'py>, code: u16, argument: &str) -> PyResult<Bound<'py, PyBytes>> {
        let answer = self.with(py, |session| session.query(code, argument))?;
        Ok(PyBytes::new(py, &answer))
    }

    fn prepare<'py>(&self, py: Python<'py>, options: u8, more: u16, lines: &str) -> PyResult<Bound<'py, PyBytes>> {
        let answer = self.with(py, |session| session.prepare(options, more, lines))?;
        Ok(PyBytes::new(py, &answer))
    }

    fn checksum(&self, py: Python<'_>, path: &str) -> PyResult<(String, String)> {
        self.with(py, |session| session.checksum(path))
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).close());
    }
}
