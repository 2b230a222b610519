//! Stagers over one library: each worker node hands it at most so many requests at a time, and keeps the others in the order of coming.

use std::collections::VecDeque;

use crate::event::{Event, What};
use crate::library::Library;

/// A request that a stager was asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    node: usize,
    key: u64,
    size: u64,
    /// Number of the request to the library, once it has it.
    library: Option<u64>,
}

/// The stager of a worker node.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Requests that are not handed over yet.
    queue: VecDeque<u64>,
    /// Requests that the library has.
    handed: usize,
}

/// The stagers with their library. A request has one number for both; the library's event `queued` is its hand-over.
pub struct Stagers {
    library: Library,
    nodes: Vec<Node>,
    /// Requests of a node that the library has at a time; 0: no limit.
    max_transfers: usize,
    asked: Vec<Asked>,
    /// The request of each request to the library.
    handed: Vec<u64>,
    events: Vec<Event>,
}

impl Stagers {
    /// So many nodes before a library of their own.
    #[must_use]
    pub fn new(library: Library, nodes: usize, max_transfers: usize) -> Self {
        let nodes = vec![Node::default(); nodes];
        Self { library, nodes, max_transfers, asked: Vec::new(), handed: Vec::new(), events: Vec::new() }
    }

    /// Let everything happen that is due by now; what is handed over when a request ends is handed over at that time.
    pub fn advance(&mut self, now: i64) {
        while let Some(time) = self.library.next().filter(|time| *time <= now) {
            self.library.advance(time);
            self.settle(time);
        }
        self.library.advance(now);
    }

    /// When the next thing is due; none: nothing is under way.
    #[must_use]
    pub fn next(&self) -> Option<i64> {
        self.library.next()
    }

    /// What has happened since this was asked last, in order; requests by the numbers of `submit`.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Ask the stager of a node for a file. Returns the number of the request, from 0; none: there is no such node.
    pub fn submit(&mut self, now: i64, node: usize, key: u64, size: u64) -> Option<u64> {
        self.advance(now);
        let stager = self.nodes.get_mut(node)?;
        let number = self.asked.len() as u64;
        stager.queue.push_back(number);
        self.asked.push(Asked { node, key, size, library: None });
        self.hand_over(node, now);
        self.settle(now);
        Some(number)
    }

    /// Take a request back. Whether it had not come to its end before.
    pub fn cancel(&mut self, now: i64, number: u64) -> bool {
        self.advance(now);
        let known = usize::try_from(number).ok().and_then(|place| self.asked.get(place).copied());
        let Some(asked) = known else { return false };
        if let Some(request) = asked.library {
            let cancelled = self.library.cancel(now, request);
            self.settle(now);
            return cancelled;
        }
        let queue = &mut self.nodes[asked.node].queue;
        let Some(place) = queue.iter().position(|each| *each == number) else { return false };
        queue.remove(place);
        self.events.push(Event { time: now, what: What::Cancelled, request: Some(number), drive: None });
        true
    }

    /// The library behind them.
    #[must_use]
    pub fn library(&self) -> &Library {
        &self.library
    }

    /// Requests that are not handed over yet, of all nodes.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.nodes.iter().map(|node| node.queue.len()).sum()
    }

    /// Take over what happened in the library, and hand on what may be handed over since.
    fn settle(&mut self, now: i64) {
        loop {
            let events = self.library.take_events();
            if events.is_empty() {
                return;
            }
            for event in events {
                self.note(event, now);
            }
        }
    }

    fn note(&mut self, event: Event, now: i64) {
        let place = event.request.and_then(|request| usize::try_from(request).ok());
        let number = place.and_then(|place| self.handed.get(place).copied());
        self.events.push(Event { request: number, ..event });
        let over = matches!(event.what, What::Delivered | What::Unreadable | What::Cancelled | What::Lost);
        if let Some(number) = number.filter(|_| over) {
            let node = self.asked[usize::try_from(number).unwrap_or(usize::MAX)].node;
            self.nodes[node].handed -= 1;
            self.hand_over(node, now);
        }
    }

    fn hand_over(&mut self, node: usize, now: i64) {
        let stager = &mut self.nodes[node];
        while self.max_transfers == 0 || stager.handed < self.max_transfers {
            let Some(number) = stager.queue.pop_front() else { return };
            stager.handed += 1;
            self.handed.push(number);
            let asked = &mut self.asked[usize::try_from(number).unwrap_or(usize::MAX)];
            asked.library = Some(self.library.submit(now, asked.key, asked.size));
        }
    }
}

#[cfg(test)]
mod tests {
    use pileup_schedule::Law;
    use proptest::prelude::*;

    use super::*;
    use crate::rules::{Order, Rules};

    const S: i64 = 1_000_000_000;
    const MB: u64 = 1_000_000;

