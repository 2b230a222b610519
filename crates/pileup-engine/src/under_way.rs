//! What the clients of a shard have under way.

use std::sync::Arc;

use crate::progress::Progress;
use crate::start::Start;

/// The clients of a shard, by their places in it.
#[derive(Default)]
pub struct UnderWay(Vec<Place>);

#[derive(Default)]
struct Place {
    /// The iteration under way.
    start: Option<Start>,
    /// What a client of the engine moves.
    progress: Option<Arc<Progress>>,
    /// Bytes of the iteration under way that are counted already.
    counted: u64,
}

impl UnderWay {
    fn place(&mut self, place: usize) -> &mut Place {
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Place::default);
        }
        &mut self.0[place]
    }

    /// An iteration begins.
    pub fn begin(&mut self, place: usize, start: Start) {
        let place = self.place(place);
        (place.start, place.counted) = (Some(start), 0);
    }

    /// The iteration of this id, if it is under way: it has not ended, and was not given up.
    pub fn known(&mut self, place: usize, id: u64) -> Option<&mut Start> {
        self.0.get_mut(place)?.start.as_mut().filter(|known| known.id == id)
    }

    /// The iteration of this id ends, if it is under way.
    pub fn end(&mut self, place: usize, id: u64) -> Option<Start> {
        self.0.get_mut(place)?.start.take_if(|known| known.id == id)
    }

    /// All that are under way end.
    pub fn end_all(&mut self) -> Vec<Start> {
        self.0.iter_mut().filter_map(|place| place.start.take()).collect()
    }

    /// When the last that is under way began, ns since the epoch; 0: none is.
    #[must_use]
    pub fn last_start(&self) -> i64 {
        self.0.iter().filter_map(|place| place.start).map(|start| start.start).max().unwrap_or(0)
    }

    /// Bytes of the iteration under way that are counted already.
    pub fn counted(&mut self, place: usize) -> &mut u64 {
        &mut self.place(place).counted
    }

    /// What a client of the engine notes its bytes in, made at first.
    pub fn progress_or(&mut self, place: usize, make: impl FnOnce() -> Progress) -> &Arc<Progress> {
        self.place(place).progress.get_or_insert_with(|| Arc::new(make()))
    }

    /// The same; none of a client that is not the engine's.
    #[must_use]
    pub fn progress(&self, place: usize) -> Option<&Arc<Progress>> {
        self.0.get(place)?.progress.as_ref()
    }

    /// The places of a shard: those from 0 up to this.
    #[must_use]
    pub fn places(&self) -> usize {
        self.0.len()
    }

    /// The same of a client that has an iteration under way.
    #[must_use]
    pub fn moving(&self, place: usize) -> Option<&Arc<Progress>> {
        let place = self.0.get(place)?;
        place.start.and(place.progress.as_ref())
    }
}
