//! Pure functions for Python: known content, checksums, certificates in words.

use pileup_engine::content::{Adler32, Maker, Object};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

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
