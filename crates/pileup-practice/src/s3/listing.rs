//! Pages of objects (ListObjectsV2), and of uploads.

use std::collections::BTreeMap;
use std::ops::Bound;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::no::{No, document, element};
use super::store::{Bucket, Store};
use super::time;
use crate::answer::Answer;

/// Most uploads of a page.
const UPLOADS: usize = 1000;

/// A query, its names and values resolved.
pub(crate) type Query = BTreeMap<String, String>;

/// What is asked for.
struct Wanted<'a> {
    prefix: &'a str,
    delimiter: &'a str,
    /// The last entry of the page before.
    behind: Option<String>,
    most: usize,
}

/// List the objects of a bucket, at most so many entries in a page.
pub(crate) fn objects(bucket: &Bucket, query: &Query, page: usize) -> Result<Answer, No> {
    let text = |name: &str| query.get(name).map_or("", String::as_str);
    let most = match text("max-keys") {
        "" => page,
        number => number.parse::<usize>().map_err(|_| No::new(400, "InvalidArgument"))?.min(page),
    };
    let token = query.get("continuation-token");
    let behind = token.map(|token| entry_of(token).ok_or_else(|| No::new(400, "InvalidArgument"))).transpose()?;
    let wanted = Wanted { prefix: text("prefix"), delimiter: text("delimiter"), behind, most };
    let (entries, next) = list(bucket, &wanted);
    let mut inner = String::new();
    element(&mut inner, "Prefix", wanted.prefix);
    element(&mut inner, "KeyCount", &entries.len().to_string());
    element(&mut inner, "MaxKeys", &most.to_string());
    element(&mut inner, "IsTruncated", if next.is_some() { "true" } else { "false" });
    if let Some(next) = next {
        element(&mut inner, "NextContinuationToken", &URL_SAFE_NO_PAD.encode(next));
    }
    for entry in &entries {
        match bucket.get(entry) {
            Some(object) if !is_common(entry, &wanted) => {
                inner.push_str("<Contents>");
                element(&mut inner, "Key", entry);
                element(&mut inner, "LastModified", &time::written(object.modified));
                element(&mut inner, "ETag", &object.tag);
                element(&mut inner, "Size", &object.data.len().to_string());
                inner.push_str("<StorageClass>STANDARD</StorageClass></Contents>");
            }
            _ => {
                inner.push_str("<CommonPrefixes>");
                element(&mut inner, "Prefix", entry);
                inner.push_str("</CommonPrefixes>");
            }
        }
    }
    Ok(document("ListBucketResult", &inner))
}

fn entry_of(token: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(token).ok()?).ok()
}

/// Whether an entry is what several keys begin with.
fn is_common(entry: &str, wanted: &Wanted<'_>) -> bool {
    !wanted.delimiter.is_empty() && entry.len() > wanted.prefix.len() && entry.ends_with(wanted.delimiter)
}

/// Entries of a page in order, and the last of them where there are more.
fn list(bucket: &Bucket, wanted: &Wanted<'_>) -> (Vec<String>, Option<String>) {
    let mut entries: Vec<String> = Vec::new();
    let mut from = Bound::Included(wanted.prefix.to_owned());
    if let Some(behind) = &wanted.behind {
        from = if is_common(behind, wanted) { past(behind) } else { Bound::Excluded(behind.clone()) };
    }
    while let Some((key, _)) = bucket.range::<String, _>((from, Bound::Unbounded)).next() {
        if !key.starts_with(wanted.prefix) {
            return (entries, None);
        }
        if entries.len() == wanted.most {
            let last = entries.last().cloned();
            return (entries, last);
        }
        let rest = &key[wanted.prefix.len()..];
        let common = if wanted.delimiter.is_empty() { None } else { rest.find(wanted.delimiter) };
        match common {
            Some(at) => {
                let entry = key[..wanted.prefix.len() + at + wanted.delimiter.len()].to_owned();
                from = past(&entry);
                entries.push(entry);
            }
            None => {
                from = Bound::Excluded(key.clone());
                entries.push(key.clone());
            }
        }
    }
    (entries, None)
}

/// The first key that does not begin with this: all that do are smaller than it with the last of all characters behind.
fn past(prefix: &str) -> Bound<String> {
    Bound::Excluded(format!("{prefix}{}", char::MAX))
}

/// List the uploads of a bucket that have not ended.
pub(crate) fn uploads(store: &Store, bucket: &str, query: &Query) -> Answer {
    let prefix = query.get("prefix").map_or("", String::as_str);
    let found = store.uploads.iter().filter(|(_, upload)| upload.bucket == bucket && upload.key.starts_with(prefix));
    let mut inner = String::new();
    element(&mut inner, "Bucket", bucket);
    let all: Vec<_> = found.take(UPLOADS + 1).collect();
    element(&mut inner, "IsTruncated", if all.len() > UPLOADS { "true" } else { "false" });
    for (id, upload) in all.iter().take(UPLOADS) {
        inner.push_str("<Upload>");
        element(&mut inner, "Key", &upload.key);
        element(&mut inner, "UploadId", id);
        inner.push_str("</Upload>");
    }
    document("ListMultipartUploadsResult", &inner)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use bytes::Bytes;

    use super::*;
    use crate::s3::store::Object;

    fn bucket(keys: &[&str]) -> Bucket {
        let object = Object { data: Bytes::new(), modified: SystemTime::now(), tag: String::new(), sum: None };
        keys.iter().map(|key| ((*key).to_owned(), object.clone())).collect()
    }

    #[test]
    fn pages_have_each_entry_once() {
        let bucket = bucket(&["a/1", "a/2", "a/b/1", "a/b/2", "a/c/1", "a/d", "a0", "b"]);
        for most in 1..=6 {
            let (mut all, mut behind) = (Vec::new(), None);
            loop {
                let wanted = Wanted { prefix: "a/", delimiter: "/", behind, most };
                let (entries, next) = list(&bucket, &wanted);
                assert!(entries.len() <= most);
                all.extend(entries);
                if next.is_none() {
                    break;
                }
                behind = next;
            }
            assert_eq!(all, ["a/1", "a/2", "a/b/", "a/c/", "a/d"], "pages of {most}");
        }
        let wanted = Wanted { prefix: "", delimiter: "", behind: None, most: 100 };
        assert_eq!(list(&bucket, &wanted).0.len(), 8);
    }
}
