//! The engine from outside: what begins when, what is counted, what is recorded.
#![allow(clippy::unwrap_used, clippy::cast_precision_loss)] // tests

mod press;
mod puller;
mod rows;
mod waits;
