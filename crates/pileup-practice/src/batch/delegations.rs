//! Users and their delegated credentials: practice for handing them over, renewing and revoking them. They are numbers with an owner and an
//! end; nothing secret is in them. They live as long as the server, and no crash forgets them.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use crate::answer::Answer;

use super::ask::{Trouble, json, name};
use super::job::{NOBODY, Wanted};
use super::tell;

/// After so many delegations those that have expired are let go of.
const TIDY: u64 = 4096;

/// Known users, and their delegations.
#[derive(Default)]
pub(crate) struct Delegations {
    all: HashMap<u64, Delegation>,
    last: u64,
    /// None: anybody is known.
    users: Option<HashSet<String>>,
}

struct Delegation {
    user: String,
    /// ns.
    expires: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    /// Renew this one; none: a new one.
    #[serde(default)]
    id: Option<u64>,
    /// Whose a new one is.
    #[serde(default)]
    user: Option<String>,
    /// ns.
    lifetime: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Revoked {
    id: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Introduced {
    user: String,
}

impl Delegations {
    /// For these users; none: for anybody.
    pub(crate) fn new(users: &[String]) -> Self {
        let known = users.iter().cloned().collect::<HashSet<_>>();
        Self { users: Some(known).filter(|known| !known.is_empty()), ..Self::default() }
    }

    /// Take one over, or renew one.
    pub(crate) fn answer(&mut self, body: &[u8], now: i64) -> Result<Answer, Trouble> {
        let asked: Asked = json(body, "{\"lifetime\": NS, \"user\"} or {\"id\", \"lifetime\"}")?;
        let expires = now.saturating_add(i64::try_from(asked.lifetime).unwrap_or(i64::MAX));
        match asked.id {
            Some(id) => self.renew(id, expires, now),
            None => self.make(asked.user.unwrap_or_else(|| NOBODY.to_owned()), expires, now),
        }
    }

    fn make(&mut self, user: String, expires: i64, now: i64) -> Result<Answer, Trouble> {
        name(&user)?;
        self.check_user(&user)?;
        self.last += 1;
        if self.last.is_multiple_of(TIDY) {
            self.all.retain(|_, delegation| delegation.expires > now);
        }
        let answer = tell::delegation(self.last, expires, &user);
        self.all.insert(self.last, Delegation { user, expires });
        Ok(answer)
    }

    fn renew(&mut self, id: u64, expires: i64, now: i64) -> Result<Answer, Trouble> {
        let Some(known) = self.all.get_mut(&id) else {
            return Err(Trouble::new(404, format!("there is no delegation {id}"), "one that was made"));
        };
        if known.expires <= now {
            return Err(Trouble::new(403, format!("delegation {id} has expired"), "one that lasts"));
        }
        known.expires = expires;
        Ok(tell::delegation(id, expires, &known.user))
    }

    /// Revoke one; whether it existed.
    pub(crate) fn revoke(&mut self, body: &[u8]) -> Result<Answer, Trouble> {
        let asked: Revoked = json(body, "{\"id\"}")?;
        Ok(tell::number("revoked", usize::from(self.all.remove(&asked.id).is_some())))
    }

    /// Register a user; return how many there are now.
    pub(crate) fn introduce(&mut self, body: &[u8]) -> Result<Answer, Trouble> {
        let asked: Introduced = json(body, "{\"user\"}")?;
        name(&asked.user)?;
        let known = self.users.as_mut().map_or(0, |users| {
            users.insert(asked.user);
            users.len()
        });
        Ok(tell::number("users", known))
    }

    /// Whether these jobs may be taken in: by whom they are, and with which credentials.
    pub(crate) fn admit(&self, wanted: &[Wanted], now: i64) -> Result<(), Trouble> {
        wanted.iter().try_for_each(|job| self.admit_one(job, now))
    }

    fn admit_one(&self, job: &Wanted, now: i64) -> Result<(), Trouble> {
        let user = job.user.as_deref().unwrap_or(NOBODY);
        self.check_user(user)?;
        let Some(id) = job.delegation else { return Ok(()) };
        match self.all.get(&id) {
            Some(known) if known.expires <= now => {
                Err(Trouble::new(403, format!("delegation {id} has expired"), "one that lasts"))
            }
            Some(known) if known.user != user => {
                Err(Trouble::new(403, format!("delegation {id} is not of {user:?}"), "one of the same user"))
            }
            Some(_) => Ok(()),
            None => Err(Trouble::new(403, format!("there is no delegation {id}"), "one that was made")),
        }
    }

    fn check_user(&self, user: &str) -> Result<(), Trouble> {
        match &self.users {
            Some(known) if !known.contains(user) => {
                Err(Trouble::new(403, format!("nobody knows {user:?}"), "a user of the settings, or made known later"))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(user: Option<&str>, delegation: Option<u64>) -> [Wanted; 1] {
        [Wanted { name: "a".to_owned(), duration: 0, user: user.map(ToOwned::to_owned), delegation }]
    }

    #[test]
    fn one_is_made_renewed_used_and_taken_back() {
        let mut all = Delegations::new(&[]);
        for (body, status) in [(&br#"{"lifetime": 5}"#[..], 201), (br#"{"lifetime": 9, "id": 1}"#, 201)] {
            assert_eq!(all.answer(body, 10).unwrap().status(), status);
        }
        assert_eq!(all.all[&1].expires, 19);
        assert!(all.answer(br#"{"lifetime": 9, "id": 2}"#, 10).is_err() && all.answer(b"{}", 10).is_err());
        assert!(all.admit(&wanted(None, Some(1)), 18).is_ok());
        assert!(all.admit(&wanted(Some("eve"), Some(1)), 18).is_err(), "of another");
        assert!(all.admit(&wanted(None, Some(1)), 19).is_err(), "expired");
        assert!(all.answer(br#"{"lifetime": 9, "id": 1}"#, 19).is_err(), "too late");
        assert_eq!(all.revoke(br#"{"id": 1}"#).unwrap().status(), 200);
        assert!(all.admit(&wanted(None, Some(1)), 11).is_err(), "revoked");
        assert_eq!(all.revoke(br#"{"id": 1}"#).unwrap().status(), 200, "twice is fine");
    }

    #[test]
    fn only_those_who_are_known_are_served() {
        let mut all = Delegations::new(&["bob".to_owned()]);
        assert!(all.admit(&wanted(Some("bob"), None), 0).is_ok() && all.admit(&wanted(None, None), 0).is_err());
        assert!(all.answer(br#"{"lifetime": 5, "user": "eve"}"#, 0).is_err());
        all.introduce(br#"{"user": "eve"}"#).unwrap();
        all.answer(br#"{"lifetime": 5, "user": "eve"}"#, 0).unwrap();
        assert!(all.admit(&wanted(Some("eve"), Some(1)), 0).is_ok());
        assert!(all.introduce(br#"{"user": ""}"#).is_err());
        assert!(Delegations::new(&[]).introduce(br#"{"user": "eve"}"#).is_ok(), "all are known");
    }

    #[test]
    fn what_has_expired_is_let_go_of() {
        let mut all = Delegations::new(&[]);
        for now in 0..2 * i64::try_from(TIDY).unwrap() {
            all.answer(br#"{"lifetime": 10}"#, now).unwrap();
        }
        assert!(all.all.len() <= usize::try_from(TIDY).unwrap() + 10);
    }
}
