//! The HTTP client against servers that lie, against the practice storage, and over TLS.

#![allow(clippy::unwrap_used, missing_docs)] // helpers of tests, outside of the functions that clippy.toml exempts
mod acts;
mod between;
mod framing;
mod handshakes;
mod kit;
mod lying;
mod practice;
mod redirects;
mod several;
mod sums;
mod tls;
