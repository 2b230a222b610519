//! What one place writes down: rows of operations in a table file (`docs/record.md`), and the histograms of its frames.
//!
//! [`Recorder`] owns the file and one writer thread; every thread that measures has a [`Local`] of its own. [`Tally`] keeps the counters
//! and histograms of the second under way; [`Histogram`] is the one kind of histogram in the project. The [`Ledger`] keeps asynchronous
//! operations.

mod bins;
mod histogram;
mod ledger;
mod local;
mod recorder;
mod row;
mod strings;
mod table;
mod tally;

pub use histogram::{Histogram, HistogramError, LONGEST};
pub use ledger::{End, Ledger, LedgerFrame, Origin, Refusal};
pub use local::Local;
pub use recorder::Recorder;
pub use row::{Cause, Outcome, Phase, Row, Side};
pub use strings::{REMEMBERED, SEPARATOR};
pub use tally::{Beside, Tally, TallyRow};

/// Operation name of the parent row when an iteration has several operations.
pub const ITERATION: &str = "iteration";
