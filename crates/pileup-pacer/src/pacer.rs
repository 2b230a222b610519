//! Thousands of sleepers on one tokio current-thread runtime, woken by one absolute timer.

use std::collections::BTreeMap;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::task::JoinHandle;

use crate::{Pacing, TimerFd, clock};

/// The last stretch before a precise start, in which other tasks get no turn any more, ns.
const HARD_SPIN: i64 = 3_000;

/// The sleepers of one runtime. Cheap to clone; stays on its thread.
#[derive(Clone)]
pub struct Pacer(Rc<Owner>);

/// Ends the task that waits for the timer together with the last handle.
struct Owner {
    shared: Arc<Shared>,
    driver: JoinHandle<()>,
    pacing: Pacing,
}

/// Between the sleepers and the task that waits for the timer. All on one thread: the lock is never contended, it only lets the task be spawned.
struct Shared {
    timer: AsyncFd<TimerFd>,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    /// By (when to wake, number of the sleeper): removal of a cancelled sleeper leaves nothing behind.
    sleepers: BTreeMap<(i64, u64), Waker>,
    last: u64,
    /// What the timer is set to; `None`: to nothing that is still to come.
    armed: Option<i64>,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Wake whoever is due and set the timer for the next one.
    fn fire(&self, due: &mut Vec<Waker>) {
        let mut queue = self.queue();
        let time = clock::now();
        while let Some(first) = queue.sleepers.first_entry() {
            if first.key().0 > time {
                break;
            }
            due.push(first.remove());
        }
        queue.armed = queue.sleepers.first_key_value().map(|(key, _)| key.0);
        if let Some(next) = queue.armed {
            self.timer.get_ref().arm(next);
        }
        drop(queue);
        due.drain(..).for_each(Waker::wake);
    }

    async fn drive(self: Arc<Self>) {
        let mut due = Vec::new();
        while let Ok(mut ready) = self.timer.readable().await {
            // Cleared first: an expiry that comes in between is then seen as a new one. It is not read: the descriptor is
            // watched by edges, and setting the timer takes the expiry away.
            ready.clear_ready();
            self.fire(&mut due);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Pacer {
    /// A pacer for the current-thread runtime in whose context this is called.
    ///
    /// # Errors
    /// When the process has no descriptor left.
    ///
    /// # Panics
    /// Outside of a tokio runtime with I/O enabled.
    pub fn new(pacing: Pacing) -> io::Result<Self> {
        // SAFETY: the timer owns its descriptor and names the same one for all its life.
        let timer = unsafe { AsyncFd::register_with_interest(TimerFd::new()?, Interest::READABLE) }?;
        let shared = Arc::new(Shared { timer, queue: Mutex::default() });
        let driver = tokio::spawn(Arc::clone(&shared).drive());
        Ok(Self(Rc::new(Owner { shared, driver, pacing })))
    }

    /// How exactly its sleepers are woken.
    #[must_use]
    pub fn pacing(&self) -> Pacing {
        self.0.pacing
    }

    /// Sleep until this time (ns since the epoch): never early, at once when it has passed. Dropping the future cancels it.
    pub fn sleep_until(&self, epoch_ns: i64) -> Sleep {
        Sleep {
            pacer: self.clone(),
            deadline: epoch_ns,
            due: self.0.pacing.due_at(epoch_ns),
            wake: self.0.pacing.wake_at(epoch_ns),
            number: 0,
            stays: PhantomData,
        }
    }

    /// How many sleepers there are.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.0.shared.queue().sleepers.len()
    }
}

/// A sleeper of a [`Pacer`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    pacer: Pacer,
    deadline: i64,
    /// The deadline, or the next instant of the grid.
    due: i64,
    wake: i64,
    /// 0: not in the queue yet.
    number: u64,
    stays: PhantomData<Rc<()>>,
}

impl Sleep {
    fn register(&mut self, waker: &Waker) {
        let shared = &self.pacer.0.shared;
        let mut queue = shared.queue();
        if self.number == 0 {
            queue.last += 1;
            self.number = queue.last;
        }
        queue.sleepers.insert((self.wake, self.number), waker.clone());
        if queue.armed.is_none_or(|armed| self.wake < armed) {
            queue.armed = Some(self.wake);
            shared.timer.get_ref().arm(self.wake);
        }
    }

