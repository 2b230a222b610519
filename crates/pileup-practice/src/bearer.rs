//! Who may come in: the bearer of one token, or of tokens that an issuer has signed.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request};
use serde_json::Value;

use crate::answer::{Answer, says};
use crate::front::Front;
use crate::jwt::{Claims, Keys};

/// Audience of tokens that are for any server (WLCG profile 1.0).
pub(crate) const ANY: &str = "https://wlcg.cern.ch/jwt/v1/any";

/// Who has access.
pub(crate) enum Door {
    /// Anybody.
    Open,
    /// Whoever has this Authorization header.
    Token(String),
    /// Whoever has a token that these keys prove.
    Keys(Proof),
}

/// A file of keys, read again when it changes, and for whom tokens must be.
pub(crate) struct Proof {
    path: PathBuf,
    audience: String,
    known: RefCell<(Option<SystemTime>, Keys)>,
}

/// Why somebody has no access.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    status: u16,
    /// In the log.
    pub(crate) why: &'static str,
}

impl Refusal {
    fn token(why: &'static str) -> Self {
        Self { status: 401, why }
    }

    /// As RFC 6750, 3 says it.
    pub(crate) fn answer(&self) -> Answer {
        let error = match (self.status, self.why) {
            (403, _) => "insufficient_scope",
            (_, "no token") => "",
            _ => "invalid_token",
        };
        let mut answer = says(self.status, &format!("a bearer token is needed: {}", self.why));
        let said = if error.is_empty() {
            "Bearer".to_owned()
        } else {
            format!("Bearer error=\"{error}\", error_description=\"{}\"", self.why)
        };
        if let Ok(value) = HeaderValue::from_str(&said) {
            answer.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
        answer
    }
}

impl Door {
    /// As the settings say.
    pub(crate) fn new(front: &Front) -> Self {
        match (&front.token, &front.keys) {
            (Some(token), _) => Self::Token(format!("Bearer {token}")),
            (None, Some(path)) => Self::Keys(Proof {
                path: path.clone(),
                audience: front.audience.clone().unwrap_or_else(|| ANY.to_owned()),
                known: RefCell::default(),
            }),
            (None, None) => Self::Open,
        }
    }

    /// Give access to somebody who comes at a time, ns since the epoch; says what the token says, where an issuer has signed it. `may` are
    /// the scopes of which one is needed.
    pub(crate) fn admit<B>(&self, request: &Request<B>, may: &[&str], time: i64) -> Result<Option<Claims>, Refusal> {
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        match self {
            Self::Open => Ok(None),
            Self::Token(token) if given == Some(token.as_bytes()) => Ok(None),
            Self::Token(_) => Err(Refusal::token(if given.is_some() { "another token" } else { "no token" })),
            Self::Keys(proof) => {
                let token = given.and_then(|given| std::str::from_utf8(given).ok()?.strip_prefix("Bearer "));
                let claims = proof.verify(token.ok_or_else(|| Refusal::token("no token"))?, time)?;
                if !may.is_empty() && !may.iter().any(|scope| allows(&claims.scope, scope, request.uri().path())) {
                    return Err(Refusal { status: 403, why: "its scope does not allow it" });
                }
                Ok(Some(claims))
            }
        }
    }
}

impl Proof {
    fn verify(&self, token: &str, time: i64) -> Result<Claims, Refusal> {
        self.look();
        let claims = self.known.borrow().1.verify(token).map_err(Refusal::token)?;
        let seconds = time as f64 / 1e9;
        if claims.exp <= seconds {
            return Err(Refusal::token("expired"));
        }
        if claims.nbf > seconds {
            return Err(Refusal::token("not valid yet"));
        }
        if !is_for(&claims.aud, &self.audience) {
            return Err(Refusal::token("for another audience"));
        }
        Ok(claims)
    }

