//! Files below a folder, through the plain system calls: the client of the engine for protocol `posix`.
//!
//! `client` does the verbs of a program, `beneath` keeps every path inside the folder.

mod beneath;
mod client;

pub use client::{PosixClient, PosixFactory};
