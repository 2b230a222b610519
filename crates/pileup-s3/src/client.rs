//! A client: what each verb of a program asks for over S3, and whether the answer passes.

use std::sync::Arc;

use http::header::RANGE;
use http::{HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Call, Client, Factory, Failure};
use pileup_engine::content::Object;
use pileup_engine::control::Problem;
use pileup_engine::program::{Checksum, Range, Verb};
use pileup_http1::{Body, Reading, Sign, Site, Unusable, size};

use crate::bucket::{Bucket, S3Client};
use crate::plan::{Ask, CHECKSUM_MODE, able};
use crate::settings::{Place, Settings};
use crate::sign::Signer;
use crate::sums::Algorithm;
use crate::{judge, parts};

const NOT_OURS_TO_SUM: &str = "checksum: over S3 that of files that pileup has not written is not compared";

/// Makes the clients of one target.
pub struct S3Factory {
    pub(crate) bucket: Arc<Bucket>,
}

impl S3Factory {
    /// Read the settings (JSON) and the files they name.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub fn new(settings_json: &str) -> Result<Self, Unusable> {
        let mut settings = Settings::read(settings_json)?;
        let who = settings.credentials.take();
        let signer = who.map(|who| Arc::new(Signer::new(who, &settings.region, settings.payload)) as Arc<dyn Sign>);
        let site = Site::new(&settings.http, signer)?;
        let (part_size, checksum) = (settings.part_size, settings.checksum);
        Ok(Self { bucket: Arc::new(Bucket { site, place: Place::new(&settings), part_size, checksum }) })
    }
}

impl Factory for S3Factory {
    type Client = S3Client;
    const BLOCKING: bool = false;

    fn reconnect_pause(&self) -> u64 {
        self.bucket.site.reconnect_pause()
    }

    fn make(&self, client: u32) -> S3Client {
        S3Client::new(&self.bucket, client)
    }
}

impl Client for S3Client {
    async fn open(&mut self) -> Result<(), Failure> {
        self.session.open().await
    }

    async fn act(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Failure> {
        match call.step.verb {
            Verb::Noop => return Ok(()),
            Verb::Connect => return self.session.connect(act).await,
            _ => {}
        }
        able(call)?;
        self.turn += 1;
        let done = match call.step.verb {
            Verb::Read => self.read(call, act).await,
            Verb::Write => self.write(call, act).await,
            Verb::Stat | Verb::Open => self.look(call, act).await,
            Verb::Checksum => self.checksum(call, act).await,
            Verb::List => self.count(call, act).await,
            Verb::Delete => self.delete(call.key, call.id, act).await,
            // able() has let it pass: a prefix needs no making
            Verb::Mkdir => Ok(()),
            verb => Err(Failure::unable(verb).into()),
        };
        let settled = self.session.settle();
        done.map_err(|problem| problem.failure)?;
        settled
    }

    async fn close(&mut self) {
        self.session.close().await;
    }
}

impl S3Client {
    /// Read what the step says, in one request or several.
    async fn read(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let (number, turn, mut reading) = (self.number, self.turn, Reading::new(false));
        let ranges = async |parts: &[Range], act: &mut Act| {
            reading.set(parts);
            self.get(call, &mut reading, act).await.map_err(|problem| problem.failure)?;
            Ok(reading.total())
        };
        Ok(pileup_http1::read(call, number, turn, act, ranges).await?)
    }

    async fn get(&mut self, call: &Call<'_>, reading: &mut Reading, act: &mut Act) -> Result<(), Problem> {
        let mut ask = Ask::new(Method::GET, self.path(call.key, ""), call.id);
        let (checksum, part_size) = (self.bucket.checksum, self.bucket.part_size);
        let summed = checksum.zip(call.verified()).filter(|_| reading.part().is_none());
        match reading.range() {
            Some(range) => ask = ask.and(RANGE, range),
            None if summed.is_some() => ask = ask.and(CHECKSUM_MODE, HeaderValue::from_static("ENABLED")),
            None => {}
        }
        self.ask(&ask, act, async |answer, act| {
            if !reading.passes(answer.status(), call) {
                let whole = answer.status() == StatusCode::OK && reading.part().is_some();
                if whole {
                    return Err(Failure::failed("HTTP 200 OK, though only a part was asked for").into());
                }
                return Err(judge::refused(answer, false, act).await);
            }
            reading.take(answer, call, act).await?;
            match summed.and_then(|(sum, object)| sum.confirms(answer.headers(), &object, part_size)) {
                Some(false) => Err(wrong_sum().into()),
                _ => Ok(()),
            }
        })
        .await
    }

    /// Write an object: in parts if it is large enough for the target's part size.
    async fn write(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        match (call.content, self.bucket.part_size) {
            (Some(object), Some(part)) if object.size > part => parts::write(self, call, object, part, act).await,
            (content, _) => {
                let sum = self.bucket.checksum.map(|sum| match content {
                    Some(object) => sum.of_content(&object, 0, object.size),
                    None => sum.of(b""),
                });
                let body = content.map_or(Body::Empty, Body::whole);
                self.put(call.key, body, sum, call.step.new, call.id, act).await
            }
        }
    }

    /// Look at an object: what it must be, and that it is there.
    async fn look(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let stated = self.head(call.key, call.id, act).await?;
        match (call.content, stated) {
            (Some(object), Some(stated)) => Ok(size(stated, Some(object.size))?),
            // RFC 9110, 8.6: it may be left out
            (Some(object), None) if object.size > 0 => Err(Failure::failed("the answer states no size").into()),
            _ => Ok(()),
        }
    }

    /// Compare the checksum that the server states, whichever it is, with that of the known content.
    async fn checksum(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let (content, part_size): (Option<Object>, _) = (call.content, self.bucket.part_size);
        self.ask(&self.sum_of(call.key, call.id), act, async |answer, act| {
            judge::plain(answer, false, act).await?;
            let Some(object) = content else { return Ok(no_sum(call, act, NOT_OURS_TO_SUM)?) };
            let confirms = |sum: Algorithm| sum.confirms(answer.headers(), &object, part_size);
            match Algorithm::ALL.into_iter().find_map(confirms) {
                Some(true) => Ok(()),
                Some(false) => Err(wrong_sum().into()),
                None => Ok(no_sum(call, act, "checksum: the server states none that can be compared")?),
            }
        })
        .await
    }

    async fn count(&mut self, call: &Call<'_>, act: &mut Act) -> Result<(), Problem> {
        let mut entries = 0;
        self.list(call.key, None, call.id, act, |_| entries += 1).await?;
        match call.step.expect.entries {
            Some(expected) if entries != expected => {
                Err(Failure::failed(format!("{entries} entries, expected {expected}")).into())
            }
            _ => Ok(()),
        }
    }
}

fn wrong_sum() -> Failure {
    Failure::failed("checksum: what the server states is not the sum of what was written")
}

/// Nothing could be verified, which a step may allow.
fn no_sum(call: &Call<'_>, act: &mut Act, why: &str) -> Result<(), Failure> {
    act.not_stated = call.step.checksum == Checksum::IfStated;
    if act.not_stated { Ok(()) } else { Err(Failure::failed(why)) }
}
