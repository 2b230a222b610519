//! The compiled module `pileup._core._native`: the engine as Python sees it. Its types are in `src/pileup/_core/_native.pyi`.

mod histogram;
mod recorder;

use pyo3::prelude::*;

/// Nanoseconds since the epoch, from the monotonic clock and one UTC offset.
#[pyfunction]
fn now() -> i64 {
    pileup_pacer::clock::now()
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let _ = pileup_pacer::clock::offset(); // taken now, not in the middle of a measurement
    module.add("DEBUG", cfg!(debug_assertions))?;
    module.add("SOURCE_HASH", env!("PILEUP_SOURCE_HASH"))?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(now, module)?)?;
    module.add_class::<histogram::Histogram>()?;
    module.add_class::<recorder::Recorder>()?;
    Ok(())
}
