//! A library against what can be computed by hand, and what holds whatever is asked.

use pileup_schedule::Law;
use proptest::prelude::*;

use super::*;

const S: i64 = 1_000_000_000;
const MB: u64 = 1_000_000;

fn seconds(number: u64) -> Law {
    Law::Fixed(number * 1_000_000_000)
}

/// One drive of 1 MB/s, 10 s to mount, 5 s to dismount, 2 s to seek; three cartridges.
fn small() -> Rules {
    Rules {
        drives: 1,
        cartridges: 3,
        mount: seconds(10),
        dismount: seconds(5),
        seek: seconds(2),
        speed: 1e6,
        ..Rules::default()
    }
}

/// Keys of files on each cartridge in turn.
fn keys(library: &Library, wanted: &[u32]) -> Vec<u64> {
    let mut next = 0;
    let mut key_on = |cartridge| {
        next += 1;
        while library.cartridge(next) != cartridge {
            next += 1;
        }
        next
    };
    wanted.iter().map(|cartridge| key_on(*cartridge)).collect()
}

fn ends(library: &Library, number: u64) -> (i64, i64) {
    let request = library.request(number).unwrap();
    (request.begun / S, request.ended / S)
}

#[test]
fn a_file_waits_for_mount_and_seek_and_takes_its_bytes() {
    let mut library = Library::new(small(), 0);
    let key = keys(&library, &[0])[0];
    let number = library.submit(3 * S, key, 4 * MB);
    assert_eq!(library.next(), Some(13 * S));
    library.advance(100 * S);
    assert_eq!(ends(&library, number), (15, 19));
    assert_eq!(library.request(number).unwrap().state, State::Delivered);
    let events: Vec<_> = library.take_events().iter().map(|each| (each.time / S, each.what)).collect();
    assert_eq!(
        events,
        [(3, What::Queued), (3, What::Assigned), (13, What::Mounted), (15, What::Begun), (19, What::Delivered)]
    );
    assert!(library.take_events().is_empty() && library.next().is_none());
}

#[test]
fn by_cartridge_a_drive_stays_with_what_is_in_it_and_first_come_goes_back_and_forth() {
    for (order, expected) in [
        // cartridge 0: 12 to 13, 15 to 16; then 5 s back, 10 s there, 2 s to the file
        (Order::Cartridge, [(12, 13), (33, 34), (15, 16)]),
        (Order::Fifo, [(12, 13), (30, 31), (48, 49)]),
    ] {
        let mut library = Library::new(Rules { order, ..small() }, 0);
        let keys = keys(&library, &[0, 1, 0]);
        let numbers: Vec<_> = keys.iter().map(|key| library.submit(0, *key, MB)).collect();
        library.advance(1000 * S);
        assert_eq!(numbers.iter().map(|each| ends(&library, *each)).collect::<Vec<_>>(), expected, "{order:?}");
    }
}

#[test]
fn one_arm_moves_one_cartridge_at_a_time() {
    for (arms, second) in [(1, (22, 23)), (2, (12, 13))] {
        let mut library = Library::new(Rules { drives: 2, arms, ..small() }, 0);
        let keys = keys(&library, &[0, 1]);
        let numbers: Vec<_> = keys.iter().map(|key| library.submit(0, *key, MB)).collect();
        library.advance(1000 * S);
        assert_eq!((ends(&library, numbers[0]), ends(&library, numbers[1])), ((12, 13), second));
    }
}

#[test]
fn a_cartridge_is_in_one_drive_alone() {
    let mut library = Library::new(Rules { drives: 2, ..small() }, 0);
    let keys = keys(&library, &[0, 0]);
    let numbers: Vec<_> = keys.iter().map(|key| library.submit(0, *key, MB)).collect();
    assert_eq!((library.busy(), library.waiting()), (1, 1));
    library.advance(1000 * S);
    assert_eq!((ends(&library, numbers[0]), ends(&library, numbers[1])), ((12, 13), (15, 16)));
}

