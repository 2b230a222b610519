//! What the pool says of its files.

use super::Pool;
use super::requests::{Phase, Requests};

#[test]
fn paths_of_the_api_are_no_files() {
    for (path, expected) in [
        ("/.well-known/wlcg-tape-rest-api", true),
        ("/api/v1", true),
        ("/api/v1/stage/a-1", true),
        ("/api/v10/x", false),
        ("/data/api/v1/x", false),
    ] {
        assert_eq!(Pool::has(path), expected, "{path}");
    }
}

#[test]
fn a_file_is_opened_when_it_is_ready_and_closed_as_often() {
    let requests = Requests::new(255);
    let paths = ["/a/1", "//a//1", "/a/2"].map(str::to_owned);
    let bulk = requests.add(1, paths.into_iter());
    assert_eq!((bulk.id(), bulk.files.len()), ("ff-0", 2), "a file that is named twice counts once");
    let file = &bulk.chosen(&["/a//2".to_owned()]).unwrap()[0];
    assert_eq!(file.open().unwrap_err().status, 409);
    assert_eq!(file.close().unwrap_err().status, 409);
    file.phase.set(Phase::Ready);
    assert!(file.open().is_ok() && file.close().is_ok() && file.close().is_err());
    file.cancel(5);
    assert_eq!(file.phase.get(), Phase::Ready, "what has come to its end stays as it is");
    assert_eq!(bulk.chosen(&["/a/3".to_owned()]).err().unwrap().status, 400);
}

#[test]
fn a_request_that_is_deleted_is_unknown() {
    let requests = Requests::new(255);
    let bulk = requests.add(1, ["/a/1".to_owned()].into_iter());
    for wrong in ["ff-1", "fe-0", "ff-", "ff", "ff-x"] {
        assert_eq!(requests.find(wrong).err().unwrap().status, 404, "{wrong}");
    }
    requests.delete(9, "ff-0").unwrap();
    assert_eq!(bulk.files[0].phase.get(), Phase::Cancelled);
    assert_eq!(requests.delete(9, "ff-0").err().unwrap().status, 404);
}
