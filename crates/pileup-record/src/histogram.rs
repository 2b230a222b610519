//! The one kind of histogram: HDR, 3 digits, from 1 ns to 2 days.

use std::fmt;

use crate::bins::{All, PAGE};

/// Longest time, ns: longer ones count as this.
pub const LONGEST: u64 = 2 * 24 * 3600 * 1_000_000_000;
const DIGITS: u8 = 3;
const COOKIE: u32 = 0x1c84_9313;
const HEADER: usize = 40;
/// Bins in each doubling, which 3 digits need.
const HALF: u64 = 1024;
/// Bins that are kept as a list.
const FEW: usize = 64;
/// Pages of all bins.
const PAGES: usize = (index(LONGEST) as usize + 1).div_ceil(PAGE);
/// More counts than this are taken for damage.
const MOST: u64 = 1 << 60;

/// Bytes that are not a histogram of ours.
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
        "these bytes are not a histogram: {what}; expected HDR V2 with 3 digits from 1 ns to 2 days at most (the record may be damaged)"
    ))
}

/// Counts of times in ns, each kept to 3 digits. Merging is exact.
///
/// It begins as a list of its bins. When there are many it takes memory for all bins of each doubling that is in use, 8 KB, of 0.3 MB in all.
#[derive(Clone)]
pub struct Histogram(Counts, usize);

#[derive(Clone)]
enum Counts {
    /// Index and count of each bin that is not empty, in order.
    Few(Vec<(u64, u64)>),
    Many(Box<All<PAGES>>),
}

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

impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        self.bins().eq(other.bins())
    }
}

