//! A future whose memory is brought near before it is polled.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The life of a client has kilobytes of which each turn needs a good part, here and there. In a crowd these have left the caches since its last
/// turn: asked for all at once they come in the time of a few, where each would wait for the one before.
pub(crate) struct Near<F> {
    future: F,
    crowd: bool,
}

impl<F> Near<F> {
    /// One of a `crowd`, whose memory is away when its turn comes, or of few, whose memory is not.
    pub(crate) fn new(future: F, crowd: bool) -> Self {
        Self { future, crowd }
    }
}

impl<F: Future> Future for Near<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let crowd = self.crowd;
        // SAFETY: the future is not moved: it is only reached through the pinned one around it.
        let future = unsafe { self.map_unchecked_mut(|near| &mut near.future) };
        if crowd {
            fetch(std::ptr::from_ref(&*future).cast(), size_of::<F>());
        }
        future.poll(context)
    }
}

/// Ask for memory without waiting for it.
#[cfg(target_arch = "x86_64")]
fn fetch(begin: *const i8, size: usize) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    const LINE: usize = 64; // bytes that come together
    for at in (0..size).step_by(LINE) {
        // SAFETY: a prefetch reads and writes nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(begin.wrapping_add(at)) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn fetch(_begin: *const i8, _size: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_brought_near_is_the_same() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for crowd in [false, true] {
            let future = Near::new(
                async {
                    let large = [7_u8; 5000];
                    tokio::task::yield_now().await;
                    large.iter().map(|byte| u32::from(*byte)).sum::<u32>()
                },
                crowd,
            );
            assert_eq!(runtime.block_on(future), 35_000);
        }
    }
}
