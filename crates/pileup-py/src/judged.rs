//! A load of Python tests, and what says how the exceptions of their operations are meant.

use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use pileup_engine::press::Press as Inner;
use pyo3::prelude::*;

use crate::outcome::{self, Told};

/// A load of Python tests, with what judges the exceptions of their operations.
pub struct Judged {
    inner: Arc<Inner>,
    judge: OnceLock<Py<PyAny>>,
}

impl Deref for Judged {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl Judged {
    /// A load that nobody judges yet.
    #[must_use]
    pub const fn new(inner: Arc<Inner>) -> Self {
        Self { inner, judge: OnceLock::new() }
    }

    /// The load itself.
    #[must_use]
    pub const fn press(&self) -> &Arc<Inner> {
        &self.inner
    }

    /// Set what judges exceptions; all clients of a load have the same test and targets, so the first one is used.
    pub fn judge_by(&self, judge: Py<PyAny>) {
        let _ = self.judge.set(judge);
    }

    /// How an operation ended whose block raised this.
    ///
    /// # Errors
    /// When what judges cannot be imported.
    pub fn judge(&self, problem: &Bound<'_, PyAny>) -> PyResult<Told> {
        outcome::of_exception(self.judge.get(), problem)
    }
}
