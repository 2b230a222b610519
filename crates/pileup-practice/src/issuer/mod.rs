//! The practice token issuer: OAuth 2.0 (RFC 6749), its metadata (RFC 8414) and keys (RFC 7517).
//!
//! `grants` is what is granted, `no` why nothing is, `ask` what is asked; this file answers.

mod ask;
mod grants;
mod no;
mod settings;

use std::cell::RefCell;
use std::fmt::Write as _;

use http::{Method, Request};
use hyper::body::Incoming;
use pileup_pacer::clock::now;
use pileup_schedule::Law;
use serde_json::{Value, json};

use crate::answer::{Answer, says};
use crate::error::Error;
use crate::server::Work;
use crate::wire::Turn;

use self::grants::Grants;
use self::no::{No, send};

pub(crate) use self::settings::Settings;

const TOKEN: &str = "/token";
const KEYS: &str = "/jwks";

/// The issuer.
pub(crate) struct Issuer {
    settings: Settings,
    grants: RefCell<Grants>,
    free: Law,
}

impl Issuer {
    /// One with a new key, which it writes down for those who are to believe its tokens.
    pub(crate) fn open(settings: Settings) -> Result<Self, Error> {
        let grants = Grants::new(&settings, now()).ok_or_else(|| {
            Error::System("no key can be made; expected random numbers of the system (look at /dev/urandom)".to_owned())
        })?;
        if let Some(path) = &settings.public_keys {
            let written = std::fs::write(path, grants.key.public().to_string() + "\n");
            written.map_err(|error| {
                let path = path.display();
                Error::System(format!("the keys {path} cannot be written: {error}; expected a file in a folder that is there (correct public_keys)"))
            })?;
        }
        Ok(Self { settings, grants: RefCell::new(grants), free: Law::Fixed(0) })
    }

    /// Its metadata (RFC 8414, 2).
    fn about(&self, request: &Request<Incoming>) -> Value {
        let address = self.settings.front.address(request);
        let at = |path: &str| format!("{address}{path}");
        let scopes: Vec<_> = self.settings.scope.split(' ').map(|scope| scope.split(':').next()).collect();
        json!({
            "issuer": at("/"),
            "token_endpoint": at(TOKEN),
            "jwks_uri": at(KEYS),
            "grant_types_supported": ["client_credentials", "refresh_token"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
            "response_types_supported": [],
            "scopes_supported": scopes,
        })
    }

    async fn token(&self, turn: &Turn, request: &mut Request<Incoming>) -> Result<Answer, No> {
        let iss = self.settings.iss.clone().unwrap_or_else(|| self.settings.front.address(request) + "/");
        let form = ask::form(turn, request).await?;
        note(turn, form.get("grant_type").map_or("no grant_type", String::as_str));
        let (client, secret) = ask::client(request.headers(), &form)?;
        if self.settings.clients.get(&client).is_none_or(|known| *known != secret) {
            let known = self.settings.clients.contains_key(&client);
            return Err(No::client(if known { "another secret" } else { "an unknown client" }));
        }
        let granted = self.grants.borrow_mut().grant(&self.settings, &client, &form, &iss, now())?;
        note(turn, &granted.note);
        Ok(send(200, &granted.answer))
    }
}

impl Work for Issuer {
    fn cost(&self, _method: &Method, path: &str) -> &Law {
        if path == TOKEN { &self.settings.service } else { &self.free }
    }

    async fn act(&self, turn: &Turn, request: &mut Request<Incoming>) -> Answer {
        let (method, path) = (request.method().as_str(), request.uri().path());
        match (method, path) {
            ("POST", TOKEN) => self.token(turn, request).await.unwrap_or_else(|no| {
                note(turn, &format!("{}: {}", no.error, no.why));
                no.answer()
            }),
            ("GET", "/.well-known/openid-configuration" | "/.well-known/oauth-authorization-server") => {
                send(200, &self.about(request))
            }
            ("GET", KEYS) => send(200, &self.grants.borrow().key.public()),
            ("GET" | "HEAD", "/") => says(200, "pileup practice token issuer"),
            (_, TOKEN) => says(405, "a token is asked for with POST"),
            _ => says(404, "there is nothing"),
        }
    }

    fn tick(&self) {
        self.grants.borrow_mut().tidy(now());
    }
}

/// Say something in the log, behind what was said before.
fn note(turn: &Turn, text: &str) {
    turn.open.note(|line| {
        let between = if line.note.is_empty() { "" } else { "; " };
        let _ = write!(line.note, "{between}{text:.200}"); // into a String: cannot fail
    });
}
