//! Checks that a client keeps its contract: the order of calls, and what it records.

use crate::client::{Act, Call, Client, Failure};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Life {
    Made,
    Open,
    Closed,
}

/// A client whose calls are checked against the rules of `client`.
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
    pub async fn open(&mut self) -> Result<(), Failure> {
        if self.life != Life::Made {
            return Err(Failure::failed("the client was opened twice (a bug in the code of its protocol)"));
        }
        self.life = Life::Open;
        self.client.open().await
    }

    /// Do one operation. What the client has noted is to be looked at by `noted_within`.
    pub async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        if self.life != Life::Open {
            return Err(Failure::failed("the client acts while it is not open (a bug in the code of its protocol)"));
        }
        self.client.act(call, act).await
    }

    /// Release everything; further calls do nothing.
    pub async fn close(&mut self) {
        if self.life == Life::Open {
            self.client.close().await;
        }
        self.life = Life::Closed;
    }
}

/// The result of an operation that lasted from `begun` to `ended`, ns since the epoch.
///
/// # Errors
/// Its own, and when the client has noted a first byte outside of that time, which is not kept.
pub fn noted_within(act: &mut Act, begun: i64, ended: i64, result: Result<(), Failure>) -> Result<(), Failure> {
    if act.first_byte == 0 || (begun..=ended).contains(&act.first_byte) {
        return result;
    }
    act.first_byte = 0;
    Err(Failure::failed("the client noted a first byte outside of its operation (a bug in the code of its protocol)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;

    use pileup_pacer::clock;

    use crate::program::{Program, Step};

    /// Notes a first byte at this distance from now; counts its ends.
    struct Scripted {
        first_byte: i64,
        closed: u32,
    }

    impl Client for Scripted {
        async fn open(&mut self) -> Result<(), Failure> {
            Ok(())
        }
        async fn act(&mut self, _call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
            act.first_byte = clock::now() + self.first_byte;
            Ok(())
        }
        async fn close(&mut self) {
            self.closed += 1;
        }
    }

    fn step() -> Step {
        let program = r#"{"steps": [{"operation": "act", "verb": "noop", "keys": {"prefix": "", "count": 1, "width": 1, "names": [],
            "order": "sequential"}, "repeat": 1, "content": null, "offset": 0, "length": null, "buffer": 1, "verify": true,
            "checksum": "none", "method": "", "headers": [], "expect": {"statuses": [], "contains": null, "entries": null},
            "missing_ok": false, "cost_ns": 0}]}"#;
        let mut program: Program = serde_json::from_str(program).unwrap();
        program.steps.remove(0)
    }

    async fn act(client: &mut Checked<Scripted>) -> (Result<(), Failure>, i64) {
        let (step, mut act, begun) = (step(), Act::default(), clock::now());
        let result = client.act(&Call::new(1, &step, 0, ""), &mut act).await;
        let result = noted_within(&mut act, begun, clock::now(), result);
        (result, act.first_byte)
    }

    fn on_runtime<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
    }

    #[test]
    fn a_client_acts_only_between_open_and_close() {
        on_runtime(async {
            let mut client = Checked::new(Scripted { first_byte: 0, closed: 0 });
            assert!(act(&mut client).await.0.is_err());
            assert!(client.open().await.is_ok());
            assert!(client.open().await.is_err());
            assert!(act(&mut client).await.0.is_ok());
            client.close().await;
            client.close().await;
            assert_eq!(client.client.closed, 1);
            assert!(act(&mut client).await.0.is_err());
        });
    }

    #[test]
    fn one_that_was_never_opened_is_not_closed() {
        on_runtime(async {
            let mut client = Checked::new(Scripted { first_byte: 0, closed: 0 });
            client.close().await;
            assert_eq!(client.client.closed, 0);
        });
    }

    #[test]
    fn a_first_byte_outside_of_the_operation_is_a_fault_and_not_kept() {
        for distance in [-1_000_000_000, 1_000_000_000] {
            on_runtime(async {
                let mut client = Checked::new(Scripted { first_byte: distance, closed: 0 });
                client.open().await.unwrap();
                let (result, first_byte) = act(&mut client).await;
                assert!(result.unwrap_err().message.contains("first byte outside"));
                assert_eq!(first_byte, 0);
            });
        }
    }
}
