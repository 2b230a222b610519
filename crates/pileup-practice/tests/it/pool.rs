//! The request pool: threads, switching delay, folder lock, in numbers of its log.

use std::time::Duration;

use serde_json::{Value, json};

use crate::kit::{Line, Storage};

const MS: i64 = 1_000_000;
/// How late this machine may wake up without being late.
const LATE: i64 = 25 * MS;

fn storage(pool: Value) -> Storage {
    let mut rules = json!({
        "threads": 4, "fast_threads": null, "fast": {"fixed": 0}, "slow": {"fixed": 20 * MS}, "switch": 0, "folder_lock": false,
    });
    rules.as_object_mut().unwrap().extend(pool.as_object().unwrap().clone());
    Storage::new(json!({"pool": rules}))
}

fn ask(storage: &Storage, line: &str, body: &Value) -> (u16, Value) {
    let mut connection = storage.connect();
    connection.send(1, line, &[], body.to_string().as_bytes());
    let answer = connection.answer(true).unwrap();
    (answer.status, serde_json::from_str(&answer.text()).unwrap_or(Value::Null))
}

/// Ask for so many files, `together` in a folder; wait until all are ready. Returns the id.
fn staged(storage: &Storage, files: usize, together: usize) -> String {
    let files: Vec<_> = (0..files).map(|file| json!({"path": format!("/d{}/{file}", file / together)})).collect();
    let (status, told) = ask(storage, "POST /api/v1/stage", &json!({"files": files}));
    assert_eq!(status, 201, "{told}");
    let id = told["requestId"].as_str().unwrap().to_owned();
    for _ in 0..500 {
        let (_, told) = ask(storage, &format!("GET /api/v1/stage/{id}"), &Value::Null);
        if told["files"].as_array().unwrap().iter().all(|file| file["state"] == "COMPLETED") {
            return id;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{id} is not over");
}

/// The slow operations by their end, and the end of the fast one that led to them.
fn prepared(lines: Vec<Line>) -> (Vec<Line>, i64) {
    let stage = lines.iter().find(|line| line.path == "/api/v1/stage").unwrap();
    let taken = stage.began + stage.service;
    let mut slow: Vec<_> = lines.into_iter().filter(|line| line.method == "PREPARE").collect();
    slow.sort_by_key(|line| line.ended);
    (slow, taken)
}

#[test]
fn slow_operations_come_in_rounds_of_the_threads() {
    let storage = storage(json!({"switch": 30 * MS}));
    staged(&storage, 10, 1);
    let (slow, taken) = prepared(storage.lines());
    assert_eq!(slow.len(), 10);
    for (number, line) in (0..).zip(&slow) {
        assert_eq!((line.arrived, line.status, line.service), (taken + 30 * MS, 200, 20 * MS));
        assert_eq!(line.ended - line.arrived, (1 + number / 4) * 20 * MS, "file {number}");
    }
}

#[test]
fn operations_in_one_folder_exclude_each_other_and_those_in_others_do_not() {
    for (together, rounds) in [(6, 6), (1, 2), (3, 3)] {
        let storage = storage(json!({"folder_lock": true}));
        staged(&storage, 6, together);
        let (slow, taken) = prepared(storage.lines());
        let last = slow.last().unwrap().ended - taken;
        assert_eq!(last, rounds * 20 * MS, "{together} in a folder");
    }
}

#[test]
fn fast_operations_share_the_threads_unless_they_have_their_own() {
    for (threads, waits) in [(Value::Null, true), (json!(1), false)] {
        let storage = storage(json!({"threads": 1, "fast_threads": threads, "slow": {"fixed": 200 * MS}}));
        let (_, told) = ask(&storage, "POST /api/v1/stage", &json!({"files": [{"path": "/a"}]}));
        std::thread::sleep(Duration::from_millis(20));
        ask(&storage, &format!("GET /api/v1/stage/{}", told["requestId"].as_str().unwrap()), &Value::Null);
        let lines = storage.lines();
        let poll = lines.iter().find(|line| line.method == "GET").unwrap();
        assert_eq!(poll.began - poll.arrived > 100 * MS, waits, "{poll:?}");
        assert!(waits || poll.began - poll.arrived < LATE);
    }
}

#[test]
fn a_file_is_opened_closed_and_released_once_it_is_ready() {
    let storage = storage(json!({}));
    let id = staged(&storage, 1, 1);
    let paths = json!({"paths": ["/d0/0"]});
    for (line, status) in [
        (format!("POST /api/v1/close/{id}"), 409),
        (format!("POST /api/v1/open/{id}"), 200),
        (format!("POST /api/v1/close/{id}"), 200),
        (format!("POST /api/v1/release/{id}"), 200),
        ("POST /api/v1/open/nobody-1".to_owned(), 404),
        (format!("PUT /api/v1/open/{id}"), 405),
        (format!("DELETE /api/v1/stage/{id}"), 200),
        (format!("DELETE /api/v1/stage/{id}"), 404),
    ] {
        assert_eq!(ask(&storage, &line, &paths).0, status, "{line}");
    }
    let (status, told) = ask(&storage, "GET /.well-known/wlcg-tape-rest-api", &Value::Null);
    assert_eq!((status, &told["endpoints"][0]["metadata"]["open"]), (200, &json!(true)));
    assert_eq!(ask(&Storage::new(json!({})), "POST /api/v1/stage", &Value::Null).0, 405, "without a pool");
}
