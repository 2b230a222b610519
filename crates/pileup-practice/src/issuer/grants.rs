//! Grants: what a client gets for its secret (RFC 6749, 4.4), or for a refresh token (6).

use std::collections::HashMap;

use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Value, json};

use crate::bearer::allows;
use crate::jwt::{Key, coded};
use crate::rate::Bucket;

use super::ask::Form;
use super::no::No;
use super::settings::Settings;

/// Asks for a refresh token (OpenID Connect Core, 11).
const OFFLINE: &str = "offline_access";
/// Most refresh tokens at a time.
const MOST: usize = 1_000_000;
/// The stream of draws that lifetimes are from.
const LIFETIMES: u64 = 1;

/// What a refresh token is good for.
#[derive(Clone)]
struct Refresh {
    client: String,
    scope: String,
    audience: String,
    /// ns.
    expires: i64,
}

/// What was granted.
pub(crate) struct Granted {
    /// The answer of RFC 6749, 5.1.
    pub(crate) answer: Value,
    /// Words for the log.
    pub(crate) note: String,
}

/// Grants tokens.
pub(crate) struct Grants {
    pub(crate) key: Key,
    refreshes: HashMap<String, Refresh>,
    bucket: Option<Bucket>,
    random: SystemRandom,
    /// Tokens so far.
    made: u64,
}

impl Grants {
    /// With a new key; none: the system has no random numbers.
    pub(crate) fn new(settings: &Settings, now: i64) -> Option<Self> {
        let bucket = settings.rate.map(|rate| Bucket::new(rate, now));
        Some(Self { key: Key::new()?, refreshes: HashMap::new(), bucket, random: SystemRandom::new(), made: 0 })
    }

    /// Grant what a client, who is known, asks for; `iss` is who we are.
    pub(crate) fn grant(
        &mut self,
        settings: &Settings,
        client: &str,
        form: &Form,
        iss: &str,
        now: i64,
    ) -> Result<Granted, No> {
        let given = |name: &str| form.get(name).map(String::as_str).filter(|text| !text.is_empty());
        if self.bucket.as_mut().is_some_and(|bucket| !bucket.take(now)) {
            return Err(No {
                status: 429,
                error: "temporarily_unavailable",
                why: "more tokens per second than the limit",
            });
        }
        let before = match given("grant_type").ok_or_else(|| No::request("no grant_type"))? {
            "client_credentials" => Refresh {
                client: client.to_owned(),
                scope: settings.scope.clone(),
                audience: given("audience").or(given("resource")).unwrap_or(&settings.token_audience).to_owned(),
                expires: now.saturating_add(settings.refresh_lifetime),
            },
            "refresh_token" => {
                let token = given("refresh_token").ok_or_else(|| No::request("no refresh_token"))?;
                self.used(token, client, settings.rotate, now)?
            }
            _ => {
                return Err(No {
                    error: "unsupported_grant_type",
                    ..No::request("another grant than client_credentials, refresh_token")
                });
            }
        };
        let scope = narrowed(given("scope"), &before.scope)?;
        let refreshing = given("grant_type") == Some("refresh_token");
        let fresh = if refreshing { settings.rotate } else { scope.split(' ').any(|word| word == OFFLINE) };
        let refresh = if fresh { Some(self.keep(&before, &scope, now, settings.refresh_lifetime)?) } else { None };
        self.signed(settings, &Refresh { scope, ..before }, iss, refresh, now)
    }

    /// What a refresh token is good for; one that is good for one use is gone.
    fn used(&mut self, token: &str, client: &str, rotate: bool, now: i64) -> Result<Refresh, No> {
        let known = self.refreshes.get(token).filter(|known| known.client == client);
        let known = known.ok_or_else(|| No::grant("the refresh token is unknown, or was used before"))?.clone();
        if rotate || known.expires <= now {
            self.refreshes.remove(token);
        }
        if known.expires <= now { Err(No::grant("the refresh token has expired")) } else { Ok(known) }
    }

    /// A new refresh token.
    fn keep(&mut self, of: &Refresh, scope: &str, now: i64, lifetime: i64) -> Result<String, No> {
        if self.refreshes.len() >= MOST {
            return Err(No { status: 503, error: "temporarily_unavailable", why: "too many refresh tokens" });
        }
        let mut bytes = [0; 32];
        self.random.fill(&mut bytes).map_err(|_| No::broken())?;
        let token = coded(&bytes);
        let expires = now.saturating_add(lifetime);
        self.refreshes.insert(token.clone(), Refresh { scope: scope.to_owned(), expires, ..of.clone() });
        Ok(token)
    }

    fn signed(
        &mut self,
        settings: &Settings,
        of: &Refresh,
        iss: &str,
        refresh: Option<String>,
        now: i64,
    ) -> Result<Granted, No> {
        self.made += 1;
        let lifetime = settings.lifetime.draw(settings.front.seed, LIFETIMES, self.made);
        let (issued, lasts) = (now / 1_000_000_000, (lifetime / 1_000_000_000).max(1));
        let (expires, id) = (issued.saturating_add_unsigned(lasts), format!("{}-{}", self.key.id(), self.made));
        let claims = json!({"iss": iss, "sub": of.client, "aud": of.audience, "iat": issued, "nbf": issued, "exp": expires,
            "jti": id, "scope": of.scope, "client_id": of.client, "wlcg.ver": "1.0"});
        let token = self.key.sign(&claims).ok_or_else(No::broken)?;
        let mut answer = json!({"access_token": token, "token_type": "Bearer", "expires_in": lasts, "scope": of.scope});
        if let Some(refresh) = refresh {
            answer["refresh_token"] = refresh.into();
        }
        Ok(Granted { answer, note: format!("granted {id} to {} until {expires}", of.client) })
    }

