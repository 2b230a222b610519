//! Times in requests and answers of S3.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Read `20150830T123600Z`: a time; none where it is none. By way of RFC 9110's dates, whose reader checks it.
pub(crate) fn read(text: &str) -> Option<SystemTime> {
    let digits =
        |from: usize, to: usize| text.get(from..to).filter(|part| part.bytes().all(|byte| byte.is_ascii_digit()));
    if text.len() != 16 || text.get(8..9) != Some("T") || !text.ends_with('Z') {
        return None;
    }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.get(digits(4, 6)?.parse::<usize>().ok()?.checked_sub(1)?)?;
    let (year, day) = (digits(0, 4)?, digits(6, 8)?);
    let (hour, minute, second) = (digits(9, 11)?, digits(11, 13)?, digits(13, 15)?);
    // the reader wants the right day of the week: one of these is
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].iter().find_map(|name| {
        httpdate::parse_http_date(&format!("{name}, {day} {month} {year} {hour}:{minute}:{second} GMT")).ok()
    })
}

/// Write a time as answers have it: `2015-08-30T12:36:00.000Z`.
pub(crate) fn written(time: SystemTime) -> String {
    // "Sun, 30 Aug 2015 12:36:00 GMT"
    let text = httpdate::fmt_http_date(time);
    let words: Vec<&str> = text.split(' ').collect();
    let months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    match words.as_slice() {
        [_, day, month, year, clock, _] => {
            let number = months.find(month).unwrap_or(0) / 3 + 1;
            format!("{year}-{number:02}-{day}T{clock}.000Z")
        }
        _ => String::new(),
    }
}

/// The time of a clock that is so far ahead of the machine's, ns.
pub(crate) fn now(ahead: i64) -> SystemTime {
    let time = pileup_pacer::clock::now().saturating_add(ahead);
    UNIX_EPOCH + Duration::from_nanos(time.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_written() {
        let time = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        assert_eq!(read("20150830T123600Z"), Some(time));
        assert_eq!(written(time), "2015-08-30T12:36:00.000Z");
        for text in ["", "20150830T123600", "20151330T123600Z", "2015083XT123600Z", "20150830 123600Z"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
