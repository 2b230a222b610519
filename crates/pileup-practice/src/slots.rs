//! The slots in which requests are served, and the queue before them: first come, first served.

use std::cell::Cell;

use tokio::sync::{Semaphore, SemaphorePermit};

/// Slots with a bounded queue.
pub(crate) struct Slots {
    /// Tokio's semaphore gives permits in the order in which they were asked for.
    free: Semaphore,
    waiting: Cell<usize>,
    queue: usize,
}

/// A place in the queue.
struct Place<'a>(&'a Cell<usize>);

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Slots {
    /// This many slots, and at most `queue` requests waiting for one.
    pub(crate) fn new(slots: usize, queue: usize) -> Self {
        Self { free: Semaphore::new(slots), waiting: Cell::new(0), queue }
    }

    /// Wait for a slot; it is held until the permit is dropped. `None`: the queue is full. Dropping the future leaves the queue.
    pub(crate) async fn take(&self) -> Option<SemaphorePermit<'_>> {
        if let Ok(permit) = self.free.try_acquire() {
            return Some(permit);
        }
        if self.waiting.get() >= self.queue {
            return None;
        }
        self.waiting.set(self.waiting.get() + 1);
        let _place = Place(&self.waiting);
        self.free.acquire().await.ok()
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
            assert!(slots.free.try_acquire().is_err(), "nobody overtakes");
            drop(second);
            for task in tasks.drain(1..) {
                task.await.unwrap();
            }
            assert_eq!(*served.borrow(), [1, 2]);
            assert_eq!(slots.waiting.get(), 0);
            assert!(slots.take().await.is_some());
        });
    }
}
