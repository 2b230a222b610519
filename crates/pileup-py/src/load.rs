//! The totals of a load, for Python: the same arithmetic as in a run.

use pileup_engine::progress::phase_of;
use pileup_engine::refusal::PressError;
use pileup_schedule::{Kind, Load as Inner, Schedule, Stage, birth, think, wanted};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::press::value_error;

/// One load, of which nothing is pressed.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Load(Inner);

impl Load {
    fn phase_of(&self, stage: Stage) -> u8 {
        self.0.phase.unwrap_or(phase_of(&self.0, stage) as u8)
    }
}

#[pymethods]
impl Load {
    #[new]
    fn new(load: &str) -> PyResult<Self> {
        let load: Inner = serde_json::from_str(load).map_err(|problem| {
            value_error(PressError::Unread {
                what: "a load for the engine",
                problem,
                expected: "the fields of docs/engine.md (report this as a bug)",
            })
        })?;
        if load.shard >= load.shards {
            return Err(PyValueError::new_err("shard is not below shards; expected 0 <= shard < shards (correct it)"));
        }
        Ok(Self(load))
    }

    #[getter]
    fn end(&self) -> Option<u64> {
        self.0.end()
    }

    #[getter]
    fn spans(&self) -> Vec<(u64, u64)> {
        self.0.spans()
    }

    #[getter]
    fn asked(&self) -> Option<f64> {
        self.0.asked()
    }

    #[getter]
    fn iterations(&self) -> Option<u64> {
        self.0.iterations()
    }

    #[getter]
    fn most_clients(&self) -> Option<u32> {
        self.0.most_clients()
    }

    fn longest(&self, patience: u64, pause: u64) -> Option<u64> {
        self.0.longest(patience, pause)
    }

    fn phase(&self, time: i64) -> u8 {
        self.phase_of(self.0.stage(u64::try_from(time).unwrap_or(0)))
    }

    #[getter]
    fn number_here(&self) -> Option<u64> {
        self.0.number_here()
    }

    #[getter]
    fn numbers_here(&self) -> Option<(u64, u64)> {
        self.0.numbers_here()
    }

    #[getter]
    fn used_workers(&self) -> PyResult<u32> {
        self.0.check().map_err(value_error)?;
        Ok(self.0.used_workers())
    }

    fn birth(&self, client: u64) -> Option<u64> {
        birth(&self.0, client)
    }

    fn think(&self, client: u64, turn: u64) -> u64 {
        think(&self.0, client, turn)
    }

    fn wanted(&self, client: u64, time: u64) -> Option<u64> {
        wanted(&self.0, client, time)
    }

    fn schedule(&self, limit: usize) -> PyResult<Vec<(u64, u64, u8)>> {
        self.0.check().map_err(value_error)?;
        if self.0.kind != Kind::Open {
            return Err(PyValueError::new_err(format!(
                "the load of {} is not open; expected one with a rate (the others begin when a client is free)",
                self.0.name
            )));
        }
        let starts = Schedule::new(&self.0).take(limit);
        Ok(starts.map(|due| (due.number, due.time, self.phase_of(due.stage))).collect())
    }
}
