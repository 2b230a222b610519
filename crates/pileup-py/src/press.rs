//! `Press` and `Seat` for Python: one load, and the place of one client thread in it.

use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pileup_engine::press::{Next, Press as Inner};
use pileup_record::{Cause, Outcome};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::judged::Judged;
use crate::op::{Iteration, Op};
use crate::protocols;
use crate::recorder::Recorder;
use crate::tally::told;

/// One load of one case at one place: the pull state machine with its recorder.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Press(Arc<Judged>);

#[pymethods]
impl Press {
    #[new]
    fn new(recorder: &Recorder, load: &str) -> PyResult<Self> {
        let inner = Inner::new(Arc::clone(&recorder.0), load).map_err(value_error)?;
        Ok(Self(Arc::new(Judged::new(inner))))
    }

    fn native(&self, py: Python<'_>, client: &str, program: &str) -> PyResult<()> {
        py.detach(|| protocols::start(self.0.press(), client, program)).map_err(value_error)
    }

    fn name_single(&self, name: &str) {
        self.0.name_single(name);
    }

    fn judge_by(&self, judge: Py<PyAny>) {
        self.0.judge_by(judge);
    }

    fn early(&self) -> Vec<u32> {
        self.0.early()
    }

    fn spawn(&self, py: Python<'_>) -> Option<u32> {
        py.detach(|| self.0.spawn())
    }

    fn seat(&self, client: u32) -> Seat {
        Seat { press: Arc::clone(&self.0), client, last: Mutex::new(None) }
    }

    fn fileno(&self) -> PyResult<i32> {
        let descriptor = self.0.fileno();
        if descriptor >= 0 {
            return Ok(descriptor);
        }
        Err(PyOSError::new_err(
            "no descriptor is left for a timer; expected a free one (raise `ulimit -n` or press with fewer clients)",
        ))
    }

    fn ready(&self) -> Vec<(u32, Op)> {
        let op = |start| Op(Iteration::new(Arc::clone(&self.0), self.0.picked(start)));
        self.0.ready().into_iter().map(|start| (start.client, op(start))).collect()
    }

    #[getter]
    fn over(&self) -> bool {
        self.0.over()
    }

    #[getter]
    fn ending(&self) -> (&'static str, String) {
        let ending = self.0.ending();
        (ending.kind.word(), ending.why)
    }

    #[pyo3(signature = (level, at = 0))]
    fn set_level(&self, py: Python<'_>, level: f64, at: i64) -> PyResult<()> {
        py.detach(|| self.0.set_level(level, at)).map_err(value_error)
    }

    fn stop(&self, py: Python<'_>, now: bool) {
        py.detach(|| self.0.stop(now));
    }

    #[pyo3(signature = (timeout, give_up = None))]
    fn wait(&self, py: Python<'_>, timeout: f64, give_up: Option<Py<PyAny>>) -> PyResult<bool> {
        let time = Duration::try_from_secs_f64(timeout).map_err(|_| {
            PyValueError::new_err(format!("timeout {timeout} is not a time; expected seconds from 0 (0 only looks)"))
        })?;
        let first = || {
            if let Some(give_up) = &give_up {
                Python::attach(|py| {
                    give_up.call0(py).inspect_err(|problem| problem.clone_ref(py).write_unraisable(py, None))
                })
                .ok();
            }
        };
        Ok(py.detach(|| self.0.wait_and(time, first)))
    }

    fn frame<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let frame = py.detach(|| self.0.frame());
        let plain = PyDict::new(py);
        plain.set_item("phase", frame.phase as u8)?;
        plain.set_item("started", frame.started)?;
        plain.set_item("missed", frame.missed)?;
        plain.set_item("in_flight", frame.in_flight)?;
        plain.set_item("clients", frame.clients)?;
        plain.set_item("measured_from", frame.measured.0)?;
        plain.set_item("measured_to", frame.measured.1)?;
        plain.set_item("late", PyBytes::new(py, &frame.late))?;
        let rows = frame.rows.iter().map(|row| told(py, self.0.recorder(), row)).collect::<PyResult<Vec<_>>>()?;
        plain.set_item("rows", PyList::new(py, rows)?)?;
        Ok(plain)
    }
}

/// What the engine refuses, as Python knows it.
pub fn value_error(wrong: impl Display) -> PyErr {
    PyValueError::new_err(wrong.to_string())
}

/// The place of one client thread.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Seat {
    press: Arc<Judged>,
    client: u32,
    last: Mutex<Option<Arc<Iteration>>>,
}

impl Seat {
    fn keep(&self, next: Option<&Arc<Iteration>>) -> Option<Arc<Iteration>> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *last, next.map(Arc::clone))
    }
}

#[pymethods]
impl Seat {
    #[getter]
    fn under_way(&self) -> Option<Op> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|iteration| Op(Arc::clone(iteration)))
    }

    fn next(&self, py: Python<'_>) -> Option<Op> {
        if let Some(previous) = self.keep(None) {
            previous.finish(Outcome::Passed, "", Cause::None); // nothing, when the test has said how it ended
        }
        // Letting the GIL go and taking it again costs more than a short iteration: only who has to wait does.
        let start = match self.press.try_next(self.client) {
            Next::Start(start) => start,
            Next::Over => return None,
            // waking this thread and getting the GIL is the generator's lateness, not the system's service
            Next::Wait => self.press.picked(py.detach(|| self.press.next(self.client))?),
        };
        let iteration = Iteration::new(Arc::clone(&self.press), start);
        self.keep(Some(&iteration));
        Some(Op(iteration))
    }
}
