//! Open files for the clients of all loads in this process.

use std::sync::atomic::{AtomicU64, Ordering};

use pileup_pacer::{allow_files, make_room};

/// Open files of a client: its connection, and one more while it is sent on to another server.
const EACH: u64 = 2;
/// What the process has open beside.
const OTHERS: u64 = 256;

static CLIENTS: AtomicU64 = AtomicU64::new(0);

/// Room for the open files of the clients of one load, as long as it lives.
pub(crate) struct Room(u64);

impl Room {
    /// Make it, as far as the system allows it: what goes beyond fails when it is opened, and is reported there.
    pub(crate) fn of(clients: u64) -> Self {
        let all = CLIENTS.fetch_add(clients, Ordering::Relaxed).saturating_add(clients);
        let files = OTHERS.saturating_add(all.saturating_mul(EACH));
        let _ = make_room(allow_files(files).min(files));
        Self(clients)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        CLIENTS.fetch_sub(self.0, Ordering::Relaxed);
    }
}
