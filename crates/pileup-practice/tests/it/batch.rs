//! The batch system: what it answers, and that its journal says the same.

use std::time::Duration;

use pileup_pacer::clock::now;
use pileup_practice::Server;
use serde_json::{Value, json};

use crate::kit::{Batch, Connection};

const MS: u64 = 1_000_000;

fn jobs(names: impl IntoIterator<Item = String>, duration: u64) -> Value {
    let jobs: Vec<_> = names.into_iter().map(|name| json!({"name": name, "duration": duration})).collect();
    json!({"jobs": jobs})
}

/// Ask for changes until so many jobs have ended; returns them.
fn await_ended(connection: &mut Connection, wanted: usize) -> Vec<Value> {
    let (mut since, mut ended) = (0, Vec::new());
    for _ in 0..1000 {
        let (status, page) = connection.json(&format!("GET /changes?since={since}&most=300"), &Value::Null);
        assert_eq!(status, 200);
        since = page["next"].as_u64().unwrap();
        ended.extend(page["jobs"].as_array().unwrap().iter().filter(|job| job["state"] != "running").cloned());
        if ended.len() >= wanted {
            return ended;
        }
        if page["more"] == false {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    panic!("{} of {wanted} ended", ended.len());
}

#[test]
fn jobs_go_their_way_and_the_journal_tells_it() {
    let batch = Batch::new(json!({"slots": 10, "cycle": 20 * MS}));
    let mut connection = batch.connect();
    let (status, answer) = connection.json("POST /jobs", &jobs((0..25).map(|n| format!("j{n}")), 5 * MS));
    assert_eq!((status, answer["ids"].as_array().unwrap().len(), &answer["refused"]), (201, 25, &Value::Null));
    let ended = await_ended(&mut connection, 25);
    assert!(ended.iter().all(|job| job["state"] == "completed"));
    let (_, found) = connection.json("POST /status", &json!({"names": ["j3", "none"], "ids": [5, 99]}));
    let names: Vec<_> = found["jobs"].as_array().unwrap().iter().map(|job| job["name"].clone()).collect();
    assert_eq!(names, ["j4", "j3"]);
    let (_, page) = connection.json("GET /jobs?state=completed&since=20&most=3", &Value::Null);
    assert_eq!((page["jobs"].as_array().unwrap().len(), &page["next"], &page["more"]), (3, &json!(23), &json!(true)));
    let (_, counts) = connection.json("GET /counts", &Value::Null);
    assert_eq!((&counts["states"]["completed"], &counts["totals"]["submitted"]), (&json!(25), &json!(25)));
    let (_, purged) = connection.json("POST /purge", &json!({"ids": [1, 99], "oldest": 4}));
    assert_eq!(purged, json!({"purged": 5, "busy": [], "missing": [99]}));
    let (_, history) = connection.json("GET /history?since=20&most=9", &Value::Null);
    assert_eq!((history["jobs"].as_array().unwrap().len(), &history["more"]), (5, &json!(false)));
    drop(connection);
    let events = batch.events();
    for job in &ended {
        let of = |event: &str| {
            let found: Vec<_> = events.iter().filter(|(_, what, id, ..)| what == event && *id == job["id"]).collect();
            assert_eq!(found.len(), 1, "{event} {job}");
            found[0].0
        };
        assert!(of("submitted") <= of("acknowledged") && of("submitted") <= of("started"));
        assert_eq!(job["submitted"], of("submitted"));
        assert_eq!(job["started"], of("started"));
        assert_eq!((&job["ended"], of("ended")), (&json!(of("started") + 5 * MS as i64), of("ended")));
    }
    assert_eq!(events.iter().filter(|(_, what, ..)| what == "purged").count(), 5);
    assert_eq!(events.last().unwrap().1, "stop");
}

#[test]
fn a_submission_costs_time_and_too_many_are_refused() {
    let batch = Batch::new(json!({"limit": 3, "submit_cost": {"fixed": 30 * MS}, "slots": 0}));
    let mut connection = batch.connect();
    let before = now();
    let (status, answer) = connection.json("POST /jobs", &jobs((0..4).map(|n| format!("j{n}")), 0));
    assert!(now() - before >= 30 * MS as i64);
    assert_eq!((status, answer), (201, json!({"ids": [1, 2, 3], "refused": "limit of 3 jobs"})));
    let (status, answer) = connection.json("POST /jobs", &jobs(["k".to_owned()], 0));
    assert_eq!((status, answer), (429, json!({"ids": [], "refused": "limit of 3 jobs"})));
    let (_, gone) = connection.json("POST /cancel", &json!({"ids": [2, 7], "names": ["j0"]}));
    assert_eq!(gone, json!({"cancelled": [2, 1], "left": [7]}));
    drop(connection);
    let refused: Vec<_> = batch.events().into_iter().filter(|event| event.1 == "refused").collect();
    let refused: Vec<_> = refused.iter().map(|(.., name, why)| (name.as_str(), why.as_str())).collect();
    assert_eq!(refused, [("j3", "limit of 3 jobs"), ("k", "limit of 3 jobs")]);
}

#[test]
fn a_ghost_takes_the_job_in_and_never_says_so() {
    let faults = json!([{"kind": "ghost", "methods": ["POST"], "paths": ["/jobs"]}]);
    let batch = Batch::new(json!({"faults": faults, "slots": 0}));
    let mut silent = batch.connect();
    let mut connection = batch.connect();
    silent.send(2, "POST /jobs", &[], br#"{"jobs": [{"name": "boo"}]}"#);
    for _ in 0..500 {
        let (_, found) = connection.json("POST /status", &json!({"names": ["boo"]}));
        if found["jobs"].as_array().unwrap().len() == 1 {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    drop(connection);
    let events = batch.events();
    assert!(silent.answer(true).is_none());
    let of = |event: &str| events.iter().filter(|(_, what, ..)| what == event).count();
    assert_eq!((of("submitted"), of("acknowledged")), (1, 0));
}

#[test]
fn while_it_is_away_nobody_is_answered() {
    let batch = Batch::new(json!({"slots": 0, "checkpoint": 3_600_000 * MS, "reuse_ids": true}));
    let mut connection = batch.connect();
    connection.json("POST /jobs", &jobs(["kept".to_owned()], 0));
    connection.json("POST /checkpoint", &Value::Null);
    connection.json("POST /jobs", &jobs(["gone".to_owned()], 0));
    assert_eq!(connection.json("POST /crash", &json!({"away": 150 * MS})), (200, json!({"lost": 1})));
    connection.send(0, "GET /counts", &[], b"");
    assert!(connection.answer(true).is_none(), "the connection is closed");
    std::thread::sleep(Duration::from_millis(200));
    let mut connection = batch.connect();
    let (_, answer) = connection.json("POST /jobs", &jobs(["new".to_owned()], 0));
    assert_eq!(answer["ids"], json!([2]), "the id of the one that is gone");
    let (_, found) = connection.json("POST /status", &json!({"names": ["kept", "gone", "new"]}));
    assert_eq!(found["jobs"].as_array().unwrap().len(), 2);
    drop(connection);
    let events = batch.events();
    assert_eq!(events.iter().filter(|(_, what, id, ..)| what == "lost" && *id == 2).count(), 1);
}

#[test]
fn a_server_goes_on_where_the_journal_of_the_one_before_ends() {
    let batch = Batch::new(json!({"slots": 0}));
    batch.connect().json("POST /jobs", &jobs(["a".to_owned()], 0));
    batch.server.stop().unwrap();
    let again = Server::batch(&json!({"slots": 0, "jobs": batch.journal}).to_string()).unwrap();
    let (_, found) = Connection::to(again.port()).json("POST /status", &json!({"names": ["a"]}));
    assert_eq!(found["jobs"][0]["id"], 1);
    again.stop().unwrap();
    std::fs::write(&batch.journal, "something else\n").unwrap();
    let error = Server::batch(&json!({"jobs": batch.journal}).to_string()).err().unwrap().to_string();
    assert!(error.contains("cannot be used: it begins with something else; expected "), "{error}");
    std::fs::remove_file(&batch.journal).unwrap();
}

#[test]
fn what_cannot_be_understood_is_said() {
    let batch = Batch::new(json!({}));
    let mut connection = batch.connect();
    for (line, body, status) in [
        ("POST /jobs", json!({"job": []}), 400),
        ("POST /jobs", json!({"jobs": [{"name": ""}]}), 400),
        ("GET /jobs?most=0", Value::Null, 400),
        ("GET /changes?state=running", Value::Null, 400),
        ("POST /delegations", json!({"id": 3, "lifetime": 5}), 404),
        ("PUT /jobs", Value::Null, 404),
        ("GET /elsewhere", Value::Null, 404),
    ] {
        let (found, answer) = connection.json(line, &body);
        assert!(found == status && answer["error"].as_str().unwrap().contains("; expected "), "{line} {answer}");
    }
    assert_eq!(connection.json("POST /delegations", &json!({"lifetime": 5})).0, 201);
    assert_eq!(connection.json("GET /", &Value::Null).1["system"], "pileup practice batch");
    drop(connection);
    batch.events();
}

#[test]
fn a_hundred_thousand_jobs_at_once() {
    let batch = Batch::new(json!({"slots": 50_000, "cycle": 10 * MS}));
    let mut connection = batch.connect();
    let before = now();
    for part in 0..20 {
        let (status, _) = connection.json("POST /jobs", &jobs((0..5000).map(|n| format!("job-{part}-{n}")), 1));
        assert_eq!(status, 201);
    }
    let taken = now() - before;
    let ended = await_ended(&mut connection, 100_000);
    println!("100000 submitted in {taken} ns, all ended and reported after {} ns", now() - before);
    let mut ids: Vec<_> = ended.iter().map(|job| job["id"].as_u64().unwrap()).collect();
    ids.sort_unstable();
    assert_eq!(ids, (1..=100_000).collect::<Vec<_>>(), "each reported once");
    drop(connection);
    let events = batch.events();
    for what in ["submitted", "acknowledged", "started", "ended"] {
        assert_eq!(events.iter().filter(|event| event.1 == what).count(), 100_000, "{what}");
    }
}
