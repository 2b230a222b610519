//! What clients ask: bodies of the Tape REST API, in JSON.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use crate::api::{check, json};
use crate::problem::Problem;

use super::bulk::Wanted;
use super::stager::FOR_EVER;

/// Units of a duration (ISO 8601) before and after the `T`, in seconds. Years and months have no fixed length.
const DAYS: [(char, f64); 2] = [('W', 604_800.0), ('D', 86_400.0)];
const HOURS: [(char, f64); 3] = [('H', 3600.0), ('M', 60.0), ('S', 1.0)];

#[derive(Deserialize)]
struct Stage {
    files: Vec<File>,
}

/// Metadata for other sites, and words that the standard has not, must not be refused.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    path: String,
    disk_lifetime: Option<String>,
    /// Name of a site -> what that site is to know of the file.
    #[serde(default)]
    targeted_metadata: HashMap<String, Value>,
}

/// What must be known of the library to understand a request.
pub(crate) struct Site<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Most files of a request.
    pub(crate) most: usize,
    /// Worker nodes that there are.
    pub(crate) nodes: usize,
}

/// A file that is to be read now.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reading {
    pub(crate) path: String,
    /// Whether the answer has the content of the file.
    #[serde(default)]
    pub(crate) content: bool,
    /// The worker node that reads it.
    #[serde(default)]
    pub(crate) node: u32,
}

/// Files to be staged.
pub(crate) fn stage(body: &[u8], site: &Site<'_>) -> Result<Vec<Wanted>, Problem> {
    let Stage { files } = json(body, "{\"files\": [{\"path\", \"diskLifetime\", \"targetedMetadata\"}, ...]}")?;
    check(files.iter().map(|file| file.path.as_str()), "files", site.most)?;
    let wanted = files.into_iter().map(|File { path, disk_lifetime, mut targeted_metadata }| {
        let lasts = disk_lifetime.map_or(Ok(FOR_EVER), |text| {
            duration(&text).ok_or_else(|| {
                Problem::body(format!("diskLifetime {text:?}; expected a duration of ISO 8601 like PT1H or P1DT12H"))
            })
        })?;
        let told = targeted_metadata.remove(site.name).and_then(|told| told.get("node").cloned());
        let node = told.map_or(Ok(0), |told| node(&told, site.nodes))?;
        Ok(Wanted { path, lasts, node })
    });
    wanted.collect()
}

/// The worker node that is meant.
fn node(told: &Value, nodes: usize) -> Result<u32, Problem> {
    let number = told.as_u64().and_then(|number| u32::try_from(number).ok());
    number.filter(|number| (*number as usize) < nodes).ok_or_else(|| no_node(told, nodes))
}

fn no_node(told: impl std::fmt::Display, nodes: usize) -> Problem {
    Problem::body(format!("node {told}; expected a number from 0 to {}", nodes - 1))
}

/// A file to be read now: of a body, or of a query `path=PATH&content=true`.
pub(crate) fn reading(body: &[u8], query: Option<&str>, nodes: usize) -> Result<Reading, Problem> {
    let wanted = query.map_or_else(|| json(body, "{\"path\", \"content\": true or false, \"node\"}"), asked)?;
    if wanted.node as usize >= nodes {
        return Err(no_node(wanted.node, nodes));
    }
    Ok(wanted)
}

fn asked(query: &str) -> Result<Reading, Problem> {
    let mut wanted = Reading { path: String::new(), content: false, node: 0 };
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match (&*name, &*value) {
            ("path", value) => value.clone_into(&mut wanted.path),
            ("content", value @ ("true" | "false")) => wanted.content = value == "true",
            ("node", value) if value.parse::<u32>().is_ok() => wanted.node = value.parse().unwrap_or(0),
            (name, value) => {
                let expected = "path=PATH, content=true or false, node=NUMBER";
                return Err(Problem::body(format!("{name}={value}; expected {expected}")));
            }
        }
    }
    Ok(wanted)
}

