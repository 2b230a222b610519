//! Stage requests above a library under virtual time: exact instants, one read for all who want a file, nothing kept that is not needed.

use http::StatusCode;
use pileup_schedule::Law;
use pileup_tape::{Library, Rules};
use serde_json::Value;

use super::bulk::{Bulks, Wanted};
use super::clock::Clock;
use super::events::Events;
use super::files::Files;
use super::stager::{Counts, FOR_EVER, Phase, Stager, Times};
use super::tell;
use crate::answer::Answer;

const BASE: i64 = 1_800_000_000_000_000_000;
const S: i64 = 1_000_000_000;

fn seconds(number: u64) -> Law {
    Law::Fixed(number * 1_000_000_000)
}

/// One drive of 1 MB/s, 10 s to mount, 5 s to dismount, 2 s to seek; files of 3 MB, all of them on one cartridge.
fn rules() -> Rules {
    let (mount, dismount, seek) = (seconds(10), seconds(5), seconds(2));
    Rules { drives: 1, cartridges: 1, mount, dismount, seek, speed: 1e6, ..Rules::default() }
}

fn stager(rules: Rules, max_transfers: usize, keep: i64) -> Stager {
    let files = Files::new("/t".to_owned(), 1_000_000, 0, Law::Fixed(3_000_000), 3);
    let events = Events::open(None, clock()).unwrap();
    Stager::new(Library::new(rules, 0), files, events, 2, max_transfers, keep)
}

fn clock() -> Clock {
    Clock::new(BASE, 1.0)
}

fn wanted(paths: &[&str], lasts: i64) -> Vec<Wanted> {
    paths.iter().map(|path| Wanted { path: (*path).to_owned(), lasts, node: 0 }).collect()
}

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

/// What an answer says, its times counted from the begin.
fn told(answer: &Answer) -> Value {
    serde_json::from_slice(answer.body()).unwrap()
}

/// (state, startedAt, finishedAt) of each file, times counted from the begin.
fn states(stager: &Stager, bulks: &Bulks, id: &str) -> Vec<(String, i64, i64)> {
    let told = told(&tell::progress(stager, clock(), id, bulks.find(id).unwrap(), false));
    let since = |time: &Value| time.as_i64().map_or(0, |time| time - BASE / S);
    let one = |file: &Value| {
        (file["state"].as_str().unwrap().to_owned(), since(&file["startedAt"]), since(&file["finishedAt"]))
    };
    told["files"].as_array().unwrap().iter().map(one).collect()
}

fn state(state: &str, started: i64, finished: i64) -> (String, i64, i64) {
    (state.to_owned(), started, finished)
}

#[test]
fn files_are_staged_one_after_the_other_at_exact_times() {
    let (mut stager, mut bulks) = (stager(rules(), 0, 0), Bulks::new(BASE));
    let id = bulks.submit(&mut stager, 4 * S, &wanted(&["/t/0000001", "//t//0000002", "/t/0000001", "/x"], FOR_EVER));
    assert_eq!(
        states(&stager, &bulks, &id),
        [state("STARTED", 4, 0), state("SUBMITTED", 0, 0), state("FAILED", 4, 4),]
    );
    stager.advance(19 * S); // 10 s to mount, 2 s to seek, 3 s to read
    assert_eq!(states(&stager, &bulks, &id)[..2], [state("COMPLETED", 4, 19), state("STARTED", 19, 0)]);
    stager.advance(1000 * S);
    assert_eq!(states(&stager, &bulks, &id)[1], state("COMPLETED", 19, 24));
    assert_eq!(stager.times(1), Times { handed: 4 * S, begun: 21 * S, ended: 24 * S });
    let told = told(&tell::progress(&stager, clock(), &id, bulks.find(&id).unwrap(), true));
    let times = ["createdAt", "startedAt", "completedAt"].map(|name| told[name].as_i64().unwrap() - BASE / S);
    assert_eq!((times, told["id"].as_str()), ([4, 4, 24], Some(id.as_str())));
    let exact = &told["files"][1]["exact"];
    let times = ["handed", "begun", "ended"].map(|name| exact[name].as_i64().unwrap() - BASE);
    assert_eq!((times, exact["drive"].as_i64()), ([4 * S, 21 * S, 24 * S], Some(0)));
    assert!(
        told["files"][2]["error"].as_str().unwrap().starts_with("USER ERROR")
            && told["files"][0].get("error").is_none()
    );
}

