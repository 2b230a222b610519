//! The library itself. Everything that was due by a time has happened at exactly its own time when `advance` returns.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use pileup_schedule::{Law, bits, unit};

use crate::arms::Arms;
use crate::drive::{Drive, choose};
use crate::event::{Event, What};
use crate::rules::{Order, Rules};
use crate::shelf::Shelf;

/// Streams of draws.
const CARTRIDGE: u64 = 1;
const LOST: u64 = 2;
const MOUNT: u64 = 3;
const DISMOUNT: u64 = 4;
const SEEK: u64 = 5;

/// What has become of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for a drive, or is never served.
    Queued,
    /// A drive has it: the cartridge comes, or the tape is wound.
    Assigned,
    /// It is read.
    Moving,
    /// It was read to the end.
    Delivered,
    /// Its cartridge cannot be read.
    Unreadable,
    /// It was cancelled.
    Cancelled,
    /// The library does not know it.
    Lost,
}

impl State {
    /// Whether nothing more will happen to it.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Assigned | Self::Moving)
    }
}

/// A file that somebody wants.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Which file it is: equal keys lie on one cartridge.
    pub key: u64,
    /// Bytes.
    pub size: u64,
    /// The cartridge that has it.
    pub cartridge: u32,
    /// What has become of it.
    pub state: State,
    /// When it came, ns.
    pub submitted: i64,
    /// When its transfer began, ns; 0: not yet.
    pub begun: i64,
    /// When it came to its end, ns; 0: not yet.
    pub ended: i64,
}

/// What is due: of a drive in this turn, of a cartridge, or of a drive that goes or comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Due {
    Back(u32),
    Up(u32),
    Down(u32),
    Mounted(u32, u64),
    Positioned(u32, u64),
    Finished(u32, u64),
}

/// Drives, cartridges, a robot, and the requests for files.
pub struct Library {
    rules: Rules,
    unreadable: HashSet<u32>,
    silent: HashSet<u64>,
    requests: Vec<Request>,
    shelf: Shelf,
    drives: Vec<Drive>,
    arms: Arms,
    /// (time, order of coming, what).
    due: BinaryHeap<Reverse<(i64, u64, Due)>>,
    number: u64,
    mounts: u64,
    clock: i64,
    events: Vec<Event>,
}

impl Library {
    /// One that begins now, with rules that were checked.
    #[must_use]
    pub fn new(rules: Rules, now: i64) -> Self {
        let mut library = Self {
            unreadable: rules.unreadable.iter().copied().collect(),
            silent: rules.silent.iter().copied().collect(),
            requests: Vec::new(),
            shelf: Shelf::new(rules.cartridges),
            drives: vec![Drive::new(now); rules.drives as usize],
            arms: Arms::new(rules.arms, now),
            due: BinaryHeap::new(),
            number: 0,
            mounts: 0,
            clock: now,
            events: Vec::new(),
            rules,
        };
        for each in library.rules.down.clone() {
            let from = now.saturating_add(each.from);
            library.plan(from, Due::Down(each.drive));
            library.plan(from.saturating_add(each.lasts), Due::Up(each.drive));
        }
        library
    }

    /// Let everything happen that is due by now.
    pub fn advance(&mut self, now: i64) {
        while let Some(Reverse((time, _, due))) = self.due.peek().copied().filter(|Reverse((time, ..))| *time <= now) {
            self.due.pop();
            self.clock = self.clock.max(time);
            self.happen(due);
        }
        self.clock = self.clock.max(now);
    }

    /// When the next thing is due; none: nothing is under way.
    #[must_use]
    pub fn next(&self) -> Option<i64> {
        self.due.peek().map(|Reverse((time, ..))| *time)
    }

