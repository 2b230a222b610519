//! What a server reports of a third-party copy while it goes on, and how it says that it has ended (WLCG HTTP-TPC 1.0, "Performance markers").
//!
//! ```text
//! Perf Marker
//!     Timestamp: 1537788010
//!     Stripe Index: 0
//!     Stripe Bytes Transferred: 238745
//!     Total Stripe Count: 1
//! End
//! success: Created
//! ```
//!
//! dCache indents its lines and adds others, XRootD does neither. The last line is `success:` or `failure:`, with words of the server.

use std::collections::BTreeMap;

/// Longest line that is read; more of it is not looked at.
const LINE: usize = 4096;
/// Most stripes whose bytes are added up.
const STRIPES: usize = 1024;
/// Most of the server's words that are shown.
const SHOWN: usize = 200;

/// How a copy has ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The server says that it has succeeded.
    Success,
    /// The server says why it has failed.
    Failure(String),
    /// The server has reported on it, and not how it has ended.
    Silent,
    /// There is no report.
    Nothing,
}

/// The report, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct Markers {
    /// The line that is not complete.
    line: Vec<u8>,
    /// Whether lines of a marker come.
    inside: bool,
    /// Of the marker that comes: its stripe, its bytes.
    marker: (u64, Option<u64>),
    /// Bytes moved in each stripe.
    stripes: BTreeMap<u64, u64>,
    /// Whether there was any marker.
    reported: bool,
    /// What is said of the end.
    said: Option<End>,
}

impl Markers {
    /// Take the next piece; whether markers ended in it.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> bool {
        let mut ended = false;
        for part in piece.split_inclusive(|byte| *byte == b'\n') {
            let text = part.strip_suffix(b"\n").unwrap_or(part);
            let room = LINE - self.line.len();
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if text.len() < part.len() {
                let line = std::mem::take(&mut self.line);
                ended |= self.take(&line);
                self.line = line;
                self.line.clear();
            }
        }
        ended
    }

    /// Bytes moved so far, as the markers say.
    pub(crate) fn bytes(&self) -> u64 {
        self.stripes.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// The end, now that nothing more comes.
    pub(crate) fn finish(&mut self) -> End {
        let line = std::mem::take(&mut self.line);
        self.take(&line);
        match self.said.take() {
            Some(end) => end,
            None if self.reported || self.inside => End::Silent,
            None => End::Nothing,
        }
    }

    /// Take a line; whether it ends a marker.
    fn take(&mut self, line: &[u8]) -> bool {
        let line = line.trim_ascii();
        if self.inside {
            return self.take_inside(line);
        }
        if line.eq_ignore_ascii_case(b"Perf Marker") {
            (self.inside, self.marker) = (true, (0, None));
        } else if let Some((word, rest)) = field(line) {
            match word {
                word if word.eq_ignore_ascii_case(b"success") => self.said = Some(End::Success),
                // the first is the cause
                word if word.eq_ignore_ascii_case(b"failure") && !matches!(self.said, Some(End::Failure(_))) => {
                    self.said = Some(End::Failure(without_names(&String::from_utf8_lossy(rest))));
                }
                _ => {}
            }
        }
        false
    }

    fn take_inside(&mut self, line: &[u8]) -> bool {
        if line.eq_ignore_ascii_case(b"End") {
            (self.inside, self.reported) = (false, true);
            let (stripe, bytes) = self.marker;
            if let Some(bytes) = bytes.filter(|_| self.stripes.len() < STRIPES || self.stripes.contains_key(&stripe)) {
                let known = self.stripes.entry(stripe).or_default();
                *known = (*known).max(bytes); // what has been moved stays moved
            }
            return true;
        }
        match field(line) {
            Some((word, rest)) if word.eq_ignore_ascii_case(b"Stripe Index") => {
                self.marker.0 = number(rest).unwrap_or(0);
            }
            Some((word, rest)) if word.eq_ignore_ascii_case(b"Stripe Bytes Transferred") => {
                self.marker.1 = number(rest);
            }
            _ => {}
        }
        false
    }
}