impl Histogram {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self(Counts::Few(Vec::new()), FEW)
    }

    /// An empty one that stays a list: it takes the memory of what is in it, and is slower for many different times.
    #[must_use]
    pub const fn sparse() -> Self {
        Self(Counts::Few(Vec::new()), usize::MAX)
    }

    /// Whether it stays a list.
    #[must_use]
    pub const fn is_sparse(&self) -> bool {
        self.1 == usize::MAX
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
        write(self.counts())
    }

    /// Count a time; negative ones as 0, those beyond the bounds as the longest.
    pub fn record(&mut self, value: i64, count: u64) {
        self.put(u64::try_from(value).unwrap_or(0).min(LONGEST), count);
    }

    /// Count a time within the bounds.
    fn put(&mut self, value: u64, count: u64) {
        match &mut self.0 {
            Counts::Many(all) => all.put(index(value), count),
            Counts::Few(_) => self.put_into_list(index(value), count),
        }
    }

    /// Count a time while there are few bins.
    #[cold]
    fn put_into_list(&mut self, index: u64, count: u64) {
        let most = self.1;
        let bins = match &mut self.0 {
            Counts::Few(bins) if count > 0 => bins,
            _ => return,
        };
        match bins.binary_search_by_key(&index, |bin| bin.0) {
            Ok(at) => bins[at].1 = bins[at].1.saturating_add(count),
            Err(at) if bins.len() < most => bins.insert(at, (index, count)),
            Err(_) => self.many().put(index, count),
        }
    }

    /// Keep the bins in pages from now on.
    fn many(&mut self) -> &mut All<PAGES> {
        if let Counts::Few(bins) = &self.0 {
            let mut all = Box::new(All::new());
            bins.iter().for_each(|(index, count)| all.put(*index, *count));
            self.0 = Counts::Many(all);
        }
        match &mut self.0 {
            Counts::Many(all) => all,
            Counts::Few(_) => unreachable!("it has just been made"),
        }
    }

    /// Add an encoded histogram; empty bytes add nothing.
    ///
    /// # Errors
    /// When they are damaged or were made with other bounds; nothing is added then.
    pub fn merge(&mut self, data: &[u8]) -> Result<(), HistogramError> {
        if data.is_empty() {
            return Ok(());
        }
        let payload = check_header(data)?;
        let mut total = self.count();
        for bin in Bins::of(payload) {
            total = total
                .checked_add(bin?.1)
                .filter(|total| *total <= MOST)
                .ok_or_else(|| wrong("counts beyond reason"))?;
        }
        for (value, count) in Bins::of(payload).flatten() {
            self.put(value, count);
        }
        Ok(())
    }

    /// Add another one.
    pub fn add(&mut self, other: &Self) {
        match &other.0 {
            Counts::Few(bins) => bins.iter().for_each(|(index, count)| self.put(lowest(*index).unwrap_or(0), *count)),
            Counts::Many(_) if self.is_sparse() => other.bins().for_each(|(low, _, count)| self.put(low, count)),
            Counts::Many(theirs) => {
                let all = self.many();
                theirs.bins().for_each(|(index, count)| all.put(index, count));
            }
        }
    }

    /// Forget everything, keep the memory.
    pub fn reset(&mut self) {
        match &mut self.0 {
            Counts::Few(bins) => {
                bins.clear();
                bins.shrink_to(FEW);
            }
            Counts::Many(all) => all.reset(),
        }
    }

    /// How many times were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        match &self.0 {
            Counts::Few(bins) => bins.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count)),
            Counts::Many(all) => all.total,
        }
    }

    /// The shortest, to 3 digits (lowest of its bin); 0 when empty.
    #[must_use]
    pub fn min(&self) -> u64 {
        match &self.0 {
            Counts::Few(bins) => bins.first().map_or(0, |(index, _)| bounds(*index).0),
            Counts::Many(all) => all.bins().next().map_or(0, |(index, _)| bounds(index).0),
        }
    }

    /// The longest, to 3 digits (highest of its bin); 0 when empty.
    #[must_use]
    pub fn max(&self) -> u64 {
        match &self.0 {
            Counts::Few(bins) => bins.last().map_or(0, |(index, _)| bounds(*index).1),
            Counts::Many(all) => all.bins().next_back().map_or(0, |(index, _)| bounds(index).1),
        }
    }

    /// The mean, each time taken as the middle of its bin; 0 when empty.
    #[must_use]
    pub fn mean(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "times and counts stay below 2^53")]
        let of =
            |(lowest, highest, count): (u64, u64, u64)| (lowest + (highest - lowest).div_ceil(2)) as f64 * count as f64;
        let total = self.count();
        #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
        if total == 0 { 0.0 } else { self.bins().map(of).sum::<f64>() / total as f64 }
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
        let mut seen = 0u64;
        if rank == 0 {
            return 0;
        }
        self.bins()
            .find(|(_, _, count)| {
                seen = seen.saturating_add(*count);
                seen >= rank
            })
            .map_or(0, |(_, highest, _)| highest.min(self.max()))
    }

    /// Share of the times at or below this one (its whole bin counts); 0 when empty.
    #[must_use]
    pub fn share_at(&self, value: u64) -> f64 {
        let below: u64 = self.bins().take_while(|(lowest, _, _)| *lowest <= value).map(|(_, _, count)| count).sum();
        let count = self.count();
        #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
        if count == 0 { 0.0 } else { below as f64 / count as f64 }
    }

    /// The bins that are not empty, in order: lowest value, highest value, count.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts().map(|(index, count)| {
            let (lowest, highest) = bounds(index);
            (lowest, highest, count)
        })
    }

    /// Index and count of each bin that is not empty, in order.
    fn counts(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let (few, many) = match &self.0 {
            Counts::Few(bins) => (Some(bins), None),
            Counts::Many(all) => (None, Some(all)),
        };
        few.into_iter().flatten().copied().chain(many.into_iter().flat_map(|all| all.bins()))
    }
}

