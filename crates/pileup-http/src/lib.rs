//! HTTP and WebDAV: a client of the engine that speaks HTTP/1.1 itself, one connection for each virtual client.
//!
//! `address` names, `auth` credentials, `server` servers, `redirect` the way from one to another, `connect` connections, `wire` and `chunks`
//! HTTP/1.1 on them, `plan` the request that a verb is, `request` heads sent, `upload` bodies sent, `judge` whether an answer passes, `check`,
//! `pieces`, `multipart` and `listing` bodies received, `ops` the client, `error` the words for what went wrong, `probe` all
//! parsers for a fuzzer.

mod address;
mod auth;
mod check;
mod chunks;
mod connect;
mod error;
mod head;
mod judge;
mod listing;
mod multipart;
mod ops;
mod pieces;
mod plan;
pub mod probe;
mod redirect;
mod request;
mod server;
mod upload;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use pileup_engine::client::Factory;
use serde::Deserialize;

pub use ops::HttpClient;

use crate::address::Address;
use crate::server::{Server, Servers};

/// Settings of a target, as `ClientSpec.settings` of protocol `http` writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Where the objects are.
    url: String,
    /// Whether a connection carries more than one request.
    #[serde(default = "yes")]
    keep_alive: bool,
    /// Bearer token.
    token: Option<String>,
    /// File with the token instead; read again when it changes.
    token_file: Option<PathBuf>,
    /// User of basic authentication.
    user: Option<String>,
    /// Password of basic authentication.
    password: Option<String>,
    /// File with the CA certificates to trust; none: the system's.
    ca: Option<PathBuf>,
    /// SHA-256 of the certificate that the server of the url must show; none: it is verified by the CA certificates.
    certificate_sha256: Option<String>,
    /// Whether certificates of servers are not looked at.
    #[serde(default)]
    insecure: bool,
    /// File with the client certificate and its chain.
    certificate: Option<PathBuf>,
    /// File with its key; none: in the same file.
    key: Option<PathBuf>,
    /// Headers of every request.
    #[serde(default)]
    headers: Vec<(String, String)>,
    /// Whether TLS sessions are resumed. Not: a new connection makes the whole handshake.
    #[serde(default)]
    resume: bool,
    /// When the server is asked before a large body is sent.
    #[serde(default)]
    expect: Expect,
    /// Longest pause after a connection that could not be made, ns; 0: none.
    #[serde(default)]
    reconnect_pause: u64,
    /// How many redirects an operation follows; 0: none, a redirect is the answer.
    #[serde(default = "few")]
    redirects: u32,
    /// Hosts (`host` or `host:port`) beside that of the url that are told who we are when a redirect leads there.
    #[serde(default)]
    trust: Vec<String>,
    /// Whether what changes something is redirected to other hosts and paths, too.
    #[serde(default)]
    redirect_writes: bool,
}

/// When a server is asked whether it will have a body (`Expect: 100-continue`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Expect {
    /// Before more than 1 MiB.
    #[default]
    Auto,
    /// Never.
    Never,
}

fn few() -> u32 {
    5
}

fn yes() -> bool {
    true
}

/// What all clients of a target have in common.
pub(crate) struct Target {
    address: Address,
    servers: Servers,
    /// The server of the url.
    home: Arc<Server>,
    keep_alive: bool,
    redirects: u32,
    /// Whether what changes something is redirected to other hosts and paths, too.
    redirect_writes: bool,
    /// Whether the server is asked before a large body is sent.
    asks: bool,
    reconnect_pause: u64,
}

/// Makes the clients of one target.
pub struct HttpFactory {
    target: Arc<Target>,
}

impl HttpFactory {
    /// Read the settings (JSON) and the files they name.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new(settings_json: &str) -> Result<Self, String> {
        let settings: Settings = serde_json::from_str(settings_json).map_err(|error| {
            format!("settings of an http target: {error}; expected url, keep_alive, token, token_file, user, password, ca, certificate_sha256, insecure, certificate, key, headers, resume, expect, reconnect_pause, redirects, trust, redirect_writes (correct the target)")
        })?;
        let address = Address::parse(&settings.url)?;
        if !address.tls && (settings.certificate.is_some() || settings.ca.is_some()) {
            return Err(
                "certificates are given for an http url; expected https (write https:// in the url, or take ca and certificate out)".to_owned(),
            );
        }
        if settings.key.is_some() && settings.certificate.is_none() {
            return Err("a key without a certificate; expected both (add certificate to the credentials)".to_owned());
        }
        let servers = Servers::new(&settings, &address)?;
        let home = servers.find(&address)?;
        let (keep_alive, redirects) = (settings.keep_alive, settings.redirects);
        let (asks, reconnect_pause) = (settings.expect == Expect::Auto, settings.reconnect_pause);
        let redirect_writes = settings.redirect_writes;
        let target = Target { address, servers, home, keep_alive, redirects, redirect_writes, asks, reconnect_pause };
        Ok(Self { target: Arc::new(target) })
    }
}

impl Factory for HttpFactory {
    type Client = HttpClient;
    const BLOCKING: bool = false;

    fn reconnect_pause(&self) -> u64 {
        self.target.reconnect_pause
    }

    fn make(&self, client: u32) -> HttpClient {
        HttpClient::new(Arc::clone(&self.target), client)
    }
}

/// Read a header that a user wrote.
///
/// # Errors
/// When it is none, or one that pileup must set itself. The value is not shown, it may be a secret.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("{name:?} is no name of a header; expected letters, digits and dashes (correct it)"))?;
    if matches!(
        parsed.as_str(),
        "content-length" | "transfer-encoding" | "connection" | "upgrade" | "expect" | "x-pileup-id"
    ) {
        return Err(format!("header {parsed} is given; expected none of those that pileup sets itself (take it out)"));
    }
    let value = HeaderValue::from_str(value).map_err(|_| {
        format!("the value of header {parsed} has a control character; expected plain text (correct it)")
    })?;
    Ok((parsed, value))
}
