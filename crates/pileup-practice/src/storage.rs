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
    pub(crate) store: RefCell<Store>,
    pub(crate) service: Law,
    /// For requests without data; none: there is no such thing.
    pool: Option<Rc<Pool>>,
}

impl Storage {
    /// An empty one.
    pub(crate) fn new(core: &Rc<Core>, settings: Settings) -> Self {
        let Settings { front, capacity, service, pool, .. } = settings;
        let pool = pool.map(|rules| Pool::new(core, front, rules, now()));
        Self { core: Rc::clone(core), store: RefCell::new(Store::new(capacity)), service, pool }
    }

    /// The request pool, where a path is one of its API.
    pub(crate) fn pool_of(&self, path: &str) -> Option<&Rc<Pool>> {
        self.pool.as_ref().filter(|_| Pool::has(path))
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
