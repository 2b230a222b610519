//! The registry of verbs as Python can compare it with its own.

use pileup_engine::verb::{Traits, Verb};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Verb -> (changes, deletes, names, moves, makes).
pub fn table(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let table = PyDict::new(py);
    for Traits { word, changes, deletes, names, moves, makes } in Verb::ALL.map(Verb::traits) {
        table.set_item(word, (changes, deletes, names.word(), moves.word(), makes.word()))?;
    }
    Ok(table)
}
