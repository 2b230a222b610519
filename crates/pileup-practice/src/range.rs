//! Which part of an object a request asks for (RFC 9110, 14.1.2): one range, or the whole.

/// Which part of an object is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Range {
    Whole,
    /// From this byte on, up to before that one.
    Part(usize, usize),
    Nowhere,
}

/// Read the value of a Range header, for an object of this size; none: it cannot be understood, or asks for several.
pub(crate) fn part(value: &str, size: usize) -> Option<Range> {
    let (first, last) = value.trim().strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let length: usize = last.parse().ok()?;
        let from = size.saturating_sub(length);
        return Some(if length == 0 || size == 0 { Range::Nowhere } else { Range::Part(from, size) });
    }
    let first: usize = first.parse().ok()?;
    let last: usize = if last.is_empty() { usize::MAX } else { last.parse().ok()? };
    if last < first {
        return None;
    }
    Some(if first >= size { Range::Nowhere } else { Range::Part(first, last.saturating_add(1).min(size)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_as_rfc_9110_says() {
        for (value, expected) in [
            ("bytes=0-0", Some(Range::Part(0, 1))),
            ("bytes=2-", Some(Range::Part(2, 10))),
            ("bytes=2-99", Some(Range::Part(2, 10))),
            ("bytes=-3", Some(Range::Part(7, 10))),
            ("bytes=-30", Some(Range::Part(0, 10))),
            ("bytes=10-", Some(Range::Nowhere)),
            ("bytes=-0", Some(Range::Nowhere)),
            ("bytes=5-4", None),
            ("bytes=0-1,3-4", None),
            ("bytes=a-b", None),
            ("lines=0-1", None),
            ("bytes=0-18446744073709551615", Some(Range::Part(0, 10))),
        ] {
            assert_eq!(part(value, 10), expected, "{value}");
        }
    }
}
