//! The client of folders from outside.
#![allow(clippy::unwrap_used)] // tests

mod posix;
