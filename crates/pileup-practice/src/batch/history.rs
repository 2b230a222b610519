//! The accounting: jobs that have ended, kept apart from the queue, so that purges and crashes do not touch it.

use std::collections::{BTreeSet, VecDeque};
use std::ops::Bound;
use std::rc::Rc;

use super::job::Job;

/// The last so many jobs that have ended.
pub(crate) struct History {
    jobs: VecDeque<Job>,
    names: BTreeSet<(Rc<str>, u64)>,
    /// Number of the first that is kept.
    first: u64,
    most: usize,
}

impl History {
    /// Of at most so many jobs.
    pub(crate) fn new(most: usize) -> Self {
        Self { jobs: VecDeque::new(), names: BTreeSet::new(), first: 0, most }
    }

    /// A job has ended.
    pub(crate) fn add(&mut self, job: Job) {
        self.names.insert((Rc::clone(&job.name), self.end()));
        self.jobs.push_back(job);
        while self.jobs.len() > self.most {
            if let Some(job) = self.jobs.pop_front() {
                self.names.remove(&(job.name, self.first));
            }
            self.first += 1;
        }
    }

    /// Number of the one that comes next.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.jobs.len() as u64
    }

    /// All of this name, oldest first.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Job> {
        let name: Rc<str> = Rc::from(name);
        let to = Bound::Included((Rc::clone(&name), u64::MAX));
        self.names.range((Bound::Included((name, 0)), to)).filter_map(|(_, number)| self.get(*number))
    }

    /// From this number on, with their numbers.
    pub(crate) fn since(&self, number: u64) -> impl Iterator<Item = (u64, &Job)> {
        (number.max(self.first)..self.end()).filter_map(|number| Some((number, self.get(number)?)))
    }

    fn get(&self, number: u64) -> Option<&Job> {
        self.jobs.get(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }
}