#[test]
fn what_a_drive_that_goes_down_was_at_is_read_again_by_another() {
    let down = vec![Absence { drive: 0, from: 14 * S, lasts: 1000 * S }];
    let mut library = Library::new(Rules { drives: 2, down, ..small() }, 0);
    let key = keys(&library, &[0])[0];
    let number = library.submit(0, key, 5 * MB);
    library.advance(100 * S);
    assert_eq!(ends(&library, number), (26, 31));
    let words: Vec<_> = library.take_events().iter().map(|each| each.what.word()).collect();
    assert_eq!(words[4..7], ["drive down", "requeued", "assigned"]);
}

#[test]
fn a_drive_that_comes_back_serves_again() {
    let down = vec![Absence { drive: 0, from: 0, lasts: 50 * S }, Absence { drive: 0, from: 20 * S, lasts: 60 * S }];
    let mut library = Library::new(Rules { down, ..small() }, 0);
    let key = keys(&library, &[0])[0];
    let number = library.submit(S, key, MB);
    library.advance(1000 * S);
    assert_eq!(ends(&library, number), (92, 93));
}

#[test]
fn a_bad_cartridge_is_found_after_the_seek_and_the_next_is_served() {
    let mut library = Library::new(Rules { unreadable: vec![0], ..small() }, 0);
    let keys = keys(&library, &[0, 1]);
    let numbers: Vec<_> = keys.iter().map(|key| library.submit(0, *key, MB)).collect();
    library.advance(1000 * S);
    let request = library.request(numbers[0]).unwrap();
    assert_eq!((request.state, request.begun, request.ended), (State::Unreadable, 0, 12 * S));
    assert_eq!(ends(&library, numbers[1]), (29, 30));
}

#[test]
fn silent_requests_wait_for_ever_and_lost_ones_are_forgotten() {
    let mut library = Library::new(Rules { lost: 0.1, silent: vec![7], drives: 4, ..small() }, 0);
    for key in 0..1000 {
        library.submit(0, key, MB);
    }
    library.advance(i64::MAX);
    let states: Vec<_> = (0..1000).map(|number| library.request(number).unwrap().state).collect();
    assert_eq!(states[7], State::Queued);
    let lost = states.iter().filter(|state| **state == State::Lost).count();
    assert!((70..130).contains(&lost), "{lost}");
    assert_eq!(states.iter().filter(|state| **state == State::Delivered).count(), 999 - lost);
    assert_eq!(library.waiting(), 0);
}

#[test]
fn what_is_taken_back_frees_its_drive() {
    let mut library = Library::new(small(), 0);
    let keys = keys(&library, &[0, 1, 1]);
    let numbers: Vec<_> = keys.iter().map(|key| library.submit(0, *key, MB)).collect();
    assert!(library.cancel(4 * S, numbers[0]));
    assert!(library.cancel(4 * S, numbers[2]));
    assert!(!library.cancel(4 * S, numbers[0]));
    assert!(!library.cancel(4 * S, 99));
    library.advance(1000 * S);
    // the robot ends what it does (at 10 s), then 5 s back and 10 s there
    assert_eq!(ends(&library, numbers[1]), (27, 28));
    assert!(!library.cancel(2000 * S, numbers[1]));
}

#[test]
fn a_cartridge_on_its_way_is_waited_for_by_who_asks_next() {
    let mut library = Library::new(small(), 0);
    let keys = keys(&library, &[0, 0]);
    let first = library.submit(0, keys[0], MB);
    assert!(library.cancel(4 * S, first));
    let second = library.submit(4 * S, keys[1], MB);
    library.advance(1000 * S);
    assert_eq!(ends(&library, second), (12, 13));
    // with arms to spare the robot does not take out what is not in the drive yet
    let mut library = Library::new(Rules { arms: 3, ..small() }, 0);
    let first = library.submit(0, keys[0], MB);
    assert!(library.cancel(4 * S, first));
    let other = (0..).find(|key| library.cartridge(*key) == 1).unwrap();
    let second = library.submit(4 * S, other, MB);
    library.advance(1000 * S);
    assert_eq!(ends(&library, second), (27, 28));
}

