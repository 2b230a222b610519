//! The xroot client against servers that lie, and against XRootD itself.

#![allow(clippy::unwrap_used, missing_docs)] // helpers of tests, outside of the functions that clippy.toml exempts
mod kit;
mod lying;
mod server;
mod xrootd;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Largest piece of memory that anybody has asked for: nothing here has a reason for much.
pub static LARGEST: AtomicUsize = AtomicUsize::new(0);

struct Watched;

// SAFETY: everything is the system's allocator's.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static WATCHED: Watched = Watched;