    /// One cartridge, one drive of 1 MB/s, 10 s to mount, no seek.
    fn small() -> Rules {
        Rules {
            drives: 1,
            cartridges: 1,
            mount: Law::Fixed(10_000_000_000),
            dismount: Law::Fixed(0),
            seek: Law::Fixed(0),
            speed: 1e6,
            ..Rules::default()
        }
    }

    fn times(stagers: &mut Stagers, what: What) -> Vec<(u64, i64)> {
        let events = stagers.take_events();
        events.iter().filter(|event| event.what == what).map(|event| (event.request.unwrap(), event.time / S)).collect()
    }

    #[test]
    fn a_node_hands_over_the_next_when_one_is_delivered() {
        let mut stagers = Stagers::new(Library::new(small(), 0), 2, 1);
        for node in [0, 0, 1] {
            stagers.submit(0, node, 1, 5 * MB).unwrap();
        }
        assert_eq!((stagers.waiting(), stagers.library().waiting()), (1, 1));
        stagers.advance(1000 * S);
        let events = stagers.take_events();
        let of = |what| {
            let found = events.iter().filter(|event| event.what == what);
            found.map(|event| (event.request, event.time / S)).collect::<Vec<_>>()
        };
        assert_eq!(of(What::Queued), [(Some(0), 0), (Some(2), 0), (Some(1), 15)]);
        assert_eq!(of(What::Delivered), [(Some(0), 15), (Some(2), 20), (Some(1), 25)]);
        assert_eq!(stagers.submit(0, 2, 1, MB), None);
    }

    #[test]
    fn no_limit_hands_over_at_once() {
        let mut stagers = Stagers::new(Library::new(small(), 0), 1, 0);
        for key in 0..100 {
            stagers.submit(0, 0, key, MB);
        }
        assert_eq!(stagers.waiting(), 0);
        assert_eq!(times(&mut stagers, What::Queued).len(), 100);
    }

    #[test]
    fn what_waits_at_the_stager_can_be_taken_back_and_what_the_library_has_frees_its_place() {
        let mut stagers = Stagers::new(Library::new(small(), 0), 1, 1);
        for _ in 0..3 {
            stagers.submit(0, 0, 1, MB);
        }
        assert!(stagers.cancel(S, 1), "it waits at the stager");
        assert!(stagers.cancel(2 * S, 0), "the library has it");
        assert!(!stagers.cancel(2 * S, 0) && !stagers.cancel(2 * S, 1) && !stagers.cancel(2 * S, 9));
        assert_eq!(times(&mut stagers, What::Cancelled), [(1, 1), (0, 2)]);
        stagers.advance(100 * S);
        let delivered = times(&mut stagers, What::Delivered);
        assert_eq!(delivered.iter().map(|each| each.0).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_request_that_is_lost_does_not_keep_its_place() {
        let mut stagers = Stagers::new(Library::new(Rules { lost: 1.0, ..small() }, 0), 1, 1);
        for _ in 0..3 {
            stagers.submit(0, 0, 1, MB);
        }
        assert_eq!(times(&mut stagers, What::Lost), [(0, 0), (1, 0), (2, 0)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

        #[test]
        fn no_node_has_more_at_the_library_than_it_may(
            nodes in 1_usize..4,
            most in 1_usize..4,
            fifo in any::<bool>(),
            asked in prop::collection::vec((0_i64..20, 0_usize..4, 0_u64..50, 0_u64..20, 0_u8..10), 1..60),
        ) {
            let order = if fifo { Order::Fifo } else { Order::Cartridge };
            let rules = Rules { drives: 2, cartridges: 9, lost: 0.05, order, ..small() };
            let mut stagers = Stagers::new(Library::new(rules, 0), nodes, most);
            let (mut now, mut of) = (0, Vec::new());
            for (later, node, key, size, cancel) in asked {
                now += later * S;
                let number = stagers.submit(now, node % nodes, key, size * MB).unwrap();
                of.push(node % nodes);
                if cancel == 0 {
                    stagers.cancel(now, number / 2);
                }
            }
            while let Some(time) = stagers.next() {
                stagers.advance(time);
            }
            let (mut ended, mut handed) = (0, vec![false; of.len()]);
            let mut at_library = vec![0_usize; nodes];
            for event in stagers.take_events() {
                let Some(place) = event.request.and_then(|number| usize::try_from(number).ok()) else { continue };
                match event.what {
                    What::Queued => {
                        handed[place] = true;
                        at_library[of[place]] += 1;
                        prop_assert!(at_library[of[place]] <= most);
                    }
                    What::Delivered | What::Lost | What::Cancelled => {
                        ended += 1;
                        at_library[of[place]] -= usize::from(handed[place]);
                    }
                    _ => {}
                }
            }
            prop_assert_eq!((ended, stagers.waiting()), (of.len(), 0));
        }
    }
}
