//! The one kind of histogram: HDR, 3 digits, from 1 ns to 2 days.

use std::fmt;
use std::io::Cursor;

use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};

/// Longest time told apart, ns: longer ones count as this.
pub const LONGEST: u64 = 2 * 24 * 3600 * 1_000_000_000;
const DIGITS: u8 = 3;
const COOKIE: u32 = 0x1c84_9303;
const HEADER: usize = 40;

/// Bytes that are no histogram of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistogramError(String);

impl fmt::Display for HistogramError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for HistogramError {}

fn wrong(what: impl fmt::Display) -> HistogramError {
    HistogramError(format!(
        "these bytes are no histogram: {what}; expected HDR V2 with 3 digits from 1 ns to 2 days at most (the record may be damaged)"
    ))
}

/// Counts of times in ns, each kept to 3 digits; about 0.3 MB. Merging is exact.
#[derive(Clone, PartialEq)]
pub struct Histogram(Hdr<u64>);

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Histogram(count={}, min={}, max={})", self.count(), self.min(), self.max())
    }
}

impl Histogram {
    /// An empty one.
    ///
    /// # Panics
    /// Never: the bounds are constants that hdrhistogram takes.
    #[must_use]
    pub fn new() -> Self {
        #[expect(clippy::unwrap_used, reason = "constant bounds, see the tests")]
        Self(Hdr::new_with_bounds(1, LONGEST, DIGITS).unwrap())
    }

    /// Read HDR V2 bytes.
    ///
    /// # Errors
    /// When they are damaged or were made with other bounds.
    pub fn decode(data: &[u8]) -> Result<Self, HistogramError> {
        let mut new = Self::new();
        new.merge(data)?;
        Ok(new)
    }

    /// HDR V2 bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut data = Vec::new();
        // Writing into a vector cannot fail, and the counts of a run stay far below 2^63.
        let _ = V2Serializer::new().serialize(&self.0, &mut data);
        data
    }

    /// Count a time; negative ones as 0, those beyond the bounds as the longest.
    pub fn record(&mut self, value: i64, count: u64) {
        self.0.saturating_record_n(u64::try_from(value).unwrap_or(0).min(LONGEST), count);
    }

    /// Add an encoded histogram; empty bytes add nothing.
    ///
    /// # Errors
    /// When they are damaged or were made with other bounds; nothing is added then.
    pub fn merge(&mut self, data: &[u8]) -> Result<(), HistogramError> {
        if data.is_empty() {
            return Ok(());
        }
        check_header(data)?;
        let other: Hdr<u64> = Deserializer::new().deserialize(&mut Cursor::new(data)).map_err(wrong)?;
        self.0.add(&other).map_err(wrong)
    }

    /// Add another one.
    pub fn add(&mut self, other: &Self) {
        let _ = self.0.add(&other.0); // fails for other bounds only
    }

    /// Forget everything, keep the memory.
    pub fn reset(&mut self) {
        self.0.reset();
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// The shortest, to 3 digits (lowest of its bin); 0 when empty.
    #[must_use]
    pub fn min(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.min() }
    }

    /// The longest, to 3 digits (highest of its bin); 0 when empty.
    #[must_use]
    pub fn max(&self) -> u64 {
        if self.0.is_empty() { 0 } else { self.0.max() }
    }

    /// The mean, each time taken as the middle of its bin; 0 when empty.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.0.is_empty() { 0.0 } else { self.0.mean() }
    }

    /// The smallest time (highest of its bin, never above `max`) that at least this share of all does not exceed; 0 when empty.
    #[must_use]
    pub fn quantile(&self, share: f64) -> u64 {
        #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
        let exact = share.clamp(0.0, 1.0) * self.count() as f64;
        // 0.07 * 100 is 7.000000000000001: a rank must not move for that.
        let near = exact.round();
        let rank = if (exact - near).abs() <= 1e-9 * exact.max(1.0) { near } else { exact.ceil() };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and the count")]
        self.at_rank((rank as u64).clamp(1, self.count().max(1)))
    }

    /// The rank-th smallest (highest of its bin; 1 is the smallest); 0 when there are fewer or rank is 0.
    #[must_use]
    pub fn at_rank(&self, rank: u64) -> u64 {
        let mut seen = 0;
        if rank == 0 {
            return 0;
        }
        self.bins()
            .find(|(_, _, count)| {
                seen += count;
                seen >= rank
            })
            .map_or(0, |(_, highest, _)| highest.min(self.max()))
    }

    /// Share of the times at or below this one (its whole bin counts); 0 when empty.
    #[must_use]
    pub fn share_at(&self, value: u64) -> f64 {
        let below: u64 = self.bins().take_while(|(lowest, _, _)| *lowest <= value).map(|(_, _, count)| count).sum();
        #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
        if self.0.is_empty() { 0.0 } else { below as f64 / self.count() as f64 }
    }

    /// The bins that are not empty, in order: lowest value, highest value, count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.0.iter_recorded().map(|bin| {
            let value = bin.value_iterated_to();
            (self.0.lowest_equivalent(value), self.0.highest_equivalent(value), bin.count_since_last_iteration())
        })
    }
}

/// Looked at before hdrhistogram gets the bytes: what they ask for decides how much memory it takes.
fn check_header(data: &[u8]) -> Result<(), HistogramError> {
    let header = data.get(..HEADER).ok_or_else(|| wrong(format!("only {} bytes", data.len())))?;
    let word = |at: usize| u64::from_be_bytes(header[at..at + 8].try_into().unwrap_or_default());
    let half = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap_or_default());
    if half(0) != COOKIE {
        return Err(wrong("they begin wrongly"));
    }
    let (digits, low, high) = (half(12), word(16), word(24));
    if digits != u32::from(DIGITS) || low != 1 || !(2..=LONGEST).contains(&high) {
        return Err(wrong(format!("{digits} digits from {low} to {high}")));
    }
    if half(4) as usize != data.len() - HEADER {
        return Err(wrong(format!("{} bytes after the header instead of {}", data.len() - HEADER, half(4))));
    }
    Ok(())
}
