//! A test as data: the steps of one iteration, as `model/program.py` writes them. Neutral of any protocol.

use pileup_schedule::bits;
use serde::Deserialize;

use crate::content::Object;
use crate::refusal::ProgramError;
use crate::verb::Names;
pub use crate::verb::Verb;

/// Streams of the draws of places, one for each client.
const PLACES: u64 = 0x706c_6163_6573_0000;
/// Stream of the draws of random objects.
const OBJECTS: u64 = u64::MAX;
/// Stream of the draws of sizes.
const SIZES: u64 = 0x7369_7a65_7300_0000;

/// In which order the objects of a step are taken.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// In turn over all iterations.
    #[default]
    Sequential,
    /// Drawn again each time, seeded.
    Random,
    /// Each client its own, by its number.
    Client,
    /// In turn, each client among a share of its own: no two clients act on the same one at a time, however long either takes.
    Shared,
}

/// Which object a step acts on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Keys {
    /// Begin of the names.
    pub prefix: String,
    /// Number of objects.
    pub count: u64,
    /// Digits of the number in the name.
    pub width: usize,
    /// The names themselves; empty: made from prefix and number.
    pub names: Vec<String>,
    /// How they are taken.
    pub order: Order,
    /// What follows each name.
    #[serde(default)]
    pub suffix: String,
    /// In so many folders d000000, d000001, ... object n in number n modulo this; 0: none.
    #[serde(default)]
    pub folders: u64,
}

impl Keys {
    /// Number of objects, at least 1.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.names.is_empty() { self.count.max(1) } else { self.names.len() as u64 }
    }

    /// Write the name of object `number` into `name`.
    pub fn write_name(&self, number: u64, name: &mut String) {
        name.clear();
        match usize::try_from(number).ok().and_then(|number| self.names.get(number)) {
            Some(known) => name.push_str(known),
            None if self.folders == 0 => {
                name.push_str(&self.prefix);
                write_number(name, number, self.width);
            }
            None => {
                let base = self.prefix.rfind('/').map_or(0, |slash| slash + 1);
                let (above, begin) = self.prefix.split_at(base);
                name.push_str(above);
                name.push('d');
                write_number(name, number % self.folders, 6);
                name.push('/');
                name.push_str(begin);
                write_number(name, number, self.width);
            }
        }
        name.push_str(&self.suffix);
    }
}

/// Write a number with at least so many digits: names are written for every operation, and formatting costs ten times as much.
fn write_number(into: &mut String, mut number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let short = width.saturating_sub(digits.len() - at);
    into.extend(std::iter::repeat_n('0', short));
    into.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// Known content: a function of (seed, object number, offset). See docs/engine.md.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Seed of the pool.
    pub seed: u64,
    /// Size of the whole object in bytes; with `sizes` the largest of them.
    pub size: u64,
    /// Sizes of which one is drawn for each object, (weight, bytes); empty: all are `size`.
    #[serde(default)]
    pub sizes: Vec<(u64, u64)>,
    /// How much of it is random, 0 to 1: the rest is zeros that can be compressed away.
    #[serde(default = "all")]
    pub entropy: f64,
}

const fn all() -> f64 {
    1.0
}

impl Content {
    /// What object `number` holds.
    #[must_use]
    pub fn object(&self, number: u64) -> Object {
        Object { seed: self.seed, number, size: self.size_of(number), entropy: self.entropy }
    }

    /// Size of object `number`, bytes.
    #[must_use]
    pub fn size_of(&self, number: u64) -> u64 {
        let total: u64 = self.sizes.iter().map(|(weight, _)| weight).sum();
        if total == 0 {
            return self.size;
        }
        let mut drawn = bits(self.seed, SIZES, number) % total;
        for (weight, size) in &self.sizes {
            if drawn < *weight {
                return *size;
            }
            drawn -= weight;
        }
        self.size
    }
}

/// What an answer must be.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// Statuses that pass; empty: any 2xx.
    pub statuses: Vec<u16>,
    /// Text that must occur in the first MiB of the answer.
    pub contains: Option<String>,
    /// Number of entries of a listing.
    pub entries: Option<u64>,
}

/// Which checksum goes with the content.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Checksum {
    /// None.
    #[default]
    None,
    /// Adler-32, the grid's usual one (RFC 1950).
    Adler32,
    /// The same, where the server states one when it is asked.
    #[serde(rename = "if stated")]
    IfStated,
}

