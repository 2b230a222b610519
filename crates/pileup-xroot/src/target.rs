//! What all clients of a target have in common: its settings, where it is, whom it trusts, its token.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use pileup_net::Unusable;
use pileup_net::route::{Host, NoConnection, is_loopback};
use pileup_net::tls::{Files, Trust};
use pileup_net::token::Token;
use serde::Deserialize;
use tokio::net::TcpStream;

use crate::address::Address;
use crate::error::Trouble;
use crate::frame::{self, Redirect};

/// What the number of a client takes the place of in a user name.
const CLIENT: &str = "{client}";
/// Letters beside it that leave room for five digits in the 8 letters of a login.
const BESIDE: usize = 3;

/// Settings of a target, as `ClientSpec.settings` of protocol `xroot` writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Where the objects are.
    url: String,
    /// A relay that is connected to in the place of the url's server; none: the server itself.
    via: Option<SocketAddr>,
    /// Bearer token.
    token: Option<String>,
    /// File with the bearer token, read again when it changes.
    token_file: Option<PathBuf>,
    /// CA certificates to trust, a file or a folder; none: the system's.
    ca: Option<PathBuf>,
    /// SHA-256 of the certificate that the server of the url must show; none: it is verified by the CA certificates.
    certificate_sha256: Option<String>,
    /// Whether certificates of servers are not looked at.
    #[serde(default)]
    insecure: bool,
    /// User to log in as.
    user: Option<String>,
    /// Whether a session carries more than one operation.
    #[serde(default = "yes")]
    keep_alive: bool,
    /// Whether data is read and written in pages with checksums.
    #[serde(default)]
    page_checksums: bool,
    /// Bytes asked for before they are wanted while a file is read in turn; none: some where the step says nothing, else nothing.
    read_ahead: Option<u64>,
    /// Longest pause after a connection that could not be made, ns; 0: none.
    #[serde(default)]
    reconnect_pause: u64,
}

fn yes() -> bool {
    true
}

/// A place that a redirect named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    host: String,
    port: u16,
    tls: bool,
}

/// What all clients of a target have in common.
pub(crate) struct Target {
    pub(crate) address: Address,
    home: Host,
    ca: Option<PathBuf>,
    pinned: Option<String>,
    insecure: bool,
    /// For other servers and for that of the url; made when the first connection wants it: not every server speaks TLS.
    trust: [OnceLock<Result<Trust, Unusable>>; 2],
    token: Option<Token>,
    user: String,
    /// Whether a session carries more than one operation.
    pub(crate) keep_alive: bool,
    /// Whether data moves in pages with checksums.
    pub(crate) pages: bool,
    /// Bytes asked for before they are wanted.
    pub(crate) read_ahead: Option<u64>,
    /// Longest pause after a connection that could not be made, ns.
    pub(crate) reconnect_pause: u64,
}

