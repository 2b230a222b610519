//! Signed tokens: JWS compact (RFC 7515) with ES256 (RFC 7518, 3.4), their claims, and the keys that prove them (RFC 7517).

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair, UnparsedPublicKey,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Bytes of a coordinate of P-256.
const COORDINATE: usize = 32;

/// What a token says, in the words of the WLCG profile 1.0 (<https://zenodo.org/records/3460258>). Times in seconds since the epoch.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub(crate) struct Claims {
    pub(crate) iss: String,
    pub(crate) sub: String,
    pub(crate) aud: Value,
    pub(crate) exp: f64,
    pub(crate) nbf: f64,
    #[serde(default)]
    pub(crate) scope: String,
    #[serde(default)]
    pub(crate) jti: String,
}

#[derive(Deserialize)]
struct Head {
    alg: String,
    kid: String,
}

/// A key that signs.
pub(crate) struct Key {
    pair: EcdsaKeyPair,
    random: SystemRandom,
    id: String,
}

impl Key {
    /// A new one; none: the system has no random numbers.
    pub(crate) fn new() -> Option<Self> {
        let random = SystemRandom::new();
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).ok()?;
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, made.as_ref(), &random).ok()?;
        let digest = ring::digest::digest(&ring::digest::SHA256, pair.public_key().as_ref());
        Some(Self { id: coded(&digest.as_ref()[..8]), pair, random })
    }

    /// What it is called.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The set of keys that proves its tokens.
    pub(crate) fn public(&self) -> Value {
        let point = &self.pair.public_key().as_ref()[1..]; // behind 0x04: not compressed (SEC 1, 2.3.3)
        let (x, y) = point.split_at(COORDINATE);
        json!({"keys": [{"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": self.id, "x": coded(x), "y": coded(y)}]})
    }

    /// A token that says this; none: the system has no random numbers.
    pub(crate) fn sign(&self, claims: &Value) -> Option<String> {
        let head = json!({"alg": "ES256", "kid": self.id, "typ": "at+jwt"});
        let text = format!("{}.{}", coded(head.to_string().as_bytes()), coded(claims.to_string().as_bytes()));
        let signature = self.pair.sign(&self.random, text.as_bytes()).ok()?;
        Some(format!("{text}.{}", coded(signature.as_ref())))
    }
}

#[derive(Deserialize)]
struct Set {
    keys: Vec<Value>,
}

#[derive(Deserialize)]
struct Jwk {
    kid: String,
    crv: String,
    x: String,
    y: String,
}

/// Keys that prove tokens, by their id.
#[derive(Default)]
pub(crate) struct Keys(HashMap<String, Vec<u8>>);

impl Keys {
    /// Read a set of keys in JSON; others than those of ES256 are left out. None: it is not such a set.
    pub(crate) fn read(json: &[u8]) -> Option<Self> {
        let set: Set = serde_json::from_slice(json).ok()?;
        let point = |key: &Jwk| {
            let (x, y) = (URL_SAFE_NO_PAD.decode(&key.x).ok()?, URL_SAFE_NO_PAD.decode(&key.y).ok()?);
            let fits = key.crv == "P-256" && x.len() == COORDINATE && y.len() == COORDINATE;
            fits.then(|| [&[4], x.as_slice(), y.as_slice()].concat())
        };
        let keys = set.keys.into_iter().filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        Some(Self(keys.filter_map(|key| point(&key).map(|point| (key.kid, point))).collect()))
    }

    /// What a token says.
    ///
    /// # Errors
    /// Why it is not to be believed.
    pub(crate) fn verify(&self, token: &str) -> Result<Claims, &'static str> {
        let (text, signature) = token.rsplit_once('.').ok_or("not a JWT")?;
        let (head, claims) = text.split_once('.').ok_or("not a JWT")?;
        let head: Head = read(head).ok_or("not a JWT")?;
        if head.alg != "ES256" {
            return Err("another algorithm than ES256");
        }
        let point = self.0.get(&head.kid).ok_or("unknown key")?;
        let signature = URL_SAFE_NO_PAD.decode(signature).map_err(|_| "wrong signature")?;
        let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
        key.verify(text.as_bytes(), &signature).map_err(|_| "wrong signature")?;
        read(claims).ok_or("claims are missing")
    }
}

fn read<T: for<'a> Deserialize<'a>>(part: &str) -> Option<T> {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// Bytes as a JWT has them.
pub(crate) fn coded(data: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims() -> Value {
        json!({"iss": "i", "sub": "s", "aud": "a", "exp": 9, "nbf": 1, "scope": "storage.read:/", "jti": "1"})
    }

    #[test]
    fn what_was_signed_is_believed_and_nothing_else_is() {
        let (key, other) = (Key::new().unwrap(), Key::new().unwrap());
        let keys = Keys::read(key.public().to_string().as_bytes()).unwrap();
        let token = key.sign(&claims()).unwrap();
        assert_eq!(keys.verify(&token).unwrap().scope, "storage.read:/");
        assert_eq!(keys.verify(&other.sign(&claims()).unwrap()), Err("unknown key"));
        let parts: Vec<_> = token.split('.').collect();
        let forged = coded(claims().to_string().replace("/\"", "/a\"").as_bytes());
        assert_eq!(keys.verify(&format!("{}.{forged}.{}", parts[0], parts[2])), Err("wrong signature"));
        let none = coded(br#"{"alg": "none", "kid": "x"}"#);
        assert_eq!(keys.verify(&format!("{none}.{}.", parts[1])), Err("another algorithm than ES256"));
        for text in ["", "a", "a.b", "a.b.c", "..", "\u{e9}.a.b"] {
            assert_eq!(keys.verify(text), Err("not a JWT"), "{text}");
        }
        assert!(Keys::read(b"{}").is_none() && Keys::read(b"").is_none());
    }
}