/// One operation of an iteration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Name of the operation in the record.
    pub operation: String,
    /// What is done.
    pub verb: Verb,
    /// On which object.
    pub keys: Keys,
    /// How often in an iteration, with successive objects.
    pub repeat: u64,
    /// What is written, or what a read must give.
    pub content: Option<Content>,
    /// Where a read begins, bytes.
    pub offset: u64,
    /// How much is read, bytes; none: to the end.
    pub length: Option<u64>,
    /// Read `length` bytes at a place drawn again each time, a multiple of `length` behind `offset`, within so many bytes of the object; none: at
    /// `offset`.
    #[serde(default)]
    pub span: Option<u64>,
    /// With `span`: so many such pieces in one request, ascending (a vector read); 0: a piece in a request.
    #[serde(default)]
    pub pieces: u64,
    /// With `span`: this part of it is read, 0 to 1, in pieces of `length` spread over it, ascending; none: one request.
    #[serde(default)]
    pub fraction: Option<f64>,
    /// Read-ahead: bytes requested in advance in a sequential read; 0: no read-ahead; none: as the protocol does by itself.
    #[serde(default)]
    pub read_ahead: Option<u64>,
    /// Whether the object stays open for the client's next operation on it.
    #[serde(default)]
    pub keep: bool,
    /// Bytes moved at a time: a call on a file system, a range request over HTTP; none: as the protocol does by itself.
    pub buffer: Option<u64>,
    /// Whether what is read is compared with the known content.
    pub verify: bool,
    /// Checksum sent or asked for.
    pub checksum: Checksum,
    /// Method of a request.
    pub method: String,
    /// Headers of a request.
    pub headers: Vec<(String, String)>,
    /// What passes.
    pub expect: Expect,
    /// Whether a missing object passes a delete, an existing one a mkdir.
    pub missing_ok: bool,
    /// Time that a noop takes, nanoseconds.
    pub cost_ns: u64,
    /// Of a rename: what the new name ends with.
    #[serde(default)]
    pub to: String,
    /// Of a write or a rename: whether nothing may be there under the name yet; else what is there is replaced.
    #[serde(default)]
    pub new: bool,
    /// Of a verb with a second target: which one, and under which name there. Of a checksum: the object there is asked about.
    #[serde(default)]
    pub destination: Option<Destination>,
}

/// The second target of a step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Destination {
    /// Its name in the suite.
    pub target: String,
    /// Names there: object `n` of the step's keys goes to number `n` of these.
    pub keys: Keys,
    /// Whether the second target fetches the object; else the step's own target sends it.
    #[serde(default)]
    pub pull: bool,
    /// Streams that the object goes over; none: as many as the servers like.
    #[serde(default)]
    pub streams: Option<u32>,
}

impl Step {
    /// The new name of a rename.
    #[must_use]
    pub fn renamed(&self, key: &str) -> String {
        let stem = key.strip_suffix(self.keys.suffix.as_str()).unwrap_or(key);
        format!("{stem}{}", self.to)
    }

    /// What the `turn`-th read of a client reads of an object of `size` bytes (none: not known), in this order, without overlap.
    ///
    /// With `pieces` so many of them belong into one request.
    #[must_use]
    pub fn ranges(&self, client: u32, turn: u64, size: Option<u64>) -> Ranges {
        let whole = Range { offset: self.offset, length: self.length };
        let seed = self.content.as_ref().map_or(0, |content| content.seed);
        let mut ranges = Ranges { whole, drawn: false, seed, client, turn, places: 1, count: 1, next: 0 };
        if let (Some(span), Some(length)) = (self.span, self.length.filter(|length| *length > 0)) {
            ranges.drawn = true;
            let span = span.min(size.unwrap_or(span));
            ranges.places = (span.saturating_sub(self.offset) / length).max(1);
            ranges.count = match self.fraction {
                Some(fraction) => part(ranges.places, fraction),
                None => self.pieces.max(1).min(ranges.places),
            };
        }
        ranges
    }
}

/// This share of the places, at least one.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // rounded, within the places
fn part(places: u64, fraction: f64) -> u64 {
    ((places as f64 * fraction.clamp(0.0, 1.0)).round() as u64).clamp(1, places)
}

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Its first byte.
    pub offset: u64,
    /// Its length; none: to the end.
    pub length: Option<u64>,
}

/// What a read reads: all at `offset`, or pieces, each drawn within its share of the object.
#[derive(Clone, Debug)]
pub struct Ranges {
    whole: Range,
    drawn: bool,
    seed: u64,
    client: u32,
    turn: u64,
    /// Where a piece may begin, counted in pieces.
    places: u64,
    /// Pieces in all.
    count: u64,
    next: u64,
}

impl Ranges {
    /// How many are left.
    #[must_use]
    pub const fn left(&self) -> u64 {
        self.count - self.next
    }
}

impl Iterator for Ranges {
    type Item = Range;

