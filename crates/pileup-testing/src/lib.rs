//! What the tests of several crates share: steps and loads from JSON, one act at a time, a server that follows a script. No program has it.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, clippy::must_use_candidate)] // tests

pub mod bench;
pub mod peer;

use std::future::Future;
use std::time::Duration;

use pileup_engine::client::{Act, Call, Client, Failure};
use pileup_engine::program::Step;
use serde_json::{Value, json};

/// Run a future as a worker does; panics when it takes longer.
pub fn within<T>(time: Duration, future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    tokio::task::LocalSet::new()
        .block_on(&runtime, async { tokio::time::timeout(time, future).await.expect("the test takes too long") })
}

/// A step of this verb, with these words changed.
pub fn step(verb: &str, changes: &Value) -> Step {
    let mut step = json!({
        "operation": "op", "verb": verb,
        "keys": {"prefix": "", "count": 1, "width": 6, "names": [], "order": "sequential"},
        "repeat": 1, "content": null, "offset": 0, "length": null, "buffer": null, "verify": true, "checksum": "none", "method": "",
        "headers": [], "expect": {"statuses": [], "contains": null, "entries": null}, "missing_ok": false, "cost_ns": 0,
    });
    merge(&mut step, changes);
    serde_json::from_value(step).unwrap()
}

/// Put the words of `changes` in their places; those of objects inside too.
pub fn merge(base: &mut Value, changes: &Value) {
    for (word, value) in changes.as_object().unwrap() {
        match (base[word].as_object_mut(), value) {
            (Some(inner), Value::Object(more)) => inner.extend(more.clone()),
            _ => base[word] = value.clone(),
        }
    }
}

/// Let a client do one operation and say what came of it.
pub async fn acted(client: &mut impl Client, call: &Call<'_>) -> (Result<(), Failure>, Act) {
    let mut act = Act::default();
    let result = client.act(call, &mut act).await;
    (result, act)
}
