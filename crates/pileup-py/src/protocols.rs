//! The table of protocols: the one place that knows them all.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pileup_engine::control::Control;
use pileup_engine::noop::NoopFactory;
use pileup_engine::press::Press;
use pileup_engine::program::Program;
use pileup_engine::refusal::PressError;
use pileup_net::Unusable;
use pileup_posix::PosixFactory;
use pileup_s3::S3Factory;
use pileup_webdav::WebdavFactory;
use pileup_xroot::XrootFactory;
use serde::Deserialize;
use serde_json::value::RawValue;

/// `ClientSpec` of the plug-ins: a protocol and its settings.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec<'a> {
    protocol: String,
    #[serde(borrow)]
    settings: &'a RawValue,
    /// The clients of second targets, by their names in the suite.
    #[serde(borrow, default)]
    others: BTreeMap<String, Spec<'a>>,
}

impl Spec<'_> {
    /// Settings of second targets that speak this protocol.
    fn others(&self, protocol: &str) -> Result<Vec<(&str, &str)>, PressError> {
        let mut found = Vec::new();
        for (name, other) in &self.others {
            if other.protocol != protocol {
                return Err(PressError::Client(format!(
                    "target {name} speaks {}; expected {protocol}, as the other target (copies between two protocols are not possible)",
                    other.protocol
                )));
            }
            found.push((name.as_str(), other.settings.get()));
        }
        Ok(found)
    }
}

/// Makes a session from settings; every call of it ends within the time.
type MakeSession = fn(&str, Duration) -> Result<Box<dyn Control>, Unusable>;

/// A protocol of the engine.
struct Protocol {
    /// Its name in a `ClientSpec`.
    name: &'static str,
    /// Start native workers with its clients.
    start: fn(&Arc<Press>, &Spec<'_>, Program) -> Result<(), PressError>,
    /// Make a session for what prepares and clears up; none: it has no such thing.
    session: Option<MakeSession>,
}

/// All of them.
const TABLE: [Protocol; 5] = [
    Protocol { name: "noop", start: |press, _, program| press.native(NoopFactory, program), session: None },
    Protocol {
        name: "posix",
        start: |press, spec, program| press.native(PosixFactory::new(spec.settings.get())?, program),
        session: None,
    },
    Protocol {
        name: "http",
        start: |press, spec, program| {
            let factory = WebdavFactory::new(spec.settings.get(), spec.others("http")?).map_err(unusable)?;
            press.native(factory, program)
        },
        session: None,
    },
    Protocol {
        name: "s3",
        start: |press, spec, program| press.native(S3Factory::new(spec.settings.get()).map_err(unusable)?, program),
        session: Some(|settings, timeout| Ok(Box::new(pileup_s3::plane::Plane::new(settings, timeout)?))),
    },
    Protocol {
        name: "xroot",
        start: |press, spec, program| press.native(XrootFactory::new(spec.settings.get()).map_err(unusable)?, program),
        session: Some(|settings, timeout| Ok(Box::new(pileup_xroot::plane::Plane::new(settings, timeout)?))),
    },
];

/// Start native workers with the client that `client` (JSON) names.
///
/// # Errors
/// What is wrong with client or program, in three parts.
pub fn start(press: &Arc<Press>, client: &str, program: &str) -> Result<(), PressError> {
    let unread = |what, expected| move |problem| PressError::Unread { what, problem, expected };
    let spec: Spec<'_> = serde_json::from_str(client)
        .map_err(unread("a client for the engine", "protocol and settings (see model.program.ClientSpec)"))?;
    let program: Program = serde_json::from_str(program)
        .map_err(unread("a program for the engine", "steps (see model.program.Program)"))?;
    match TABLE.iter().find(|protocol| protocol.name == spec.protocol) {
        Some(protocol) => (protocol.start)(press, &spec, program),
        None => Err(PressError::Client(format!(
            "the engine knows no protocol {:?}; expected {} (a target names it)",
            spec.protocol,
            one_of(TABLE.iter())
        ))),
    }
}

/// A session of a protocol with these settings (JSON); every call ends within `timeout`. Nothing is connected yet.
///
/// # Errors
/// What is wrong with protocol or settings, in three parts.
pub fn session(protocol: &str, settings: &str, timeout: Duration) -> Result<Box<dyn Control>, PressError> {
    let able = |each: &&Protocol| each.session.is_some();
    let found = TABLE.iter().filter(able).find(|each| each.name == protocol).and_then(|each| each.session);
    let Some(make) = found else {
        return Err(PressError::Client(format!(
            "the engine has no sessions of protocol {protocol:?}; expected {} (a target names it)",
            one_of(TABLE.iter().filter(able))
        )));
    };
    make(settings, timeout).map_err(unusable)
}

#[allow(clippy::needless_pass_by_value)] // for map_err
fn unusable(wrong: Unusable) -> PressError {
    PressError::Client(wrong.to_string())
}

/// Names for a message: "a, b or c".
fn one_of<'a>(protocols: impl Iterator<Item = &'a Protocol>) -> String {
    let names: Vec<&str> = protocols.map(|protocol| protocol.name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
