//! What happened since the last frame, by operation and phase.

use foldhash::HashMap;

use crate::histogram::Histogram;
use crate::row::{Outcome, Phase, Row};

/// Operations and phases that may have histograms of any size at a time in one tally, about 0.6 MB each.
const DENSE: usize = 128;
/// Those and others whose histograms stay lists of what came in a second: there may be a thousand sets of labels. Beyond that there are
/// counters only.
const MOST: usize = 1280;
/// Pairs of histograms kept for later.
const SPARE: usize = 8;

/// The counters of one operation in one phase, with encoded histograms.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TallyRow {
    /// String id of the operation.
    pub operation: u32,
    /// Whether these are iterations (rows with parent 0).
    pub iteration: bool,
    /// The phase.
    pub phase: Phase,
    /// Counts by the number of the outcome: passed, failed, refused, ambiguous, unfinished, lost.
    pub outcomes: [u64; 6],
    /// Bytes of payload moved.
    pub bytes: u64,
    /// Requests or system calls.
    pub calls: u64,
    /// Of those that did not pass, how many took at least their timeout.
    pub timed_out: u64,
    /// Of the calls, how many repeated an earlier one.
    pub repeated: u64,
    /// Passed by the time of their end: while the load was in `phase`, whenever they were due.
    pub done: u64,
    /// Bytes by the time at which they came: while the load was in `phase`.
    pub moved: u64,
    /// HDR V2 of the response times (end - intended, ns) of what passed; empty when nothing did.
    pub response: Vec<u8>,
    /// HDR V2 of the service times (end - start, ns) of what passed; empty when nothing did.
    pub service: Vec<u8>,
}

struct Pair {
    response: Histogram,
    service: Histogram,
}

impl Pair {
    fn new() -> Self {
        Self { response: Histogram::new(), service: Histogram::new() }
    }

    fn sparse() -> Self {
        Self { response: Histogram::sparse(), service: Histogram::sparse() }
    }

    fn reset(&mut self) {
        self.response.reset();
        self.service.reset();
    }
}

#[derive(Default)]
struct Entry {
    outcomes: [u64; 6],
    bytes: u64,
    calls: u64,
    timed_out: u64,
    repeated: u64,
    done: u64,
    moved: u64,
    times: Option<Pair>,
}

impl Entry {
    fn touched(&self) -> bool {
        self.done > 0 || self.moved > 0 || self.outcomes.iter().any(|count| *count > 0)
    }

    /// Count what ended, and what moved at its end.
    fn end(&mut self, done: u64, moved: u64) {
        self.done += done;
        self.moved += moved;
    }

    fn take_counts(&mut self, from: &mut Self) {
        let counts = std::mem::take(&mut from.outcomes);
        self.outcomes.iter_mut().zip(counts).for_each(|(count, more)| *count += more);
        self.bytes += std::mem::take(&mut from.bytes);
        self.calls += std::mem::take(&mut from.calls);
        self.timed_out += std::mem::take(&mut from.timed_out);
        self.repeated += std::mem::take(&mut from.repeated);
        self.done += std::mem::take(&mut from.done);
        self.moved += std::mem::take(&mut from.moved);
    }
}

type Key = (u32, bool, Phase);

/// What a row does not hold: how the operation lies in the load's life, and its calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// Part of the load's life in which it ended.
    pub ended: Phase,
    /// Whether it did not pass and took at least its timeout.
    pub timed_out: bool,
    /// Calls that repeated an earlier one.
    pub repeated: u32,
    /// Bytes that came at its end.
    pub moved: u64,
}

/// Counters and histograms that grow by rows and are emptied by frames. Memory is taken once for each operation and phase.
#[derive(Default)]
pub struct Tally {
    entries: HashMap<Key, Entry>,
    pairs: Pairs,
}

/// The histograms given to entries, and those that wait to be.
#[derive(Default)]
struct Pairs {
    given: usize,
    spare: Vec<Pair>,
}

