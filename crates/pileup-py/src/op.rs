//! One iteration as a Python test sees it: `Op`, and `Operation` for what it times inside.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pileup_engine::press::{Ended, Start};
use pileup_pacer::clock;
use pileup_record::{Cause, Outcome, Row, SEPARATOR};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::judged::Judged;
use crate::ready::Ready;
use crate::recorded::{Timed, labels_text};
use crate::{ledger, outcome};

/// Marks a number that the test has not set.
const UNSET: u64 = u64::MAX;

/// Characters of the name of a check.
const LONGEST_CHECK: usize = 80;

/// A number of the iteration: what the test set, else the sum over the operations inside.
struct Sum {
    set: AtomicU64,
    inside: AtomicU64,
}

impl Sum {
    const fn new() -> Self {
        Self { set: AtomicU64::new(UNSET), inside: AtomicU64::new(0) }
    }

    fn get(&self) -> u64 {
        let set = self.set.load(Relaxed);
        if set == UNSET { self.inside.load(Relaxed) } else { set }
    }
}

/// A number set by a test.
fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<u64> {
    value.extract::<u64>().ok().filter(|value| *value <= i64::MAX as u64).ok_or_else(|| {
        let found = value.repr().map(|text| text.to_string()).unwrap_or_default();
        PyValueError::new_err(format!(
            "{name} is {found}; expected a whole number from 0 (set it to how many were moved or made)"
        ))
    })
}

fn calls(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The operation that counts a check of this name: `check.has_header`, as checks of a suite can name it.
fn checked(name: &str) -> PyResult<String> {
    let allowed = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, ' ' | '_' | '-');
    if name.is_empty() || name.len() > LONGEST_CHECK || name.starts_with(['-', ' ']) || !name.chars().all(allowed) {
        return Err(PyValueError::new_err(format!(
            "a check is called {name:?}; expected at most {LONGEST_CHECK} letters, digits, spaces, _ and - (put values \
             into self.report, names are few)"
        )));
    }
    Ok(format!("check.{}", name.replace(' ', "_")))
}

/// An iteration under way, shared by its `Op` and the operations inside it.
pub struct Iteration {
    press: Arc<Judged>,
    start: Start,
    bytes: Sum,
    calls: Sum,
    /// Names of the operations that are open, in the order of their beginning: said of an iteration that is given up.
    open: Mutex<Vec<u32>>,
    /// The one operation that it is, where its load says that it is one: object and first byte.
    single: Mutex<Option<(u32, i64)>>,
    /// Whether it was ended here.
    finished: AtomicBool,
}

impl Iteration {
    /// An iteration that its client has in hand.
    #[must_use]
    pub fn new(press: Arc<Judged>, start: Start) -> Arc<Self> {
        let (open, single, finished) = (Mutex::default(), Mutex::new(None), AtomicBool::new(false));
        Arc::new(Self { press, start, bytes: Sum::new(), calls: Sum::new(), open, single, finished })
    }

    fn open(&self) -> MutexGuard<'_, Vec<u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of an operation's name, with its labels where it has any.
    fn named(&self, name: &str, labels: Option<&Bound<'_, PyAny>>) -> PyResult<u32> {
        let recorder = self.press.recorder();
        if labels.is_none() {
            return Ok(recorder.name(name));
        }
        Ok(recorder.labelled(self.press.origin(&self.start).case, name, &labels_text(labels)?))
    }

    /// Forget an operation that has ended: the last one of its name that is open.
    fn closed(&self, name: u32) {
        let mut open = self.open();
        if let Some(place) = open.iter().rposition(|each| *each == name) {
            open.remove(place);
        }
    }

    /// End it; false, and nothing is done, when it has ended, by the test or from outside.
    pub fn finish(&self, outcome: Outcome, error: &str, cause: Cause) -> bool {
        let mine = !self.finished.swap(true, Relaxed) && !self.press.has_ended(&self.start);
        if mine {
            self.press.finish(&self.start, &Ended { cause, ..self.ended(clock::now(), outcome, error) });
        }
        mine
    }

    /// End it as passed, unless it took longer than `limit`: by how much then, in ns. Its client asks for the next one at once.
    pub fn conclude(&self, limit: i64) -> i64 {
        let end = clock::now();
        let late = end.saturating_sub(self.start.start).saturating_sub(limit);
        if late > 0 {
            return late;
        }
        if !self.finished.swap(true, Relaxed) {
            self.press.finish_and_ask(&self.start, &self.ended(end, Outcome::Passed, ""));
        }
        0
    }

