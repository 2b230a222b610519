//! The xroot client against servers that lie, and against XRootD itself.

#![allow(clippy::unwrap_used, missing_docs)] // helpers of tests, outside of the functions that clippy.toml exempts
mod kit;
mod lying;
mod server;
mod xrootd;
