//! Where bytes from a server wait until they are looked at.

/// Room for heads and short answers: most answers about a path fit.
const SMALL: usize = 192;
/// Room for heads that data follows: what is short comes with them.
const WIDE: usize = 2048;

/// Bytes that have come and were not looked at: in the memory of the connection itself, or in more of it while an operation reads data.
pub(crate) struct Input {
    small: [u8; SMALL],
    /// In its place.
    wide: Option<Box<[u8; WIDE]>>,
    begin: usize,
    end: usize,
}

impl Input {
    /// Nothing.
    pub(crate) fn new() -> Self {
        Self { small: [0; SMALL], wide: None, begin: 0, end: 0 }
    }

    /// How many bytes have come and were not looked at.
    pub(crate) fn length(&self) -> usize {
        self.end - self.begin
    }

    /// What has come and was not looked at.
    pub(crate) fn unseen(&self) -> &[u8] {
        let all = self.wide.as_deref().map_or(&self.small[..], |wide| &wide[..]);
        &all[self.begin..self.end]
    }

    /// So many bytes of it were looked at.
    pub(crate) fn seen(&mut self, bytes: usize) {
        self.begin += bytes;
    }

    /// How much fits.
    pub(crate) fn size(&self) -> usize {
        if self.wide.is_some() { WIDE } else { SMALL }
    }

    /// Where more can be put, behind what was not looked at.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        let all = self.wide.as_deref_mut().map_or(&mut self.small[..], |wide| &mut wide[..]);
        all.copy_within(self.begin..self.end, 0);
        (self.begin, self.end) = (0, self.end - self.begin);
        &mut all[self.end..]
    }

    /// So many bytes were put there.
    pub(crate) fn came(&mut self, bytes: usize) {
        self.end += bytes;
    }

    /// Make room for data behind a head.
    pub(crate) fn widen(&mut self) {
        if self.wide.is_none() {
            let mut wide = Box::new([0; WIDE]);
            wide[..SMALL].copy_from_slice(&self.small);
            self.wide = Some(wide);
        }
    }

    /// No data is asked for any more.
    pub(crate) fn narrow(&mut self) {
        if self.wide.is_some() && self.length() == 0 {
            (self.wide, self.begin, self.end) = (None, 0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(input: &mut Input, bytes: &[u8]) {
        input.room()[..bytes.len()].copy_from_slice(bytes);
        input.came(bytes.len());
    }

    #[test]
    fn what_was_not_looked_at_outlasts_a_change_of_its_memory() {
        let mut input = Input::new();
        put(&mut input, &[7; 180]);
        input.seen(177);
        put(&mut input, &[8; 189]);
        input.seen(1);
        input.widen();
        put(&mut input, &[9; 1800]);
        let expected = [&[7; 2][..], &[8; 189], &[9; 1800]].concat();
        assert_eq!(input.unseen(), expected);
        input.narrow(); // nothing is lost
        assert_eq!((input.unseen(), input.size()), (&expected[..], WIDE));
        input.seen(1991);
        input.narrow();
        assert_eq!((input.unseen(), input.size()), (&[][..], SMALL));
        assert_eq!(input.room().len(), SMALL);
    }
}
