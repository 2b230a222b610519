//! The client of folders: what each system call's answer becomes.

use pileup_engine::client::{Act, Call, Client, Factory, Failure, Kind};
use pileup_engine::program::Verb;
use pileup_posix::{PosixClient, PosixFactory};
use pileup_testing::bench::{Bench, step};

const CONTENT: &str = r#""content": {"seed": 3, "size": 10000}, "buffer": 4096"#;

fn client(root: &std::path::Path) -> PosixClient {
    PosixFactory::new(&format!(r#"{{"root": {root:?}}}"#)).unwrap().make(0)
}

fn act(client: &mut PosixClient, changes: &str, key: &str) -> (Result<(), Failure>, Act) {
    let (step, mut noted) = (step(changes), Act::default());
    let call = Call::new(1, &step, 7, key);
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
    assert_eq!(act(&mut client, &read, "a").0, Err(Failure::failed("wrong content at offset 5017")));
    let blind = format!(r#"{{"verb": "read", "verify": false, {CONTENT}}}"#);
    assert_eq!(act(&mut client, &blind, "a").0, Ok(()));
    std::fs::write(root.join("a"), &whole[..9000]).unwrap();
    assert_eq!(act(&mut client, &read, "a").0, Err(Failure::failed("9000 bytes read; expected 10000")));
    let stat = format!(r#"{{"verb": "stat", {CONTENT}}}"#);
    assert_eq!(act(&mut client, &stat, "a").0, Err(Failure::failed("size is 9000 bytes; expected 10000")));
}

#[test]
fn scattered_reads_hit_every_place_and_keep_the_file_open() {
    let bench = Bench::new("posix-scattered");
    let mut client = client(&bench.folder.join("data"));
    assert_eq!(act(&mut client, &format!(r#"{{"verb": "write", {CONTENT}}}"#), "a").0, Ok(()));
    let read = format!(r#"{{"verb": "read", "offset": 1000, "length": 1000, "span": 10000, "keep": true, {CONTENT}}}"#);
    let (result, noted) = act(&mut client, &read, "a");
    assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 1000, 2), "open and read");
    let step = step(&read);
    let place = |client, turn| step.ranges(client, turn, None).next().unwrap().offset;
    let places: std::collections::BTreeSet<u64> = (0..200).map(|turn| place(0, turn)).collect();
    assert_eq!(places.into_iter().collect::<Vec<_>>(), (1..10).map(|place| place * 1000).collect::<Vec<_>>());
    assert_ne!(
        (0..20).map(|turn| place(0, turn)).collect::<Vec<_>>(),
        (0..20).map(|turn| place(1, turn)).collect::<Vec<_>>()
    );
    for _ in 0..50 {
        let (result, noted) = act(&mut client, &read, "a");
        assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 1000, 1), "every byte verified, wherever it stood");
    }
    let mut wrong = std::fs::read(bench.folder.join("data/a")).unwrap();
    wrong[1000..].iter_mut().for_each(|byte| *byte ^= 1);
    std::fs::write(bench.folder.join("data/a"), &wrong).unwrap();
    assert!(act(&mut client, &read, "a").0.unwrap_err().message.starts_with("wrong content at offset"));
}

#[test]
fn around_the_cache_whole_blocks_are_moved() {
    let bench = Bench::new("posix-direct");
    let root = bench.folder.join("data");
    if direct_is_refused(&root) {
        eprintln!("the file system of {} has no direct i/o: not tested", root.display());
        return;
    }
    let mut client = PosixFactory::new(&format!(r#"{{"root": {root:?}, "direct": true}}"#)).unwrap().make(0);
    let content = r#""content": {"seed": 3, "size": 40960}, "buffer": 8192"#;
    let (result, noted) = act(&mut client, &format!(r#"{{"verb": "write", {content}}}"#), "a");
    assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 40_960, 6));
    let (result, noted) = act(&mut client, &format!(r#"{{"verb": "read", {content}}}"#), "a");
    assert_eq!((result, noted.bytes), (Ok(()), 40_960));
    let scattered = format!(r#"{{"verb": "read", "length": 4096, "span": 40960, {content}}}"#);
    assert_eq!(act(&mut client, &scattered, "a").0, Ok(()));
    for wrong in [r#""offset": 100, "length": 4096"#, r#""length": 100"#] {
        let message =
            act(&mut client, &format!(r#"{{"verb": "read", {wrong}, {content}}}"#), "a").0.unwrap_err().message.clone();
        assert!(message.contains("100 bytes; expected a multiple of 4096"), "{message}");
    }
    std::fs::write(root.join("odd"), vec![0; 10_000]).unwrap();
    let (result, noted) = act(&mut client, r#"{"verb": "read", "verify": false, "buffer": 4096}"#, "odd");
    assert_eq!((result, noted.bytes), (Ok(()), 10_000), "the end of a file need not be one of a block");
}

/// Whether files here cannot be opened around the cache.
fn direct_is_refused(root: &std::path::Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    std::fs::write(root.join("try"), "").unwrap();
    std::fs::OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(root.join("try")).is_err()
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
        assert_eq!(found.as_ref().err().map(|failure| failure.kind), kind, "{changes} {key}: {found:?}");
    }
}

#[test]
fn no_key_leaves_the_folder() {
    let bench = Bench::new("posix-outside");
    let mut client = client(&bench.folder.join("data"));
    for key in ["../operations.table", "a/../../operations.table", "/../operations.table"] {
        let failure = act(&mut client, r#"{"verb": "delete"}"#, key).0.unwrap_err();
        assert!(failure.message.contains("leaves"), "{failure:?}");
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
    let failure = result.unwrap_err();
    assert_eq!((failure.kind, noted.bytes), (Kind::Refused, 0));
    assert_eq!(failure.message, "write: No space left on device (os error 28)");
}

#[test]
fn names_change_and_change_back() {
    let bench = Bench::new("posix-rename");
    let (root, mut client) = (bench.folder.join("data"), client(&bench.folder.join("data")));
    std::fs::write(root.join("a"), "").unwrap();
    let back =
        r#""keys": {"prefix": "f", "count": 4, "width": 2, "names": [], "order": "sequential", "suffix": ".new"}"#;
    assert_eq!(act(&mut client, r#"{"verb": "rename", "to": ".new"}"#, "a").0, Ok(()));
    assert!(root.join("a.new").exists() && !root.join("a").exists());
    assert_eq!(act(&mut client, r#"{"verb": "rename", "to": ".new"}"#, "a").0.unwrap_err().kind, Kind::Failed);
    assert_eq!(act(&mut client, &format!(r#"{{"verb": "rename", {back}}}"#), "a.new").0, Ok(()));
    assert!(root.join("a").exists() && !root.join("a.new").exists());
    let out = act(&mut client, r#"{"verb": "rename", "to": "/../../b"}"#, "a").0.unwrap_err();
    assert!(out.message.contains("leaves"), "{out:?}");
}

#[test]
fn a_verb_that_it_has_not_fails_and_says_so() {
    let bench = Bench::new("posix-unable");
    let mut client = client(&bench.folder.join("data"));
    let told = act(&mut client, r#"{"verb": "copy"}"#, "a").0.unwrap_err();
    assert_eq!((told.kind, told), (Kind::Failed, Failure::unable(Verb::Copy)));
    for verb in ["request", "connect"] {
        let told = act(&mut client, &format!(r#"{{"verb": {verb:?}}}"#), "a").0.unwrap_err();
        assert!(told.message.starts_with("a folder "), "{told:?}");
    }
}

#[test]
fn a_checksum_is_held_to_what_went_over_the_wire_else_to_the_known_content() {
    let bench = Bench::new("posix-checksum");
    let (root, mut client) = (bench.folder.join("data"), client(&bench.folder.join("data")));
    let mut asked = |changes: &str, sums: bool, sum: Option<u32>| {
        let (step, mut noted) = (step(changes), Act::default());
        let call = Call { sums, sum, ..Call::new(1, &step, 7, "a") };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        (runtime.block_on(client.act(&call, &mut noted)), noted)
    };
    let written = asked(&format!(r#"{{"verb": "write", {CONTENT}}}"#), true, None).1.sum;
    let read = asked(&format!(r#"{{"verb": "read", {CONTENT}}}"#), true, None).1.sum;
    assert!(written.is_some() && written == read);
    assert_eq!(asked(&format!(r#"{{"verb": "read", {CONTENT}}}"#), false, None).1.sum, None, "nobody wants it");
    let checksum = format!(r#"{{"verb": "checksum", "checksum": "adler32", {CONTENT}}}"#);
    assert_eq!(asked(&checksum, false, written).0, Ok(()));
    assert_eq!(asked(&checksum, false, None).0, Ok(()));
    assert!(asked(&checksum, false, Some(1)).0.unwrap_err().message.ends_with("what went over the wire"));
    std::fs::write(root.join("a"), "other").unwrap();
    assert!(asked(&checksum, false, None).0.unwrap_err().message.ends_with("what was written"));
    assert_eq!(
        asked(r#"{"verb": "checksum", "checksum": "adler32"}"#, false, None).0,
        Ok(()),
        "nothing is known of it"
    );
}

#[test]
fn pieces_are_read_and_verified_wherever_they_lie() {
    let bench = Bench::new("posix-pieces");
    let (root, mut client) = (bench.folder.join("data"), client(&bench.folder.join("data")));
    assert_eq!(act(&mut client, &format!(r#"{{"verb": "write", {CONTENT}}}"#), "a").0, Ok(()));
    let vector = format!(r#"{{"verb": "read", "length": 100, "span": 10000, "pieces": 7, "keep": true, {CONTENT}}}"#);
    let (result, noted) = act(&mut client, &vector, "a");
    assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 700, 8));
    let sparse =
        format!(r#"{{"verb": "read", "length": 100, "span": 10000, "fraction": 0.25, "keep": true, {CONTENT}}}"#);
    let (result, noted) = act(&mut client, &sparse, "a");
    assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 2500, 25), "the file was still open");
    let all = format!(r#"{{"verb": "read", "length": 100, "span": 10000, "fraction": 1.0, {CONTENT}}}"#);
    let mut wrong = std::fs::read(root.join("a")).unwrap();
    wrong[7777] ^= 1;
    std::fs::write(root.join("a"), wrong).unwrap();
    assert_eq!(act(&mut client, &all, "a").0, Err(Failure::failed("wrong content at offset 7777")));
}

#[test]
fn layers_open_without_bytes_and_move_bytes_without_opening() {
    let bench = Bench::new("posix-layers");
    let mut client = client(&bench.folder.join("data"));
    assert_eq!(act(&mut client, r#"{"verb": "open"}"#, "a").0.unwrap_err().kind, Kind::Failed);
    let write = format!(r#"{{"verb": "write", "keep": true, {CONTENT}}}"#);
    assert_eq!((act(&mut client, &write, "a").1.calls, act(&mut client, &write, "a").1.calls), (4, 3));
    let (result, noted) = act(&mut client, r#"{"verb": "open"}"#, "a");
    assert_eq!((result, noted.bytes, noted.calls), (Ok(()), 0, 2));
    let read = format!(r#"{{"verb": "read", "keep": true, "read_ahead": 8192, {CONTENT}}}"#);
    assert_eq!((act(&mut client, &read, "a").1.calls, act(&mut client, &read, "a").1.calls), (5, 4));
    assert_eq!(act(&mut client, &read, "a").1.bytes, 10_000);
    assert_eq!(act(&mut client, r#"{"verb": "noop"}"#, "a").0, Ok(()));
    assert!(act(&mut client, r#"{"verb": "connect"}"#, "a").0.unwrap_err().message.contains("no sessions"));
}
