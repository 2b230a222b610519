//! The drives.

/// A drive.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    /// Reasons why it is down.
    pub(crate) absent: u32,
    /// The cartridge in it, or on its way to it.
    pub(crate) mounted: Option<u32>,
    /// When that can be used, or could since, ns.
    pub(crate) usable: i64,
    /// The request that it serves.
    pub(crate) busy: Option<u64>,
    /// Grows when what was due in it is not due any more.
    pub(crate) turn: u64,
    /// Since when it has had nothing to do.
    pub(crate) idle: i64,
}

impl Drive {
    pub(crate) fn new(begin: i64) -> Self {
        Self { absent: 0, mounted: None, usable: begin, busy: None, turn: 0, idle: begin }
    }

    /// Whether a request can be given to it.
    pub(crate) fn is_free(&self) -> bool {
        self.absent == 0 && self.busy.is_none()
    }
}

/// Return the drive that takes a cartridge which is in none: an empty one, else that with nothing to do for longest.
pub(crate) fn choose(drives: &[Drive]) -> Option<usize> {
    let free = drives.iter().enumerate().filter(|(_, drive)| drive.is_free());
    free.min_by_key(|(_, drive)| (drive.mounted.is_some(), drive.idle)).map(|(number, _)| number)
}
