//! The settings of a relay: JSON, checked before anything starts.

use serde::Deserialize;

use crate::error::Error;
use crate::path::Path;

/// Settings, as `model/path.py` writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// Address to listen on.
    #[serde(default = "loopback")]
    pub(crate) host: String,
    /// Port to listen on; 0: a free one.
    #[serde(default)]
    pub(crate) port: u16,
    /// Name or address of the target, and its port.
    pub(crate) to: (String, u16),
    /// Seed of everything random.
    #[serde(default)]
    pub(crate) seed: u64,
    /// What lies between.
    #[serde(default)]
    pub(crate) path: Path,
    /// Whether messages are written down.
    #[serde(default)]
    pub(crate) trace: bool,
}

fn loopback() -> String {
    "127.0.0.1".to_owned()
}

impl Settings {
    /// Read and check them.
    pub(crate) fn read(json: &str) -> Result<Self, Error> {
        let settings: Self = serde_json::from_str(json).map_err(|error| {
            let expected = "host, port, to, seed, path, trace (correct them)";
            Error::Settings(format!("settings of a relay: {error}; expected {expected}"))
        })?;
        settings.path.check()?;
        if settings.to.0.is_empty() || settings.to.1 == 0 {
            let told = "settings of a relay: no target; expected a host and a port from 1 to 65535 (correct `to`)";
            return Err(Error::Settings(told.to_owned()));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_ones_are_named_with_what_was_expected() {
        for (json, what) in [
            ("{}", "to"),
            (r#"{"to": ["", 80]}"#, "no target"),
            (r#"{"to": ["localhost", 0]}"#, "no target"),
            (r#"{"to": ["localhost", 70000]}"#, "70000"),
            (r#"{"to": ["localhost", 80], "path": {"bandwidth": 3}}"#, "bandwidth 3"),
            (r#"{"to": ["localhost", 80], "form": 1}"#, "form"),
        ] {
            let Err(Error::Settings(text)) = Settings::read(json) else { panic!("{json} passed") };
            assert!(text.contains(what) && text.contains("; expected ") && text.ends_with(')'), "{json}: {text}");
        }
    }
}
