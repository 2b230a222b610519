//! A bearer token: given, or in a file that is read again when it changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::unusable::Unusable;

/// How often a file is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// Longest token, bytes.
const LONGEST: u64 = 64 * 1024;

/// Where the token comes from. It is never part of a message.
pub struct Token {
    path: Option<PathBuf>,
    state: Mutex<State>,
}

struct State {
    text: Arc<str>,
    seen: Option<Mark>,
    looked: Instant,
}

/// What changes when a file does: time of change, size, inode.
type Mark = (i64, i64, u64, u64);

impl Token {
    /// This one.
    ///
    /// # Errors
    /// When it cannot be one, in three parts.
    pub fn given(text: &str) -> Result<Self, Unusable> {
        let text = checked(text)
            .map_err(|what| Unusable::new(format!("the token {what}"), "plain text", "check its source"))?;
        Ok(Self { path: None, state: Mutex::new(State { text, seen: None, looked: Instant::now() }) })
    }

    /// The one in this file.
    ///
    /// # Errors
    /// When the file cannot be read or holds none, in three parts.
    pub fn file(path: &Path) -> Result<Self, Unusable> {
        let (text, mark) = read(path)?;
        let state = State { text, seen: Some(mark), looked: Instant::now() };
        Ok(Self { path: Some(path.to_owned()), state: Mutex::new(state) })
    }

    /// The token as it is now; the file is looked at once a second at most.
    ///
    /// # Errors
    /// When the file has changed and cannot be read or holds none, in three parts.
    pub fn now(&self) -> Result<Arc<str>, Unusable> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(path) = self.path.as_deref().filter(|_| state.looked.elapsed() >= LOOK) {
            if !mark(path).is_ok_and(|mark| Some(mark) == state.seen) {
                let (text, mark) = read(path)?;
                (state.text, state.seen) = (text, Some(mark));
            }
            state.looked = Instant::now();
        }
        Ok(Arc::clone(&state.text))
    }
}

/// What a token says of its end.
#[derive(Deserialize)]
struct Claims {
    /// Seconds since the epoch (RFC 7519, 4.1.4).
    exp: f64,
}

/// Whether a token is over: the `exp` of a JWT. Nothing is verified, and any other token says nothing of its end.
#[must_use]
pub fn is_over(token: &str) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    expires(token).is_some_and(|exp| exp <= now.as_secs_f64())
}

/// When a JWT ends, seconds since the epoch.
fn expires(token: &str) -> Option<f64> {
    let claims = token.split('.').nth(1)?;
    let claims = URL_SAFE_NO_PAD.decode(claims).ok()?;
    Some(serde_json::from_slice::<Claims>(&claims).ok()?.exp)
}

impl std::fmt::Debug for Token {
    fn fmt(&self, into: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        into.write_str("Token(not shown)")
    }
}

fn mark(path: &Path) -> std::io::Result<Mark> {
    let found = std::fs::metadata(path)?;
    Ok((found.mtime(), found.mtime_nsec(), found.size(), found.ino()))
}

fn read(path: &Path) -> Result<(Arc<str>, Mark), Unusable> {
    let wrong = |what: &str| {
        let what = format!("token file {}: {what}", path.display());
        Unusable::new(what, "a file with one token", "check the credentials")
    };
    let words = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => wrong("there is no such file"),
        _ => wrong(&error.to_string()),
    };
    let mark = mark(path).map_err(words)?;
    if mark.2 > LONGEST {
        return Err(wrong("it is longer than 64 KiB"));
    }
    let text = std::fs::read_to_string(path).map_err(words)?;
    Ok((checked(&text).map_err(wrong)?, mark))
}

/// The token without the space around it.
fn checked(text: &str) -> Result<Arc<str>, &'static str> {
    let text = text.trim();
    if text.is_empty() {
        return Err("is empty");
    }
    if text.bytes().any(|byte| byte <= b' ' || byte >= 127) {
        return Err("holds a space, a line break or another character that no token has");
    }
    Ok(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_plain_and_never_shown() {
        let token = Token::given(" abc.def-_~\n").unwrap();
        assert_eq!(&*token.now().unwrap(), "abc.def-_~");
        assert!(!format!("{token:?}").contains("abc"));
        for text in ["", " \n", "secret b", "secret\nb", "secr\u{e9}t"] {
            let error = Token::given(text).unwrap_err().to_string();
            assert!(error.contains("; expected ") && !error.contains("secr"), "{error}");
        }
    }

    #[test]
    fn the_end_of_a_jwt_is_known_and_that_of_another_token_is_not() {
        let token = |claims: &str| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        assert!(is_over(&token(r#"{"sub": "a", "exp": 1000000000}"#)) && is_over(&token(r#"{"exp": 1.5}"#)));
        assert!(!is_over(&token(r#"{"exp": 99999999999}"#)));
        for other in [token(r#"{"sub": "a"}"#), token("1"), token(r#"{"exp": "1"}"#), "opaque".into(), "a.b".into()] {
            assert_eq!(expires(&other), None, "{other}");
        }
    }

    #[test]
    fn a_file_is_read_again_when_it_changes() {
        let path = std::env::temp_dir().join(format!("pileup-net-token-{}", std::process::id()));
        std::fs::write(&path, "one\n").unwrap();
        let token = Token::file(&path).unwrap();
        let later = |token: &Token| {
            token.state.lock().unwrap().looked -= LOOK;
            token.now()
        };
        std::fs::write(&path, "three").unwrap();
        assert_eq!(&*token.now().unwrap(), "one", "looked at within the second");
        assert_eq!(&*later(&token).unwrap(), "three");
        std::fs::remove_file(&path).unwrap();
        assert!(later(&token).unwrap_err().to_string().contains("there is no such file; expected"));
        std::fs::write(&path, "four").unwrap();
        assert_eq!(&*later(&token).unwrap(), "four");
        std::fs::write(&path, "x".repeat(70_000)).unwrap();
        assert!(later(&token).unwrap_err().to_string().contains("longer than 64 KiB"));
        std::fs::remove_file(&path).unwrap();
        assert!(Token::file(&path).is_err());
    }
}
