//! Settings of a target over HTTP.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

/// Settings of a target, as `ClientSpec.settings` of a protocol over HTTP writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Where the objects are.
    pub url: String,
    /// A relay that is connected to in the place of the url's server; none: the server itself.
    pub via: Option<SocketAddr>,
    /// Whether a connection carries more than one request.
    #[serde(default = "yes")]
    pub keep_alive: bool,
    /// Bearer token.
    pub token: Option<String>,
    /// File with the token instead; read again when it changes.
    pub token_file: Option<PathBuf>,
    /// User of basic authentication.
    pub user: Option<String>,
    /// Password of basic authentication.
    pub password: Option<String>,
    /// File with the CA certificates to trust; none: the system's.
    pub ca: Option<PathBuf>,
    /// SHA-256 of the certificate that the server of the url must show; none: it is verified by the CA certificates.
    pub certificate_sha256: Option<String>,
    /// Whether certificates of servers are not looked at.
    #[serde(default)]
    pub insecure: bool,
    /// File with the client certificate and its chain.
    pub certificate: Option<PathBuf>,
    /// File with its key; none: in the same file.
    pub key: Option<PathBuf>,
    /// Headers of every request.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// Whether TLS sessions are resumed. Not: a new connection makes the whole handshake.
    #[serde(default)]
    pub resume: bool,
    /// When the server is asked before a large body is sent.
    #[serde(default)]
    pub expect: Expect,
    /// Longest pause after a connection that could not be made, ns; 0: none.
    #[serde(default)]
    pub reconnect_pause: u64,
    /// How many redirects an operation follows; 0: none, a redirect is the answer.
    #[serde(default = "few")]
    pub redirects: u32,
    /// Hosts (`host` or `host:port`) beside that of the url that get the credentials when a redirect leads there.
    #[serde(default)]
    pub trust: Vec<String>,
    /// Whether what changes something is redirected to other hosts and paths, too.
    #[serde(default)]
    pub redirect_writes: bool,
}

/// When a server is asked whether it accepts a body (`Expect: 100-continue`).
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Expect {
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