#[test]
fn a_limit_of_transfers_keeps_the_others_at_the_stager() {
    let (mut stager, mut bulks) = (stager(Rules { drives: 4, ..rules() }, 1, 0), Bulks::new(BASE));
    bulks.submit(&mut stager, 0, &wanted(&["/t/0000001", "/t/0000002", "/t/0000003"], FOR_EVER));
    assert_eq!((stager.counts.waiting, stager.counts.handed, stager.drives()), (2, 1, (0, 1)));
    stager.advance(1000 * S);
    // handed over at the instant at which the one before was delivered
    assert_eq!(stager.times(1), Times { handed: 15 * S, begun: 17 * S, ended: 20 * S });
    assert_eq!(stager.times(2).handed, 20 * S);
}

#[test]
fn each_node_has_a_limit_of_its_own() {
    let (mut stager, mut bulks) = (stager(Rules { drives: 4, ..rules() }, 1, 0), Bulks::new(BASE));
    let files = ["/t/0000001", "/t/0000002", "/t/0000003"];
    let wanted: Vec<_> =
        (0..).zip(wanted(&files, FOR_EVER)).map(|(at, each)| Wanted { node: at % 2, ..each }).collect();
    bulks.submit(&mut stager, 0, &wanted);
    assert_eq!((stager.nodes(), stager.counts.waiting, stager.counts.handed), (2, 1, 2));
    stager.advance(1000 * S);
    assert_eq!([0, 1, 2].map(|read| stager.times(read).handed), [0, 0, 15 * S], "when its node has one less");
}

#[test]
fn who_wants_the_same_file_shares_one_read_and_the_last_lets_it_go() {
    let (mut stager, mut bulks) = (stager(rules(), 0, 7 * S), Bulks::new(BASE));
    let file = ["/t/0000005"];
    let first = bulks.submit(&mut stager, 0, &wanted(&file, FOR_EVER));
    stager.advance(S);
    let second = bulks.submit(&mut stager, S, &wanted(&file, FOR_EVER));
    bulks.cancel(&mut stager, 2 * S, &first, &paths(&file)).unwrap();
    assert_eq!(states(&stager, &bulks, &first), [state("CANCELLED", 0, 2)]);
    assert_eq!(states(&stager, &bulks, &second), [state("STARTED", 1, 0)], "the other still wants it");
    stager.advance(100 * S);
    let third = bulks.submit(&mut stager, 100 * S, &wanted(&file, FOR_EVER));
    assert_eq!(states(&stager, &bulks, &third), [state("COMPLETED", 100, 100)], "it is on disk");
    assert_eq!((stager.number(), stager.locality(5)), (1, "DISK_AND_TAPE"));
    bulks.release(&mut stager, 101 * S, &second, &paths(&file)).unwrap();
    bulks.release(&mut stager, 102 * S, &second, &paths(&file)).unwrap();
    stager.advance(200 * S);
    assert_eq!(stager.locality(5), "DISK_AND_TAPE", "released twice by one, and still needed by another");
    bulks.delete(&mut stager, 200 * S, &third).unwrap();
    stager.advance(207 * S - 1);
    assert_eq!(stager.locality(5), "DISK_AND_TAPE");
    stager.advance(207 * S);
    assert_eq!((stager.locality(5), stager.counts.disk), ("TAPE", 0));
    assert_eq!(states(&stager, &bulks, &second), [state("COMPLETED", 1, 15)], "as it was");
    bulks.submit(&mut stager, 300 * S, &wanted(&file, FOR_EVER));
    assert_eq!(stager.number(), 2, "it is read again");
}

#[test]
fn what_nobody_wants_any_more_is_not_read() {
    let (mut stager, mut bulks) = (stager(rules(), 2, 0), Bulks::new(BASE));
    let files = ["/t/0000001", "/t/0000002", "/t/0000003"];
    let id = bulks.submit(&mut stager, 0, &wanted(&files, FOR_EVER));
    bulks.cancel(&mut stager, S, &id, &paths(&files)).unwrap();
    let none = Counts { cancelled: 3, ..Counts::default() };
    assert_eq!((stager.counts, stager.drives()), (none, (0, 0)));
    let each = [state("CANCELLED", 0, 1), state("CANCELLED", 0, 1), state("CANCELLED", 0, 1)];
    assert_eq!(states(&stager, &bulks, &id), each);
    assert_eq!(stager.times(2).handed, 0, "not in place of another");
    bulks.cancel(&mut stager, 2 * S, &id, &paths(&files)).unwrap();
    assert_eq!(states(&stager, &bulks, &id)[0], state("CANCELLED", 0, 1), "once");
    let other = bulks.submit(&mut stager, 10 * S, &wanted(&files[..1], FOR_EVER));
    stager.advance(100 * S);
    bulks.cancel(&mut stager, 100 * S, &other, &paths(&files[..1])).unwrap();
    assert_eq!(states(&stager, &bulks, &other)[0].0, "COMPLETED", "too late");
    assert_eq!(stager.locality(1), "DISK_AND_TAPE");
}

