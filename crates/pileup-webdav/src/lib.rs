//! HTTP and WebDAV: the client of the engine for protocol `http`.
//!
//! `client` does the verbs of a program, `plan` says which request each of them is, `judge` whether an answer passes, `listing` counts what is in
//! a folder; `probe` gives its parser to a fuzzer. Below it is `pileup-http1`.

mod client;
mod judge;
mod listing;
mod plan;
pub mod probe;

pub use client::{WebdavClient, WebdavFactory};
