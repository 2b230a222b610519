//! Why what a user has written cannot be used.

use std::fmt;

/// What a user has written cannot be used: url, credentials, options. Secrets are never part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// What is wrong, with the value.
    pub what: String,
    /// What was expected.
    pub expected: String,
    /// What to do next.
    pub next: String,
}

impl Unusable {
    /// In three parts: what is wrong, what was expected, what to do next.
    pub fn new(what: impl Into<String>, expected: impl Into<String>, next: impl Into<String>) -> Self {
        Self { what: what.into(), expected: expected.into(), next: next.into() }
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; expected {} ({})", self.what, self.expected, self.next)
    }
}

impl std::error::Error for Unusable {}

impl From<Unusable> for String {
    fn from(wrong: Unusable) -> Self {
        wrong.to_string()
    }
}
