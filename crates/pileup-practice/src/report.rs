//! A body that is made while it is sent, and how any body is broken off.

use bytes::Bytes;
use tokio::sync::mpsc::UnboundedReceiver;

/// The body of an answer in pieces, as they are made; an error cuts the connection.
pub(crate) type Report = UnboundedReceiver<Result<Bytes, Cut>>;

/// The connection is closed in the middle of a body, on purpose.
#[derive(Debug)]
pub(crate) struct Cut;

impl std::fmt::Display for Cut {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("cut off on purpose")
    }
}

impl std::error::Error for Cut {}
