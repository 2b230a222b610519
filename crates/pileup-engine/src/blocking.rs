//! Clients that block their thread: one thread each, made when wanted, pulling over the turnstile.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::checked::Checked;
use crate::client::Factory;
use crate::ending::{Ending, EndingKind};
use crate::iteration::{Hand, Iteration, Prepared};
use crate::press::Press;
use crate::program::Program;
use crate::refusal::PressError;
use crate::turnstile::Next;

/// Stack of a client's thread, bytes: there may be a thousand of them.
const STACK: usize = 256 << 10;

/// Begin to give threads to clients; returns at once.
pub fn start<F: Factory>(press: &Arc<Press>, factory: F, program: Program) -> Result<(), PressError> {
    let press = Arc::clone(press);
    let prepared = Arc::new(Prepared::new(program, press.turnstile().shard()));
    let factory = Arc::new(factory);
    let spawner = move || {
        while let Some(client) = press.spawn() {
            let (own, prepared, factory) = (Arc::clone(&press), Arc::clone(&prepared), Arc::clone(&factory));
            let name = format!("client {client}");
            let serve = move || serve(&own, &prepared, factory.as_ref(), client);
            if let Err(error) = std::thread::Builder::new().name(name).stack_size(STACK).spawn(serve) {
                let why = format!("no thread can be made for client {client}: {error}");
                press.stop_for(&Ending::new(EndingKind::Engine, why), true);
            }
        }
    };
    let thread = std::thread::Builder::new().name("clients".to_owned()).stack_size(STACK).spawn(spawner);
    let expected = "room for one (use fewer clients)".to_owned();
    thread.map(drop).map_err(|problem| PressError::Thread { problem, expected })
}

fn serve<F: Factory>(press: &Press, prepared: &Prepared, factory: &F, client: u32) {
    let shard = press.turnstile().shard();
    let mut served = Checked::new(factory.make(client));
    // what cannot be opened shows at its first operation, where it is counted
    let _ = block_on(served.open());
    let mut hand = Hand::new(shard.progress(client));
    loop {
        let start = match press.try_next(client) {
            Next::Start(start) => start,
            Next::Over => break,
            Next::Wait => match press.next(client) {
                Some(start) => shard.picked(start),
                None => break,
            },
        };
        let (start, ended) = block_on(Iteration::new(shard, prepared, start, &mut hand).run(&mut served, false));
        shard.finish(&start, &ended);
    }
    block_on(served.close());
}

/// Poll a future that only blocks in system calls, so it is ready at once.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return value;
        }
        std::thread::yield_now();
    }
}
