//! The client of S3 against the practice S3, whose signatures are checked by code written apart, and against servers that break off.
#![allow(clippy::unwrap_used)] // tests

mod acts;
mod control;
mod kit;
mod outcomes;
