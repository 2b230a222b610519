//! HTTP and WebDAV: the client of the engine for protocol `http`.
//!
//! `client` does the verbs of a program, `plan` says which request each of them is, `judge` whether an answer passes, `listing` counts what is in
//! a folder. `between` does the verbs with a second target: copies from one server to the other, whose answers `markers` reads. `probe` gives
//! the parsers to a fuzzer. Below it is `pileup-http1`.

mod between;
mod client;
mod judge;
mod listing;
mod markers;
mod plan;
pub mod probe;

pub use client::{WebdavClient, WebdavFactory};
