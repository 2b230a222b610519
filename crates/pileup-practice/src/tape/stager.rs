//! What stands before the library: who wants which file, what is handed to the library, and what is on disk. A machine without a clock; all
//! of its times are library time, ns.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use pileup_tape::{Event, Library, What};

use super::events::{Events, Line};
use super::files::Files;

/// Of a file that stays on disk until it is released.
pub(crate) const FOR_EVER: i64 = i64::MAX;

/// How far a read of a file from tape is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It waits to be handed to the library.
    Waiting,
    /// The library has it.
    Handed,
    /// The file is on disk.
    Disk,
    /// The file was on disk.
    Gone,
    /// The cartridge cannot be read.
    Unreadable,
    /// Nobody wanted it any more.
    Cancelled,
    /// The library has forgotten it.
    Lost,
}

impl Phase {
    /// Whether the library has nothing more to do for it.
    pub(crate) fn is_final(self) -> bool {
        !matches!(self, Self::Waiting | Self::Handed)
    }
}

/// A file that is read from tape once, for all who want it meanwhile.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    /// Number of the file.
    pub(crate) file: u32,
    /// How far it is.
    pub(crate) phase: Phase,
    /// The worker node whose stager hands it over.
    node: u32,
    /// The drive that had it last.
    pub(crate) drive: Option<u16>,
    /// When a drive had it for the first time.
    pub(crate) started: Option<i64>,
    /// Number of the request to the library, once it has it.
    library: Option<u32>,
    /// How many want the file on disk.
    holds: u32,
    /// How long it stays on disk once it is there, longest wish.
    lasts: i64,
    /// Until when it stays on disk.
    until: i64,
}

/// When a read was handed over, began, and ended; 0: not yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    pub(crate) handed: i64,
    pub(crate) begun: i64,
    pub(crate) ended: i64,
}

/// How many reads there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// At the stager.
    pub(crate) waiting: usize,
    /// At the library.
    pub(crate) handed: usize,
    /// Files on disk.
    pub(crate) disk: usize,
    pub(crate) delivered: u64,
    pub(crate) unreadable: u64,
    pub(crate) cancelled: u64,
    pub(crate) lost: u64,
}

/// The stager of a worker node.
#[derive(Clone, Debug, Default)]
struct Node {
    /// Reads that wait, and some that were cancelled while they did.
    queue: VecDeque<u32>,
    /// Reads that the library has.
    handed: usize,
}

/// The stagers with their library.
pub(crate) struct Stager {
    pub(crate) files: Files,
    pub(crate) events: Events,
    pub(crate) counts: Counts,
    library: Library,
    /// Requests of a node handed to the library at a time; 0: no limit.
    max_transfers: usize,
    /// How long a file stays on disk that nobody needs any more.
    keep: i64,
    reads: Vec<Read>,
    /// The read of each request to the library.
    handed: Vec<u32>,
    nodes: Vec<Node>,
    /// Nodes that may hand over more than they did.
    free: Vec<u32>,
    /// The read of each file that is wanted or on disk.
    current: HashMap<u32, u32>,
    /// (until, read): those that the reads themselves do not say any more are out of date.
    leaving: BinaryHeap<Reverse<(i64, u32)>>,
    /// Cartridges that were found to be unreadable.
    bad: HashSet<u32>,
    /// Reads that came to an end since this was looked at last.
    ended: Vec<u32>,
}

impl Stager {
    /// Before a library that begins now.
    pub(crate) fn new(
        library: Library,
        files: Files,
        events: Events,
        nodes: u32,
        max_transfers: usize,
        keep: i64,
    ) -> Self {
        Self {
            files,
            events,
            counts: Counts::default(),
            library,
            max_transfers,
            keep,
            reads: Vec::new(),
            handed: Vec::new(),
            nodes: vec![Node::default(); nodes as usize],
            free: Vec::new(),
            current: HashMap::new(),
            leaving: BinaryHeap::new(),
            bad: HashSet::new(),
            ended: Vec::new(),
        }
    }

    /// Let everything happen that is due by now.
    pub(crate) fn advance(&mut self, now: i64) {
        while let Some(time) = self.next().filter(|time| *time <= now) {
            self.library.advance(time);
            self.note_events();
            self.leave(time);
            self.hand_over(time);
        }
        self.library.advance(now);
    }