/// A duration of ISO 8601, ns.
fn duration(text: &str) -> Option<i64> {
    let rest = text.strip_prefix('P')?;
    let (days, hours) = match rest.split_once('T') {
        Some((_, "")) => return None,
        Some(parts) => parts,
        None if rest.is_empty() => return None,
        None => (rest, ""),
    };
    Some(((seconds(days, &DAYS)? + seconds(hours, &HOURS)?) * 1e9) as i64)
}

fn seconds(mut text: &str, units: &[(char, f64)]) -> Option<f64> {
    let mut total = 0.0;
    for (unit, length) in units {
        if let Some((number, rest)) = text.split_once(*unit) {
            if !number.bytes().all(|each| each.is_ascii_digit() || each == b'.') {
                return None;
            }
            total += number.parse::<f64>().ok()? * length;
            text = rest;
        }
    }
    text.is_empty().then_some(total)
}

#[cfg(test)]
mod tests {
    use crate::api::paths;

    use super::*;

    #[test]
    fn durations_are_those_of_iso_8601() {
        for (text, seconds) in [
            ("PT1H", Some(3600)),
            ("PT1M30S", Some(90)),
            ("P1DT12H", Some(129_600)),
            ("P2W", Some(1_209_600)),
            ("PT0.5S", Some(0)),
            ("PT0S", Some(0)),
            ("P", None),
            ("PT", None),
            ("P1DT", None),
            ("1H", None),
            ("PT1S1H", None),
            ("PT-1H", None),
            ("PTH", None),
            ("P1M", None),
            ("PT1e3S", None),
        ] {
            assert_eq!(duration(text).map(|time| time / 1_000_000_000), seconds, "{text}");
        }
    }

    #[test]
    fn stage_requests_are_read_as_the_standard_writes_them() {
        let body = br#"{"files": [{"path": "/a", "targetedMetadata": {"x@y": {"activity": "z"}}, "priority": 3},
            {"path": "/b", "diskLifetime": "PT1H"}], "other": 1}"#;
        let site = |most| Site { name: "here", most, nodes: 4 };
        let wanted = stage(body, &site(2)).unwrap();
        assert_eq!(
            wanted.iter().map(|each| (each.path.as_str(), each.lasts, each.node)).collect::<Vec<_>>(),
            [("/a", FOR_EVER, 0), ("/b", 3_600_000_000_000, 0)]
        );
        for (told, node) in [("3", Some(3)), ("4", None), ("\"x\"", None)] {
            let body =
                format!(r#"{{"files": [{{"path": "/a", "targetedMetadata": {{"here": {{"node": {told}}}}}}}]}}"#);
            assert_eq!(stage(body.as_bytes(), &site(2)).ok().map(|all| all[0].node), node, "{told}");
        }
        for (wrong, status) in [
            (&body[..], 413),
            (br#"{"files": []}"#, 400),
            (b"{}", 400),
            (b"", 400),
            (br#"{"files": [{"path": ""}]}"#, 400),
            (br#"{"files": [{"path": 5}]}"#, 400),
            (br#"{"files": [{"path": "/a", "diskLifetime": "1 h"}]}"#, 400),
        ] {
            let problem = stage(wrong, &site(1)).err().unwrap();
            assert_eq!(problem.status, status, "{problem:?}");
        }
        assert_eq!(paths(br#"{"paths": []}"#, 1).unwrap_err().title, "JSON Validation error");
    }

    #[test]
    fn a_file_is_named_in_a_body_or_a_query() {
        let told =
            |asked: Result<Reading, Problem>| asked.map(|asked| (asked.path, asked.content)).map_err(|no| no.status);
        let reading = |body: &[u8], query| reading(body, query, 4);
        assert_eq!(told(reading(br#"{"path": "/a"}"#, None)), Ok(("/a".to_owned(), false)));
        assert_eq!(told(reading(b"", Some("path=%2Fa+b&content=true"))), Ok(("/a b".to_owned(), true)));
        assert_eq!(reading(b"", Some("path=/a&node=3")).unwrap().node, 3);
        for wrong in ["size=3", "path=/a&content=1", "path=/a&node=4", "path=/a&node=-1"] {
            assert_eq!(told(reading(b"", Some(wrong))), Err(400), "{wrong}");
        }
        assert_eq!(told(reading(b"[]", None)), Err(400));
    }
}
