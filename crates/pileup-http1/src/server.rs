//! Servers: the target's own, and those that it sends its clients to; what is sent to each of them, and how it is reached.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use http::header::{AUTHORIZATION, CONNECTION, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue};
use pileup_engine::client::Failure;
use pileup_net::Unusable;
use pileup_net::route::Host;
use pileup_net::stream::Stream;
use pileup_net::tls::{Files, Trust};
use pileup_net::token::Token;

use crate::address::Address;
use crate::settings::Settings;
use crate::sign::Sign;
use crate::{auth, error, request};

/// Most servers, beside the target's own, that are remembered.
const REMEMBERED: usize = 1024;

/// Protocol, host and port: what makes two servers the same (RFC 6454, 4).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Origin(bool, String, u16);

/// A server as one client holds it, with a separate count, so that clients on several cores do not share one.
pub(crate) type Known = Rc<Arc<Server>>;

/// A server, and all that every request to it has in common.
pub(crate) struct Server {
    authority: String,
    /// Where it is.
    host: Host,
    /// The name its certificate must be for.
    name: String,
    trust: Option<Trust>,
    /// Headers of every request.
    pub(crate) headers: HeaderMap,
    /// The same as they are written.
    pub(crate) written: Vec<u8>,
    /// The token, if it may be sent.
    token: Option<Arc<Token>>,
    /// What signs requests, if signatures may be sent.
    pub(crate) signer: Option<Arc<dyn Sign>>,
    /// Whether it may get the credentials.
    pub(crate) confided: bool,
}

impl Server {
    /// Connect. Clients with different numbers begin with different addresses of the host and try the others in turn.
    pub(crate) async fn connect(&self, client: u32) -> Result<Stream, Failure> {
        let tcp = self.host.connect(client).await.map_err(error::no_connection)?;
        match &self.trust {
            None => Ok(Stream::Plain(tcp)),
            Some(trust) => Stream::encrypt(tcp, trust, &self.name).await.map_err(error::no_connection),
        }
    }

    /// The token for the next request.
    ///
    /// # Errors
    /// When its file has changed and holds none.
    pub(crate) fn token(&self) -> Result<Option<Arc<str>>, Failure> {
        self.token.as_ref().map(|token| token.now()).transpose().map_err(Failure::failed)
    }

    /// Whether it speaks TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.trust.is_some()
    }

    /// Whether a relay before it is connected to.
    pub(crate) fn is_relayed(&self) -> bool {
        self.host.is_relayed()
    }

    /// The url of a path on it.
    pub(crate) fn url(&self, path: &str) -> String {
        let scheme = if self.trust.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.authority)
    }
}

/// All servers of a target.
pub(crate) struct Servers {
    origin: Origin,
    /// The relay before the target's own server.
    via: Option<SocketAddr>,
    /// Headers that any server may have.
    common: HeaderMap,
    /// Headers for the target alone: those that a user has written, and the password.
    own: HeaderMap,
    token: Option<Arc<Token>>,
    signer: Option<Arc<dyn Sign>>,
    /// Hosts that may get the credentials in addition to the target's own, as `host` or `host:port`.
    trusted: Vec<String>,
    files: [Option<PathBuf>; 3],
    resume: bool,
    /// The certificate of the target's own server.
    pinned: Option<String>,
    insecure: bool,
    /// TLS without the client certificate and with it, for others and for the target's own server; made when it is needed.
    trust: [OnceLock<Result<Trust, Unusable>>; 4],
    others: Mutex<HashMap<Origin, Arc<Server>>>,
}

