//! What an `async with` awaits: a result that is there already.

use pyo3::exceptions::PyStopIteration;
use pyo3::prelude::*;

/// An awaitable that is done, with its result; None without one.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Ready(pub Option<Py<PyAny>>);

#[pymethods]
impl Ready {
    fn __await__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    /// The end at once: without an exception it means None.
    fn __next__(&self, py: Python<'_>) -> PyResult<Option<()>> {
        match &self.0 {
            Some(result) => Err(PyStopIteration::new_err(result.clone_ref(py))),
            None => Ok(None),
        }
    }
}
