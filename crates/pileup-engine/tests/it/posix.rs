//! The client of folders: what each system call's answer becomes.

use pileup_engine::client::{Act, Call, Client, Factory, Fault, Kind};
use pileup_engine::posix::{PosixClient, PosixFactory};

use crate::kit::{Bench, step};

const CONTENT: &str = r#""content": {"seed": 3, "size": 10000}, "buffer": 4096"#;

fn client(root: &std::path::Path) -> PosixClient {
    PosixFactory::new(&format!(r#"{{"root": {root:?}}}"#)).unwrap().make(0)
}

fn act(client: &mut PosixClient, changes: &str, key: &str) -> (Result<(), Fault>, Act) {
    let (step, mut noted) = (step(changes), Act::default());
    let call = Call { id: 1, step: &step, number: 7, key };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let result = runtime.block_on(client.act(&call, &mut noted));
    (result, noted)
}

#[test]
fn what_was_written_can_be_read_and_every_difference_shows() {
    let bench = Bench::new("posix-content");
    let (root, mut client) = (bench.folder.join("data"), client(&bench.folder.join("data")));
    let write = format!(r#"{{"verb": "write", "checksum": "adler32", {CONTENT}}}"#);
    let read = format!(r#"{{"verb": "read", {CONTENT}}}"#);
    let (result, noted) = act(&mut client, &write, "a");
    assert_eq!((result, noted.bytes), (Ok(()), 10_000));
    let (result, noted) = act(&mut client, &read, "a");
    assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 10_000, 5), "open, three pieces, the end");
    assert!(noted.first_byte > 0);
    let part = format!(r#"{{"verb": "read", "offset": 5000, "length": 300, {CONTENT}}}"#);
    assert_eq!(act(&mut client, &part, "a").1.bytes, 300);

    let whole = std::fs::read(root.join("a")).unwrap();
    let mut wrong = whole.clone();
    wrong[5017] ^= 1;
    std::fs::write(root.join("a"), &wrong).unwrap();
    assert_eq!(act(&mut client, &read, "a").0, Err(Fault::failed("wrong content at offset 5017")));
    let blind = format!(r#"{{"verb": "read", "verify": false, {CONTENT}}}"#);
    assert_eq!(act(&mut client, &blind, "a").0, Ok(()));
    std::fs::write(root.join("a"), &whole[..9000]).unwrap();
    assert_eq!(act(&mut client, &read, "a").0, Err(Fault::failed("9000 bytes read; expected 10000")));
    let stat = format!(r#"{{"verb": "stat", {CONTENT}}}"#);
    assert_eq!(act(&mut client, &stat, "a").0, Err(Fault::failed("size is 9000 bytes; expected 10000")));
}

#[test]
fn folders_are_made_listed_and_removed() {
    let bench = Bench::new("posix-folders");
    let mut client = client(&bench.folder.join("data"));
    let missing = Some(Kind::Failed);
    for (changes, key, kind) in [
        (r#"{"verb": "mkdir"}"#, "d", None),
        (r#"{"verb": "mkdir"}"#, "d", missing),
        (r#"{"verb": "mkdir", "missing_ok": true}"#, "d", None),
        (r#"{"verb": "mkdir"}"#, "no/parent", missing),
        (r#"{"verb": "write"}"#, "d/f", None),
        (r#"{"verb": "list", "expect": {"statuses": [], "contains": null, "entries": 1}}"#, "d", None),
        (r#"{"verb": "list", "expect": {"statuses": [], "contains": null, "entries": 2}}"#, "d", missing),
        (r#"{"verb": "stat"}"#, "d/f", None),
        (r#"{"verb": "delete"}"#, "d/f", None),
        (r#"{"verb": "delete"}"#, "d/f", missing),
        (r#"{"verb": "delete", "missing_ok": true}"#, "d/f", None),
        (r#"{"verb": "delete"}"#, "d", None),
        (r#"{"verb": "request"}"#, "d", missing),
    ] {
        let found = act(&mut client, changes, key).0;
        assert_eq!(found.as_ref().err().map(|fault| fault.kind), kind, "{changes} {key}: {found:?}");
    }
}

#[test]
fn no_key_leaves_the_folder() {
    let bench = Bench::new("posix-outside");
    let mut client = client(&bench.folder.join("data"));
    for key in ["../operations.table", "a/../../operations.table", "/../operations.table"] {
        let fault = act(&mut client, r#"{"verb": "delete"}"#, key).0.unwrap_err();
        assert!(fault.message.contains("leaves"), "{fault:?}");
    }
    assert!(bench.folder.join("operations.table").exists());
    std::fs::write(bench.folder.join("data/inside"), "").unwrap();
    assert_eq!(act(&mut client, r#"{"verb": "stat"}"#, "/inside").0, Ok(()), "an absolute key begins at the folder");
}

#[test]
fn a_full_disk_says_no() {
    // every write to this device is answered with "no space left"
    let mut client = client(std::path::Path::new("/dev"));
    let (result, noted) = act(&mut client, &format!(r#"{{"verb": "write", {CONTENT}}}"#), "full");
    let fault = result.unwrap_err();
    assert_eq!((fault.kind, noted.bytes), (Kind::Refused, 0));
    assert_eq!(fault.message, "write: No space left on device (os error 28)");
}
