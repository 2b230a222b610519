//! What has changed since when: clients need not ask for every job.

use std::collections::VecDeque;

/// The last change of each job, in order. A job that changes again moves to the end.
#[derive(Default)]
pub(crate) struct Changes {
    /// (number of the change, id of the job). One that is not the job's last is out of date.
    list: VecDeque<(u64, u64)>,
    last: u64,
}

impl Changes {
    /// Note that a job has changed; returns the number of the change.
    pub(crate) fn note(&mut self, id: u64) -> u64 {
        self.last += 1;
        self.list.push_back((self.last, id));
        self.last
    }

    /// Number of the last change.
    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Changes after this one in order, those out of date too.
    pub(crate) fn since(&self, change: u64) -> impl Iterator<Item = (u64, u64)> {
        let from = self.list.partition_point(|(number, _)| *number <= change);
        self.list.range(from..).copied()
    }

    /// Forget what is out of date when that is most of the list. `holds` shows whether a change is its job's last.
    pub(crate) fn tidy(&mut self, jobs: usize, holds: impl Fn(u64, u64) -> bool) {
        if self.list.len() > 2 * jobs + 4096 {
            self.list.retain(|(number, id)| holds(*number, *id));
            self.list.shrink_to(jobs + 4096);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_in_order_and_forgotten_when_out_of_date() {
        let mut changes = Changes::default();
        let numbers: Vec<_> = [7, 8, 7].map(|id| changes.note(id)).into();
        assert_eq!((numbers, changes.last()), (vec![1, 2, 3], 3));
        assert_eq!(changes.since(1).collect::<Vec<_>>(), [(2, 8), (3, 7)]);
        assert_eq!(changes.since(9).count(), 0);
        for _ in 0..5000 {
            changes.note(9);
        }
        changes.tidy(2, |number, id| number == 3 || (id == 9 && number == 5003));
        assert_eq!(changes.since(0).collect::<Vec<_>>(), [(3, 7), (5003, 9)]);
    }
}
