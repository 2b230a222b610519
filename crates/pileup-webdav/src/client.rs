//! A client: what each verb of a program asks for over WebDAV, and whether the answer passes.

use std::sync::Arc;

use pileup_engine::client::{Act, Call, Client, Factory, Fault};
use pileup_engine::program::{Range, Verb};
use pileup_http1::{Session, Settings, Site, Unusable};

use crate::judge::judge;
use crate::plan::Plan;

/// Most ranges of one request.
const RANGES: u64 = 4096;

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
}

impl Client for WebdavClient {
    async fn open(&mut self) -> Result<(), Fault> {
        self.session.open().await
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        match call.step.verb {
            Verb::Noop => return Ok(()),
            Verb::Connect => {
                act.calls = 1;
                return self.session.connect().await;
            }
            _ => {}
        }
        let mut plan = Plan::new(call, &self.site)?;
        self.turn += 1;
        let done = match call.step.verb {
            Verb::Read => self.read(&mut plan, call, act).await,
            _ => self.ask(&mut plan, call, act).await,
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
    }
}

impl WebdavClient {
    /// One request with its answer.
    async fn ask(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let mut answer = self.session.ask(&plan.request(call)?, act).await?;
        let result = judge(&mut answer, plan, call, act).await;
        let kept = self.session.keep(answer).await;
        result.and(kept)
    }

    /// Read what the step says: one range or several, each by itself or some in one request.
    async fn read(&mut self, plan: &mut Plan, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        let mut ranges = call.step.ranges(self.number, self.turn, call.content.map(|object| object.size));
        let together = call.step.pieces.max(1);
        if together > RANGES {
            return Err(Fault::failed(format!("{together} pieces in a request; expected at most {RANGES} over HTTP")));
        }
        while let Some(first) = ranges.next() {
            if together == 1 {
                self.read_range(plan, first, call, act).await?;
                continue;
            }
            plan.reading.set_parts(first, ranges.by_ref().take(usize::try_from(together - 1).unwrap_or(0)));
            self.ask(plan, call, act).await?;
        }
        act.sum = plan.reading.finish();
        Ok(())
    }

    async fn read_range(&mut self, plan: &mut Plan, range: Range, call: &Call<'_>, act: &mut Act) -> Result<(), Fault> {
        match call.step.buffer {
            Some(buffer) => self.read_by_buffer(plan, range, buffer.max(1), call, act).await,
            None => {
                // XRootD 5.5 promises what lies behind the end, and sends nothing at all
                let rest = call.content.map_or(0, |object| object.size.saturating_sub(range.offset));
                let length = range.length.map(|length| if rest > 0 { length.min(rest) } else { length });
                plan.reading.set_part(Range { length, ..range });
                self.ask(plan, call, act).await
            }
        }
    }

    /// Read by one range request after another, as a client with a buffer of that size does; a part that is short is the last.
    async fn read_by_buffer(
        &mut self,
        plan: &mut Plan,
        range: Range,
        buffer: u64,
        call: &Call<'_>,
        act: &mut Act,
    ) -> Result<(), Fault> {
        let size = call.content.map(|object| object.size);
        let asked = range.length.map(|length| range.offset.saturating_add(length));
        let mut end = [size, asked].into_iter().flatten().min();
        let mut at = range.offset;
        loop {
            let length = end.map_or(buffer, |end| buffer.min(end.saturating_sub(at)).max(1));
            plan.reading.set_part(Range { offset: at, length: Some(length) });
            let before = act.bytes;
            self.ask(plan, call, act).await?;
            let got = act.bytes - before;
            at += got;
            end = [end, plan.reading.total()].into_iter().flatten().min();
            if got < length || end.is_some_and(|end| at >= end) {
                return Ok(());
            }
        }
    }
}
