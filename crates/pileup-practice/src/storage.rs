//! The practice storage: what its methods share.

use std::cell::RefCell;
use std::rc::Rc;

use http::{HeaderMap, HeaderName};
use pileup_pacer::clock::now;
use pileup_schedule::Law;

use crate::answer::{Answer, says};
use crate::core::Core;
use crate::pool::Pool;
use crate::settings::Settings;
use crate::store::{Store, Trouble};

/// What is served, and how.
pub(crate) struct Storage {
    pub(crate) core: Rc<Core>,
    pub(crate) store: Rc<RefCell<Store>>,
    pub(crate) service: Law,
    /// Time between two reports on a third-party copy, ns.
    pub(crate) markers: i64,
    /// For requests without data; none: there is no such thing.
    pool: Option<Rc<Pool>>,
}

impl Storage {
    /// An empty one.
    pub(crate) fn new(core: &Rc<Core>, settings: Settings) -> Self {
        let Settings { front, capacity, service, pool, markers, .. } = settings;
        let pool = pool.map(|rules| Pool::new(core, front, rules, now()));
        let store = Rc::new(RefCell::new(Store::new(capacity)));
        Self { core: Rc::clone(core), store, service, markers, pool }
    }

    /// The request pool, where a path is one of its API.
    pub(crate) fn pool_of(&self, path: &str) -> Option<&Rc<Pool>> {
        self.pool.as_ref().filter(|_| Pool::has(path))
    }
}

/// Room in the store that something on its way has set aside; given back unless it is used.
pub(crate) struct Room {
    store: Rc<RefCell<Store>>,
    size: u64,
}

impl Room {
    /// None yet.
    pub(crate) fn new(store: &Rc<RefCell<Store>>) -> Self {
        Self { store: Rc::clone(store), size: 0 }
    }

    /// Set more aside.
    pub(crate) fn grow(&mut self, size: u64) -> Result<(), Trouble> {
        self.store.borrow_mut().reserve(size)?;
        self.size += size;
        Ok(())
    }

    /// It belongs to an object now.
    pub(crate) fn keep(mut self) {
        self.size = 0;
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.store.borrow_mut().release(self.size);
    }
}

/// The answer that says why the store did not.
pub(crate) fn trouble(trouble: Trouble) -> Answer {
    match trouble {
        Trouble::Missing => says(404, "there is nothing"),
        Trouble::NoParent => says(409, "the folder is not there"),
        Trouble::Exists => says(405, "something is there already"),
        Trouble::Full => says(507, "no room"),
        Trouble::Root => says(403, "the root stays"),
        Trouble::Taken => says(412, "something is there already"),
        Trouble::Itself => says(403, "a folder cannot be in itself"),
        Trouble::Deep => says(403, "folders would be nested too deeply"),
    }
}

/// The value of a header, where it is text.
pub(crate) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}
