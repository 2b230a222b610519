//! The bandwidth of a path: one line each way, which all connections share.

use std::cell::Cell;

/// How much may be made up for after a moment in which nobody could send, ns: a late wake-up must not be lost for good.
const CREDIT: i64 = 1_000_000;
/// How far ahead the line may be booked, ns: what would leave later waits in the sender's own machine.
const AHEAD: i64 = 5_000_000;

/// One way of a line.
#[derive(Default)]
pub(crate) struct Link {
    /// When the last byte that was booked has left, ns.
    free: Cell<i64>,
}

impl Link {
    /// When so many bytes that are there at `time` have left. Calling it books them.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // pieces of at most 1 MiB: exact, and far below 2^63
    pub(crate) fn book(&self, bytes: usize, bandwidth: Option<f64>, time: i64) -> i64 {
        let Some(rate) = bandwidth else { return time };
        let from = self.free.get().max(time - CREDIT);
        let left = from + (bytes as f64 * 1e9 / rate).ceil() as i64;
        self.free.set(left);
        left.max(time)
    }

    /// When more may be taken in.
    pub(crate) fn opens(&self, bandwidth: Option<f64>) -> i64 {
        if bandwidth.is_some() { self.free.get() - AHEAD } else { i64::MIN }
    }
}

/// Bytes to take in at a time: 1 ms of the bandwidth, within bounds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
pub(crate) fn piece(bandwidth: Option<f64>, most: usize) -> usize {
    bandwidth.map_or(most, |rate| (rate / 1000.0).clamp(1448.0, most as f64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_leave_one_after_another() {
        let link = Link::default();
        let rate = Some(1e6);
        let start = 1_000_000_000;
        let first = link.book(1000, rate, start);
        assert_eq!(first, start, "1 ms that was not used is made up for");
        assert_eq!(link.book(1000, rate, start), start + 1_000_000);
        assert_eq!(link.book(5000, rate, start), start + 6_000_000);
        assert_eq!(link.opens(rate), start + 1_000_000);
        assert_eq!(link.book(5000, None, start), start);
        assert_eq!((piece(None, 4096), piece(Some(1e6), 4096), piece(Some(2e6), 4096)), (4096, 1448, 2000));
    }
}