    /// Forget refresh tokens that are over.
    pub(crate) fn tidy(&mut self, now: i64) {
        self.refreshes.retain(|_, refresh| refresh.expires > now);
    }
}

/// The scope that is granted: what was asked for, where all of it is allowed; all that is allowed where nothing was.
fn narrowed(asked: Option<&str>, allowed: &str) -> Result<String, No> {
    let Some(asked) = asked else { return Ok(allowed.to_owned()) };
    let may = |word: &str| {
        let below = word.split_once(':').is_some_and(|(name, path)| allows(allowed, name, path));
        below || word == OFFLINE || allowed.split(' ').any(|known| known == word)
    };
    let words: Vec<_> = asked.split(' ').filter(|word| !word.is_empty()).collect();
    if words.iter().all(|word| may(word)) {
        return Ok(words.join(" "));
    }
    Err(No { error: "invalid_scope", ..No::request("more than the client may have") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jwt::Keys;

    fn settings(json: &str) -> Settings {
        Settings::read(json).unwrap()
    }

    fn form(pairs: &[(&str, &str)]) -> Form {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    const SECOND: i64 = 1_000_000_000;
    const ALLOWED: &str = r#"{"scope": "storage.read:/ storage.modify:/data openid", "lifetime": {"fixed": 5000000000},
        "refresh_lifetime": 60000000000, "rate": 100}"#;

    fn text<'a>(granted: &'a Granted, name: &str) -> &'a str {
        granted.answer[name].as_str().unwrap_or_default()
    }

    #[test]
    fn a_grant_says_what_its_token_says() {
        let settings = settings(ALLOWED);
        let mut grants = Grants::new(&settings, 0).unwrap();
        let asked =
            form(&[("grant_type", "client_credentials"), ("scope", "storage.modify:/data/a"), ("audience", "x")]);
        let granted = grants.grant(&settings, "me", &asked, "http://i/", 1000 * SECOND + 7).unwrap();
        assert_eq!((&granted.answer["expires_in"], text(&granted, "token_type")), (&json!(5), "Bearer"));
        assert!(granted.answer.get("refresh_token").is_none(), "RFC 6749, 4.4.3");
        let keys = Keys::read(grants.key.public().to_string().as_bytes()).unwrap();
        let claims = keys.verify(text(&granted, "access_token")).unwrap();
        assert_eq!((claims.exp, claims.nbf, claims.scope.as_str()), (1005.0, 1000.0, "storage.modify:/data/a"));
        assert_eq!((claims.iss.as_str(), claims.sub.as_str(), claims.aud), ("http://i/", "me", json!("x")));
        assert!(granted.note.starts_with(&format!("granted {} to me", claims.jti)));
        assert!(!granted.note.contains(text(&granted, "access_token")));
    }

    #[test]
    fn a_refresh_token_is_good_once_for_its_client_and_its_time() {
        let settings = settings(ALLOWED);
        let mut grants = Grants::new(&settings, 0).unwrap();
        let first = form(&[("grant_type", "client_credentials"), ("scope", "storage.read:/ offline_access")]);
        let mut ask = |pairs: &[(&str, &str)], client: &str, second: i64| {
            let asked = if pairs.is_empty() { first.clone() } else { form(pairs) };
            grants.grant(&settings, client, &asked, "i", second * SECOND)
        };
        let refresh = text(&ask(&[], "me", 1).unwrap(), "refresh_token").to_owned();
        let again = [("grant_type", "refresh_token"), ("refresh_token", refresh.as_str())];
        assert_eq!(ask(&again, "you", 2).err().unwrap().error, "invalid_grant");
        let next = ask(&again, "me", 3).unwrap();
        assert!(text(&next, "scope").contains("storage.read:/") && text(&next, "refresh_token") != refresh);
        assert_eq!(ask(&again, "me", 4).err().unwrap().why, "the refresh token is unknown, or was used before");
        let later = text(&next, "refresh_token").to_owned();
        let over = [("grant_type", "refresh_token"), ("refresh_token", later.as_str())];
        assert_eq!(ask(&over, "me", 63).err().unwrap().why, "the refresh token has expired");
    }

    #[test]
    fn what_cannot_be_granted_is_said_in_the_words_of_the_standard() {
        let settings = settings(ALLOWED);
        let mut grants = Grants::new(&settings, 0).unwrap();
        for (pairs, error) in [
            (vec![], "invalid_request"),
            (vec![("grant_type", "password")], "unsupported_grant_type"),
            (vec![("grant_type", "refresh_token")], "invalid_request"),
            (vec![("grant_type", "refresh_token"), ("refresh_token", "x")], "invalid_grant"),
            (vec![("grant_type", "client_credentials"), ("scope", "storage.modify:/")], "invalid_scope"),
        ] {
            let no = grants.grant(&settings, "me", &form(&pairs), "i", SECOND).err().unwrap();
            assert_eq!((no.error, no.status), (error, 400), "{pairs:?}");
        }
        let asked = form(&[("grant_type", "client_credentials")]);
        let granted = (0..200).filter(|_| grants.grant(&settings, "me", &asked, "i", SECOND).is_ok()).count();
        assert_eq!(granted, 95, "the 5 before count, too");
        assert_eq!(grants.grant(&settings, "me", &asked, "i", SECOND).err().unwrap().status, 429);
    }
}