    fn leave(&mut self) {
        if self.number != 0 {
            self.pacer.0.shared.queue().sleepers.remove(&(self.wake, self.number));
            self.number = 0;
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut time = clock::now();
        if time >= self.deadline && self.number == 0 {
            return Poll::Ready(()); // late already: the grid would only add to it
        }
        if time < self.due && time < self.wake {
            self.register(context.waker());
            return Poll::Pending;
        }
        if time < self.due.saturating_sub(HARD_SPIN) {
            // Awake and not yet due: give the other tasks and the sockets their turns until the last moment.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        while time < self.due {
            std::hint::spin_loop();
            time = clock::now();
        }
        self.leave();
        Poll::Ready(())
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn on_runtime<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        tokio::task::LocalSet::new().block_on(&runtime, future)
    }

    async fn once(sleep: &mut Sleep) -> Poll<()> {
        std::future::poll_fn(|context| Poll::Ready(Pin::new(&mut *sleep).poll(context))).await
    }

    #[test]
    fn many_are_never_early_and_in_order() {
        for pacing in [Pacing::Coarse, Pacing::Normal, Pacing::Precise] {
            let woken = on_runtime(async {
                let pacer = Pacer::new(pacing).unwrap();
                let base = clock::now() + 100_000_000; // all are asleep before the first is due
                let woken = Rc::new(RefCell::new(Vec::new()));
                let tasks: Vec<_> = (0..2000i64)
                    .map(|number| {
                        let (pacer, woken) = (pacer.clone(), Rc::clone(&woken));
                        let at = base + (number * 7919 % 2000) * 10_000;
                        tokio::task::spawn_local(async move {
                            pacer.sleep_until(at).await;
                            woken.borrow_mut().push((at, clock::now() - at));
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
                assert_eq!(pacer.sleepers(), 0);
                woken.take()
            });
            assert_eq!(woken.len(), 2000);
            assert!(woken.iter().all(|(_, late)| *late >= 0));
            if pacing == Pacing::Normal {
                assert!(woken.is_sorted_by_key(|(at, _)| *at), "woken in the order of their times");
            }
            let mut late: Vec<i64> = woken.iter().map(|(_, late)| *late).collect();
            late.sort_unstable();
            println!("{pacing:?}: late p50 {} ns, p99 {} ns, max {} ns", late[1000], late[1980], late[1999]);
        }
    }

    #[test]
    fn a_cancelled_sleeper_leaves_nothing_and_the_next_is_woken() {
        on_runtime(async {
            let pacer = Pacer::new(Pacing::Normal).unwrap();
            let base = clock::now();
            for _ in 0..100 {
                let mut sleep = pacer.sleep_until(base + 3_600_000_000_000);
                assert!(once(&mut sleep).await.is_pending());
                assert_eq!(pacer.sleepers(), 1);
            }
            let mut early = pacer.sleep_until(base + 20_000_000);
            let other = pacer.clone();
            let task = tokio::task::spawn_local(async move { other.sleep_until(base + 22_000_000).await });
            assert!(once(&mut early).await.is_pending());
            drop(early);
            task.await.unwrap();
            assert!(clock::now() >= base + 22_000_000);
            assert_eq!(pacer.sleepers(), 0);
        });
    }

    #[test]
    fn a_sleeper_that_is_not_polled_any_more_does_not_hold_up_others() {
        on_runtime(async {
            let pacer = Pacer::new(Pacing::Normal).unwrap();
            let base = clock::now();
            let mut held = pacer.sleep_until(base + 20_000_000);
            assert!(once(&mut held).await.is_pending());
            pacer.sleep_until(base + 22_000_000).await;
            assert!(clock::now() >= base + 22_000_000);
            held.await;
        });
    }

    #[test]
    fn the_past_is_due_at_once_even_in_precise() {
        on_runtime(async {
            let pacer = Pacer::new(Pacing::Precise).unwrap();
            pacer.sleep_until(0).await;
            pacer.sleep_until(i64::MIN).await;
            pacer.sleep_until(clock::now() + 20_000).await;
        });
    }

    #[test]
    fn the_driver_ends_with_the_pacer() {
        on_runtime(async {
            let pacer = Pacer::new(Pacing::Normal).unwrap();
            let shared = Arc::downgrade(&pacer.0.shared);
            drop(pacer);
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            assert!(shared.upgrade().is_none());
        });
    }
}