    fn next(&mut self) -> Option<Range> {
        if self.next == self.count {
            return None;
        }
        let number = self.next;
        self.next += 1;
        if !self.drawn {
            return Some(self.whole);
        }
        // the shares are as large as each other but for one place: ascending, without overlap, and no list of what was drawn
        let share = |number: u64| u64::try_from(u128::from(number) * u128::from(self.places) / u128::from(self.count));
        let (begin, end) = (share(number).unwrap_or(0), share(number + 1).unwrap_or(self.places));
        let turn = self.turn.wrapping_mul(self.count).wrapping_add(number);
        let drawn = begin + bits(self.seed, PLACES ^ u64::from(self.client), turn) % (end - begin).max(1);
        let length = self.whole.length.unwrap_or_default();
        Some(Range { offset: self.whole.offset + drawn * length, length: Some(length) })
    }
}

/// The steps of one iteration.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// In this order.
    pub steps: Vec<Step>,
    /// How often all of them are done in an iteration, each time with the next objects.
    #[serde(default = "once")]
    pub repeat: u64,
}

const fn once() -> u64 {
    1
}

impl Program {
    /// Check what its types do not express.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), ProgramError> {
        if self.steps.is_empty() {
            return Err(ProgramError::Empty);
        }
        let never = |step: &&Step| step.repeat == 0 || step.operation.is_empty();
        if let Some(step) = self.steps.iter().find(never) {
            return Err(ProgramError::Step { operation: step.operation.clone(), times: step.repeat });
        }
        let astray = |step: &&Step| match step.verb {
            Verb::Checksum => false,
            verb => (verb.traits().names == Names::Elsewhere) != step.destination.is_some(),
        };
        if let Some(step) = self.steps.iter().find(astray) {
            return Err(ProgramError::Destination { operation: step.operation.clone(), verb: step.verb });
        }
        if self.repeat == 0 { Err(ProgramError::Never) } else { Ok(()) }
    }

    /// Number of the object that a step acts on, the `turn`-th time in this iteration of this client. `seed` is the load's, `clients` is how many
    /// it has at most.
    #[must_use]
    pub fn object(&self, step: &Step, seed: u64, iteration: u64, client: u32, turn: u64, clients: u32) -> u64 {
        let in_all = step.repeat.wrapping_mul(self.repeat);
        let count = step.keys.count();
        let among = |first: u64| first.wrapping_mul(in_all).wrapping_add(turn);
        match step.keys.order {
            Order::Sequential => among(iteration) % count,
            Order::Random => bits(seed, OBJECTS, among(iteration)) % count,
            Order::Client => among(u64::from(client)) % count,
            Order::Shared => {
                // the objects client, client + clients, client + 2 clients, ...: they are no other client's
                let clients = u64::from(clients).clamp(1, count);
                let first = u64::from(client) % clients;
                let share = (count - first).div_ceil(clients);
                first + among(iteration / clients) % share * clients
            }
        }
    }

    /// Operations of an iteration.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.steps.iter().map(|step| step.repeat).sum::<u64>().saturating_mul(self.repeat)
    }

    /// Whether a later step asks for the checksum of what step `number` moves, so that its client must sum it up.
    #[must_use]
    pub fn sums(&self, number: usize) -> bool {
        let moves = self.steps[number].verb.traits().moves;
        moves.here() && self.steps[number + 1..].iter().any(|step| step.verb == Verb::Checksum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_have_names() {
        let mut name = String::new();
        let mut keys = Keys { prefix: "d/f".into(), count: 10, width: 6, ..Keys::default() };
        keys.write_name(7, &mut name);
        assert_eq!((name.as_str(), keys.count()), ("d/f000007", 10));
        for (number, width) in [(0, 0), (0, 3), (9, 1), (10, 1), (u64::MAX, 3), (123, 30)] {
            let mut text = String::from("+");
            write_number(&mut text, number, width);
            assert_eq!(text, format!("+{number:0width$}"));
        }
        keys.suffix = ".x".into();
        keys.folders = 4;
        keys.write_name(7, &mut name);
        assert_eq!(name, "d/d000003/f000007.x");
        let keys = Keys { names: vec!["a".into(), "b".into()], suffix: "+".into(), ..Keys::default() };
        keys.write_name(1, &mut name);
        assert_eq!((name.as_str(), keys.count()), ("b+", 2));
    }

    #[test]
    fn sizes_come_as_often_as_they_weigh() {
        let mut content = Content { seed: 5, size: 9, sizes: vec![(1, 3), (0, 5), (3, 9)], entropy: 1.0 };
        let count = |size| (0..10_000).filter(|number| content.size_of(*number) == size).count();
        assert_eq!((count(3) + count(9), count(5)), (10_000, 0));
        assert!((2300..2700).contains(&count(3)), "{}", count(3));
        content.sizes.clear();
        assert_eq!(content.object(4).size, 9);
    }

    #[test]
    fn only_a_verb_with_a_second_target_has_a_destination() {
        let text = |verb: &str, destination: &str| {
            format!(
                r#"{{"steps": [{{"operation": "send", "verb": "{verb}", "keys": {{"prefix": "", "count": 1, "width": 1, "names": [],
                "order": "sequential"}}, "repeat": 1, "content": null, "offset": 0, "length": null, "buffer": null, "verify": false,
                "checksum": "none", "method": "", "headers": [], "expect": {{"statuses": [], "contains": null, "entries": null}},
                "missing_ok": false, "cost_ns": 0, "destination": {destination}}}]}}"#
            )
        };
        let there =
            r#"{"target": "b", "keys": {"prefix": "x", "count": 2, "width": 1, "names": [], "order": "sequential"}}"#;
        let check = |verb, destination| serde_json::from_str::<Program>(&text(verb, destination)).unwrap().check();
        assert_eq!((check("copy", there), check("read", "null")), (Ok(()), Ok(())));
        for (verb, destination, told) in [
            ("copy", "null", "step \"send\", a copy, has no second target; expected one (correct the test)"),
            ("write", there, "step \"send\", a write, has a second target; expected none (correct the test)"),
        ] {
            assert_eq!(check(verb, destination).unwrap_err().to_string(), told);
        }
    }

    #[test]
    fn pieces_ascend_without_overlap_and_make_up_the_fraction() {
        let mut step: Step = serde_json::from_str(
            r#"{"operation": "read", "verb": "read", "keys": {"prefix": "", "count": 1, "width": 1, "names": [], "order": "sequential"},
            "repeat": 1, "content": null, "offset": 100, "length": 10, "span": 1100, "buffer": null, "verify": false, "checksum": "none",
            "method": "", "headers": [], "expect": {"statuses": [], "contains": null, "entries": null}, "missing_ok": false, "cost_ns": 0}"#,
        )
        .unwrap();
        assert_eq!(step.ranges(0, 0, None).count(), 1);
        for (pieces, fraction, count) in
            [(7, None, 7), (3, Some(0.25), 25), (0, Some(1.0), 100), (0, Some(1e-9), 1), (500, None, 100)]
        {
            (step.pieces, step.fraction) = (pieces, fraction);
            let ranges: Vec<u64> = step.ranges(3, 8, None).map(|range| range.offset).collect();
            assert_eq!(ranges.len(), count);
            assert!(ranges.windows(2).all(|two| two[0] + 10 <= two[1]), "{ranges:?}");
            assert!(ranges.iter().all(|at| (100..1100).contains(at) && at % 10 == 0));
        }
        (step.pieces, step.fraction) = (7, None);
        let drawn = |client, turn| step.ranges(client, turn, None).collect::<Vec<_>>();
        assert!(drawn(0, 0) != drawn(1, 0) && drawn(0, 0) != drawn(0, 1) && drawn(0, 0) == drawn(0, 0));
        assert!(
            step.ranges(0, 0, Some(150)).all(|range| range.offset < 150),
            "never behind the end of a smaller object"
        );
        step.span = None;
        assert_eq!(drawn_one(&step), [Range { offset: 100, length: Some(10) }]);
    }

    fn drawn_one(step: &Step) -> Vec<Range> {
        step.ranges(0, 0, None).collect()
    }

    #[test]
    fn t15_shared_names_are_all_used_and_none_by_two() {
        let text = |order: &str| {
            format!(
                r#"{{"steps": [{{"operation": "read", "verb": "read", "keys": {{"prefix": "", "count": 50, "width": 1, "names": [],
                "order": "{order}"}}, "repeat": 2, "content": null, "offset": 0, "length": null, "buffer": null, "verify": false,
                "checksum": "none", "method": "", "headers": [], "expect": {{"statuses": [], "contains": null, "entries": null}},
                "missing_ok": false, "cost_ns": 0}}]}}"#
            )
        };
        let program: Program = serde_json::from_str(&text("shared")).unwrap();
        let mut users = vec![std::collections::HashSet::new(); 50];
        for iteration in 0..3000 {
            let client = u32::try_from(iteration % 16).unwrap();
            for turn in 0..2 {
                let object = program.object(&program.steps[0], 1, iteration, client, turn, 16);
                users[usize::try_from(object).unwrap()].insert(client);
            }
        }
        assert!(users.iter().all(|users| users.len() == 1), "{users:?}");
        let crowd = program.object(&program.steps[0], 1, 7, 77, 0, 1000);
        assert!(crowd < 50, "more clients than names share them");
    }
}