    /// What has happened since this was asked last, in order.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Ask for a file of so many bytes. Returns the number of the request, from 0.
    pub fn submit(&mut self, now: i64, key: u64, size: u64) -> u64 {
        self.advance(now);
        let number = self.requests.len() as u64;
        let cartridge = self.cartridge(key);
        let lost = unit(self.rules.seed, LOST, number) < self.rules.lost;
        let state = if lost { State::Lost } else { State::Queued };
        self.requests.push(Request { key, size, cartridge, state, submitted: self.clock, begun: 0, ended: 0 });
        self.tell(What::Queued, Some(number), None);
        if lost {
            self.tell(What::Lost, Some(number), None);
        } else if !self.silent.contains(&number) {
            self.shelf.add(cartridge, number, false);
            self.assign();
        }
        number
    }

    /// Take a request back. Whether it had not come to its end before.
    pub fn cancel(&mut self, now: i64, number: u64) -> bool {
        self.advance(now);
        let Some(request) = self.request(number).copied().filter(|request| !request.state.is_final()) else {
            return false;
        };
        self.shelf.remove(request.cartridge, number);
        let drive = self.drives.iter().position(|drive| drive.busy == Some(number));
        self.end(number, State::Cancelled, What::Cancelled, drive);
        if let Some(drive) = drive {
            self.release(drive);
        }
        self.assign();
        true
    }

    /// The cartridge that has the files of this key.
    #[must_use]
    pub fn cartridge(&self, key: u64) -> u32 {
        #[allow(clippy::cast_possible_truncation)] // less than the number of cartridges
        let cartridge = (bits(self.rules.seed, CARTRIDGE, key) % u64::from(self.rules.cartridges)) as u32;
        cartridge
    }

    /// A request by its number.
    #[must_use]
    pub fn request(&self, number: u64) -> Option<&Request> {
        usize::try_from(number).ok().and_then(|place| self.requests.get(place))
    }

