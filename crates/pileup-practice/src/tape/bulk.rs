//! Stage requests: each names files, and is followed, cancelled, released and deleted by its id. Memory: 24 bytes for each of its files.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::problem::Problem;

use super::events::Line;
use super::files::clean;
use super::stager::{Phase, Stager};

/// A file that is asked for.
pub(crate) struct Wanted {
    /// As it was written.
    pub(crate) path: String,
    /// How long it should stay on disk, library time, ns.
    pub(crate) lasts: i64,
    /// The worker node that wants it.
    pub(crate) node: u32,
}

/// A file of a request.
pub(crate) struct Target {
    /// The read that brings it.
    pub(crate) read: u32,
    /// Whether it was released.
    released: bool,
    /// When it was cancelled, library time.
    pub(crate) cancelled: Option<i64>,
}

/// A stage request.
pub(crate) struct Bulk {
    /// When it came, library time.
    pub(crate) created: i64,
    /// Its files.
    pub(crate) targets: Vec<Target>,
    /// Paths of it that are not on tape.
    pub(crate) strangers: BTreeSet<Box<str>>,
}

/// All stage requests.
pub(crate) struct Bulks {
    /// Begin of all ids: those of another server are unknown here.
    name: String,
    /// None: deleted.
    all: Vec<Option<Bulk>>,
}

impl Bulks {
    /// None so far, of a server that began at this time.
    pub(crate) fn new(begin: i64) -> Self {
        Self { name: format!("{begin:x}"), all: Vec::new() }
    }

    /// Take in a request; returns its id. A file that it names twice counts once.
    pub(crate) fn submit(&mut self, stager: &mut Stager, now: i64, wanted: &[Wanted]) -> String {
        let id = format!("{}-{}", self.name, self.all.len());
        let line = Line { request: &id, value: Some(wanted.len() as u64), ..Line::default() };
        stager.events.note(now, "requested", &line);
        let mut bulk = Bulk { created: now, targets: Vec::with_capacity(wanted.len()), strangers: BTreeSet::new() };
        let mut known = HashSet::with_capacity(wanted.len());
        for each in wanted {
            let path = clean(&each.path);
            match stager.files.find(&path) {
                Some(file) if known.insert(file) => {
                    let read = stager.want(now, each.node, file, each.lasts, &id);
                    bulk.targets.push(Target { read, released: false, cancelled: None });
                }
                Some(_) => {}
                None => {
                    stager.events.note(now, "unknown", &Line { request: &id, path: path.clone(), ..Line::default() });
                    bulk.strangers.insert(path.into_boxed_str());
                }
            }
        }
        bulk.targets.shrink_to_fit();
        self.all.push(Some(bulk));
        id
    }

    /// A request by its id.
    pub(crate) fn find(&self, id: &str) -> Result<&Bulk, Problem> {
        let place = self.place(id)?;
        self.all.get(place).and_then(Option::as_ref).ok_or_else(|| Problem::no_request(id))
    }

    /// These files of a request are not needed any more; those that are not on disk yet need not come. What came to its end stays as it is.
    pub(crate) fn cancel(&mut self, stager: &mut Stager, now: i64, id: &str, paths: &[String]) -> Result<(), Problem> {
        // the last first: none of them is to be handed over in place of another
        for target in self.chosen(stager, id, paths)?.into_iter().rev() {
            if target.cancelled.is_some() || stager.read(target.read).phase.is_final() {
                continue;
            }
            target.cancelled = Some(now);
            stager.note(now, "withdrawn", id, target.read, None);
            if !target.released {
                stager.withdraw(now, target.read, true);
            }
        }
        Ok(())
    }

    /// These files of a request need not stay on disk.
    pub(crate) fn release(&mut self, stager: &mut Stager, now: i64, id: &str, paths: &[String]) -> Result<(), Problem> {
        for target in self.chosen(stager, id, paths)? {
            if target.cancelled.is_none() && !target.released {
                target.released = true;
                stager.note(now, "released", id, target.read, None);
                stager.withdraw(now, target.read, false);
            }
        }
        Ok(())
    }

    /// Forget a request: all of its files are cancelled or released.
    pub(crate) fn delete(&mut self, stager: &mut Stager, now: i64, id: &str) -> Result<(), Problem> {
        let place = self.place(id)?;
        let bulk = self.all.get_mut(place).and_then(Option::take).ok_or_else(|| Problem::no_request(id))?;
        stager.events.note(now, "deleted", &Line { request: id, ..Line::default() });
        for target in bulk.targets.iter().rev().filter(|target| target.cancelled.is_none() && !target.released) {
            stager.withdraw(now, target.read, true);
        }
        Ok(())
    }

    /// Requests that there are.
    pub(crate) fn number(&self) -> usize {
        self.all.iter().flatten().count()
    }

    fn place(&self, id: &str) -> Result<usize, Problem> {
        let number = id.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('-')?.parse().ok());
        number.ok_or_else(|| Problem::no_request(id))
    }

    /// Those of the files of a request that have these paths; all of the paths must be its own.
    fn chosen(&mut self, stager: &Stager, id: &str, paths: &[String]) -> Result<Vec<&mut Target>, Problem> {
        let place = self.place(id)?;
        let bulk = self.all.get_mut(place).and_then(Option::as_mut).ok_or_else(|| Problem::no_request(id))?;
        let places: HashMap<u32, usize> = bulk
            .targets
            .iter()
            .enumerate()
            .filter_map(|(place, target)| {
                let read = stager.read(target.read);
                (read.phase != Phase::Lost).then_some((read.file, place))
            })
            .collect();
        let mut wanted = BTreeSet::new();
        for path in paths {
            let path = clean(path);
            match stager.files.find(&path).and_then(|file| places.get(&file)) {
                Some(place) => {
                    wanted.insert(*place);
                }
                None if bulk.strangers.contains(path.as_str()) => {}
                None => return Err(Problem::no_file(&path, id)),
            }
        }
        let chosen = bulk.targets.iter_mut().enumerate().filter(|(place, _)| wanted.contains(place));
        Ok(chosen.map(|(_, target)| target).collect())
    }
}
