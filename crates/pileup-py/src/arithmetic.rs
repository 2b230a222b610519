//! Pure functions for Python: schedules, known content, checksums, certificates in words.

use pileup_engine::content::{Adler32, Maker, Object};
use pileup_engine::refusal::PressError;
use pileup_record::Phase;
use pileup_schedule::{Kind, Load, Schedule, Stage};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::press::value_error;

/// The load in this JSON, checked.
///
/// # Errors
/// What is wrong with it, in three parts.
pub fn load(text: &str) -> Result<Load, PressError> {
    let load: Load = serde_json::from_str(text).map_err(|problem| PressError::Unread {
        what: "a load for the engine",
        problem,
        expected: "the fields of docs/engine.md (tell the makers of pileup)",
    })?;
    load.check()?;
    Ok(load)
}

fn phase(load: &Load, stage: Stage) -> u8 {
    load.phase.unwrap_or(match stage {
        Stage::Ramp => Phase::Ramp as u8,
        Stage::WarmUp => Phase::WarmUp as u8,
        Stage::Measure => Phase::Measure as u8,
    })
}

/// The first `limit` intended starts of an open load as (iteration, ns after the start, phase): arithmetic only.
#[pyfunction]
pub fn schedule(load: &str, limit: usize) -> PyResult<Vec<(u64, u64, u8)>> {
    let load = self::load(load).map_err(value_error)?;
    if load.kind != Kind::Open {
        return Err(PyValueError::new_err(format!(
            "the load of {} is not open; expected one with a rate (the others begin when a client is free)",
            load.name
        )));
    }
    let starts = Schedule::new(&load).take(limit);
    Ok(starts.map(|due| (due.number, due.time, phase(&load, due.stage))).collect())
}

/// How many of its workers a load takes.
#[pyfunction]
pub fn used_workers(load: &str) -> PyResult<u32> {
    Ok(self::load(load).map_err(value_error)?.used_workers())
}

/// Adler-32 (RFC 1950) over these parts in order.
#[pyfunction]
pub fn adler32(py: Python<'_>, data: &Bound<'_, PyAny>) -> PyResult<u32> {
    let mut sum = Adler32::new();
    for part in data.try_iter()? {
        let part = part?;
        let bytes = part.extract::<&[u8]>()?;
        py.detach(|| sum.write(bytes));
    }
    Ok(sum.finish())
}

/// What a certificate (DER) says of itself: subject, issuer, SHA-256 in hexadecimal digits.
#[pyfunction]
pub fn certificate(der: &[u8]) -> (String, String, String) {
    let found = pileup_net::certificate::Described::new(der);
    (found.subject, found.issuer, found.sha256)
}

/// The known content of object `number` (docs/engine.md).
#[pyfunction]
#[pyo3(name = "content")]
pub fn known_content(
    py: Python<'_>,
    seed: u64,
    number: u64,
    offset: u64,
    length: usize,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, length, |buffer| {
        Maker::new(&Object { seed, number, size: 0, entropy: 1.0 }).fill(offset, buffer);
        Ok(())
    })
}
