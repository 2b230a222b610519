//! Levels of a closed load that are told while it goes on. Times are nanoseconds after the start of the load.

/// How many clients there shall be, from when on: what is in force, then what is told for later.
#[derive(Clone, Debug)]
pub struct Steps {
    /// Time and clients; times grow.
    known: Vec<(u64, u64)>,
}

impl Steps {
    /// With so many clients from the start.
    #[must_use]
    pub fn new(clients: u64) -> Self {
        Self { known: vec![(0, clients)] }
    }

    /// So many clients from `at` on; what was told for later times is void, what was before `now` is forgotten.
    pub fn set(&mut self, at: u64, clients: u64, now: u64) {
        self.known.retain(|(time, _)| *time < at);
        self.known.push((at, clients));
        let past = self.known.iter().filter(|(time, _)| *time <= now).count();
        self.known.drain(..past.saturating_sub(1));
    }

    /// The first time, from `time` on, at which client `number` is wanted; none as far as is known.
    #[must_use]
    pub fn wanted(&self, number: u64, time: u64) -> Option<u64> {
        let ends = self.known.iter().skip(1).map(|(time, _)| *time).chain([u64::MAX]);
        let found = self.known.iter().zip(ends).find(|((_, clients), end)| number < *clients && time < *end);
        found.map(|((begin, _), _)| time.max(*begin))
    }
}
