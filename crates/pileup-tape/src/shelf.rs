//! Where cartridges are, and who waits for them.

use std::collections::{BTreeSet, VecDeque};

/// Cartridges with their queues. A cartridge is `ready` if something waits for it and nobody is at work with it.
pub(crate) struct Shelf {
    waiting: Vec<VecDeque<u64>>,
    /// In the hands of a drive that is busy, or of the robot.
    held: Vec<bool>,
    /// (first request, cartridge).
    ready: BTreeSet<(u64, u32)>,
    count: usize,
}

impl Shelf {
    pub(crate) fn new(cartridges: u32) -> Self {
        let number = cartridges as usize;
        Self { waiting: vec![VecDeque::new(); number], held: vec![false; number], ready: BTreeSet::new(), count: 0 }
    }

    /// Requests that wait.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The ready cartridge with the oldest request.
    pub(crate) fn first(&self) -> Option<u32> {
        self.ready.first().map(|(_, cartridge)| *cartridge)
    }

    /// Let a request wait: at the end, or in front of all others.
    pub(crate) fn add(&mut self, cartridge: u32, request: u64, first: bool) {
        self.change(cartridge, |queue| if first { queue.push_front(request) } else { queue.push_back(request) });
        self.count += 1;
    }

    /// Take the first request of a cartridge.
    pub(crate) fn pop(&mut self, cartridge: u32) -> Option<u64> {
        let found = self.change(cartridge, VecDeque::pop_front);
        self.count -= usize::from(found.is_some());
        found
    }

    /// Take out a request. Whether it waited.
    pub(crate) fn remove(&mut self, cartridge: u32, request: u64) -> bool {
        let found = self.change(cartridge, |queue| {
            let place = queue.iter().position(|each| *each == request);
            place.and_then(|place| queue.remove(place)).is_some()
        });
        self.count -= usize::from(found);
        found
    }

    /// Somebody takes a cartridge, or lets it go.
    pub(crate) fn hold(&mut self, cartridge: u32, held: bool) {
        self.unready(cartridge);
        self.held[cartridge as usize] = held;
        self.make_ready(cartridge);
    }

    fn change<T>(&mut self, cartridge: u32, act: impl FnOnce(&mut VecDeque<u64>) -> T) -> T {
        self.unready(cartridge);
        let found = act(&mut self.waiting[cartridge as usize]);
        self.make_ready(cartridge);
        found
    }

    fn unready(&mut self, cartridge: u32) {
        if let Some(first) = self.waiting[cartridge as usize].front() {
            self.ready.remove(&(*first, cartridge));
        }
    }

    fn make_ready(&mut self, cartridge: u32) {
        if let Some(first) = self.waiting[cartridge as usize].front().filter(|_| !self.held[cartridge as usize]) {
            self.ready.insert((*first, cartridge));
        }
    }
}
