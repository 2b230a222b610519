//! Holds a client to its contract: order of calls, and what it notes.

use pileup_pacer::clock;

use crate::client::{Act, Call, Client, Fault};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Made,
    Open,
    Closed,
}

/// A client that is held to the rules of `client`.
pub struct Checked<C> {
    client: C,
    life: Life,
}

impl<C: Client> Checked<C> {
    /// Around a client that was just made.
    pub fn new(client: C) -> Self {
        Self { client, life: Life::Made }
    }

    /// Connect; once.
    pub async fn open(&mut self) -> Result<(), Fault> {
        if self.life != Life::Made {
            return Err(Fault::failed("the client was opened twice (a fault of its protocol's code)"));
        }
        self.life = Life::Open;
        self.client.open().await
    }

    /// Do one operation, and look at what the client has noted.
    pub async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        if self.life != Life::Open {
            return Err(Fault::failed("the client acts while it is not open (a fault of its protocol's code)"));
        }
        let before = clock::now();
        let result = self.client.act(call, act).await;
        if act.first_byte != 0 && !(before..=clock::now()).contains(&act.first_byte) {
            act.first_byte = 0;
            return Err(Fault::failed(
                "the client noted a first byte outside of its operation (a fault of its protocol's code)",
            ));
        }
        result
    }

    /// Give everything back; more than once does nothing.
    pub async fn close(&mut self) {
        if self.life == Life::Open {
            self.client.close().await;
        }
        self.life = Life::Closed;
    }
}
