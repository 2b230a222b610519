//! HTTP/1.1 for protocols above it: requests of load generators, one connection for each client and server.
//!
//! What is above makes a [`Request`] of each operation, asks for it through the [`Session`] of its client, judges the [`Answer`], takes its
//! body in (with [`Reading`] where it is an object) and gives the answer back: [`Session::keep`]. A [`Site`] is a target, made of its
//! [`Settings`]; what a protocol adds to every request, a signature say, is a [`Sign`].
//!
//! `address` names, `auth` credentials, `server` servers, `redirect` the way from one to another, `connect` connections, `wire`, `head` and
//! `chunks` HTTP/1.1 on them, `request` heads sent, `upload` bodies sent, `check`, `pieces` and `multipart` bodies received, `error` the
//! words for what went wrong, `xml` bodies in XML, `probe` all parsers for a fuzzer.

mod address;
mod answer;
mod auth;
mod check;
mod chunks;
mod connect;
mod error;
mod head;
mod multipart;
mod pieces;
pub mod probe;
mod reading;
mod redirect;
mod request;
mod server;
mod session;
mod settings;
mod sign;
mod site;
mod upload;
mod wire;
pub mod xml;

pub use pileup_net::Unusable;

pub use address::{Address, decode};
pub use answer::Answer;
pub use check::{Check, digest, size};
pub use error::status;
pub use reading::{Reading, read, receive};
pub use request::{Follows, Request, header};
pub use session::Session;
pub use settings::{Expect, Settings};
pub use sign::{Sign, Unsigned};
pub use site::Site;
pub use upload::Body;
