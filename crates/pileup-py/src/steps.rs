//! What the steps of a program come to, one by one, for clients that are not the engine's: the same objects, places and contents.

use pileup_engine::content::{self, Maker, Object};
use pileup_engine::program::{Program, Step};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::press::value_error;

/// A program, and the seed of its load.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Steps {
    program: Program,
    seed: u64,
    /// Most clients of the load at a time.
    clients: u32,
}

impl Steps {
    fn step(&self, number: usize) -> PyResult<&Step> {
        self.program.steps.get(number).ok_or_else(|| {
            let count = self.program.steps.len();
            PyIndexError::new_err(format!(
                "there is no step {number}; expected one from 0 to {} (count them)",
                count - 1
            ))
        })
    }

    fn known(&self, step: usize, number: u64) -> PyResult<Object> {
        let content = self.step(step)?.content.as_ref().map(|content| content.object(number));
        content.ok_or_else(|| {
            PyValueError::new_err(format!(
                "the content of step {step} is not known; expected one with content (look first)"
            ))
        })
    }
}

#[pymethods]
impl Steps {
    #[new]
    #[pyo3(signature = (program, seed, clients = 1))]
    fn new(program: &str, seed: u64, clients: u32) -> PyResult<Self> {
        let program: Program = serde_json::from_str(program).map_err(|error| {
            PyValueError::new_err(format!("a program: {error}; expected steps (see model.program.Program)"))
        })?;
        program.check().map_err(value_error)?;
        Ok(Self { program, seed, clients })
    }

    /// Number and name of the object that a step acts on, the `turn`-th time in this iteration of this client.
    fn object(&self, step: usize, iteration: u64, client: u32, turn: u64) -> PyResult<(u64, String)> {
        let step = self.step(step)?;
        let number = self.program.object(step, self.seed, iteration, client, turn, self.clients);
        let mut name = String::new();
        step.keys.write_name(number, &mut name);
        Ok((number, name))
    }

    fn renamed(&self, step: usize, key: &str) -> PyResult<String> {
        Ok(self.step(step)?.renamed(key))
    }

    /// Name on the second target of the object of this number; none where the step has no second target.
    fn destination(&self, step: usize, number: u64) -> PyResult<Option<String>> {
        Ok(self.step(step)?.destination.as_ref().map(|destination| {
            let mut name = String::new();
            destination.keys.write_name(number, &mut name);
            name
        }))
    }

    fn sums(&self, step: usize) -> PyResult<bool> {
        self.step(step)?;
        Ok(self.program.sums(step))
    }

    fn size(&self, step: usize, number: u64) -> PyResult<Option<u64>> {
        Ok(self.step(step)?.content.as_ref().map(|content| content.size_of(number)))
    }

    fn ranges(&self, step: usize, client: u32, turn: u64, size: Option<u64>) -> PyResult<Vec<(u64, Option<u64>)>> {
        let ranges = self.step(step)?.ranges(client, turn, size);
        Ok(ranges.map(|range| (range.offset, range.length)).collect())
    }

    fn content<'py>(
        &self,
        py: Python<'py>,
        step: usize,
        number: u64,
        offset: u64,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let maker = Maker::new(&self.known(step, number)?);
        PyBytes::new_with(py, length, |buffer| {
            maker.fill(offset, buffer);
            Ok(())
        })
    }

    fn first_wrong(&self, py: Python<'_>, step: usize, number: u64, offset: u64, data: &[u8]) -> PyResult<Option<u64>> {
        let object = self.known(step, number)?;
        Ok(py.detach(|| Maker::new(&object).first_wrong(offset, data)))
    }

    fn adler32(&self, py: Python<'_>, step: usize, number: u64) -> PyResult<u32> {
        let object = self.known(step, number)?;
        Ok(py.detach(|| content::adler32(&object)))
    }
}
