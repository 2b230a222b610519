//! Settings of all kinds of servers: where to listen, how much to do at once, which faults to inject.

use std::path::PathBuf;

use http::header::HOST;
use http::{Method, Request};
use serde::Deserialize;

use crate::error::Error;

/// Settings of all kinds of servers.
#[derive(Clone, Deserialize)]
#[serde(default)]
pub(crate) struct Front {
    /// What it is, for messages: "the practice storage". The kind of server says it.
    #[serde(skip)]
    pub(crate) what: &'static str,
    /// Address to listen on.
    pub(crate) host: String,
    /// Port; 0: any free one.
    pub(crate) port: u16,
    /// Connections that may wait to be accepted: the backlog of listen(2).
    pub(crate) backlog: u32,
    /// Requests served at once.
    pub(crate) threads: usize,
    /// Requests that may wait; beyond, 503.
    pub(crate) queue: usize,
    /// Whether it speaks S3. The kind of server says it.
    #[serde(skip)]
    pub(crate) s3: bool,
    /// Bytes per second of all bodies together; none: without limit. The kind of server says it.
    #[serde(skip)]
    pub(crate) bandwidth: Option<f64>,
    /// What the draws follow from.
    pub(crate) seed: u64,
    /// Faults to inject.
    pub(crate) faults: Vec<Fault>,
    /// File for a line per request.
    pub(crate) log: Option<PathBuf>,
    /// Certificates; none: plain HTTP.
    pub(crate) tls: Option<Tls>,
    /// Bearer token that is asked for.
    pub(crate) token: Option<String>,
    /// File of keys that prove the tokens of those who come in.
    pub(crate) keys: Option<PathBuf>,
    /// For whom these tokens must be.
    pub(crate) audience: Option<String>,
}

impl Default for Front {
    fn default() -> Self {
        Self {
            what: "the practice server",
            host: "127.0.0.1".to_owned(),
            port: 0,
            backlog: 4096,
            threads: 16,
            queue: 1000,
            s3: false,
            bandwidth: None,
            seed: 1,
            faults: Vec::new(),
            log: None,
            tls: None,
            token: None,
            keys: None,
            audience: None,
        }
    }
}

/// Files of certificates, PEM.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tls {
    /// The server's certificate chain.
    pub(crate) certificate: PathBuf,
    /// Its key.
    pub(crate) key: PathBuf,
    /// CA of the client certificates that are asked for; none: nobody is asked.
    pub(crate) client_ca: Option<PathBuf>,
}

/// Kind of a fault.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// No answer for a time.
    Stall,
    /// 503 at once.
    Refuse,
    /// The body ends in the middle.
    Truncate,
    /// One byte of the body is another.
    WrongByte,
    /// A status that says error.
    Error,
    /// What is asked for is done, but answered late or never.
    Ghost,
    /// An upload in parts is not ended, and that is said in an answer of 200.
    #[serde(rename = "error_in_200")]
    ErrorIn200,
    /// A third-party copy is not made, and the report in the answer of 202 says so at its end.
    #[serde(rename = "error_in_202")]
    ErrorIn202,
    /// An answer in XML lacks its end, though it is as long as it says.
    BrokenXml,
}

impl Kind {
    /// As in the settings and the log.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stall => "stall",
            Self::Refuse => "refuse",
            Self::Truncate => "truncate",
            Self::WrongByte => "wrong_byte",
            Self::Error => "error",
            Self::Ghost => "ghost",
            Self::ErrorIn200 => "error_in_200",
            Self::ErrorIn202 => "error_in_202",
            Self::BrokenXml => "broken_xml",
        }
    }

    /// Whether only a server of S3 has it.
    fn of_s3(self) -> bool {
        matches!(self, Self::ErrorIn200 | Self::BrokenXml)
    }
}

/// A fault made on purpose.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    /// What.
    pub(crate) kind: Kind,
    /// Share of the requests, 0 to 1.
    #[serde(default = "all")]
    pub(crate) share: f64,
    /// Begin of the window, since the start; none: from the start.
    #[serde(default)]
    pub(crate) at: Option<i64>,
    /// Length of the window, none: to the end; of a stall without a window and of a ghost how long there is no answer.
    #[serde(default, rename = "for")]
    pub(crate) length: Option<i64>,
    /// Status of an error.
    #[serde(default = "internal")]
    pub(crate) status: u16,
    /// Methods concerned; empty: all.
    #[serde(default)]
    pub(crate) methods: Vec<String>,
    /// How the paths concerned begin; empty: all.
    #[serde(default)]
    pub(crate) paths: Vec<String>,
}

fn all() -> f64 {
    1.0
}

fn internal() -> u16 {
    500
}

/// A wrong setting in three parts.
pub(crate) fn wrong(server: &str, what: &str, expected: &str) -> Error {
    Error::Settings(format!("{what}; expected {expected} (correct the settings of {server})"))
}

impl Front {
    /// The address of the server, as somebody has asked it.
    pub(crate) fn address<B>(&self, request: &Request<B>) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
        format!("{scheme}://{host}")
    }

    /// Refuse what cannot be.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.threads == 0 || self.threads > 1_000_000 {
            return Err(wrong(self.what, &format!("threads {}", self.threads), "1 to 1000000"));
        }
        if self.backlog == 0 || self.backlog > i32::MAX as u32 {
            return Err(wrong(self.what, &format!("backlog {}", self.backlog), "1 to 2147483647"));
        }
        if self.token.as_ref().is_some_and(String::is_empty) {
            return Err(wrong(self.what, "an empty token", "a text, or null for none"));
        }
        if self.token.is_some() && self.keys.is_some() {
            return Err(wrong(self.what, "a token and keys", "one of them"));
        }
        if let Some(fault) = self.faults.iter().find(|fault| fault.kind.of_s3() && !self.s3) {
            return Err(wrong(self.what, &format!("fault {}", fault.kind.name()), "one of its own; that is of S3"));
        }
        for (place, fault) in self.faults.iter().enumerate() {
            fault.check().map_err(|(what, expected)| {
                wrong(self.what, &format!("fault {} ({}): {what}", place + 1, fault.kind.name()), expected)
            })?;
        }
        Ok(())
    }
}

impl Fault {
    fn check(&self) -> Result<(), (String, &'static str)> {
        if !(0.0..=1.0).contains(&self.share) {
            return Err((format!("share {}", self.share), "0 to 1"));
        }
        if self.at.is_some_and(i64::is_negative) || self.length.is_some_and(i64::is_negative) {
            return Err(("a negative time".to_owned(), "at and for of 0 or more"));
        }
        if !(400..=599).contains(&self.status) {
            return Err((format!("status {}", self.status), "400 to 599"));
        }
        if let Some(method) = self.methods.iter().find(|method| Method::from_bytes(method.as_bytes()).is_err()) {
            return Err((format!("method {method:?}"), "methods like GET"));
        }
        if self.kind == Kind::Ghost && self.at.is_some() {
            return Err((
                "a ghost with `at`".to_owned(),
                "`for` alone: how much later it is answered, without it never",
            ));
        }
        if self.kind != Kind::Stall {
            return Ok(());
        }
        if self.length.is_none() {
            return Err(("a stall without `for`".to_owned(), "how long there is no answer"));
        }
        if self.at.is_some() && (self.share < 1.0 || !self.methods.is_empty() || !self.paths.is_empty()) {
            let expected = "either `at` (nothing at all is served in the window) or `share`, `methods` and `paths` (those requests wait)";
            return Err(("a stall with `at` and a share or methods".to_owned(), expected));
        }
        Ok(())
    }
}
