//! Does nothing, or waits for a known time, to measure the cost of pileup itself.

use pileup_pacer::clock;

use crate::client::{Act, Call, Client, Factory, Failure};
use crate::program::Verb;
use crate::worker;

/// Makes clients that do nothing.
pub struct NoopFactory;

/// Does nothing.
pub struct NoopClient;

impl Factory for NoopFactory {
    type Client = NoopClient;
    const BLOCKING: bool = false;

    fn make(&self, _client: u32) -> NoopClient {
        NoopClient
    }
}

impl Client for NoopClient {
    async fn open(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        if call.step.verb != Verb::Noop {
            return Err(Failure::failed("a noop target does nothing; expected test noop"));
        }
        act.calls = 1;
        if call.step.cost_ns > 0 {
            let until = clock::now().saturating_add_unsigned(call.step.cost_ns);
            match worker::pacer() {
                Some(pacer) => pacer.sleep_until(until).await,
                None => return Err(Failure::failed("no pacer on this thread (a bug in the engine)")),
            }
        }
        Ok(())
    }

    async fn close(&mut self) {}
}