    /// When the next thing is due; none: nothing is under way.
    pub(crate) fn next(&self) -> Option<i64> {
        let leaving = self.leaving.peek().map(|Reverse((time, _))| *time);
        self.library.next().into_iter().chain(leaving).min()
    }

    /// Somebody at a node wants a file on disk, for so long at most. Returns the number of the read that brings it, or has brought it.
    pub(crate) fn want(&mut self, now: i64, node: u32, file: u32, lasts: i64, request: &str) -> u32 {
        let number = match self.current.get(&file) {
            Some(number) => *number,
            None => self.begin(node, file),
        };
        let read = &mut self.reads[number as usize];
        let alone = read.holds == 0;
        read.holds += 1;
        read.lasts = if alone { lasts } else { read.lasts.max(lasts) };
        if read.phase == Phase::Disk {
            let until = now.saturating_add(lasts);
            let until = if alone { until } else { read.until.max(until) };
            self.stay(number, until);
        }
        let size = self.files.size(file);
        self.note(now, "wanted", request, number, Some(size));
        self.hand_over(now);
        number
    }

    /// Somebody does not need a file any more; what nobody wants and is not on disk yet is not read, if that is asked for.
    pub(crate) fn withdraw(&mut self, now: i64, number: u32, cancel: bool) {
        let read = &mut self.reads[number as usize];
        read.holds = read.holds.saturating_sub(1);
        if read.holds > 0 {
            return;
        }
        match (read.phase, read.library) {
            (Phase::Waiting, _) if cancel => {
                self.counts.waiting -= 1;
                self.note(now, "cancelled", "", number, None);
                self.end(number, Phase::Cancelled);
            }
            (Phase::Handed, Some(library)) if cancel => {
                self.library.cancel(now, u64::from(library));
                self.note_events();
                self.hand_over(now);
            }
            (Phase::Disk, _) => self.stay(number, now.saturating_add(self.keep)),
            _ => {}
        }
    }

    /// A read by its number.
    pub(crate) fn read(&self, number: u32) -> &Read {
        &self.reads[number as usize]
    }

    /// When what has happened to a read.
    pub(crate) fn times(&self, number: u32) -> Times {
        let asked = self.read(number).library.and_then(|library| self.library.request(u64::from(library)));
        asked.map_or_else(Times::default, |asked| Times {
            handed: asked.submitted,
            begun: asked.begun,
            ended: asked.ended,
        })
    }

