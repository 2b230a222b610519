//! The engine: the pull state machine and its executors. It names no protocol; clients use the seam in `client`, preparation and clean-up
//! that in `control`.
//!
//! `puller` says who begins what when, `reconnect` how long a client pauses that finds no server; `shard` joins it with the record; `worker` (async), `blocking` (threads) and `turnstile` (threads
//! and event loops of others) pull from it; `verb` says what each verb does, `iteration` does the steps of a program with a client; `native` starts workers; `press` is the face of it all.

mod blocking;
mod checked;
pub mod client;
pub mod content;
pub mod control;
mod deadline;
mod early;
pub mod ending;
mod gate;
mod iteration;
mod native;
mod near;
pub mod noop;
pub mod press;
pub mod program;
pub mod progress;
pub mod puller;
pub mod reconnect;
pub mod refusal;
mod room;
pub mod shard;
pub mod start;
pub mod turnstile;
mod under_way;
pub mod verb;
mod worker;
