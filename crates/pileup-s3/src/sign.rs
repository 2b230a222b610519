//! Signs requests with Signature Version 4 in the header `Authorization`.

use std::sync::{Arc, Mutex, PoisonError};

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderName, HeaderValue};
use pileup_engine::client::Failure;
use pileup_http1::{Body, Sign, Unsigned};
use pileup_pacer::clock::now;
use ring::hmac;

use crate::canonical::{self, ALGORITHM, Signed};
use crate::settings::{Credentials, Payload};
use crate::stamp::Stamp;

const SERVICE: &str = "s3";
const DATE: HeaderName = HeaderName::from_static("x-amz-date");
const CONTENT_SHA256: HeaderName = HeaderName::from_static("x-amz-content-sha256");
const TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
/// In the place of the digest of a body that is not signed.
const UNSIGNED: &str = "UNSIGNED-PAYLOAD";
/// SHA-256 of nothing.
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Who signs, and for what. It is shared by all clients of a target.
pub(crate) struct Signer {
    who: Credentials,
    region: String,
    payload: Payload,
    /// The key of a day, which is made once.
    day: Mutex<Option<Day>>,
    clock: fn() -> i64,
}

struct Day {
    date: String,
    key: Arc<hmac::Key>,
}

impl Signer {
    pub(crate) fn new(who: Credentials, region: &str, payload: Payload) -> Self {
        Self { who, region: region.to_owned(), payload, day: Mutex::default(), clock: now }
    }

    fn key(&self, date: &str) -> Arc<hmac::Key> {
        let mut day = self.day.lock().unwrap_or_else(PoisonError::into_inner);
        match &*day {
            Some(known) if known.date == date => Arc::clone(&known.key),
            _ => {
                let key = Arc::new(canonical::key(&self.who.secret_key, date, &self.region, SERVICE));
                *day = Some(Day { date: date.to_owned(), key: Arc::clone(&key) });
                key
            }
        }
    }

    /// What stands for the body.
    fn payload(&self, request: &Unsigned<'_>) -> String {
        match request.body {
            Body::None | Body::Empty => NOTHING.to_owned(),
            Body::Known { .. } if self.payload == Payload::Unsigned => UNSIGNED.to_owned(),
            _ => canonical::hex(&request.sha256()),
        }
    }
}

impl Sign for Signer {
    fn sign(&self, request: &Unsigned<'_>) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
        let stamp = Stamp::of((self.clock)());
        let payload = self.payload(request);
        let mut added = vec![(DATE, stamp.whole().to_owned()), (CONTENT_SHA256, payload.clone())];
        if let Some(token) = &self.who.session_token {
            added.push((TOKEN, token.clone()));
        }
        let signed = |name: &HeaderName| *name == HOST || *name == CONTENT_TYPE || name.as_str().starts_with("x-amz-");
        let mut headers: Vec<(&str, String)> = Vec::with_capacity(8);
        for (name, value) in request.headers.iter().filter(|(name, _)| signed(name)) {
            let value = value.to_str().map_err(|_| unsignable(name.as_str()))?;
            headers.push((name.as_str(), value.to_owned()));
        }
        headers.extend(added.iter().map(|(name, value)| (name.as_str(), value.clone())));
        let (canonical, names) =
            Signed { method: request.method.as_str(), path: request.path, headers, payload: &payload }.canonical();
        let scope = canonical::scope(stamp.day(), &self.region, SERVICE);
        let signature =
            canonical::signature(&self.key(stamp.day()), &canonical::string_to_sign(stamp.whole(), &scope, &canonical));
        let who = &self.who.access_key;
        let text = format!("{ALGORITHM} Credential={who}/{scope}, SignedHeaders={names}, Signature={signature}");
        added.push((AUTHORIZATION, text));
        added.into_iter().map(header).collect()
    }
}

fn header((name, value): (HeaderName, String)) -> Result<(HeaderName, HeaderValue), Failure> {
    match HeaderValue::from_str(&value) {
        Ok(value) => Ok((name, value)),
        Err(_) => Err(unsignable(name.as_str())),
    }
}

/// The value is not shown: it may be a secret.
fn unsignable(name: &str) -> Failure {
    Failure::failed(format!("header {name} has characters that no header has; expected plain text"))
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};

    use super::*;

    /// The key and the time of the examples of Amazon S3 API Reference, "Signature Calculations for the Authorization Header: Transferring
    /// Payload in a Single Chunk".
    fn signer(payload: Payload) -> Signer {
        let who = Credentials {
            access_key: "AKIAIOSFODNN7EXAMPLE".to_owned(),
            secret_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(),
            session_token: None,
        };
        Signer { clock: || 1_369_353_600_000_000_000, ..Signer::new(who, "us-east-1", payload) }
    }

    fn signature(method: Method, path: &str, headers: &[(HeaderName, &str)], body: &Body) -> String {
        let headers: HeaderMap = std::iter::once((HOST, "examplebucket.s3.amazonaws.com"))
            .chain(headers.iter().map(|(name, value)| (name.clone(), *value)))
            .map(|(name, value)| (name, HeaderValue::from_str(value).unwrap()))
            .collect();
        let request = Unsigned { method: &method, path, headers: &headers, body };
        let added = signer(Payload::Signed).sign(&request).unwrap();
        let text = added.last().unwrap().1.to_str().unwrap().to_owned();
        text.rsplit_once("Signature=").unwrap().1.to_owned()
    }

    #[test]
    fn the_examples_of_the_reference() {
        assert_eq!(
            signature(Method::GET, "/?lifecycle", &[], &Body::None),
            "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        );
        assert_eq!(
            signature(Method::GET, "/?max-keys=2&prefix=J", &[], &Body::None),
            "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        );
    }

    #[test]
    fn a_session_token_is_signed_and_a_body_may_be_left_out() {
        let mut signer = signer(Payload::Unsigned);
        signer.who.session_token = Some("token".to_owned());
        let object = pileup_engine::content::Object { seed: 1, number: 1, size: 10, entropy: 1.0 };
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static("h"))]);
        let (method, body) = (Method::PUT, Body::whole(object));
        let added = signer.sign(&Unsigned { method: &method, path: "/a", headers: &headers, body: &body }).unwrap();
        let of = |name: &HeaderName| added.iter().find(|(each, _)| each == name).unwrap().1.to_str().unwrap();
        assert_eq!((of(&CONTENT_SHA256), of(&TOKEN), of(&DATE)), (UNSIGNED, "token", "20130524T000000Z"));
        let names = "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,";
        assert!(of(&AUTHORIZATION).contains(names), "{}", of(&AUTHORIZATION));
    }
}
