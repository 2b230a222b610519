//! All bins of a histogram.

/// Bins that take their memory together: a doubling of the time.
pub(crate) const PAGE: usize = 1024;

/// The counts of all bins. Pages of which no bin was ever used are not there: the times of an operation are in a few doublings of the forty.
#[derive(Clone)]
pub(crate) struct All<const PAGES: usize> {
    pages: [Option<Box<[u64; PAGE]>>; PAGES],
    pub(crate) total: u64,
}

impl<const PAGES: usize> All<PAGES> {
    /// All bins, empty.
    pub(crate) fn new() -> Self {
        Self { pages: [const { None }; PAGES], total: 0 }
    }

    #[inline]
    pub(crate) fn put(&mut self, index: u64, count: u64) {
        if count == 0 {
            return;
        }
        let at = index as usize;
        let page = match &mut self.pages[at / PAGE] {
            Some(page) => page,
            none => new_page(none),
        };
        page[at % PAGE] = page[at % PAGE].saturating_add(count);
        self.total = self.total.saturating_add(count);
    }

    pub(crate) fn reset(&mut self) {
        self.pages.iter_mut().flatten().for_each(|page| page.fill(0));
        self.total = 0;
    }

    /// Index and count of each bin that is not empty, in order.
    pub(crate) fn bins(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        let there = self.pages.iter().enumerate().filter_map(|(number, page)| Some((number * PAGE, page.as_ref()?)));
        there.flat_map(|(first, page)| {
            let used = page.iter().enumerate().filter(|(_, count)| **count > 0);
            used.map(move |(at, count)| ((first + at) as u64, *count))
        })
    }
}

#[cold]
fn new_page(page: &mut Option<Box<[u64; PAGE]>>) -> &mut Box<[u64; PAGE]> {
    page.insert(Box::new([0; PAGE]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_come_in_order_and_are_gone_after_a_reset() {
        let mut all = All::<6>::new();
        let put = [(0, 1), (1023, 2), (1024, 3), (3000, 4), (3000, 1), (5120, 6), (2047, 0)];
        for _ in 0..2 {
            put.into_iter().for_each(|(index, count)| all.put(index, count));
            let found = [(0, 1), (1023, 2), (1024, 3), (3000, 5), (5120, 6)];
            assert_eq!(all.bins().collect::<Vec<_>>(), found);
            assert!(all.bins().rev().eq(found.into_iter().rev()));
            assert_eq!(all.total, 17);
            all.reset();
            assert_eq!((all.bins().count(), all.total), (0, 0));
        }
        all.put(3001, 1);
        assert_eq!(all.bins().collect::<Vec<_>>(), [(3001, 1)], "what was reset does not come back");
    }

    #[test]
    fn only_pages_in_use_take_memory() {
        let mut all = All::<40>::new();
        [5000, 5001, 9000].into_iter().for_each(|index| all.put(index, 1));
        assert_eq!(all.pages.iter().flatten().count(), 2);
        all.put(40 * 1024 - 1, 1);
        assert_eq!(all.bins().next_back(), Some((40 * 1024 - 1, 1)));
    }
}
