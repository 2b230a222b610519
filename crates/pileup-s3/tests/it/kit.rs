//! What the tests share: a practice S3, a client of it, one act at a time.

use std::time::Duration;

use pileup_engine::client::{Act, Call, Client, Factory, Failure};
use pileup_engine::program::Step;
use pileup_practice::Server;
use pileup_s3::plane::Plane;
use pileup_s3::{S3Client, S3Factory};
use pileup_testing::{acted, merge, within};
use serde_json::{Value, json};

pub const MIB: u64 = 1 << 20;

/// A practice S3 that lets in one key, with these settings beside.
pub fn server(more: &Value) -> Server {
    let mut settings = json!({"access_key": "practice", "secret_key": "open-sesame"});
    merge(&mut settings, more);
    Server::s3(&settings.to_string()).unwrap()
}

/// Settings of a client that may come in, with these words changed.
pub fn settings(server: &Server, changes: &Value) -> String {
    let mut settings = json!({
        "http": {"url": format!("http://127.0.0.1:{}", server.port())},
        "bucket": "pileup", "prefix": "here", "region": "us-east-1",
        "credentials": {"access_key": "practice", "secret_key": "open-sesame", "session_token": null},
    });
    merge(&mut settings, changes);
    settings.to_string()
}

pub fn client(server: &Server, changes: &Value) -> S3Client {
    S3Factory::new(&settings(server, changes)).unwrap().make(0)
}

pub fn plane(server: &Server, changes: &Value) -> Plane {
    Plane::new(&settings(server, changes), Duration::from_secs(5)).unwrap()
}

/// A step of this verb, with these words changed.
pub fn step(verb: &str, changes: Value) -> Step {
    pileup_testing::step(verb, &changes)
}

pub fn content(size: u64) -> Value {
    json!({"seed": 3, "size": size})
}

/// Do one operation on an object and say what came of it.
pub async fn act(client: &mut S3Client, step: &Step, key: &str) -> (Result<(), Failure>, Act) {
    acted(client, &Call::new(77, step, 5, key)).await
}

/// The same with a client of its own.
pub fn once(server: &Server, changes: &Value, step: &Step, key: &str) -> (Result<(), Failure>, Act) {
    within(Duration::from_secs(20), async {
        let mut client = client(server, changes);
        client.open().await.unwrap();
        let done = act(&mut client, step, key).await;
        client.close().await;
        done
    })
}