    /// Where a file is, in the words of the Tape REST API.
    pub(crate) fn locality(&self, file: u32) -> &'static str {
        let bad = self.bad.contains(&self.cartridge(file));
        let disk = self.current.get(&file).is_some_and(|number| self.read(*number).phase == Phase::Disk);
        match (disk, bad) {
            (true, false) => "DISK_AND_TAPE",
            (true, true) => "DISK",
            (false, true) => "LOST",
            (false, false) => "TAPE",
        }
    }

    /// Requests at the library that wait for a drive, and drives at work.
    pub(crate) fn drives(&self) -> (usize, usize) {
        (self.library.waiting(), self.library.busy())
    }

    /// Worker nodes that there are.
    pub(crate) fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Reads so far.
    pub(crate) fn number(&self) -> usize {
        self.reads.len()
    }

    /// Reads that came to an end since this was asked last.
    pub(crate) fn take_ended(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.ended)
    }

    /// Note what a request has done with a read.
    pub(crate) fn note(&mut self, time: i64, event: &str, request: &str, number: u32, value: Option<u64>) {
        if self.events.kept() {
            let path = self.files.path(self.read(number).file).to_string();
            self.events.note(time, event, &Line { request, path, read: Some(number), value, ..Line::default() });
        }
    }

    fn begin(&mut self, node: u32, file: u32) -> u32 {
        let number = index(self.reads.len());
        let (phase, drive, until) = (Phase::Waiting, None, FOR_EVER);
        self.reads.push(Read { file, phase, node, drive, started: None, library: None, holds: 0, lasts: 0, until });
        self.current.insert(file, number);
        self.nodes[node as usize].queue.push_back(number);
        self.free.push(node);
        self.counts.waiting += 1;
        number
    }

    /// Hand over what waits, as much as may be.
    fn hand_over(&mut self, now: i64) {
        while let Some(node) = self.free.pop() {
            self.hand_over_of(node as usize, now);
        }
    }

    fn hand_over_of(&mut self, node: usize, now: i64) {
        while self.max_transfers == 0 || self.nodes[node].handed < self.max_transfers {
            let Some(number) = self.nodes[node].queue.pop_front() else { return };
            let Read { file, phase, .. } = *self.read(number);
            if phase != Phase::Waiting {
                continue; // was cancelled
            }
            let library = self.library.submit(now, self.files.key(file), self.files.size(file));
            self.handed.push(number);
            let read = &mut self.reads[number as usize];
            (read.phase, read.library) = (Phase::Handed, u32::try_from(library).ok());
            self.counts.waiting -= 1;
            self.counts.handed += 1;
            self.nodes[node].handed += 1;
            self.note_events();
        }
    }

    /// The library has nothing more to do for a read.
    fn left_library(&mut self, number: u32) {
        let node = self.read(number).node;
        self.counts.handed -= 1;
        self.nodes[node as usize].handed -= 1;
        self.free.push(node);
    }

    fn cartridge(&self, file: u32) -> u32 {
        self.library.cartridge(self.files.key(file))
    }

    /// Take over what the library reports.
    fn note_events(&mut self) {
        for event in self.library.take_events() {
            let number = event.request.and_then(|library| self.handed.get(usize::try_from(library).ok()?).copied());
            self.note_event(&event, number);
            let Some(number) = number else { continue };
            match event.what {
                What::Assigned => {
                    let read = &mut self.reads[number as usize];
                    read.started.get_or_insert(event.time);
                    read.drive = event.drive.and_then(|drive| u16::try_from(drive).ok());
                }
                What::Delivered => self.delivered(event.time, number),
                What::Unreadable => {
                    let cartridge = self.cartridge(self.read(number).file);
                    self.bad.insert(cartridge);
                    self.left_library(number);
                    self.end(number, Phase::Unreadable);
                }
                What::Cancelled => {
                    self.left_library(number);
                    self.end(number, Phase::Cancelled);
                }
                What::Lost => {
                    self.left_library(number);
                    self.end(number, Phase::Lost);
                }
                _ => {}
            }
        }
    }

    fn note_event(&mut self, event: &Event, number: Option<u32>) {
        if !self.events.kept() {
            return;
        }
        let file = number.map(|number| self.read(number).file);
        let line = Line {
            path: file.map_or_else(String::new, |file| self.files.path(file).to_string()),
            read: number,
            drive: event.drive,
            cartridge: file.map(|file| self.cartridge(file)),
            value: event.request.filter(|_| event.what == What::Queued),
            ..Line::default()
        };
        self.events.note(event.time, event.what.word(), &line);
    }

    fn delivered(&mut self, time: i64, number: u32) {
        self.left_library(number);
        let read = &mut self.reads[number as usize];
        read.phase = Phase::Disk;
        let stays = if read.holds == 0 { self.keep } else { read.lasts };
        self.counts.delivered += 1;
        self.counts.disk += 1;
        self.ended.push(number);
        self.stay(number, time.saturating_add(stays));
    }

    /// A read has come to an end without a file on disk.
    fn end(&mut self, number: u32, phase: Phase) {
        match phase {
            Phase::Unreadable => self.counts.unreadable += 1,
            Phase::Cancelled => self.counts.cancelled += 1,
            _ => self.counts.lost += 1,
        }
        let read = &mut self.reads[number as usize];
        read.phase = phase;
        self.current.remove(&read.file);
        self.ended.push(number);
    }

    fn stay(&mut self, number: u32, until: i64) {
        self.reads[number as usize].until = until;
        if until < FOR_EVER {
            self.leaving.push(Reverse((until, number)));
        }
    }

    /// Let go from disk what has been there for its time.
    fn leave(&mut self, now: i64) {
        while let Some(Reverse((time, number))) = self.leaving.peek().copied().filter(|Reverse((time, _))| *time <= now)
        {
            self.leaving.pop();
            let read = &mut self.reads[number as usize];
            if read.phase == Phase::Disk && read.until == time {
                read.phase = Phase::Gone;
                self.current.remove(&read.file);
                self.counts.disk -= 1;
                self.note(time, "left", "", number, None);
            }
        }
    }
}

/// The number of a read: there are fewer than 2^32.
fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