impl Target {
    /// Read the settings (JSON) and the files they name.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub(crate) fn new(settings: &str) -> Result<Self, Unusable> {
        let settings: Settings = serde_json::from_str(settings).map_err(|error| {
            let expected = "url, via, token, token_file, ca, certificate_sha256, insecure, user, keep_alive, page_checksums, read_ahead, reconnect_pause";
            Unusable::new(format!("settings of an xroot target: {error}"), expected, "correct the target")
        })?;
        let address = Address::parse(&settings.url)?;
        let token = match (&settings.token, &settings.token_file) {
            (Some(_), Some(_)) => {
                let what = "a token and a token file are given";
                return Err(Unusable::new(what, "one of them", "take one out of the credentials"));
            }
            (Some(text), None) => Some(Token::given(text)?),
            (None, Some(path)) => Some(Token::file(path)?),
            (None, None) => None,
        };
        let user = settings.user.or_else(|| address.user.clone()).unwrap_or_else(|| "pileup".to_owned());
        let plain = user.replacen(CLIENT, "", 1);
        if user.is_empty() || !plain.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)) {
            let wanted = "letters, digits, - _ ., and {client} for the number of the client";
            return Err(Unusable::new("the user name is not plain", wanted, "correct it"));
        }
        if plain.len() < user.len() && plain.len() > BESIDE {
            let what = "the user name is too long for the number of a client: a login takes 8 letters";
            return Err(Unusable::new(what, "at most 3 letters beside {client}", "shorten it"));
        }
        let target = Self {
            home: Host::through(&address.host, address.port, settings.via),
            ca: settings.ca,
            pinned: settings.certificate_sha256,
            insecure: settings.insecure,
            trust: Default::default(),
            token,
            user,
            keep_alive: settings.keep_alive,
            pages: settings.page_checksums,
            read_ahead: settings.read_ahead,
            reconnect_pause: settings.reconnect_pause,
            address,
        };
        if target.address.tls {
            Trust::name(&target.address.host)?;
            target.trust(None)?;
        }
        Ok(target)
    }

    /// The trust settings there: for the target itself, or for a redirect.
    ///
    /// # Errors
    /// When the CA files cannot be read, in three parts.
    pub(crate) fn trust(&self, place: Option<&Place>) -> Result<&Trust, Unusable> {
        let home = place.is_none();
        let pinned = self.pinned.as_deref().filter(|_| home);
        let files = || Files { ca: self.ca.as_deref(), pinned, insecure: self.insecure, ..Files::default() };
        self.trust[usize::from(home)].get_or_init(|| Trust::new(files(), &[])).as_ref().map_err(Clone::clone)
    }

    /// A TCP connection there: home, or to the place of a redirect.
    ///
    /// # Errors
    /// What went wrong.
    pub(crate) async fn connect(&self, place: Option<&Place>, client: u32) -> Result<TcpStream, NoConnection> {
        match place {
            None => self.home.connect(client).await,
            Some(place) => Host::new(&place.host, place.port).connect(client).await,
        }
    }

    /// Whether a relay before the server of the url is connected to.
    pub(crate) fn is_relayed(&self) -> bool {
        self.home.is_relayed()
    }

    /// Whether what is said there stays within this machine: by the address of the other end, by the name of a host behind a relay.
    pub(crate) fn is_near(&self, place: Option<&Place>, tcp: &TcpStream) -> bool {
        if place.is_none() && self.home.is_relayed() {
            return is_loopback(&self.address.host);
        }
        tcp.peer_addr().is_ok_and(|peer| peer.ip().to_canonical().is_loopback())
    }

    /// The name of the host there.
    pub(crate) fn name<'a>(&'a self, place: Option<&'a Place>) -> &'a str {
        place.map_or(&self.address.host, |place| &place.host)
    }

    /// User to log in as: each client under a name of its own if the suite says so.
    pub(crate) fn user(&self, client: u32) -> String {
        self.user.replacen(CLIENT, &client.to_string(), 1)
    }

    /// Whether the url, or the redirect, says that TLS is spoken there.
    pub(crate) fn is_tls(&self, place: Option<&Place>) -> bool {
        self.address.tls || place.is_some_and(|place| place.tls)
    }

    /// Whether to ask for TLS there: also when a token must travel over a network. `near`: the server is on this machine.
    pub(crate) fn wants_tls(&self, place: Option<&Place>, near: bool) -> bool {
        self.is_tls(place) || (self.token.is_some() && !near)
    }

    /// What we say in a way of authentication that a login asked for; none: that is not our way. `private`: nobody can hear it.
    ///
    /// # Errors
    /// When the token cannot be read.
    pub(crate) fn credentials(&self, way: &str, private: bool, client: u32) -> Result<Option<Vec<u8>>, Trouble> {
        match (way, &self.token) {
            ("unix", _) => Ok(Some(frame::unix(&self.user(client)))),
            ("ztn", Some(token)) if private => Ok(frame::ztn(&token.now().map_err(Trouble::failed)?)),
            _ => Ok(None),
        }
    }

    /// The token that is shown now.
    pub(crate) fn token(&self) -> Option<Arc<str>> {
        self.token.as_ref().and_then(|token| token.now().ok())
    }

    /// The place that a redirect names.
    pub(crate) fn place(&self, redirect: &Redirect) -> Option<Place> {
        let same = redirect.host == self.address.host && redirect.port == self.address.port;
        let same = same && self.address.tls >= redirect.tls;
        let place = Place { host: redirect.host.clone(), port: redirect.port, tls: redirect.tls };
        Some(place).filter(|_| !same)
    }

    /// What is added to a path, with its question mark: what the url says, the token, what the redirect says. `private`: nobody can hear it.
    /// Returns the token that is shown so.
    ///
    /// # Errors
    /// When the token could be heard, or cannot be read.
    pub(crate) fn opaque(&self, more: &str, private: bool, into: &mut String) -> Result<Option<Arc<str>>, Trouble> {
        let mut add = |name: &str, text: &str| {
            if !text.is_empty() {
                into.push(if into.is_empty() { '?' } else { '&' });
                into.push_str(name);
                into.push_str(text);
            }
        };
        add("", &self.address.opaque);
        let mut shown = None;
        if let Some(token) = &self.token {
            if !private {
                return Err(Trouble::failed("a token must not travel unencrypted, and the server has no TLS"));
            }
            let token = token.now().map_err(Trouble::failed)?;
            add("authz=Bearer%20", &escaped(&token));
            shown = Some(token);
        }
        add("", more);
        Ok(shown)
    }
}