    /// Be the operation that has just ended: its row is that of the iteration.
    fn be(&self, key: u32, first_byte: i64, bytes: u64, calls: u64) {
        *self.single.lock().unwrap_or_else(PoisonError::into_inner) = Some((key, first_byte));
        self.bytes.inside.fetch_add(bytes, Relaxed);
        self.calls.inside.fetch_add(calls, Relaxed);
    }

    fn ended(&self, end: i64, outcome: Outcome, error: &str) -> Ended {
        let (bytes, calls) = (self.bytes.get(), calls(self.calls.get()));
        let single = *self.single.lock().unwrap_or_else(PoisonError::into_inner);
        let whole = single.is_some() || outcome == Outcome::Unfinished;
        let operation = if whole { self.press.single() } else { 0 };
        let (key, first_byte) = single.unwrap_or_default();
        Ended {
            end,
            outcome,
            error: outcome::cut(error).to_owned(),
            cause: Cause::None,
            bytes,
            calls,
            repeats: 0,
            unreachable: false,
            first_byte,
            operation,
            key,
        }
    }
}

/// One iteration under way, as a Python test sees it (plugin.Op).
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Op(pub Arc<Iteration>);

#[pymethods]
impl Op {
    #[getter]
    fn number(&self) -> u64 {
        self.0.start.number
    }

    #[getter]
    fn client(&self) -> u32 {
        self.0.start.client
    }

    #[getter]
    fn intended(&self) -> i64 {
        self.0.start.intended
    }

    #[getter]
    fn start(&self) -> i64 {
        self.0.start.start
    }

    #[getter]
    fn operation(&self) -> Option<String> {
        let name = *self.0.open().last()?;
        let text = self.0.press.recorder().name_of(name)?;
        Some(text.split(SEPARATOR).next().unwrap_or_default().to_owned())
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes.get()
    }

    #[setter]
    fn set_bytes(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.bytes.set.store(number("bytes", value)?, Relaxed);
        Ok(())
    }

    #[getter]
    fn calls(&self) -> u64 {
        self.0.calls.get()
    }

    #[setter]
    fn set_calls(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.calls.set.store(number("calls", value)?, Relaxed);
        Ok(())
    }

    #[pyo3(signature = (name, key = "", *, labels = None))]
    fn __call__(&self, name: &str, key: &str, labels: Option<&Bound<'_, PyAny>>) -> PyResult<Operation> {
        self.may_begin(name)?;
        let iteration = &self.0;
        let recorder = iteration.press.recorder();
        Ok(Operation {
            iteration: Arc::clone(iteration),
            name: iteration.named(name, labels)?,
            key: recorder.string(key),
            begun: AtomicI64::new(0),
            first_byte: AtomicI64::new(0),
            bytes: AtomicU64::new(0),
            calls: AtomicU64::new(0),
            done: AtomicBool::new(false),
        })
    }

    #[pyo3(signature = (name, key, start = None))]
    fn begin(&self, name: &str, key: &str, start: Option<i64>) -> PyResult<()> {
        self.may_begin(name)?;
        let iteration = &self.0;
        let origin = iteration.press.origin(&iteration.start);
        let start = start.unwrap_or_else(clock::now);
        iteration
            .press
            .recorder()
            .ledger()
            .begin(name, key, origin, start)
            .map_err(|refusal| ledger::refused(refusal, name, key))
    }

    fn check(&self, name: &str, ok: &Bound<'_, PyAny>) -> PyResult<bool> {
        let word = checked(name)?;
        self.may_begin(name)?;
        let (iteration, moment, passed) = (&self.0, clock::now(), ok.is_truthy()?);
        let recorder = iteration.press.recorder();
        let row = Row {
            intended: moment,
            start: moment,
            end: moment,
            error: if passed { 0 } else { recorder.string(name) },
            operation: recorder.name(&word),
            outcome: if passed { Outcome::Passed } else { Outcome::Failed },
            ..Row::default()
        };
        iteration.press.operation(&iteration.start, row);
        Ok(passed)
    }

    #[pyo3(signature = (name, key = "", *, start, end = None, outcome = 0, bytes = 0, calls = 0, first_byte = 0, error = "", labels = None))]
    #[allow(clippy::too_many_arguments)] // as Python names them
    fn record(
        &self,
        name: &str,
        key: &str,
        start: i64,
        end: Option<i64>,
        outcome: i64,
        bytes: u64,
        calls: u32,
        first_byte: i64,
        error: &str,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.may_begin(name)?;
        let outcome = outcome::numbered(outcome)?;
        let row = Timed { start, end, outcome, bytes, calls, first_byte }.row()?;
        let iteration = &self.0;
        let operation = iteration.named(name, labels)?;
        let recorder = iteration.press.recorder();
        let error = if error.is_empty() { 0 } else { recorder.string(outcome::cut(error)) };
        let row = Row { operation, key: recorder.string(key), error, ..row };
        if iteration.press.operation(&iteration.start, row) {
            iteration.bytes.inside.fetch_add(bytes, Relaxed);
            iteration.calls.inside.fetch_add(calls.into(), Relaxed);
        }
        Ok(())
    }

