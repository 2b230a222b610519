//! Where workers wait until all of them are ready to begin, or have given up.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Opens when as many have arrived or left as were expected.
pub struct Gate {
    missing: Mutex<u32>,
    open: Condvar,
}

impl Gate {
    /// For so many.
    pub const fn new(expected: u32) -> Self {
        Self { missing: Mutex::new(expected), open: Condvar::new() }
    }

    /// Wait for the others.
    pub fn arrive(&self) {
        let missing = self.count_down(1);
        drop(self.open.wait_while(missing, |missing| *missing > 0).unwrap_or_else(PoisonError::into_inner));
    }

    /// This many will not arrive.
    pub fn leave(&self, number: u32) {
        drop(self.count_down(number));
    }

    fn count_down(&self, number: u32) -> MutexGuard<'_, u32> {
        let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        *missing = missing.saturating_sub(number);
        if *missing == 0 {
            self.open.notify_all();
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_for_those_who_came_when_the_others_have_left() {
        let gate = Gate::new(4);
        std::thread::scope(|scope| {
            scope.spawn(|| gate.arrive());
            scope.spawn(|| gate.arrive());
            gate.leave(1);
            assert_ne!(*gate.missing.lock().unwrap(), 0);
            gate.leave(1);
        });
        assert_eq!(*gate.missing.lock().unwrap(), 0);
    }
}
