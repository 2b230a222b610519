//! HTTP and WebDAV: a client of the engine that speaks HTTP/1.1 itself, one connection for each virtual client.
//!
//! `address` names, `auth` credentials and TLS, `connect` connections,
//! `wire` and `chunks` HTTP/1.1 on them, `request` heads sent, `upload` bodies sent, `check` and `listing` bodies received,
//! `ops` the verbs, `error` the words for what went wrong.

mod address;
mod auth;
mod check;
mod chunks;
mod connect;
mod error;
mod listing;
mod ops;
mod request;
mod upload;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;

use http::header::{AUTHORIZATION, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderName, HeaderValue};
use pileup_engine::client::Factory;
use serde::Deserialize;

pub use ops::HttpClient;

use crate::address::Address;
use crate::connect::Route;

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
    /// User of basic authentication.
    user: Option<String>,
    /// Password of basic authentication.
    password: Option<String>,
    /// File with the CA certificates to trust; none: the system's.
    ca: Option<PathBuf>,
    /// File with the client certificate and its chain.
    certificate: Option<PathBuf>,
    /// File with its key; none: in the same file.
    key: Option<PathBuf>,
    /// Headers of every request.
    #[serde(default)]
    headers: Vec<(String, String)>,
}

fn yes() -> bool {
    true
}

/// What all clients of a target have in common.
pub(crate) struct Target {
    address: Address,
    route: Route,
    keep_alive: bool,
    /// Headers of every request.
    headers: HeaderMap,
    /// The same as they are written.
    written: Vec<u8>,
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
            format!("settings of an http target: {error}; expected url, keep_alive, token, user, password, ca, certificate, key, headers (correct the target)")
        })?;
        let address = Address::parse(&settings.url)?;
        let headers = common_headers(&settings, &address)?;
        if !address.tls && (settings.certificate.is_some() || settings.ca.is_some()) {
            return Err(
                "certificates are given for an http url; expected https (write https:// in the url, or take ca and certificate out)".to_owned(),
            );
        }
        if settings.key.is_some() && settings.certificate.is_none() {
            return Err("a key without a certificate; expected both (add certificate to the credentials)".to_owned());
        }
        let tls = if address.tls { Some(auth::tls(&settings)?) } else { None };
        let route = Route::new(address.clone(), tls)?;
        let mut written = Vec::new();
        request::write_headers(&mut written, &headers);
        Ok(Self { target: Arc::new(Target { address, route, keep_alive: settings.keep_alive, headers, written }) })
    }
}

impl Factory for HttpFactory {
    type Client = HttpClient;
    const BLOCKING: bool = false;

    fn make(&self, client: u32) -> HttpClient {
        HttpClient::new(Arc::clone(&self.target), client)
    }
}

fn common_headers(settings: &Settings, address: &Address) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    let host = HeaderValue::from_str(&address.authority).map_err(|_| {
        format!("{:?} is no host name; expected a DNS name or an address (correct the url)", address.authority)
    })?;
    headers.insert(HOST, host);
    headers.insert(USER_AGENT, HeaderValue::from_static(concat!("pileup/", env!("CARGO_PKG_VERSION"))));
    if let Some(value) = auth::authorization(settings, address)? {
        headers.insert(AUTHORIZATION, value);
    }
    if !settings.keep_alive {
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
    }
    for (name, value) in &settings.headers {
        let (name, value) = header(name, value)?;
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Read a header that a user wrote.
///
/// # Errors
/// When it is none, or one that pileup must set itself. The value is not shown, it may be a secret.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let parsed = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("{name:?} is no name of a header; expected letters, digits and dashes (correct it)"))?;
    if matches!(parsed.as_str(), "content-length" | "transfer-encoding" | "connection" | "upgrade" | "x-pileup-id") {
        return Err(format!("header {parsed} is given; expected none of those that pileup sets itself (take it out)"));
    }
    let value = HeaderValue::from_str(value).map_err(|_| {
        format!("the value of header {parsed} has a control character; expected plain text (correct it)")
    })?;
    Ok((parsed, value))
}