#[test]
fn wrong_rules_are_named_with_what_was_expected() {
    let given = |json: &str| serde_json::from_str::<Rules>(json).unwrap().check();
    assert!(given("{}").is_ok());
    for (json, what) in [
        (r#"{"drives": 0}"#, "drives 0"),
        (r#"{"cartridges": 0}"#, "cartridges 0"),
        (r#"{"arms": 0}"#, "arms 0"),
        (r#"{"speed": 0}"#, "speed 0"),
        (r#"{"lost": 1.5}"#, "lost 1.5"),
        (r#"{"unreadable": [100]}"#, "unreadable cartridge 100"),
        (r#"{"down": [{"drive": 4, "from": 0, "lasts": 1}]}"#, "drive 4 down"),
        (r#"{"down": [{"drive": 0, "from": -1, "lasts": 1}]}"#, "negative time"),
    ] {
        assert!(given(json).unwrap_err().0.contains(what), "{json}");
    }
}

/// Events are in order of time, and a drive has one request at a time.
fn check_events(library: &mut Library, drives: u32) -> Result<(), TestCaseError> {
    let mut at = vec![None; drives as usize];
    let mut last = i64::MIN;
    for event in library.take_events() {
        prop_assert!(event.time >= last, "events are in time");
        last = event.time;
        let Some(drive) = event.drive else { continue };
        let place = drive as usize;
        match event.what {
            What::Assigned => prop_assert!(at[place].replace(event.request).is_none(), "a drive has one request"),
            What::Mounted | What::Begun => prop_assert_eq!(at[place], Some(event.request)),
            What::Delivered | What::Unreadable | What::Cancelled | What::Requeued => {
                prop_assert_eq!(at[place].take(), Some(event.request));
            }
            _ => {}
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn every_request_comes_to_one_end(
        drives in 1_u32..5,
        arms in 1_u32..3,
        cartridges in 1_u32..20,
        fifo in any::<bool>(),
        seed in any::<u64>(),
        bad in prop::collection::vec(0_u32..20, 0..3),
        down in prop::collection::vec((0_u32..5, 0_i64..200, 1_i64..100), 0..4),
        asked in prop::collection::vec((0_i64..30, 0_u64..50, 0_u64..20, 0_u8..10), 1..60),
    ) {
        let rules = Rules {
            drives,
            arms,
            cartridges,
            order: if fifo { Order::Fifo } else { Order::Cartridge },
            mount: Law::Exponential(10_000_000_000),
            unreadable: bad.into_iter().filter(|each| *each < cartridges).collect(),
            down: down
                .into_iter()
                .filter(|each| each.0 < drives)
                .map(|(drive, from, lasts)| Absence { drive, from: from * S, lasts: lasts * S })
                .collect(),
            seed,
            ..small()
        };
        let mut library = Library::new(rules, 0);
        let mut now = 0;
        let mut numbers = Vec::new();
        for (later, key, size, cancel) in asked {
            now += later * S;
            numbers.push(library.submit(now, key, size * MB));
            if cancel == 0 {
                library.cancel(now, numbers[numbers.len() / 2]);
            }
        }
        let mut steps = 0;
        while let Some(time) = library.next() {
            library.advance(time);
            steps += 1;
            prop_assert!(steps < 10_000);
        }
        check_events(&mut library, drives)?;
        for number in numbers {
            let request = library.request(number).unwrap();
            prop_assert!(request.state.is_final(), "{request:?}");
            if request.state == State::Delivered {
                prop_assert!(request.submitted <= request.begun);
                prop_assert_eq!(request.ended - request.begun, i64::try_from(request.size).unwrap() * 1000);
            }
        }
        prop_assert_eq!((library.busy(), library.waiting()), (0, 0));
    }
}
