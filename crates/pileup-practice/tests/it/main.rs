//! The practice targets from outside, over plain sockets: what it answers, when, and what its log says about it.
#![allow(clippy::unwrap_used, missing_docs)] // helpers of tests, outside of the functions that clippy.toml exempts

mod batch;
mod kit;
mod pool;
mod time;
mod trouble;
mod webdav;