    #[pyo3(signature = (outcome, error = "", cause = 0))]
    fn finish(&self, outcome: i64, error: &str, cause: i64) -> PyResult<bool> {
        Ok(self.0.finish(outcome::numbered(outcome)?, error, outcome::cause(cause)?))
    }

    fn conclude(&self, limit: i64) -> i64 {
        self.0.conclude(limit)
    }
}

impl Op {
    /// Whether an operation of this name may begin.
    fn may_begin(&self, name: &str) -> PyResult<()> {
        if self.0.press.has_ended(&self.0.start) {
            return Err(PyRuntimeError::new_err(format!(
                "operation {name:?} begins after its iteration has ended; expected operations inside of the iteration only \
                 (the load was stopped, or the test kept its op)"
            )));
        }
        if name.is_empty() {
            return Err(PyValueError::new_err("an operation has an empty name; expected a word (like op(\"read\"))"));
        }
        Ok(())
    }
}

/// One timed act inside an iteration, from the beginning of its `with` block to the end.
#[pyclass(frozen, module = "pileup._core._native")]
pub struct Operation {
    iteration: Arc<Iteration>,
    name: u32,
    key: u32,
    begun: AtomicI64,
    first_byte: AtomicI64,
    bytes: AtomicU64,
    calls: AtomicU64,
    done: AtomicBool,
}

impl Operation {
    fn record(&self, outcome: Outcome, error: &str, cause: Cause) {
        let (iteration, end) = (&self.iteration, clock::now());
        if self.done.swap(true, Relaxed) {
            return;
        }
        let (bytes, made) = (self.bytes.load(Relaxed), self.calls.load(Relaxed));
        if self.name == iteration.press.single() {
            iteration.be(self.key, self.first_byte.load(Relaxed), bytes, made);
            return;
        }
        let begun = self.begun.load(Relaxed);
        let row = Row {
            intended: begun,
            start: begun,
            first_byte: self.first_byte.load(Relaxed),
            end,
            bytes,
            key: self.key,
            error: if error.is_empty() { 0 } else { iteration.press.recorder().string(error) },
            operation: self.name,
            calls: calls(made),
            outcome,
            cause,
            ..Row::default()
        };
        if iteration.press.operation(&iteration.start, row) {
            iteration.bytes.inside.fetch_add(bytes, Relaxed);
            iteration.calls.inside.fetch_add(made, Relaxed);
        }
    }
}

#[pymethods]
impl Operation {
    fn __enter__(slf: PyRef<'_, Self>) -> PyResult<PyRef<'_, Self>> {
        if slf.begun.swap(clock::now(), Relaxed) != 0 {
            return Err(PyRuntimeError::new_err(
                "an operation begins twice; expected one `with` block each (call op(...) again for the next)",
            ));
        }
        slf.iteration.open().push(slf.name);
        Ok(slf)
    }

    fn __exit__(
        &self,
        _class: &Bound<'_, PyAny>,
        problem: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        self.iteration.closed(self.name);
        if problem.is_none() {
            self.record(Outcome::Passed, "", Cause::None);
        } else {
            let told = self.iteration.press.judge(problem)?;
            self.record(told.outcome, &told.error, told.cause);
        }
        Ok(false)
    }

    fn __aenter__(slf: PyRef<'_, Self>) -> PyResult<Ready> {
        let entered: Py<Self> = Self::__enter__(slf)?.into();
        Ok(Ready(Some(entered.into_any())))
    }

    fn __aexit__(
        &self,
        class: &Bound<'_, PyAny>,
        problem: &Bound<'_, PyAny>,
        trace: &Bound<'_, PyAny>,
    ) -> PyResult<Ready> {
        self.__exit__(class, problem, trace)?;
        Ok(Ready(None))
    }

    fn first_byte(&self) {
        let _ = self.first_byte.compare_exchange(0, clock::now(), Relaxed, Relaxed);
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    #[setter]
    fn set_bytes(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.bytes.store(number("bytes", value)?, Relaxed);
        Ok(())
    }

    #[getter]
    fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    #[setter]
    fn set_calls(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.calls.store(number("calls", value)?, Relaxed);
        Ok(())
    }
}