/// A token as it can be in a path.
fn escaped(token: &str) -> std::borrow::Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~=+/".contains(&byte);
    if token.bytes().all(plain) {
        return token.into();
    }
    let one = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    token.bytes().map(one).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(json: &str) -> Result<Target, Unusable> {
        Target::new(json)
    }

    fn opaque(json: &str, more: &str, private: bool) -> Result<String, Trouble> {
        let mut into = String::new();
        target(json).unwrap().opaque(more, private, &mut into).map(|_| into)
    }

    #[test]
    fn paths_get_what_belongs_to_them() {
        assert_eq!(opaque(r#"{"url": "root://h//"}"#, "", false).unwrap(), "");
        assert_eq!(opaque(r#"{"url": "root://h//?a=b"}"#, "c=d", false).unwrap(), "?a=b&c=d");
        let json = r#"{"url": "root://h//?a=b", "token": "x.y-z=&q"}"#;
        assert_eq!(opaque(json, "", true).unwrap(), "?a=b&authz=Bearer%20x.y-z=%26q");
        let trouble = opaque(json, "", false).unwrap_err();
        assert!(
            trouble.failure.message.contains("must not travel unencrypted") && !trouble.failure.message.contains("x.y")
        );
    }

    #[test]
    fn a_token_asks_for_tls_but_on_this_machine() {
        let with = target(r#"{"url": "root://h//", "token": "t"}"#).unwrap();
        assert!(with.wants_tls(None, false) && !with.wants_tls(None, true));
        let without = target(r#"{"url": "root://h//"}"#).unwrap();
        assert!(!without.wants_tls(None, false));
        let secure = Redirect { host: "g".into(), port: 1, tls: true, opaque: String::new() };
        assert!(without.wants_tls(without.place(&secure).as_ref(), true));
        let home = Redirect { host: "h".into(), port: 1094, tls: false, ..secure };
        assert_eq!(without.place(&home), None);
    }

    #[test]
    fn only_some_ways_are_ours() {
        let with = target(r#"{"url": "root://me@h//", "token": "t"}"#).unwrap();
        assert_eq!(with.credentials("unix", false, 0), Ok(Some(b"unix\0me me\0".to_vec())));
        assert_eq!(with.credentials("ztn", true, 0), Ok(frame::ztn("t")));
        assert_eq!(with.credentials("ztn", false, 0), Ok(None));
        assert_eq!(with.credentials("gsi", true, 0), Ok(None));
        let without = target(r#"{"url": "root://h//"}"#).unwrap();
        assert_eq!(without.credentials("ztn", true, 0), Ok(None));
    }

    #[test]
    fn wrong_settings_are_named_and_secrets_are_not() {
        for (json, what) in [
            ("{}", "missing field `url`"),
            (r#"{"url": "root://h//", "streams": 4}"#, "unknown field `streams`"),
            (r#"{"url": "root://h//", "token": "a", "token_file": "b"}"#, "a token and a token file"),
            (r#"{"url": "root://h//", "token": "sec ret"}"#, "the token holds a space"),
            (r#"{"url": "root://h//", "token_file": "/no/such/file"}"#, "there is no such file"),
            (r#"{"url": "root://h//", "user": "a b"}"#, "the user name is not plain"),
            (r#"{"url": "root://h//", "user": "p{client}{client}"}"#, "the user name is not plain"),
            (r#"{"url": "root://h//", "user": "load{client}"}"#, "the user name is too long"),
            (r#"{"url": "roots://h//", "ca": "/no/such/file"}"#, "there is no such file"),
        ] {
            let error = target(json).err().unwrap().to_string();
            assert!(error.contains(what) && error.contains("; expected ") && !error.contains("sec ret"), "{error}");
        }
    }
}