impl Pairs {
    fn of<'a>(&mut self, entry: &'a mut Entry) -> Option<&'a mut Pair> {
        if entry.times.is_none() && self.given < MOST {
            self.given += 1;
            let pair = if self.given > DENSE { Pair::sparse() } else { self.spare.pop().unwrap_or_else(Pair::new) };
            entry.times = Some(pair);
        }
        entry.times.as_mut()
    }

    fn take_back(&mut self, entry: &mut Entry) {
        if let Some(pair) = entry.times.take() {
            self.given -= 1;
            if self.spare.len() < SPARE && !pair.response.is_sparse() {
                self.spare.push(pair);
            }
        }
    }
}

impl Tally {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Count a row of something that ended in the phase in which it was due; its bytes came then.
    pub fn add(&mut self, row: &Row) {
        self.add_with(row, &Beside { ended: row.phase, moved: row.bytes, ..Beside::default() });
    }

    /// Count bytes that came while the load was in this phase.
    pub fn moved(&mut self, operation: u32, iteration: bool, phase: Phase, bytes: u64) {
        if bytes > 0 {
            self.entries.entry((operation, iteration, phase)).or_default().moved += bytes;
        }
    }

    /// Count a row; those of its bytes that came before its end are counted by `moved`, as they come.
    #[inline]
    pub fn add_with(&mut self, row: &Row, beside: &Beside) {
        let (iteration, done) = (row.parent == 0, u64::from(row.outcome == Outcome::Passed));
        let apart = beside.ended != row.phase;
        if apart && (done > 0 || beside.moved > 0) {
            self.entries.entry((row.operation, iteration, beside.ended)).or_default().end(done, beside.moved);
        }
        let entry = self.entries.entry((row.operation, iteration, row.phase)).or_default();
        if !apart {
            entry.end(done, beside.moved);
        }
        entry.timed_out += u64::from(beside.timed_out);
        entry.repeated += u64::from(beside.repeated);
        entry.outcomes[row.outcome as usize] += 1;
        entry.bytes += row.bytes;
        entry.calls += u64::from(row.calls);
        if row.outcome == Outcome::Passed
            && let Some(times) = self.pairs.of(entry)
        {
            times.response.record(row.end.saturating_sub(row.intended), 1);
            times.service.record(row.end.saturating_sub(row.start), 1);
        }
    }

    /// Take over everything from another one, which is empty afterwards and keeps its memory.
    pub fn absorb(&mut self, other: &mut Self) {
        let (mine, theirs) = (self, other);
        theirs.entries.retain(|key, from| {
            if !from.touched() {
                theirs.pairs.take_back(from);
                return false;
            }
            let to = mine.entries.entry(*key).or_default();
            to.take_counts(from);
            if let Some(times) = from.times.as_mut().filter(|times| times.response.count() > 0) {
                if let Some(sum) = mine.pairs.of(to) {
                    sum.response.add(&times.response);
                    sum.service.add(&times.service);
                }
                times.reset();
            }
            true
        });
    }

    /// The rows of a frame, by operation id, iterations first; empties the tally. What was idle all the time gives its memory back.
    pub fn drain(&mut self) -> Vec<TallyRow> {
        let mut rows: Vec<TallyRow> = Vec::new();
        self.entries.retain(|key, entry| {
            if entry.touched() {
                rows.push(row(*key, entry));
                return true;
            }
            self.pairs.take_back(entry);
            false
        });
        rows.sort_by_key(|row| (row.operation, !row.iteration, row.phase));
        rows
    }
}