    /// Read the keys again where they have changed: an issuer that was started again has others.
    fn look(&self) {
        let changed = changed(&self.path);
        let mut known = self.known.borrow_mut();
        if changed.is_some()
            && changed != known.0
            && let Some(keys) = std::fs::read(&self.path).ok().and_then(|text| Keys::read(&text))
        {
            *known = (changed, keys);
        }
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|about| about.modified()).ok()
}

/// Whether a token is for an audience: one, or a list (RFC 7519, 4.1.3).
fn is_for(said: &Value, audience: &str) -> bool {
    let fits = |one: &Value| one.as_str().is_some_and(|one| one == audience || one == ANY);
    match said {
        Value::Array(several) => several.iter().any(fits),
        one => fits(one),
    }
}

/// Whether scopes (`storage.read:/a storage.stage:/`) allow this kind of act at a path.
pub(crate) fn allows(scopes: &str, wanted: &str, path: &str) -> bool {
    scopes.split(' ').filter_map(|scope| scope.split_once(':')).any(|(name, below)| {
        let below = below.trim_end_matches('/');
        name == wanted && path.strip_prefix(below).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// Whether scopes (`storage.stage:/a`) allow this kind of act anywhere.
pub(crate) fn has(scopes: &str, wanted: &str) -> bool {
    scopes.split(' ').filter_map(|scope| scope.split_once(':')).any(|(name, _)| name == wanted)
}

/// Scopes of the WLCG profile of which a method of a storage needs one.
pub(crate) fn storage_scopes(method: &Method) -> &'static [&'static str] {
    match method.as_str() {
        "OPTIONS" => &[],
        "GET" | "HEAD" | "PROPFIND" => &["storage.read", "storage.modify"],
        "PUT" | "MKCOL" => &["storage.create", "storage.modify"],
        _ => &["storage.modify"],
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jwt::Key;

    #[test]
    fn scopes_end_at_slashes() {
        let scopes = "openid storage.read:/ storage.modify:/data/a";
        assert!(allows(scopes, "storage.read", "/x") && allows(scopes, "storage.modify", "/data/a/b"));
        assert!(!allows(scopes, "storage.modify", "/data/ab") && !allows(scopes, "storage.create", "/data/a"));
        assert!(!allows("", "storage.read", "/") && allows("storage.read:/", "storage.read", "/"));
        assert!(has(scopes, "storage.modify") && !has(scopes, "storage.stage") && !has(scopes, "openid"));
    }

    #[test]
    fn each_refusal_says_why() {
        let path = std::env::temp_dir().join(format!("pileup-practice-keys-{}", std::process::id()));
        let (key, front) = (Key::new().unwrap(), Front { keys: Some(path.clone()), ..Front::default() });
        let door = Door::new(&front);
        let token = |more: Value| {
            let mut claims = json!({"iss": "i", "sub": "s", "aud": [ANY], "exp": 20, "nbf": 10, "jti": "7",
                "scope": "storage.read:/"});
            claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            key.sign(&claims).unwrap()
        };
        let ask = |token: Option<String>, scope: &str, second: i64| {
            let request = Request::builder().uri("/a");
            let request = match token {
                Some(token) => request.header(AUTHORIZATION, format!("Bearer {token}")),
                None => request,
            };
            door.admit(&request.body(()).unwrap(), &[scope], second * 1_000_000_000)
        };
        let why = |asked: Result<Option<Claims>, Refusal>| asked.unwrap_err().why;
        assert_eq!(why(ask(Some(token(json!({}))), "storage.read", 15)), "unknown key");
        std::fs::write(&path, key.public().to_string()).unwrap();
        assert_eq!(ask(Some(token(json!({}))), "storage.read", 15).unwrap().unwrap().jti, "7");
        assert_eq!(why(ask(Some(token(json!({}))), "storage.read", 20)), "expired");
        assert_eq!(why(ask(Some(token(json!({}))), "storage.read", 9)), "not valid yet");
        assert_eq!(why(ask(Some(token(json!({"aud": "x"}))), "storage.read", 15)), "for another audience");
        assert_eq!(why(ask(None, "storage.read", 15)), "no token");
        let scope = ask(Some(token(json!({}))), "storage.modify", 15).unwrap_err();
        assert_eq!((scope.status, scope.answer().status().as_u16()), (403, 403));
        std::fs::remove_file(&path).unwrap();
    }
}
