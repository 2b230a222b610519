//! Which fault a request meets: drawn from (seed, number of the fault, number of the request), so that a run can be had again.

use pileup_schedule::{bits, unit};

use crate::front::{Fault, Kind};

/// First of the streams of draws that belong to faults; stream 0 is the service time.
const STREAM: u64 = 1 << 32;

/// The faults of a server.
pub(crate) struct Faults {
    faults: Vec<Fault>,
    seed: u64,
    /// When the server started, ns since the epoch.
    start: i64,
}

/// What a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Met {
    /// What.
    pub(crate) kind: Kind,
    /// For an error its status.
    pub(crate) status: u16,
    /// For a stall or a ghost how long.
    pub(crate) length: i64,
    /// A draw for whatever else is random (which byte is wrong).
    pub(crate) draw: u64,
}

impl Faults {
    /// Faults of a server that starts at this time.
    pub(crate) fn new(faults: Vec<Fault>, seed: u64, start: i64) -> Self {
        Self { faults, seed, start }
    }

    /// What the request of this number meets when it comes at `time`: the first fault of the list that hits it.
    pub(crate) fn meet(&self, number: u64, method: &str, path: &str, time: i64) -> Option<Met> {
        for (place, fault) in self.faults.iter().enumerate() {
            let is_window = fault.kind == Kind::Stall && fault.at.is_some();
            let concerned = (fault.methods.is_empty() || fault.methods.iter().any(|name| name == method))
                && (fault.paths.is_empty() || fault.paths.iter().any(|begin| path.starts_with(begin)));
            if is_window || !concerned || !self.is_active(fault, time) {
                continue;
            }
            let stream = STREAM + 2 * place as u64;
            if unit(self.seed, stream, number) < fault.share {
                let length = fault.length.unwrap_or(0);
                let draw = bits(self.seed, stream + 1, number);
                return Some(Met { kind: fault.kind, status: fault.status, length, draw });
            }
        }
        None
    }

    fn is_active(&self, fault: &Fault, time: i64) -> bool {
        if matches!(fault.kind, Kind::Stall | Kind::Ghost) {
            return true; // `for` is how long the answer takes, not a window
        }
        let begin = self.start.saturating_add(fault.at.unwrap_or(0));
        time >= begin && fault.length.is_none_or(|length| time < begin.saturating_add(length))
    }

    /// The end of the windows in which nothing is served, when `time` is in one.
    pub(crate) fn frozen_until(&self, time: i64) -> Option<i64> {
        let mut until = time;
        // Windows may touch or overlap: go on until none holds any more.
        while let Some(end) = self.windows().find(|(begin, end)| (*begin..*end).contains(&until)).map(|(_, end)| end) {
            until = end;
        }
        if until > time { Some(until) } else { None }
    }

    fn windows(&self) -> impl Iterator<Item = (i64, i64)> {
        self.faults.iter().filter(|fault| fault.kind == Kind::Stall).filter_map(|fault| {
            let begin = self.start.saturating_add(fault.at?);
            Some((begin, begin.saturating_add(fault.length?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(json: &str) -> Faults {
        Faults::new(serde_json::from_str(json).unwrap(), 7, 1000)
    }

    #[test]
    fn the_share_is_kept_and_repeats() {
        let some = faults(r#"[{"kind": "refuse", "share": 0.25}, {"kind": "error", "share": 0.5, "status": 502}]"#);
        let met: Vec<_> = (0..40_000).map(|number| some.meet(number, "GET", "/a", 5000).map(|met| met.kind)).collect();
        let share = |kind| met.iter().filter(|met| **met == kind).count() as f64 / 40_000.0;
        assert!((share(Some(Kind::Refuse)) - 0.25).abs() < 0.01);
        assert!((share(Some(Kind::Error)) - 0.375).abs() < 0.01, "half of those that the first leaves");
        assert_eq!(some.meet(17, "GET", "/a", 5000), some.meet(17, "GET", "/a", 9999));
        assert!((0..1000).all(|number| faults(r#"[{"kind": "error"}]"#).meet(number, "PUT", "/a", 0x1000).is_some()));
        assert!(
            (0..1000)
                .all(|number| faults(r#"[{"kind": "error", "share": 0}]"#).meet(number, "PUT", "/a", 0x1000).is_none())
        );
    }

    #[test]
    fn windows_and_methods_bound_it() {
        let some = faults(r#"[{"kind": "error", "at": 100, "for": 50, "methods": ["PUT"]}]"#);
        assert!(some.meet(1, "PUT", "/a", 1099).is_none() && some.meet(1, "PUT", "/a", 1100).is_some());
        assert!(some.meet(1, "PUT", "/a", 1149).is_some() && some.meet(1, "PUT", "/a", 1150).is_none());
        assert!(some.meet(1, "GET", "/a", 1120).is_none());
    }

    #[test]
    fn paths_are_known_by_how_they_begin() {
        let some = faults(r#"[{"kind": "ghost", "for": 9, "paths": ["/jobs", "/b"]}]"#);
        assert_eq!(some.meet(1, "PUT", "/jobs/7", 5000).map(|met| (met.kind, met.length)), Some((Kind::Ghost, 9)));
        assert!(some.meet(1, "PUT", "/job", 5000).is_none());
    }

    #[test]
    fn overlapping_stalls_are_one() {
        let some = faults(
            r#"[{"kind": "stall", "at": 100, "for": 50}, {"kind": "stall", "at": 140, "for": 60}, {"kind": "stall", "at": 200, "for": 10}]"#,
        );
        assert_eq!(some.frozen_until(1099), None);
        assert_eq!(some.frozen_until(1100), Some(1210));
        assert_eq!(some.frozen_until(1209), Some(1210));
        assert_eq!(some.frozen_until(1210), None);
        assert!(some.meet(1, "GET", "/a", 1120).is_none(), "a frozen server still answers rightly");
    }
}
