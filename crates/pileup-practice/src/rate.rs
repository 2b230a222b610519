//! At most so many acts per second: a bucket that fills with time (of a second's worth, of one at least).

/// What may still be done now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// Per second.
    rate: f64,
    left: f64,
    /// When that was looked up, ns.
    since: i64,
}

impl Bucket {
    /// A full one; `rate` per second.
    pub(crate) fn new(rate: f64, now: i64) -> Self {
        Self { rate, left: rate.max(1.0), since: now }
    }

    /// Take one out; false: it is empty.
    pub(crate) fn take(&mut self, now: i64) -> bool {
        let came = (now - self.since).max(0) as f64 / 1e9 * self.rate;
        (self.left, self.since) = ((self.left + came).min(self.rate.max(1.0)), now);
        let enough = self.left >= 1.0;
        self.left -= if enough { 1.0 } else { 0.0 };
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_gives_as_many_as_the_rate_says() {
        let mut bucket = Bucket::new(3.0, 0);
        assert_eq!((0..5).filter(|_| bucket.take(0)).count(), 3);
        assert_eq!((0..50).filter(|at| bucket.take(1_000_000_000 + at * 20_000_000)).count(), 5); // 3, and 2.94 more come
        let mut slow = Bucket::new(0.5, 0);
        assert!(slow.take(0) && !slow.take(1_900_000_000) && slow.take(2_000_000_000));
    }
}
