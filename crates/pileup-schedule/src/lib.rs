//! When iterations are due: arithmetic over (shape, seed, shard), without a clock; the file of a replay is all that is read. Times are nanoseconds after the start of the load.

mod closed;
mod draw;
mod law;
mod load;
mod open;
mod replay;
mod segment;
mod steered;

pub use closed::{birth, think, wanted};
pub use draw::{bits, mix, unit};
pub use law::Law;
pub use load::{Arrivals, Kind, Load, LoadError, Wrong, whole};
pub use open::{Arrival, Schedule};
pub use replay::{Replay, ReplayError, Starts, Unreadable};
pub use segment::{Segment, Stage};
pub use steered::Steps;
