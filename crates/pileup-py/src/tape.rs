//! `TapeLibrary` for Python: a library and its stagers, moved by whoever has a clock.

use pileup_tape::{Library, Rules, Stagers};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// What happened: when, what, to which request, with which drive.
type Told = (i64, &'static str, Option<u64>, Option<u32>);

/// A tape library behind the stagers of worker nodes.
#[pyclass(module = "pileup._core._native")]
pub struct TapeLibrary(Stagers);

#[pymethods]
impl TapeLibrary {
    #[new]
    fn new(rules: &str, nodes: usize, max_transfers: usize, now: i64) -> PyResult<Self> {
        let rules: Rules = serde_json::from_str(rules).map_err(|error| {
            PyValueError::new_err(format!(
                "rules of a tape library: {error}; expected those of its settings (see TapeSettings)"
            ))
        })?;
        rules.check().map_err(|(what, expected)| {
            PyValueError::new_err(format!("a tape library with {what}; expected {expected} (correct its settings)"))
        })?;
        if nodes == 0 {
            return Err(PyValueError::new_err(
                "a tape library without nodes; expected 1 or more (correct its settings)",
            ));
        }
        Ok(Self(Stagers::new(Library::new(rules, now), nodes, max_transfers)))
    }

    fn submit(&mut self, now: i64, node: usize, key: u64, size: u64) -> PyResult<u64> {
        self.0.submit(now, node, key, size).ok_or_else(|| {
            PyValueError::new_err(format!("there is no node {node}; expected one of the settings, from 0 (count them)"))
        })
    }

    fn cancel(&mut self, now: i64, request: u64) -> bool {
        self.0.cancel(now, request)
    }

    fn advance(&mut self, now: i64) {
        self.0.advance(now);
    }

    fn next(&self) -> Option<i64> {
        self.0.next()
    }

    fn take_events(&mut self) -> Vec<Told> {
        let events = self.0.take_events();
        events.into_iter().map(|event| (event.time, event.what.word(), event.request, event.drive)).collect()
    }

    fn cartridge(&self, key: u64) -> u32 {
        self.0.library().cartridge(key)
    }

    #[getter]
    fn queues(&self) -> (usize, usize, usize) {
        (self.0.waiting(), self.0.library().waiting(), self.0.library().busy())
    }
}