impl Servers {
    /// Read what the settings say.
    ///
    /// # Errors
    /// What is wrong with them, in three parts. Secrets are never part of it.
    pub(crate) fn new(settings: &Settings, address: &Address, signer: Option<Arc<dyn Sign>>) -> Result<Self, Unusable> {
        let mut common = HeaderMap::new();
        common.insert(USER_AGENT, HeaderValue::from_static(concat!("pileup/", env!("CARGO_PKG_VERSION"))));
        if !settings.keep_alive {
            common.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        let mut own = HeaderMap::new();
        if let Some(value) = auth::password(settings, address)? {
            own.insert(AUTHORIZATION, value);
        }
        for (name, value) in &settings.headers {
            let (name, value) = request::header(name, value)?;
            own.insert(name, value);
        }
        Ok(Self {
            origin: origin(address),
            via: settings.via,
            common,
            own,
            token: auth::token(settings, address)?.map(Arc::new),
            signer,
            trusted: settings.trust.iter().map(|host| host.to_ascii_lowercase()).collect(),
            files: [settings.ca.clone(), settings.certificate.clone(), settings.key.clone()],
            resume: settings.resume,
            pinned: settings.certificate_sha256.clone(),
            insecure: settings.insecure,
            trust: Default::default(),
            others: Mutex::default(),
        })
    }

    /// The server at an address.
    ///
    /// # Errors
    /// When it cannot be reached for its name or for TLS.
    pub(crate) fn find(&self, address: &Address) -> Result<Arc<Server>, Unusable> {
        let origin = origin(address);
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = others.get(&origin) {
            return Ok(Arc::clone(known));
        }
        let server = Arc::new(self.make(address)?);
        if others.len() < REMEMBERED {
            others.insert(origin, Arc::clone(&server));
        }
        Ok(server)
    }

    /// What shows a server who asks, by the names of the headers: those that a user has written, the password, the token.
    ///
    /// # Errors
    /// When the file of the token has changed and holds none.
    pub(crate) fn credentials(&self) -> Result<Vec<(String, HeaderValue)>, Failure> {
        let mut found: Vec<_> = self.own.iter().map(|(name, value)| (request::capital(name), value.clone())).collect();
        if let Some(token) = self.token.as_ref().filter(|_| !self.own.contains_key(AUTHORIZATION)) {
            let token = token.now().map_err(Failure::failed)?;
            let value = HeaderValue::from_str(&format!("Bearer {token}"));
            let mut value = value.map_err(|_| Failure::failed("the token cannot be in a header"))?;
            value.set_sensitive(true);
            found.push((request::capital(&AUTHORIZATION), value));
        }
        Ok(found)
    }

    fn make(&self, address: &Address) -> Result<Server, Unusable> {
        let confided = self.is_confided(address);
        let mut headers = HeaderMap::new();
        let host = HeaderValue::from_str(&address.authority).map_err(|_| {
            let what = format!("{:?} is not a host name", address.authority);
            Unusable::new(what, "a DNS name or an address", "correct the url")
        })?;
        headers.insert(HOST, host);
        headers.extend(self.common.clone());
        if confided {
            headers.extend(self.own.clone());
        }
        let mut written = Vec::new();
        request::write_headers(&mut written, &headers);
        if address.tls {
            Trust::name(&address.host)?;
        }
        Ok(Server {
            authority: address.authority.clone(),
            host: Host::through(&address.host, address.port, self.via.filter(|_| origin(address) == self.origin)),
            name: address.host.clone(),
            trust: if address.tls { Some(self.trust(confided, origin(address) == self.origin)?) } else { None },
            token: self.token.as_ref().filter(|_| confided && !headers.contains_key(AUTHORIZATION)).cloned(),
            signer: self.signer.clone().filter(|_| confided),
            confided,
            headers,
            written,
        })
    }

    /// Whether a server may get the credentials: the target itself, and hosts that the user names, never unencrypted over a network.
    fn is_confided(&self, address: &Address) -> bool {
        let named = |name: &String| {
            let host = address.host.to_ascii_lowercase();
            *name == host || *name == format!("{host}:{}", address.port)
        };
        let hidden = address.tls || address.is_loopback();
        origin(address) == self.origin || (hidden && self.trusted.iter().any(named))
    }

    fn trust(&self, confided: bool, home: bool) -> Result<Trust, Unusable> {
        let [ca, certificate, key] = self.files.each_ref().map(Option::as_deref);
        let shown = confided && certificate.is_some();
        let made = self.trust[usize::from(shown) + 2 * usize::from(home)].get_or_init(|| {
            let (certificate, key) = if shown { (certificate, key) } else { (None, None) };
            let pinned = self.pinned.as_deref().filter(|_| home);
            let files = Files { ca, certificate, key, resume: self.resume, pinned, insecure: self.insecure };
            Trust::new(files, &[b"http/1.1"])
        });
        made.clone()
    }
}

fn origin(address: &Address) -> Origin {
    Origin(address.tls, address.host.to_ascii_lowercase(), address.port)
}