/// The word before a colon, and what is behind it.
fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = memchr::memchr(b':', line)?;
    Some((line[..at].trim_ascii(), line[at + 1..].trim_ascii()))
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// The words of a server without what differs from copy to copy, so that equal causes have equal texts: paths and urls.
fn without_names(text: &str) -> String {
    let mut found = String::new();
    for word in text.split_whitespace() {
        if !found.is_empty() {
            found.push(' ');
        }
        let bare = word.trim_start_matches(['"', '\'', '(', '[', '<']);
        let named = if bare.contains("://") { "URL" } else { "PATH" };
        found.push_str(if bare.contains("://") || bare.starts_with('/') { named } else { word });
    }
    let shown: String = found.chars().filter(|letter| !letter.is_control()).take(SHOWN).collect();
    if shown.is_empty() { "the server does not say why".to_owned() } else { shown }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marker(stripe: u64, bytes: &str) -> String {
        format!(
            "Perf Marker\n    Timestamp: 1\n    Stripe Index: {stripe}\n    Stripe Bytes Transferred: {bytes}\n    \
             Total Stripe Count: 2\n    RemoteConnections: tcp:[::1]:5,tcp:127.0.0.1:6\nEnd\n"
        )
    }

    fn read(text: &str, step: usize) -> (u64, usize, End) {
        let mut markers = Markers::default();
        let ended = text.as_bytes().chunks(step).filter(|piece| markers.feed(piece)).count();
        (markers.bytes(), ended, markers.finish())
    }

    #[test]
    fn bytes_are_those_of_all_stripes_however_the_pieces_fall() {
        let text = format!("{}{}{}success: Created\n", marker(0, "10"), marker(1, "7"), marker(0, "25"));
        for step in [1, 2, 3, 7, 64] {
            assert_eq!(read(&text, step), (32, 3, End::Success), "pieces of {step}");
        }
        assert_eq!(read(&text.replace('\n', "\r\n"), 5).0, 32);
        assert_eq!(read(&text.replace("    ", ""), 5), (32, 3, End::Success), "as XRootD writes them");
    }

    #[test]
    fn a_failure_is_one_whatever_else_is_said() {
        let why = |text: &str| read(text, 9).2;
        let said =
            "failure: Remote side failed with status code 404; error message: \"Unable to open /data/x; no such file\"";
        let text = "Remote side failed with status code 404; error message: \"Unable to open PATH no such file\"";
        assert_eq!(why(said), End::Failure(text.to_owned()));
        assert_eq!(why("failure: a\nfailure: b\n"), End::Failure("a".to_owned()));
        assert_eq!(why("Failure:https://a.b/c is gone\n"), End::Failure("URL is gone".to_owned()));
        assert_eq!(why("failure:\n"), End::Failure("the server does not say why".to_owned()));
        assert_eq!(why("success: a\nfailure: b"), End::Failure("b".to_owned()));
    }

    #[test]
    fn a_report_without_its_end_is_silent() {
        let whole = format!("{}{}", marker(0, "10"), marker(0, "20"));
        for end in 12..whole.len() {
            assert_eq!(read(&whole[..end], 16).2, End::Silent, "cut at {end}");
        }
        for text in ["", "\n\n", "hello\n", "<html>\nsucceeded"] {
            assert_eq!(read(text, 4).2, End::Nothing, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_number_moves_nothing_and_nothing_grows() {
        for bytes in ["-1", "x", "", "1e9", "99999999999999999999999"] {
            assert_eq!(read(&marker(0, bytes), 8), (0, 1, End::Silent), "{bytes}");
        }
        assert_eq!(read(&format!("{}{}", marker(0, "30"), marker(0, "20")), 8).0, 30);
        let most = u64::MAX.to_string();
        assert_eq!(read(&format!("{}{}", marker(0, &most), marker(1, &most)), 8).0, u64::MAX);
        let mut markers = Markers::default();
        for stripe in 0..5000 {
            markers.feed(marker(stripe, "1").as_bytes());
        }
        assert_eq!(markers.bytes(), STRIPES as u64);
        for _ in 0..1000 {
            markers.feed(&[b'x'; 1000]);
        }
        assert!(markers.line.capacity() < 4 * LINE);
    }
}
