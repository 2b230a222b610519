//! What the connections of a relay share: on all threads, and on their own.

use std::cell::RefCell;
use std::net::{SocketAddr, ToSocketAddrs};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use pileup_pacer::Pacer;

use crate::counts::Counts;
use crate::error::Error;
use crate::link::Link;
use crate::path::Path;
use crate::settings::Settings;
use crate::trace::Book;

/// Largest piece that is read at once, bytes.
pub(crate) const PIECE: usize = 256 * 1024;

/// What all threads see of a relay.
pub(crate) struct Shared {
    path: Mutex<Arc<Path>>,
    /// Where the target is.
    pub(crate) to: Vec<SocketAddr>,
    pub(crate) seed: u64,
    pub(crate) counts: Counts,
    pub(crate) book: Book,
}

impl Shared {
    /// For these settings. The name of the target is looked up here, once.
    pub(crate) fn new(settings: &Settings) -> Result<Self, Error> {
        let (host, port) = &settings.to;
        let to: Vec<SocketAddr> = (host.as_str(), *port).to_socket_addrs().map(Iterator::collect).map_err(|error| {
            Error::System(format!(
                "{} is not found: {error}; expected a name that is known here (correct it)",
                host.escape_debug()
            ))
        })?;
        Ok(Self {
            path: Mutex::new(Arc::new(settings.path.clone())),
            to,
            seed: settings.seed,
            counts: Counts::default(),
            book: Book::new(settings.trace),
        })
    }

    /// What lies between now.
    pub(crate) fn path(&self) -> Arc<Path> {
        Arc::clone(&self.path.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn change(&self, path: Path) {
        *self.path.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(path);
        self.counts.forget_late();
    }
}

/// What the connections share on their thread.
pub(crate) struct Local {
    pub(crate) shared: Arc<Shared>,
    pub(crate) pacer: Pacer,
    pub(crate) links: [Link; 2],
    /// Into which pieces are read.
    pub(crate) scratch: RefCell<Box<[u8]>>,
    /// Counts the pipes.
    pub(crate) pipes: Rc<()>,
}

impl Local {
    pub(crate) fn new(shared: Arc<Shared>, pacer: Pacer) -> Self {
        let scratch = RefCell::new(vec![0; PIECE].into_boxed_slice());
        Self { shared, pacer, links: Default::default(), scratch, pipes: Rc::default() }
    }
}
