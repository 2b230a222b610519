//! S3: the client of the engine for protocol `s3`.
//!
//! `settings` say where the bucket is and who we are, `sign` signs every request (Signature Version 4: `canonical` is what is signed, `stamp` its
//! time), `bucket` has the requests of a client, `client` does the verbs of a program, `plan` says which request each of them is, `judge` whether an answer passes, `error` why not,
//! `parts` uploads in parts, `sums` are checksums, `document`, `listing` and `uploads` read XML. `plane` is the same for a caller that waits,
//! `probe` gives the parsers to a fuzzer. Below it is `pileup-http1`.

mod bucket;
mod canonical;
mod client;
mod document;
mod error;
mod judge;
mod listing;
mod parts;
mod plan;
pub mod plane;
pub mod probe;
mod settings;
mod sign;
mod stamp;
mod sums;
mod uploads;

pub use bucket::S3Client;
pub use client::S3Factory;
