//! Delegated credentials: practice for handing them over and renewing them. They are numbers with an end; nothing secret is in them.

use std::collections::HashMap;

use serde::Deserialize;

use crate::answer::Answer;

use super::ask::{Trouble, json};
use super::tell;

/// Those that have been handed over: id and end.
#[derive(Default)]
pub(crate) struct Delegations {
    ends: HashMap<u64, i64>,
    last: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Renew this one; none: a new one.
    #[serde(default)]
    id: Option<u64>,
    /// ns.
    lifetime: u64,
}

impl Delegations {
    /// Take one over, or renew one.
    pub(crate) fn answer(&mut self, body: &[u8], now: i64) -> Result<Answer, Trouble> {
        let wanted: Wanted = json(body, "{\"lifetime\": NS} or {\"id\", \"lifetime\"}")?;
        let expires = now.saturating_add(i64::try_from(wanted.lifetime).unwrap_or(i64::MAX));
        let id = match wanted.id {
            Some(id) if self.ends.contains_key(&id) => id,
            Some(id) => return Err(Trouble::new(404, format!("there is no delegation {id}"), "one that was made")),
            None => self.last + 1,
        };
        self.last = self.last.max(id);
        self.ends.insert(id, expires);
        Ok(tell::delegation(id, expires))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_made_then_renewed() {
        let mut all = Delegations::default();
        for (body, status) in [(&br#"{"lifetime": 5}"#[..], 201), (br#"{"lifetime": 9, "id": 1}"#, 201)] {
            assert_eq!(all.answer(body, 10).unwrap().status(), status);
        }
        assert_eq!(all.ends[&1], 19);
        assert!(all.answer(br#"{"lifetime": 9, "id": 2}"#, 10).is_err() && all.answer(b"{}", 10).is_err());
    }
}
