//! What the clients of all protocols share: names and addresses, TCP, TLS, and error messages.
//!
//! It knows no protocol and nothing of the engine.

mod ahead;
pub mod certificate;
mod descriptors;
pub mod route;
pub mod stream;
pub mod tls;
pub mod token;
mod unusable;
mod verify;
pub mod words;

pub use unusable::Unusable;
