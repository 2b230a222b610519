//! `Histogram` for Python.

use pileup_record::Histogram as Inner;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// HDR histogram, 3 digits, 1 ns to 2 days; merging is exact.
#[pyclass(module = "pileup._core._native")]
pub struct Histogram(Inner);

fn wrong(error: &pileup_record::HistogramError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[pymethods]
impl Histogram {
    #[new]
    fn new() -> Self {
        Self(Inner::new())
    }

    #[staticmethod]
    fn decode(data: &[u8]) -> PyResult<Self> {
        Inner::decode(data).map(Self).map_err(|error| wrong(&error))
    }

    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.encode())
    }

    #[pyo3(signature = (value, count = 1))]
    fn record(&mut self, value: i64, count: u64) {
        self.0.record(value, count);
    }

    fn merge(&mut self, data: &[u8]) -> PyResult<()> {
        self.0.merge(data).map_err(|error| wrong(&error))
    }

    fn add(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) {
        if slf.is(other) {
            let copy = other.borrow().0.clone();
            slf.borrow_mut().0.add(&copy);
        } else {
            slf.borrow_mut().0.add(&other.borrow().0);
        }
    }

    #[getter]
    fn count(&self) -> u64 {
        self.0.count()
    }

    #[getter]
    fn min(&self) -> u64 {
        self.0.min()
    }

    #[getter]
    fn max(&self) -> u64 {
        self.0.max()
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean()
    }

    fn quantile(&self, share: f64) -> PyResult<u64> {
        if (0.0..=1.0).contains(&share) {
            return Ok(self.0.quantile(share));
        }
        Err(PyValueError::new_err(format!(
            "share {share} is not a share; expected 0 to 1 (0.99 is the 99th percentile)"
        )))
    }

    fn at_rank(&self, rank: u64) -> u64 {
        self.0.at_rank(rank)
    }

    fn share_at(&self, value: i64) -> f64 {
        u64::try_from(value).map_or(0.0, |value| self.0.share_at(value))
    }

    fn bins(&self) -> (Vec<u64>, Vec<u64>, Vec<u64>) {
        let (mut lows, mut highs, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        for (low, high, count) in self.0.bins() {
            lows.push(low);
            highs.push(high);
            counts.push(count);
        }
        (lows, highs, counts)
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}
