//! When iterations are due: arithmetic over (shape, seed, shard), without a clock; the file of a replay is all that is read. Times are nanoseconds after the start of the load.

mod bounds;
mod closed;
mod draw;
mod law;
mod load;
mod open;
mod plateau;
mod rate;
mod shapes;
mod starts;
mod told;

pub use closed::{birth, think, wanted};
pub use draw::{bits, mix, unit};
pub use law::Law;
pub use load::{Load, LoadError};
pub use open::{Arrival, Schedule};
pub use plateau::{Plateau, Stage};
pub use shapes::{Shapes, Steps};
pub use starts::{Replay, Starts, Unreadable};
pub use told::{Arrivals, Kind, Wrong, whole};