#[test]
fn what_is_released_before_it_is_there_leaves_as_soon_as_it_comes() {
    let (mut stager, mut bulks) = (stager(rules(), 0, 0), Bulks::new(BASE));
    let id = bulks.submit(&mut stager, 0, &wanted(&["/t/0000001"], FOR_EVER));
    bulks.release(&mut stager, S, &id, &paths(&["/t/0000001"])).unwrap();
    stager.advance(100 * S);
    assert_eq!(states(&stager, &bulks, &id), [state("COMPLETED", 0, 15)]);
    assert_eq!((stager.locality(1), stager.read(0).phase, stager.counts.disk), ("TAPE", Phase::Gone, 0));
}

#[test]
fn a_lifetime_ends_by_itself_unless_somebody_wants_it_for_longer() {
    let (mut stager, mut bulks) = (stager(rules(), 0, 0), Bulks::new(BASE));
    bulks.submit(&mut stager, 0, &wanted(&["/t/0000001", "/t/0000002"], 30 * S));
    stager.advance(20 * S); // delivered at 15 s and 20 s
    bulks.submit(&mut stager, 20 * S, &wanted(&["/t/0000002"], 100 * S));
    stager.advance(45 * S);
    assert_eq!((stager.locality(1), stager.locality(2)), ("TAPE", "DISK_AND_TAPE"));
    stager.advance(120 * S);
    assert_eq!(stager.locality(2), "TAPE");
    assert_eq!(stager.next(), None);
}

#[test]
fn requests_that_cannot_be_are_refused_with_the_status_of_the_standard() {
    let (mut stager, mut bulks) = (stager(rules(), 0, 0), Bulks::new(BASE));
    let id = bulks.submit(&mut stager, 0, &wanted(&["/t/0000001", "/strange"], FOR_EVER));
    bulks.release(&mut stager, 0, &id, &paths(&["/strange"])).unwrap();
    let both = paths(&["/t/0000001", "/t/0000002"]);
    let problem = bulks.cancel(&mut stager, 0, &id, &both).unwrap_err();
    assert_eq!((problem.status, problem.title), (400, "File missing from stage request"));
    assert!(problem.detail.contains("/t/0000002"), "{problem:?}");
    assert_eq!(states(&stager, &bulks, &id)[0].0, "STARTED", "none of them");
    assert_eq!(bulks.release(&mut stager, 0, &id, &both).unwrap_err().status, 400);
    bulks.delete(&mut stager, 0, &id).unwrap();
    let other = Bulks::new(BASE + 1).submit(&mut stager, 0, &wanted(&["/t/0000001"], FOR_EVER));
    for unknown in [id.as_str(), other.as_str(), "", "x"] {
        let none = paths(&["/t/0000001"]);
        assert_eq!(bulks.find(unknown).err().map(|no| no.status), Some(404));
        assert_eq!(bulks.cancel(&mut stager, 0, unknown, &none).unwrap_err().status, 404);
        assert_eq!(bulks.release(&mut stager, 0, unknown, &none).unwrap_err().status, 404);
        assert_eq!(bulks.delete(&mut stager, 0, unknown).unwrap_err().status, 404);
    }
    assert_eq!(bulks.number(), 0);
}

