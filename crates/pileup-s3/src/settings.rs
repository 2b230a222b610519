//! Settings of a target over S3, and where its objects are.

use pileup_http1::Unusable;
use serde::Deserialize;

use crate::canonical::{encode, is_plain_in_path};
use crate::sums::Algorithm;

/// Least and most bytes of a part (Amazon S3 User Guide, "multipart upload limits"); the last part may be shorter.
const PART: std::ops::RangeInclusive<u64> = 5 << 20..=5 << 30;

/// Settings of a target, as `ClientSpec.settings` of the protocol `s3` writes them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// How the server is spoken to; its url is that of the endpoint.
    pub(crate) http: pileup_http1::Settings,
    pub(crate) bucket: String,
    /// What all keys begin with; empty: nothing.
    #[serde(default)]
    pub(crate) prefix: String,
    #[serde(default)]
    pub(crate) addressing: Addressing,
    pub(crate) region: String,
    /// Who we are; none: nobody, and nothing is signed.
    pub(crate) credentials: Option<Credentials>,
    #[serde(default)]
    pub(crate) payload: Payload,
    /// Objects above are written in parts of so many bytes; none: in one request.
    pub(crate) part_size: Option<u64>,
    /// Which checksum goes with each object; none: none.
    pub(crate) checksum: Option<Algorithm>,
}

/// Where the bucket is named.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Addressing {
    /// In the path.
    #[default]
    Path,
    /// In the name of the host.
    Virtual,
}

/// Whether the bodies of objects are signed.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Payload {
    #[default]
    Signed,
    Unsigned,
}

/// Who we are.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Credentials {
    pub(crate) access_key: String,
    pub(crate) secret_key: String,
    pub(crate) session_token: Option<String>,
}

impl Settings {
    /// Read and check them; the url is that of the bucket afterwards.
    ///
    /// # Errors
    /// What is wrong, in three parts. Secrets are never part of it.
    pub(crate) fn read(json: &str) -> Result<Self, Unusable> {
        let mut settings: Self = serde_json::from_str(json).map_err(|error| {
            let expected = "http, bucket, prefix, addressing, region, credentials, payload, part_size, checksum";
            Unusable::new(format!("settings of an s3 target: {error}"), expected, "correct the target")
        })?;
        let bucket = &settings.bucket;
        let legal = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        if bucket.is_empty() || !bucket.bytes().all(legal) {
            let expected = "letters, digits, dots, dashes and underscores";
            return Err(Unusable::new(format!("{bucket:?} is not the name of a bucket"), expected, "correct the url"));
        }
        if let Some(size) = settings.part_size.filter(|size| !PART.contains(size)) {
            return Err(Unusable::new(format!("part_size {size} B"), "5 MiB to 5 GiB", "correct the target"));
        }
        settings.http.url = match settings.addressing {
            Addressing::Path => format!("{}/{bucket}", settings.http.url.trim_end_matches('/')),
            Addressing::Virtual => match settings.http.url.split_once("://") {
                Some((scheme, rest)) => format!("{scheme}://{bucket}.{rest}"),
                None => settings.http.url,
            },
        };
        Ok(settings)
    }
}

/// Where the objects of a target are.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// Path of the bucket: with path addressing its name behind a slash, else empty.
    bucket: String,
    /// What all keys begin with: empty, or with a slash at its end.
    prefix: String,
}

impl Place {
    pub(crate) fn new(settings: &Settings) -> Self {
        let bucket = match settings.addressing {
            Addressing::Path => format!("/{}", settings.bucket),
            Addressing::Virtual => String::new(),
        };
        let prefix = settings.prefix.trim_matches('/');
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        Self { bucket, prefix }
    }

    /// The key of an object, whose name is relative to the target.
    pub(crate) fn key(&self, name: &str) -> String {
        format!("{}{}", self.prefix, name.trim_start_matches('/'))
    }

    /// What the keys of all that is in a folder begin with.
    pub(crate) fn folder(&self, name: &str) -> String {
        let name = name.trim_matches('/');
        if name.is_empty() { self.prefix.clone() } else { format!("{}{name}/", self.prefix) }
    }

    /// The path of a key, with a query unless that is empty.
    pub(crate) fn path(&self, key: &str, query: &str) -> String {
        let mut path = String::with_capacity(self.bucket.len() + key.len() + query.len() + 2);
        path.push_str(&self.bucket);
        path.push('/');
        encode(&mut path, key.as_bytes(), is_plain_in_path);
        if !query.is_empty() {
            path.push('?');
            path.push_str(query);
        }
        path
    }

    /// The path of the bucket with a query.
    pub(crate) fn bucket(&self, query: &str) -> String {
        let slash = if self.bucket.is_empty() { "/" } else { "" };
        format!("{}{slash}?{query}", self.bucket)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(more: &str) -> Result<Settings, Unusable> {
        Settings::read(&format!(
            r#"{{"http": {{"url": "https://s3.example:9000/"}}, "bucket": "b-1", "region": "us-east-1"{more}}}"#
        ))
    }

    #[test]
    fn a_bucket_is_in_the_path_or_in_the_host() {
        let one = settings(r#", "prefix": "/a/b/""#).unwrap();
        let place = Place::new(&one);
        assert_eq!(one.http.url, "https://s3.example:9000/b-1");
        assert_eq!(place.path(&place.key("/c d/+é"), "uploads="), "/b-1/a/b/c%20d/%2B%C3%A9?uploads=");
        assert_eq!((place.folder("/c/").as_str(), place.folder("").as_str()), ("a/b/c/", "a/b/"));
        assert_eq!(place.bucket("list-type=2"), "/b-1?list-type=2");
        let one = settings(r#", "addressing": "virtual""#).unwrap();
        let place = Place::new(&one);
        assert_eq!(one.http.url, "https://b-1.s3.example:9000/");
        assert_eq!((place.path(&place.key("c"), ""), place.bucket("uploads=")), ("/c".into(), "/?uploads=".into()));
        assert_eq!(place.folder(""), "");
    }

    #[test]
    fn what_cannot_be_is_named() {
        for (more, what) in [
            (r#", "bucket": "b""#, "duplicate"),
            (r#", "part_size": 1000"#, "part_size 1000"),
            (r#", "checksum": "md5""#, "md5"),
            (r#", "secret": "x""#, "secret"),
        ] {
            let told = settings(more).err().unwrap().to_string();
            assert!(told.contains(what), "{told}");
        }
        let told = Settings::read(r#"{"http": {"url": "http://h"}, "bucket": "a/b", "region": "r"}"#).err().unwrap();
        assert!(told.to_string().contains("is not the name of a bucket"));
    }
}
