//! All bins of a histogram.

/// The counts of all bins. Only those from the first to the last that is not empty are looked at: an operation uses a small part of them.
#[derive(Clone)]
pub(crate) struct All {
    counts: Vec<u64>,
    pub(crate) total: u64,
    /// The first bin that is not empty, and the one behind the last; their number and 0 when all are.
    pub(crate) used: (usize, usize),
}

impl All {
    /// So many bins, all empty.
    pub(crate) fn new(bins: usize) -> Self {
        Self { counts: vec![0; bins], total: 0, used: (bins, 0) }
    }

    pub(crate) fn put(&mut self, index: u64, count: u64) {
        let at = index as usize;
        if count == 0 {
            return;
        }
        self.counts[at] = self.counts[at].saturating_add(count);
        self.total = self.total.saturating_add(count);
        self.used = (self.used.0.min(at), self.used.1.max(at + 1));
    }

    pub(crate) fn reset(&mut self) {
        let (begin, end) = self.used;
        if begin < end {
            self.counts[begin..end].fill(0);
        }
        (self.total, self.used) = (0, (self.counts.len(), 0));
    }

    /// Index and count of each bin that is not empty, in order.
    pub(crate) fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (begin, end) = self.used;
        (begin..end).map(|at| (at as u64, self.counts[at])).filter(|bin| bin.1 > 0)
    }
}
