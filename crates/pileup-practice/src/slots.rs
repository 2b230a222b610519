//! The slots in which requests are served, and the queue before them: first come, first served.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use pileup_pacer::clock::now;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Slots with a bounded queue.
pub(crate) struct Slots {
    /// Tokio's semaphore gives permits in the order in which they were asked for.
    permits: Semaphore,
    /// Since when each free slot is free.
    free: RefCell<BinaryHeap<Reverse<i64>>>,
    waiting: Cell<usize>,
    queue: usize,
}

/// A slot that is held.
pub(crate) struct Slot<'a> {
    slots: &'a Slots,
    _permit: SemaphorePermit<'a>,
    /// Since when it had been free.
    since: i64,
    /// From when on it is free again, where that is known.
    until: Cell<Option<i64>>,
}

/// A place in the queue.
struct Place<'a>(&'a Cell<usize>);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.free.borrow_mut().push(Reverse(self.until.get().unwrap_or_else(now)));
    }
}

impl Slot<'_> {
    /// Since when the slot had been free.
    pub(crate) fn since(&self) -> i64 {
        self.since
    }

    /// Give it back, free from a time on. One that is dropped, because its request was given up, is free from now on.
    pub(crate) fn free(self, from: i64) {
        self.until.set(Some(from));
    }
}

impl Slots {
    /// This many slots, and at most `queue` requests waiting for one.
    pub(crate) fn new(slots: usize, queue: usize) -> Self {
        let free = RefCell::new(vec![Reverse(0); slots].into());
        Self { permits: Semaphore::new(slots), free, waiting: Cell::new(0), queue }
    }

    /// Wait for a slot, the one that has been free for longest. `None`: the queue is full. Dropping the future leaves the queue.
    pub(crate) async fn take(&self) -> Option<Slot<'_>> {
        if let Ok(permit) = self.permits.try_acquire() {
            return Some(self.slot(permit));
        }
        if self.waiting.get() >= self.queue {
            return None;
        }
        self.waiting.set(self.waiting.get() + 1);
        let _place = Place(&self.waiting);
        self.permits.acquire().await.ok().map(|permit| self.slot(permit))
    }

    fn slot<'a>(&'a self, permit: SemaphorePermit<'a>) -> Slot<'a> {
        let since = self.free.borrow_mut().pop().map_or(0, |Reverse(since)| since);
        Slot { slots: self, _permit: permit, since, until: Cell::new(None) }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use tokio::task::{LocalSet, spawn_local, yield_now};

    use super::*;

    #[test]
    fn first_come_first_served_and_no_more_than_the_queue_holds() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let slots = Rc::new(Slots::new(2, 3));
            let served = Rc::new(RefCell::new(Vec::new()));
            let (first, second) = (slots.take().await.unwrap(), slots.take().await.unwrap());
            let mut tasks = Vec::new();
            for number in 0..3 {
                let (slots, served) = (Rc::clone(&slots), Rc::clone(&served));
                tasks.push(spawn_local(async move {
                    let permit = slots.take().await.unwrap();
                    served.borrow_mut().push(number);
                    yield_now().await;
                    drop(permit);
                }));
                yield_now().await;
            }
            assert!(slots.take().await.is_none(), "the queue is full");
            tasks[0].abort();
            yield_now().await;
            assert_eq!(slots.waiting.get(), 2, "who leaves gives up his place");
            drop(first);
            assert!(slots.permits.try_acquire().is_err(), "nobody overtakes");
            drop(second);
            for task in tasks.drain(1..) {
                task.await.unwrap();
            }
            assert_eq!(*served.borrow(), [1, 2]);
            assert_eq!(slots.waiting.get(), 0);
            assert!(slots.take().await.is_some());
        });
    }

    #[test]
    fn the_slot_that_has_been_free_for_longest_is_taken() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let slots = Slots::new(3, 0);
            let held = [slots.take().await.unwrap(), slots.take().await.unwrap(), slots.take().await.unwrap()];
            assert!(held.iter().all(|slot| slot.since() == 0));
            for (slot, from) in held.into_iter().zip([7, 5, 6]) {
                slot.free(from);
            }
            let (first, left) = (slots.take().await.unwrap(), slots.take().await.unwrap());
            assert_eq!((first.since(), left.since()), (5, 6));
            let time = now();
            drop(left); // its request was given up
            let (third, again) = (slots.take().await.unwrap(), slots.take().await.unwrap());
            assert_eq!(third.since(), 7);
            assert!(again.since() >= time, "it was held until then");
        });
    }
}
