//! The compiled module `pileup._core._native`: the engine as Python sees it. Its types are in `src/pileup/_core/_native.pyi`.

mod arithmetic;
mod histogram;
mod judged;
mod ledger;
mod load;
mod op;
mod outcome;
mod practice;
mod press;
mod protocols;
mod ready;
mod recorded;
mod recorder;
mod relay;
mod session;
mod steps;
mod tally;
mod tape;
mod verbs;

use pileup_engine::ending::EndingKind;
use pyo3::prelude::*;

/// Nanoseconds since the epoch, from the monotonic clock and one UTC offset.
#[pyfunction]
fn now() -> i64 {
    pileup_pacer::clock::now()
}

/// Move this process's clock permanently.
#[pyfunction]
fn shift_clock(ns: i64) {
    pileup_pacer::clock::shift(ns);
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let _ = pileup_pacer::clock::offset(); // taken now, not in the middle of a measurement
    module.add("DEBUG", cfg!(debug_assertions))?;
    module.add("SOURCE_HASH", env!("PILEUP_SOURCE_HASH"))?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    module.add("ENDINGS", EndingKind::ALL.map(EndingKind::word))?;
    module.add("VERBS", verbs::table(module.py())?)?;
    module.add_function(wrap_pyfunction!(now, module)?)?;
    module.add_function(wrap_pyfunction!(shift_clock, module)?)?;
    module.add_function(wrap_pyfunction!(arithmetic::adler32, module)?)?;
    module.add_function(wrap_pyfunction!(arithmetic::certificate, module)?)?;
    module.add_function(wrap_pyfunction!(arithmetic::known_content, module)?)?;
    module.add_class::<histogram::Histogram>()?;
    module.add_class::<recorder::Recorder>()?;
    module.add_class::<ledger::Ledger>()?;
    module.add_class::<load::Load>()?;
    module.add_class::<press::Press>()?;
    module.add_class::<press::Seat>()?;
    module.add_class::<op::Op>()?;
    module.add_class::<op::Operation>()?;
    module.add_class::<steps::Steps>()?;
    module.add_class::<practice::PracticeStorage>()?;
    module.add_class::<practice::PracticeS3>()?;
    module.add_class::<practice::PracticeBatch>()?;
    module.add_class::<practice::PracticeIssuer>()?;
    module.add_class::<practice::PracticeTape>()?;
    module.add_class::<relay::Relay>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<tape::TapeLibrary>()?;
    Ok(())
}
