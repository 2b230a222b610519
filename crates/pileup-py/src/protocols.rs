//! The table of protocols: the one place that knows them all.

use std::sync::Arc;

use pileup_engine::noop::NoopFactory;
use pileup_engine::press::Press;
use pileup_engine::program::Program;
use pileup_engine::refusal::PressError;
use pileup_net::Unusable;
use pileup_posix::PosixFactory;
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
}

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
    let settings = spec.settings.get();
    let unusable = |wrong: Unusable| PressError::Client(wrong.to_string());
    match spec.protocol.as_str() {
        "noop" => press.native(NoopFactory, program),
        "posix" => press.native(PosixFactory::new(settings)?, program),
        "http" => press.native(WebdavFactory::new(settings).map_err(unusable)?, program),
        "xroot" => press.native(XrootFactory::new(settings).map_err(unusable)?, program),
        other => Err(PressError::Client(format!(
            "the engine knows no protocol {other:?}; expected noop, posix, http or xroot (a target names it)"
        ))),
    }
}