/// HDR V2 bytes of these bins, as hdrhistogram writes them: a header, then zigzag LEB128 numbers, a negative one for several empty bins.
fn write(bins: impl Iterator<Item = (u64, u64)>) -> Vec<u8> {
    let mut data = vec![0; HEADER];
    let mut next = 0;
    for (index, count) in bins {
        match index - next {
            0 => {}
            1 => write_number(&mut data, 0),
            empty => write_number(&mut data, -empty.cast_signed()),
        }
        write_number(&mut data, i64::try_from(count).unwrap_or(i64::MAX));
        next = index + 1;
    }
    if data.len() == HEADER {
        write_number(&mut data, 0);
    }
    let size = u32::try_from(data.len() - HEADER).unwrap_or_default();
    for (at, word) in [(0, COOKIE), (4, size), (12, DIGITS.into())] {
        data[at..at + 4].copy_from_slice(&word.to_be_bytes());
    }
    for (at, word) in [(16, 1), (24, LONGEST), (32, 1f64.to_bits())] {
        data[at..at + 8].copy_from_slice(&word.to_be_bytes());
    }
    data
}

fn write_number(data: &mut Vec<u8>, number: i64) {
    let mut bits = ((number << 1) ^ (number >> 63)).cast_unsigned();
    for _ in 0..8 {
        let part = (bits & 0x7f) as u8;
        bits >>= 7;
        if bits == 0 {
            data.push(part);
            return;
        }
        data.push(part | 0x80);
    }
    #[expect(clippy::cast_possible_truncation, reason = "eight bits are left")]
    data.push(bits as u8);
}

/// Returns what follows the header.
fn check_header(data: &[u8]) -> Result<&[u8], HistogramError> {
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
    if half(4) as usize != data.len() - HEADER || half(8) != 0 {
        return Err(wrong(format!("{} bytes after the header instead of {}", data.len() - HEADER, half(4))));
    }
    Ok(&data[HEADER..])
}

/// Reads the counts of HDR V2: zigzag LEB128 numbers, a negative one stands for so many empty bins.
///
/// hdrhistogram's own reader takes a whole histogram (0.3 MB) for each; frames hold a few bins each and come by the thousand.
struct Bins<'a> {
    rest: &'a [u8],
    index: u64,
}

impl<'a> Bins<'a> {
    fn of(payload: &'a [u8]) -> Self {
        Self { rest: payload, index: 0 }
    }

    /// The next number; the ninth byte of a long one has 8 bits of it.
    fn number(&mut self) -> Result<i64, HistogramError> {
        let mut bits = 0u64;
        for place in 0..9 {
            let (byte, rest) = self.rest.split_first().ok_or_else(|| wrong("they end in the middle of a number"))?;
            self.rest = rest;
            let last = place == 8 || byte & 0x80 == 0;
            let part = if place == 8 { *byte } else { byte & 0x7f };
            bits |= u64::from(part) << (7 * place);
            if last {
                break;
            }
        }
        Ok((bits >> 1).cast_signed() ^ -(bits & 1).cast_signed())
    }

    fn bin(&mut self) -> Result<Option<(u64, u64)>, HistogramError> {
        while !self.rest.is_empty() {
            let number = self.number()?;
            let count = u64::try_from(number).unwrap_or(0);
            let index = self.index;
            self.index = index.saturating_add(if number < 0 { number.unsigned_abs() } else { 1 });
            if count > 0 {
                let value = lowest(index).filter(|value| *value <= LONGEST);
                return value.map(|value| Some((value, count))).ok_or_else(|| wrong("a count beyond the last bin"));
            }
        }
        Ok(None)
    }
}

impl Iterator for Bins<'_> {
    type Item = Result<(u64, u64), HistogramError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.bin().transpose();
        if matches!(found, Some(Err(_))) {
            self.rest = &[]; // what follows a mistake means nothing
        }
        found
    }
}

/// Lowest value of a bin: 2048 bins of width 1, then 1024 for each doubling.
fn lowest(index: u64) -> Option<u64> {
    if index < 2 * HALF {
        return Some(index);
    }
    let doublings = u32::try_from(index / HALF - 1).ok().filter(|doublings| *doublings < 53)?;
    Some((index % HALF + HALF) << doublings)
}

