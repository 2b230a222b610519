//! Times as S3 writes them: `20261124T165000Z` in requests, `2026-11-24T16:50:00.000Z` in answers.

const DAY: i64 = 86_400;

/// A time of a request, in UTC to the second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stamp(String);

impl Stamp {
    /// Of a time, ns since the epoch.
    pub(crate) fn of(time: i64) -> Self {
        let seconds = time.div_euclid(1_000_000_000);
        let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
        let (year, month, day) = date(days);
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        Self(format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z"))
    }

    /// With date and time.
    pub(crate) fn whole(&self) -> &str {
        &self.0
    }

    /// The date alone.
    pub(crate) fn day(&self) -> &str {
        &self.0[..8]
    }
}

/// Year, month and day of so many days since the epoch (Hinnant, "chrono-compatible low-level date algorithms", `civil_from_days`).
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// Days since the epoch of a date (the same, `days_from_civil`).
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year - 719_468
}

/// Read a time of an answer, either way of writing: seconds since the epoch; none where it is no time.
pub(crate) fn seconds(text: &str) -> Option<i64> {
    let text = text.trim().strip_suffix('Z')?;
    let whole = text.split('.').next()?;
    let digits: String = whole.chars().filter(|each| !matches!(each, '-' | ':')).collect();
    let (day, time) = digits.split_once('T')?;
    if day.len() != 8 || time.len() != 6 || !(day.bytes().chain(time.bytes())).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = |text: &str| text.parse::<i64>().ok();
    let (month, date) = (number(&day[4..6])?, number(&day[6..])?);
    let (hour, minute, second) = (number(&time[..2])?, number(&time[2..4])?, number(&time[4..])?);
    let legal = (1..=12).contains(&month) && (1..=31).contains(&date) && hour < 24 && minute < 60 && second <= 60;
    legal.then_some(())?;
    Some(days(number(&day[..4])?, month, date) * DAY + hour * 3600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "19700101T000000Z"),
            (1_440_938_160, "20150830T123600Z"),
            (951_782_399, "20000228T235959Z"),
            (951_782_400, "20000229T000000Z"),
            (951_868_800, "20000301T000000Z"),
            (4_107_542_400, "21000301T000000Z"),
            (1_798_761_599, "20261231T235959Z"),
        ] {
            let stamp = Stamp::of(seconds * 1_000_000_000 + 999_999_999);
            assert_eq!((stamp.whole(), stamp.day()), (text, &text[..8]));
            assert_eq!(super::seconds(text), Some(seconds));
        }
    }

    #[test]
    fn every_day_of_four_centuries_is_there_and_back() {
        for day in 0..146_097 {
            let (year, month, date) = date(day);
            assert_eq!(days(year, month, date), day);
        }
    }

    #[test]
    fn answers_write_times_otherwise() {
        assert_eq!(seconds("2015-08-30T12:36:00.000Z"), Some(1_440_938_160));
        assert_eq!(seconds("2015-08-30T12:36:00Z"), Some(1_440_938_160));
        for text in ["", "Z", "2015-08-30", "2015-13-30T12:36:00Z", "20150830T1236Z", "2015-08-30T12:36:00", "\u{e4}Z"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