fn row((operation, iteration, phase): Key, entry: &mut Entry) -> TallyRow {
    let mut sum = Entry::default();
    sum.take_counts(entry);
    let Entry { outcomes, bytes, calls, timed_out, repeated, done, moved, .. } = sum;
    let mut row = TallyRow {
        operation,
        iteration,
        phase,
        outcomes,
        bytes,
        calls,
        timed_out,
        repeated,
        done,
        moved,
        ..TallyRow::default()
    };
    if let Some(times) = entry.times.as_mut().filter(|times| times.response.count() > 0) {
        row.response = times.response.encode();
        row.service = times.service.encode();
        times.reset();
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(operation: u32, parent: u64, outcome: Outcome) -> Row {
        Row { operation, parent, outcome, intended: 100, start: 150, end: 250, bytes: 10, calls: 2, ..Row::default() }
    }

    #[test]
    fn counts_by_operation_iteration_and_phase() {
        let mut tally = Tally::new();
        tally.add(&row(2, 0, Outcome::Passed));
        tally.add(&row(2, 0, Outcome::Failed));
        tally.add(&row(2, 7, Outcome::Passed));
        tally.add(&Row { phase: Phase::Ramp, ..row(1, 7, Outcome::Lost) });
        let rows = tally.drain();
        let keys: Vec<_> = rows.iter().map(|row| (row.operation, row.iteration, row.phase, row.outcomes)).collect();
        assert_eq!(
            keys,
            [
                (1, false, Phase::Ramp, [0, 0, 0, 0, 0, 1]),
                (2, true, Phase::Measure, [1, 1, 0, 0, 0, 0]),
                (2, false, Phase::Measure, [1, 0, 0, 0, 0, 0])
            ]
        );
        assert_eq!((rows[1].bytes, rows[1].calls), (20, 4));
        let response = Histogram::decode(&rows[1].response).unwrap();
        assert_eq!((response.count(), response.max()), (1, 150));
        assert_eq!(Histogram::decode(&rows[1].service).unwrap().max(), 100);
        assert!(rows[0].response.is_empty() && rows[0].service.is_empty());
        assert!(tally.drain().is_empty(), "what was drained is gone");
    }

    #[test]
    fn what_passed_and_what_moved_counts_by_the_time_at_which_it_did() {
        let mut tally = Tally::new();
        let due = Row { phase: Phase::Ramp, ..row(3, 0, Outcome::Passed) };
        tally.add_with(&due, &Beside { ended: Phase::Measure, repeated: 2, ..Beside::default() });
        tally.add_with(&row(3, 0, Outcome::Ambiguous), &Beside { timed_out: true, ..Beside::default() });
        tally.moved(3, true, Phase::Measure, 7);
        let rows = tally.drain();
        let told: Vec<_> = rows.iter().map(|row| (row.phase, row.outcomes[0], row.done, row.moved)).collect();
        assert_eq!(told, [(Phase::Ramp, 1, 0, 0), (Phase::Measure, 0, 1, 7)]);
        assert_eq!((rows[0].repeated, rows[1].timed_out), (2, 1));
    }

    #[test]
    fn absorbing_moves_everything_once() {
        let (mut total, mut part) = (Tally::new(), Tally::new());
        part.add(&row(1, 0, Outcome::Passed));
        total.add(&row(1, 0, Outcome::Passed));
        total.absorb(&mut part);
        total.absorb(&mut part);
        assert!(part.entries.is_empty() && part.pairs.spare.len() == 1, "an idle operation gives its memory back");
        part.add(&row(1, 0, Outcome::Refused));
        total.absorb(&mut part);
        let rows = total.drain();
        assert_eq!(rows[0].outcomes, [2, 0, 1, 0, 0, 0]);
        assert_eq!(Histogram::decode(&rows[0].response).unwrap().count(), 2);
    }

    #[test]
    fn memory_stays_bounded_and_counters_stay_right() {
        let mut tally = Tally::new();
        let names = u32::try_from(MOST).unwrap() + 50;
        (1..=names).for_each(|operation| tally.add(&row(operation, 0, Outcome::Passed)));
        assert_eq!(tally.pairs.given, MOST);
        let rows = tally.drain();
        assert_eq!(rows.iter().map(|row| row.outcomes[0]).sum::<u64>(), u64::from(names));
        assert_eq!(rows.iter().filter(|row| row.response.is_empty()).count(), 50);
        assert!(tally.drain().is_empty());
        assert_eq!((tally.pairs.given, tally.pairs.spare.len()), (0, SPARE));
    }
}
