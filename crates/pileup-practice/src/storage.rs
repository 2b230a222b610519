//! The practice storage: WebDAV over a store in memory.

use std::cell::RefCell;
use std::rc::Rc;

use http::{Method, Request};
use hyper::body::Incoming;
use pileup_schedule::Law;

use crate::answer::Answer;
use crate::methods;
use crate::server::{Core, Work};
use crate::store::Store;
use crate::wire::Turn;

/// What is served, and how.
pub(crate) struct Storage {
    pub(crate) core: Rc<Core>,
    pub(crate) store: RefCell<Store>,
    service: Law,
}

impl Storage {
    /// An empty one.
    pub(crate) fn new(core: &Rc<Core>, capacity: u64, service: Law) -> Self {
        Self { core: Rc::clone(core), store: RefCell::new(Store::new(capacity)), service }
    }
}

impl Work for Storage {
    fn cost(&self, _method: &Method, _path: &str) -> &Law {
        &self.service
    }

    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        methods::act(self, turn, request).await
    }
}