    /// Requests that wait for a drive; those that are never served do not count.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.shelf.len()
    }

    /// Drives at work.
    #[must_use]
    pub fn busy(&self) -> usize {
        self.drives.iter().filter(|drive| drive.busy.is_some()).count()
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Back(cartridge) => self.shelf.hold(cartridge, false),
            Due::Up(drive) => {
                let at = &mut self.drives[drive as usize];
                at.absent = at.absent.saturating_sub(1);
                at.idle = self.clock;
                self.tell(What::DriveUp, None, Some(drive as usize));
            }
            Due::Down(drive) => self.go_down(drive as usize),
            Due::Mounted(drive, turn) if self.is_current(drive, turn) => self.mounted(drive as usize),
            Due::Positioned(drive, turn) if self.is_current(drive, turn) => self.positioned(drive as usize),
            Due::Finished(drive, turn) if self.is_current(drive, turn) => {
                self.finish(drive as usize, State::Delivered, What::Delivered);
            }
            Due::Mounted(..) | Due::Positioned(..) | Due::Finished(..) => {}
        }
        self.assign();
    }

    fn is_current(&self, drive: u32, turn: u64) -> bool {
        self.drives[drive as usize].turn == turn
    }

    /// Give requests to drives as long as there are both.
    fn assign(&mut self) {
        while let Some(cartridge) = self.shelf.first() {
            let there = self.drives.iter().position(|drive| drive.mounted == Some(cartridge) && drive.is_free());
            let Some(drive) = there.or_else(|| choose(&self.drives)) else { return };
            self.serve(drive, cartridge);
        }
    }

    /// Let a drive take the first request of a cartridge.
    fn serve(&mut self, drive: usize, cartridge: u32) {
        let Some(number) = self.shelf.pop(cartridge) else { return };
        self.shelf.hold(cartridge, true);
        let before = self.drives[drive].mounted.replace(cartridge);
        self.drives[drive].busy = Some(number);
        self.drives[drive].turn += 1;
        self.change(number, |request| request.state = State::Assigned);
        self.tell(What::Assigned, Some(number), Some(drive));
        let usable = self.drives[drive].usable.max(self.clock);
        if before == Some(cartridge) {
            self.plan(usable, Due::Mounted(index(drive), self.drives[drive].turn));
            return;
        }
        self.mounts += 1;
        let back = before.map_or(0, |_| self.draw(&self.rules.dismount, DISMOUNT, self.mounts));
        let takes = self.draw(&self.rules.mount, MOUNT, self.mounts);
        let from = if before.is_some() { usable } else { self.clock };
        let begin = self.arms.take(from, back.saturating_add(takes));
        if let Some(before) = before {
            self.shelf.hold(before, true);
            self.plan(begin.saturating_add(back), Due::Back(before));
        }
        let at = &mut self.drives[drive];
        at.usable = begin.saturating_add(back).saturating_add(takes);
        let due = (at.usable, Due::Mounted(index(drive), at.turn));
        self.plan(due.0, due.1);
    }

    fn mounted(&mut self, drive: usize) {
        let Some(number) = self.drives[drive].busy else { return };
        self.tell(What::Mounted, Some(number), Some(drive));
        let at = self.clock.saturating_add(self.draw(&self.rules.seek, SEEK, number));
        self.plan(at, Due::Positioned(index(drive), self.drives[drive].turn));
    }

    fn positioned(&mut self, drive: usize) {
        let Some(number) = self.drives[drive].busy else { return };
        let Some(request) = self.request(number).copied() else { return };
        if self.unreadable.contains(&request.cartridge) {
            self.finish(drive, State::Unreadable, What::Unreadable);
            return;
        }
        let now = self.clock;
        self.change(number, |request| {
            request.state = State::Moving;
            request.begun = now;
        });
        self.tell(What::Begun, Some(number), Some(drive));
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation)] // sizes below 2^53; saturating
        let takes = (request.size as f64 / self.rules.speed * 1e9).round() as i64;
        self.plan(now.saturating_add(takes), Due::Finished(index(drive), self.drives[drive].turn));
    }

    fn finish(&mut self, drive: usize, state: State, what: What) {
        let Some(number) = self.drives[drive].busy else { return };
        self.end(number, state, what, Some(drive));
        let cartridge = self.drives[drive].mounted;
        self.release(drive);
        if let (Order::Cartridge, Some(cartridge)) = (self.rules.order, cartridge) {
            self.serve(drive, cartridge);
        }
    }

    fn end(&mut self, number: u64, state: State, what: What, drive: Option<usize>) {
        let now = self.clock;
        self.change(number, |request| {
            request.state = state;
            request.ended = now;
        });
        self.tell(what, Some(number), drive);
    }

    /// Let a drive have nothing to do; its cartridge stays in it.
    fn release(&mut self, drive: usize) {
        let at = &mut self.drives[drive];
        at.busy = None;
        at.turn += 1;
        at.idle = self.clock;
        if let Some(cartridge) = at.mounted {
            self.shelf.hold(cartridge, false);
        }
    }

    /// A drive goes down: its request waits again, before all others, and the robot takes its cartridge out.
    fn go_down(&mut self, drive: usize) {
        self.tell(What::DriveDown, None, Some(drive));
        let busy = self.drives[drive].busy;
        self.release(drive);
        self.drives[drive].absent += 1;
        self.drives[drive].mounted = None;
        if let Some(number) = busy {
            let cartridge = self.request(number).map_or(0, |request| request.cartridge);
            self.change(number, |request| {
                request.state = State::Queued;
                request.begun = 0;
            });
            self.shelf.add(cartridge, number, true);
            self.tell(What::Requeued, Some(number), Some(drive));
        }
    }

    fn change(&mut self, number: u64, act: impl FnOnce(&mut Request)) {
        if let Some(request) = usize::try_from(number).ok().and_then(|place| self.requests.get_mut(place)) {
            act(request);
        }
    }

    fn plan(&mut self, time: i64, due: Due) {
        self.number += 1;
        self.due.push(Reverse((time, self.number, due)));
    }

    fn draw(&self, law: &Law, stream: u64, k: u64) -> i64 {
        i64::try_from(law.draw(self.rules.seed, stream, k)).unwrap_or(i64::MAX)
    }

    fn tell(&mut self, what: What, request: Option<u64>, drive: Option<usize>) {
        self.events.push(Event { time: self.clock, what, request, drive: drive.map(index) });
    }
}

/// The number of a drive: there are fewer than 2^32.
fn index(drive: usize) -> u32 {
    u32::try_from(drive).unwrap_or(u32::MAX)
}
