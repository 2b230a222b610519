//! The timeout of one client's operations: one timer for all of them.
//!
//! Nearly every operation ends long before its timeout. So the timer is not set again for each: it stays where an earlier one has set it, and when
//! it rings too early it is set to the end of the one under way.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use pileup_pacer::clock;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

/// A timer that one task alone waits for.
#[derive(Default)]
pub struct Deadline {
    timer: Option<Pin<Box<Sleep>>>,
    /// When it rings, ns since the epoch.
    rings: i64,
    /// Whether a future was not ready at once since `has_waited` was called last.
    waited: bool,
}

impl Deadline {
    /// Wait for a future from now on until a moment, both in ns since the epoch; none: it is not ready by then. It stays where it is: an
    /// operation has kilobytes.
    pub async fn within<F: Future>(&mut self, now: i64, until: i64, mut future: Pin<&mut F>) -> Option<F::Output> {
        // a timer that rings later cannot have rung: it is not looked at, since it is in memory that nothing else here needs
        let mut set = now < self.rings && self.rings <= until;
        poll_fn(|context| {
            if let Poll::Ready(value) = poll_apart(future.as_mut(), context) {
                return Poll::Ready(Some(value));
            }
            self.waited = true;
            if std::mem::take(&mut set) { Poll::Pending } else { self.poll_until(until, context).map(|()| None) }
        })
        .await
    }

    /// Whether a future was waited for since this was asked last, so that others had a turn meanwhile.
    pub fn has_waited(&mut self) -> bool {
        std::mem::take(&mut self.waited)
    }

    /// Ready when this moment is past.
    fn poll_until(&mut self, until: i64, context: &mut Context<'_>) -> Poll<()> {
        if self.rings <= until && self.timer.as_ref().is_some_and(|timer| !timer.is_elapsed()) {
            return Poll::Pending; // it wakes this task, which then looks again
        }
        let left = until.saturating_sub(clock::now());
        if left <= 0 {
            return Poll::Ready(());
        }
        let at = Instant::now() + Duration::from_nanos(left.unsigned_abs());
        let timer = match &mut self.timer {
            Some(timer) => {
                timer.as_mut().reset(at);
                timer
            }
            none => none.insert(Box::pin(sleep_until(at))),
        };
        self.rings = until;
        // whatever the task has used up of its turn, the timer must know whom to wake
        pin!(unconstrained(timer.as_mut())).poll(context)
    }
}

/// Poll by a call: a protocol inlined into the code around it takes more instructions for each operation.
#[inline(never)]
fn poll_apart<F: Future>(future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<F::Output> {
    future.poll(context)
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    const MS: i64 = 1_000_000;

    fn on_runtime<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn each_ends_at_its_own_moment_whatever_the_timer_was_set_to_before() {
        on_runtime(async {
            let mut deadline = Deadline::default();
            for (limit, takes) in [(20, 0), (40, 1), (10, 100), (30, 100), (5, 100), (300, 1), (20, 100)] {
                let begun = clock::now();
                let done = deadline.within(begun, begun + limit * MS, pin!(sleep(Duration::from_millis(takes)))).await;
                let took = clock::now() - begun;
                assert_eq!(done.is_some(), (takes as i64) < limit);
                assert!(took >= limit.min(takes as i64) * MS, "{limit} {takes} {took}");
            }
            assert_eq!(deadline.within(0, 0, pin!(async { 7 })).await, Some(7), "what is ready is not too late");
            assert_eq!(deadline.within(0, 0, pin!(std::future::pending::<()>())).await, None);
        });
    }

    #[test]
    fn only_what_was_not_ready_at_once_was_waited_for() {
        on_runtime(async {
            let (mut deadline, begun) = (Deadline::default(), clock::now());
            deadline.within(begun, begun + 1000 * MS, pin!(async {})).await;
            assert!(!deadline.has_waited());
            deadline.within(begun, begun + 1000 * MS, pin!(sleep(Duration::from_millis(1)))).await;
            assert!(deadline.has_waited() && !deadline.has_waited(), "it is asked since the last time");
        });
    }
}
