//! What a protocol above HTTP/1.1 can rely on: that its requests are signed as they are sent, and that it gets what it asks for.
#![allow(clippy::unwrap_used)] // tests

mod signed;
