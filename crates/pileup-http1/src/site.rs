//! A target over HTTP: its address, its servers, and how they are spoken to. What all its clients share.

use std::sync::Arc;

use http::HeaderValue;
use pileup_engine::client::Failure;
use pileup_net::Unusable;

use crate::address::Address;
use crate::server::{Server, Servers};
use crate::settings::{Expect, Settings};
use crate::sign::Sign;

/// The server is asked before a body larger than this is sent (RFC 9110, 10.1.1), as curl does: it may redirect the request.
const LARGE: u64 = 1 << 20;

/// What all clients of a target have in common.
pub struct Site {
    /// Where it is.
    pub address: Address,
    pub(crate) servers: Servers,
    /// The server of the url.
    pub(crate) home: Arc<Server>,
    pub(crate) keep_alive: bool,
    pub(crate) redirects: u32,
    /// Whether what changes something is redirected to other hosts and paths, too.
    pub(crate) redirect_writes: bool,
    asks: bool,
    reconnect_pause: u64,
}

impl Site {
    /// Take the settings, and read the files they name. `signer` signs every request to the target and to those hosts that may know who we are.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new(settings: &Settings, signer: Option<Arc<dyn Sign>>) -> Result<Arc<Self>, Unusable> {
        let address = Address::parse(&settings.url)?;
        if !address.tls && (settings.certificate.is_some() || settings.ca.is_some()) {
            return Err(Unusable::new(
                "certificates are given for an http url",
                "https",
                "write https:// in the url, or take ca and certificate out",
            ));
        }
        if settings.key.is_some() && settings.certificate.is_none() {
            return Err(Unusable::new("a key without a certificate", "both", "add certificate to the credentials"));
        }
        let servers = Servers::new(settings, &address, signer)?;
        let home = servers.find(&address)?;
        Ok(Arc::new(Self {
            address,
            servers,
            home,
            keep_alive: settings.keep_alive,
            redirects: settings.redirects,
            redirect_writes: settings.redirect_writes,
            asks: settings.expect == Expect::Auto,
            reconnect_pause: settings.reconnect_pause,
        }))
    }

    /// Whether the target is asked before a body of this size, bytes, is sent.
    #[must_use]
    pub fn asks(&self, size: Option<u64>) -> bool {
        self.asks && size.is_some_and(|size| size > LARGE)
    }

    /// The url of a path at the target.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        self.home.url(path)
    }

    /// What shows the target who asks, as headers by their names: to be given to another server, which asks in our stead.
    ///
    /// # Errors
    /// When the file of the token has changed and holds none.
    pub fn credentials(&self) -> Result<Vec<(String, HeaderValue)>, Failure> {
        self.servers.credentials()
    }

    /// Whether nobody on a network can read what is sent to the target.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.address.tls || self.address.is_loopback()
    }

    /// Longest pause of a client after a connection that could not be made, ns; 0: none.
    #[must_use]
    pub fn reconnect_pause(&self) -> u64 {
        self.reconnect_pause
    }
}