/// Index of the bin of a value within the bounds.
const fn index(value: u64) -> u64 {
    if value < 2 * HALF {
        return value;
    }
    let doublings = (value.ilog2() - HALF.ilog2()) as u64;
    doublings * HALF + (value >> doublings)
}

/// Lowest and highest value of a bin within the bounds.
fn bounds(index: u64) -> (u64, u64) {
    let low = lowest(index).unwrap_or(0);
    (low, lowest(index + 1).unwrap_or(u64::MAX) - 1)
}

#[cfg(test)]
mod tests {
    use hdrhistogram::Histogram as Hdr;
    use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[i64]) -> Histogram {
        let mut histogram = Histogram::new();
        values.iter().for_each(|value| histogram.record(*value, 1));
        histogram
    }

    #[test]
    fn an_empty_one_is_all_zero() {
        let empty = Histogram::new();
        assert_eq!((empty.count(), empty.min(), empty.max(), empty.quantile(0.5), empty.at_rank(1)), (0, 0, 0, 0, 0));
        assert!(empty.mean().abs() < f64::EPSILON && empty.share_at(5).abs() < f64::EPSILON);
        assert_eq!(Histogram::decode(&empty.encode()).unwrap(), empty);
    }

    #[test]
    fn bounds_saturate() {
        let histogram = of(&[i64::MIN, -1, 0, i64::MAX]);
        assert_eq!((histogram.count(), histogram.min(), histogram.at_rank(3)), (4, 0, 0));
        assert!(histogram.max() >= LONGEST && histogram.max() < LONGEST + LONGEST / 1000);
    }

    #[test]
    fn ranks_are_exact_for_small_values() {
        let values: Vec<i64> = (1..=100).collect();
        let histogram = of(&values);
        for rank in 1..=100u32 {
            assert_eq!(histogram.at_rank(rank.into()), u64::from(rank));
            assert_eq!(histogram.quantile(f64::from(rank) / 100.0), u64::from(rank));
            assert!((histogram.share_at(rank.into()) - f64::from(rank) / 100.0).abs() < 1e-12);
        }
        assert_eq!((histogram.at_rank(0), histogram.at_rank(101)), (0, 0));
        assert_eq!((histogram.quantile(f64::NAN), histogram.quantile(7.0)), (1, 100));
    }

    #[test]
    fn foreign_bytes_are_refused() {
        let mut other = Hdr::<u64>::new_with_bounds(1, 1000, 2).unwrap();
        other.record(5).unwrap();
        let mut data = Vec::new();
        V2Serializer::new().serialize(&other, &mut data).unwrap();
        assert!(Histogram::decode(&data).unwrap_err().to_string().contains("2 digits from 1 to 1000"));
        assert!(Histogram::decode(b"no").unwrap_err().to_string().contains("only 2 bytes"));
        assert!(Histogram::decode(&[7; 50]).is_err());
        assert_eq!(Histogram::decode(b"").unwrap().count(), 0);
    }

    /// As hdrhistogram has it.
    fn hdr() -> Hdr<u64> {
        Hdr::new_with_bounds(1, LONGEST, DIGITS).unwrap()
    }

    fn times() -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(prop_oneof![0..2000i64, 0..1_000_000_000i64, any::<i64>()], 0..200)
    }

    proptest! {
        #[test]
        fn merged_parts_are_the_whole(parts in prop::collection::vec(times(), 1..4)) {
            let whole = of(&parts.concat());
            let (mut merged, mut added) = (Histogram::new(), Histogram::new());
            for part in &parts {
                merged.merge(&of(part).encode()).unwrap();
                added.add(&of(part));
            }
            prop_assert_eq!(&merged, &whole);
            prop_assert_eq!(&added, &whole);
            prop_assert_eq!(merged.encode(), whole.encode());
        }

        #[test]
        fn we_write_and_read_what_hdrhistogram_does(values in prop::collection::vec((0..=LONGEST, 1..1u64 << 40), 0..2 * FEW)) {
            let (mut histogram, mut theirs) = (Histogram::new(), hdr());
            for (value, count) in &values {
                histogram.record(*value as i64, *count);
                theirs.record_n(*value, *count).unwrap();
            }
            let (data, mut expected) = (histogram.encode(), Vec::new());
            V2Serializer::new().serialize(&theirs, &mut expected).unwrap();
            prop_assert_eq!(&data, &expected);
            let read: Hdr<u64> = Deserializer::new().deserialize(&mut std::io::Cursor::new(&data)).unwrap();
            prop_assert_eq!(&read, &theirs);
            prop_assert_eq!(&Histogram::decode(&data).unwrap(), &histogram);
        }

        #[test]
        fn few_bins_tell_the_same_as_all(values in prop::collection::vec((0..=LONGEST, 1..1u64 << 40), 0..FEW), share in 0.0..=1.0f64) {
            let mut few = Histogram::new();
            values.iter().for_each(|(value, count)| few.record(*value as i64, *count));
            let mut many = few.clone();
            many.many();
            prop_assert!(matches!((&few.0, &many.0), (Counts::Few(_), Counts::Many(_))));
            prop_assert_eq!(few.encode(), many.encode());
            prop_assert_eq!(&few, &many);
            prop_assert_eq!((few.count(), few.min(), few.max()), (many.count(), many.min(), many.max()));
            prop_assert_eq!((few.quantile(share), few.share_at(5000)), (many.quantile(share), many.share_at(5000)));
            let mut theirs = hdr();
            values.iter().for_each(|(value, count)| theirs.record_n(*value, *count).unwrap());
            let mean = if theirs.is_empty() { 0.0 } else { theirs.mean() };
            for ours in [few.mean(), many.mean()] {
                prop_assert!((ours - mean).abs() <= 1e-9 * mean, "{} {}", ours, mean);
            }
            let mut sums = [few.clone(), many.clone()];
            sums[0].add(&many);
            sums[1].add(&few);
            prop_assert_eq!(&sums[0], &sums[1]);
            prop_assert_eq!(sums[0].count(), 2 * few.count());
            many.reset();
            prop_assert_eq!((many.count(), many.min(), many.max(), many.bins().count()), (0, 0, 0, 0));
            many.add(&few);
            prop_assert_eq!(&many, &few);
        }

        #[test]
        fn decoding_gives_back_everything(values in times()) {
            let histogram = of(&values);
            let again = Histogram::decode(&histogram.encode()).unwrap();
            prop_assert_eq!(again.bins().collect::<Vec<_>>(), histogram.bins().collect::<Vec<_>>());
            prop_assert_eq!((again.min(), again.max(), again.count()), (histogram.min(), histogram.max(), histogram.count()));
        }

        #[test]
        fn quantiles_are_those_of_the_values_to_three_digits(mut values in times(), share in 0.0..=1.0f64) {
            values.iter_mut().for_each(|value| *value = (*value).clamp(0, LONGEST as i64));
            values.sort_unstable();
            let histogram = of(&values);
            prop_assert!(histogram.quantile(share) <= histogram.max());
            for (rank, value) in values.iter().enumerate() {
                let found = histogram.at_rank(rank as u64 + 1) as i64;
                prop_assert!(found >= *value && found - value <= value / 1000);
            }
        }

        #[test]
        fn broken_bytes_never_panic(values in times(), at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<prop::sample::Index>()) {
            let mut data = of(&values).encode();
            let at = at.index(data.len());
            data[at] = with;
            let _ = Histogram::decode(&data).map(|found| (found.quantile(0.5), found.mean(), found.count()));
            let _ = Histogram::decode(&data[..cut.index(data.len())]);
        }
    }
}