#[test]
fn a_bad_cartridge_fails_and_what_the_library_forgets_is_in_no_answer() {
    let (mut stager, mut bulks) = (stager(Rules { unreadable: vec![0], ..rules() }, 0, 0), Bulks::new(BASE));
    let id = bulks.submit(&mut stager, 0, &wanted(&["/t/0000001"], FOR_EVER));
    assert_eq!(stager.locality(1), "TAPE", "nobody knows yet");
    stager.advance(100 * S);
    assert_eq!((states(&stager, &bulks, &id), stager.locality(1)), (vec![state("FAILED", 0, 12)], "LOST"));
    let answer = tell::archive_info(&stager, &paths(&["/t/0000001", "/x"]));
    assert_eq!(answer.status(), StatusCode::OK);
    assert_eq!((&told(&answer)[0]["locality"], told(&answer)[1].get("locality")), (&Value::from("LOST"), None));

    let (mut stager, mut bulks) = (self::stager(Rules { lost: 1.0, ..rules() }, 1, 0), Bulks::new(BASE));
    let id = bulks.submit(&mut stager, 0, &wanted(&["/t/0000001", "/t/0000002"], FOR_EVER));
    assert_eq!((states(&stager, &bulks, &id), stager.counts.lost), (vec![], 2), "it does not hold up the others");
    assert_eq!(bulks.cancel(&mut stager, 0, &id, &paths(&["/t/0000001"])).unwrap_err().status, 400);

    let (mut stager, mut bulks) = (self::stager(Rules { silent: vec![0], ..rules() }, 1, 0), Bulks::new(BASE));
    let id = bulks.submit(&mut stager, 0, &wanted(&["/t/0000001", "/t/0000002"], FOR_EVER));
    stager.advance(1000 * S);
    assert_eq!(states(&stager, &bulks, &id), [state("SUBMITTED", 0, 0), state("SUBMITTED", 0, 0)], "it does");
    bulks.cancel(&mut stager, 1000 * S, &id, &paths(&["/t/0000001"])).unwrap();
    stager.advance(2000 * S);
    assert_eq!(states(&stager, &bulks, &id)[1], state("COMPLETED", 1000, 1015));
}

#[test]
fn a_copy_is_told_what_it_has_waited_for() {
    let mut stager = stager(rules(), 1, 60 * S);
    let clock = Clock::new(BASE, 10.0);
    stager.want(0, 0, 1, FOR_EVER, "");
    let read = stager.want(0, 0, 2, FOR_EVER, "");
    stager.advance(100 * S);
    let spans = |asked: i64| {
        let answer = tell::copied(&stager, clock, asked, read, false).unwrap();
        let names = ["x-pileup-stager-queue", "x-pileup-queue-wait", "x-pileup-transfer"];
        names.map(|name| answer.headers()[name].to_str().unwrap().parse::<i64>().unwrap() * 10 / S)
    };
    assert_eq!(spans(0), [15, 2, 3]);
    assert_eq!(spans(16 * S), [0, 1, 3], "what was over before it asked does not count");
    assert_eq!(spans(50 * S), [0, 0, 0], "it was on disk");
    let content = tell::copied(&stager, clock, 0, read, true).unwrap();
    assert_eq!((content.body().len(), &content.body()[..22]), (3_000_000, &b"/t/0000002\n/t/0000002\n"[..]));
    assert_eq!(stager.take_ended(), [0, 1]);
}

#[test]
fn a_million_files_in_five_thousand_requests_are_all_accounted_for() {
    let rules = Rules {
        drives: 50,
        cartridges: 1000,
        mount: seconds(1),
        lost: 1e-4,
        silent: vec![17, 200_000, 999_999],
        ..Rules::default()
    };
    let (mut stager, mut bulks) = (stager(Rules { speed: 1e12, seek: Law::Fixed(0), ..rules }, 0, 0), Bulks::new(BASE));
    let ids: Vec<_> = (0..5000)
        .map(|request| {
            let files: Vec<_> = (0..200).map(|file| format!("/t/{:07}", request * 200 + file)).collect();
            let files: Vec<_> = files.iter().map(String::as_str).collect();
            bulks.submit(&mut stager, 0, &wanted(&files, FOR_EVER))
        })
        .collect();
    stager.advance(100_000 * S);
    let counts = stager.counts;
    assert_eq!((counts.handed, counts.waiting), (3, 0), "those that are never served");
    assert_eq!(counts.delivered + counts.lost + 3, 1_000_000);
    assert!((50..200).contains(&counts.lost), "{}", counts.lost);
    let known: usize = ids.iter().map(|id| bulks.find(id).unwrap().targets.len()).sum();
    assert_eq!((known, size_of::<super::bulk::Target>()), (1_000_000, 24));
    assert!(size_of::<super::stager::Read>() <= 64);
    assert_eq!(states(&stager, &bulks, &ids[0])[17].0, "SUBMITTED");
}
