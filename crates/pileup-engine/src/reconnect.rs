//! Pauses after connections that could not be made, so that a server that is down is not overloaded and can recover.
//!
//! The first pause of a client is drawn from a tenth to a fifth of the longest, the next from twice that, and so on; from the fourth on they are
//! drawn from half of the longest to all of it. Drawn from (seed, client, number), so that a run can be done again, and so that clients that were
//! cut off together do not come back together. A successful connection starts the series again.

use pileup_schedule::{Load, bits};

/// Streams of the draws, one for each client.
const PAUSES: u64 = 0x7061_7573_6573_0000;

/// One client: pauses in a row, and pauses in all.
#[derive(Clone, Copy, Default)]
struct Paused {
    in_row: u32,
    drawn: u64,
}

/// The pauses of the clients of one shard.
pub struct Reconnect {
    seed: u64,
    /// The longest, ns; 0: none.
    most: u64,
    /// Whether the load has a time: one that has a number of iterations ends the sooner without pauses.
    timed: bool,
    /// By the client's place in the shard.
    clients: Vec<Paused>,
}

impl Reconnect {
    /// Of a load; without pauses until `set`.
    #[must_use]
    pub fn new(load: &Load) -> Self {
        Self { seed: load.seed, most: 0, timed: load.end().is_some() || load.endless, clients: Vec::new() }
    }

    /// The longest pause, ns; 0: none.
    pub fn set(&mut self, most: u64) {
        self.most = most;
    }

    /// The pause of a client whose iteration has ended, ns: `unreachable` says whether for lack of a connection.
    pub fn after(&mut self, client: u32, place: usize, unreachable: bool) -> u64 {
        if !unreachable {
            if let Some(paused) = self.clients.get_mut(place) {
                paused.in_row = 0;
            }
            return 0;
        }
        if self.most == 0 || !self.timed {
            return 0;
        }
        if self.clients.len() <= place {
            self.clients.resize(place + 1, Paused::default());
        }
        let paused = &mut self.clients[place];
        let first = (self.most / 10).max(1);
        let low = first.saturating_mul(1 << paused.in_row.min(3)).min(self.most / 2);
        let high = first.saturating_mul(2 << paused.in_row.min(3)).min(self.most);
        let drawn = bits(self.seed, PAUSES ^ u64::from(client), paused.drawn);
        (paused.in_row, paused.drawn) = (paused.in_row + 1, paused.drawn + 1);
        low + drawn % (high - low + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn pauses(load: &str, most: u64, client: u32) -> Vec<u64> {
        let base = r#""case": 1, "name": "t", "target": 0, "place": 0, "shard": 0, "shards": 1, "start": 0, "arrivals": "constant", "ramp": 0,
            "warm_up": 0, "think": null, "phase": null, "timeout": 5, "pacing": "normal", "workers": 1, "errors_in_a_row": null,
            "operations": null, "rate": null"#;
        let load: Load = serde_json::from_str(&format!("{{{base}, {load}}}")).unwrap();
        let mut reconnect = Reconnect::new(&load);
        reconnect.set(most);
        let mut all: Vec<_> = (0..6).map(|_| reconnect.after(client, 0, true)).collect();
        assert_eq!(reconnect.after(client, 0, false), 0);
        all.push(reconnect.after(client, 0, true));
        all
    }

    fn closed(seed: u64) -> String {
        format!(r#""seed": {seed}, "kind": "closed", "clients": 4, "times": null, "for": 9000000000"#)
    }

    #[test]
    fn t23_pauses_grow_from_a_tenth_to_the_whole_and_begin_anew_after_a_connection() {
        for seed in 0..50 {
            let all = pauses(&closed(seed), SECOND, 3);
            let tenths = [(1, 2), (2, 4), (4, 8), (5, 10), (5, 10), (5, 10), (1, 2)];
            for (pause, (low, high)) in all.iter().zip(tenths) {
                assert!((low * SECOND / 10..=high * SECOND / 10).contains(pause), "{all:?}");
            }
            assert_eq!(all, pauses(&closed(seed), SECOND, 3), "the same seed draws the same");
            assert_ne!(all, pauses(&closed(seed), SECOND, 2), "clients do not come back together");
            assert_ne!(all, pauses(&closed(seed + 1), SECOND, 3));
        }
    }

    #[test]
    fn t23_none_when_switched_off_and_none_in_a_load_of_a_number() {
        assert_eq!(pauses(&closed(1), 0, 3), [0; 7]);
        let times = r#""seed": 1, "kind": "times", "clients": null, "times": 100, "for": null"#;
        assert_eq!(pauses(times, SECOND, 3), [0; 7]);
        assert!(pauses(&closed(1), 1, 3).iter().all(|pause| *pause <= 1));
    }
}
