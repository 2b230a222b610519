//! A client: what each verb of a program asks for over WebDAV, and whether the answer passes.

use std::sync::Arc;

use pileup_engine::client::{Act, Call, Client, Factory, Failure};
use pileup_engine::program::Verb;
use pileup_http1::{Session, Settings, Site, Unusable};

use crate::between::{Between, Others};
use crate::judge::judge;
use crate::plan::Plan;

/// Makes the clients of one target.
pub struct WebdavFactory {
    site: Arc<Site>,
    others: Others,
}

impl WebdavFactory {
    /// Read the settings (JSON, those of `pileup_http1::Settings`) and the files they name; those of second targets too, by their names.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new<'a>(
        settings_json: &str,
        others: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Self, Unusable> {
        let others = others.into_iter().map(|(name, json)| Ok((name.to_owned(), site(json)?)));
        Ok(Self { site: site(settings_json)?, others: others.collect::<Result<_, _>>()? })
    }
}

fn site(settings_json: &str) -> Result<Arc<Site>, Unusable> {
    let settings: Settings = serde_json::from_str(settings_json).map_err(|error| {
        let expected = "url, keep_alive, token, token_file, user, password, ca, certificate_sha256, insecure, certificate, key, headers, resume, expect, reconnect_pause, redirects, trust, redirect_writes";
        Unusable::new(format!("settings of an http target: {error}"), expected, "correct the target")
    })?;
    Site::new(&settings, None)
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
            between: Between::new(&self.others, client),
            plan: Plan::default(),
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
    between: Between,
    plan: Plan,
}

impl Client for WebdavClient {
    async fn open(&mut self) -> Result<(), Failure> {
        self.session.open().await
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        match call.step.verb {
            Verb::Noop => return Ok(()),
            Verb::Connect => return self.session.connect(act).await,
            _ => {}
        }
        if let Some(to) = &call.step.destination {
            return self.between.act(to, &self.site, &mut self.session, call, act).await;
        }
        self.plan.set(call, &self.site)?;
        self.turn += 1;
        let done = match call.step.verb {
            Verb::Read => self.read(call, act).await,
            _ => self.ask(call, act).await,
        };
        let settled = self.session.settle();
        done?;
        if call.sums && call.step.verb == Verb::Write {
            act.sum = Some(self.session.sent_sum());
        }
        settled
    }

    async fn close(&mut self) {
        self.session.close().await;
        self.between.close().await;
    }
}

impl WebdavClient {
    /// One request with its answer.
    async fn ask(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let headers = self.plan.headers(call)?;
        let mut answer = self.session.ask(&self.plan.request(call, &self.site, headers), act).await?;
        let result = judge(&mut answer, &mut self.plan, call, act).await;
        let kept = self.session.keep(answer).await;
        result.and(kept)
    }

    /// Read what the step says, in one request or several.
    async fn read(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        let (number, turn) = (self.number, self.turn);
        pileup_http1::read(call, number, turn, act, async |parts, act| {
            self.plan.reading.set(parts);
            self.ask(call, act).await?;
            Ok(self.plan.reading.total())
        })
        .await?;
        act.sum = self.plan.reading.finish();
        Ok(())
    }
}
