//! Library time, which begins with 0 and runs so many times faster than real time.

/// How the two times belong together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begin: i64,
    speed_up: f64,
}

impl Clock {
    /// Of a library that begins at this real time, ns since the epoch.
    pub(crate) fn new(begin: i64, speed_up: f64) -> Self {
        Self { begin, speed_up }
    }

    /// The library time at a real time, both ns.
    pub(crate) fn to_library(self, real: i64) -> i64 {
        (real.saturating_sub(self.begin).max(0) as f64 * self.speed_up) as i64
    }

    /// The first real time at which it is this library time, both ns.
    pub(crate) fn to_real(self, time: i64) -> i64 {
        self.begin.saturating_add((time as f64 / self.speed_up).ceil() as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: i64 = 1_800_000_000_000_000_000;

    #[test]
    fn times_there_and_back() {
        for speed_up in [0.5, 1.0, 60.0, 1000.0] {
            let clock = Clock::new(BEGIN, speed_up);
            for time in [0, 1, 999, 7_000_000_001, 36_000_000_000_000] {
                let back = clock.to_library(clock.to_real(time));
                assert!((0..=speed_up.ceil() as i64).contains(&(back - time)), "{time} x {speed_up}: {back}");
            }
        }
        assert_eq!(Clock::new(BEGIN, 60.0).to_library(BEGIN + 1_000_000_000), 60_000_000_000);
        assert_eq!(Clock::new(BEGIN, 60.0).to_library(BEGIN - 1), 0);
    }
}
