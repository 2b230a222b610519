//! A client: what each verb of a program asks for over WebDAV, and whether the answer passes.

use std::sync::Arc;

use pileup_engine::client::{Act, Call, Client, Factory, Failure};
use pileup_engine::program::Verb;
use pileup_http1::{Session, Settings, Site, Unusable};

use crate::judge::judge;
use crate::plan::{Made, Plan};

/// Makes the clients of one target.
pub struct WebdavFactory {
    site: Arc<Site>,
}

impl WebdavFactory {
    /// Read the settings (JSON, those of `pileup_http1::Settings`) and the files they name.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new(settings_json: &str) -> Result<Self, Unusable> {
        let settings: Settings = serde_json::from_str(settings_json).map_err(|error| {
            let expected = "url, keep_alive, token, token_file, user, password, ca, certificate_sha256, insecure, certificate, key, headers, resume, expect, reconnect_pause, redirects, trust, redirect_writes";
            Unusable::new(format!("settings of an http target: {error}"), expected, "correct the target")
        })?;
        Ok(Self { site: Site::new(&settings, None)? })
    }
}

impl Factory for WebdavFactory {
    type Client = WebdavClient;
    const BLOCKING: bool = false;

    fn reconnect_pause(&self) -> u64 {
        self.site.reconnect_pause()
    }

    fn make(&self, client: u32) -> WebdavClient {
        WebdavClient {
            site: Arc::clone(&self.site),
            session: Session::new(&self.site, client),
            number: client,
            turn: 0,
            made: Made::default(),
        }
    }
}

/// One virtual client of a target.
pub struct WebdavClient {
    site: Arc<Site>,
    session: Session,
    number: u32,
    /// Operations so far.
    turn: u64,
    made: Made,
}

impl Client for WebdavClient {
    async fn open(&mut self) -> Result<(), Failure> {
        self.session.open().await
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        match call.step.verb {
            Verb::Noop => return Ok(()),
            Verb::Connect => {
                act.calls = 1;
                return self.session.connect().await;
            }
            _ => {}
        }
        let mut plan = Plan::new(call, &self.site, &mut self.made)?;
        self.turn += 1;
        let done = match call.step.verb {
            Verb::Read => self.read(&mut plan, call, act).await,
            _ => self.ask(&mut plan, call, act).await,
        };
        self.made.keep(call, plan.path);
        let settled = self.session.settle();
        done?;
        if call.sums && call.step.verb == Verb::Write {
            act.sum = Some(self.session.sent_sum());
        }
        settled
    }

    async fn close(&mut self) {
        self.session.close().await;
    }
}

impl WebdavClient {
    /// One request with its answer.
    async fn ask(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let request = plan.request(call)?;
        let asked = self.session.ask(&request, act).await;
        plan.path = request.path;
        let mut answer = asked?;
        let result = judge(&mut answer, plan, call, act).await;
        let kept = self.session.keep(answer).await;
        result.and(kept)
    }

    /// Read what the step says, in one request or several.
    async fn read(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let (number, turn) = (self.number, self.turn);
        pileup_http1::read(call, number, turn, act, async |parts, act| {
            plan.reading.set(parts);
            self.ask(plan, call, act).await?;
            Ok(plan.reading.total())
        })
        .await?;
        act.sum = plan.reading.finish();
        Ok(())
    }
}
