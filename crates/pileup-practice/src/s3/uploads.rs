//! Uploads in parts: begun, sent, ended.

use bytes::Bytes;
use roxmltree::Document;

use super::no::{No, document, element};
use super::store::{Object, Part, Store, Upload};
use super::{sums, time};
use crate::answer::Answer;

/// Least bytes of a part but the last.
const LEAST: usize = 5 << 20;

/// Begin an upload; `sum`: the checksum that its parts have.
pub(crate) fn begin(store: &mut Store, bucket: &str, key: &str, sum: Option<&str>) -> Result<Answer, No> {
    store.bucket(bucket)?;
    let id = format!("upload-{:06}", store.next());
    let sum = sum.map(|name| sums::known(name).ok_or_else(|| No::new(400, "InvalidRequest"))).transpose()?;
    let upload =
        Upload { bucket: bucket.to_owned(), key: key.to_owned(), sum, parts: std::collections::BTreeMap::new() };
    store.uploads.insert(id.clone(), upload);
    let mut inner = String::new();
    element(&mut inner, "Bucket", bucket);
    element(&mut inner, "Key", key);
    element(&mut inner, "UploadId", &id);
    Ok(document("InitiateMultipartUploadResult", &inner))
}

/// Make an object of the parts that are named. `new`: only where there is none.
pub(crate) fn complete(
    store: &mut Store,
    place: (&str, &str, &str),
    body: &[u8],
    new: bool,
    ahead: i64,
) -> Result<Answer, No> {
    let (bucket, key, id) = place;
    let named = named(body).ok_or_else(|| No::new(400, "MalformedXML"))?;
    let upload = store.upload(bucket, key, id)?;
    if named.windows(2).any(|two| two[0].0 >= two[1].0) {
        return Err(No::new(400, "InvalidPartOrder"));
    }
    let mut parts: Vec<Part> = Vec::new();
    for (number, tag, sum) in &named {
        let part =
            upload.parts.get(number).filter(|part| part.tag == *tag).ok_or_else(|| No::new(400, "InvalidPart"))?;
        if part.sum.as_ref().zip(sum.as_ref()).is_some_and(|(known, named)| known.1 != *named) {
            return Err(No::new(400, "InvalidPart"));
        }
        parts.push(part.clone());
    }
    if parts.iter().rev().skip(1).any(|part| part.data.len() < LEAST) {
        return Err(No::new(400, "EntityTooSmall"));
    }
    let object = made(&parts, upload.sum, id, ahead);
    let tag = object.tag.clone();
    // what the parts hold is what the object will hold
    if new && store.bucket(bucket)?.contains_key(key) {
        return Err(No::new(412, "PreconditionFailed"));
    }
    store.forget(id);
    store.put(bucket, key, object, new)?;
    let mut inner = String::new();
    element(&mut inner, "Bucket", bucket);
    element(&mut inner, "Key", key);
    element(&mut inner, "ETag", &tag);
    Ok(document("CompleteMultipartUploadResult", &inner))
}

fn made(parts: &[Part], sum: Option<&'static str>, id: &str, ahead: i64) -> Object {
    let data: Vec<u8> = parts.iter().flat_map(|part| part.data.iter().copied()).collect();
    let sums: Vec<String> = parts.iter().filter_map(|part| Some(part.sum.as_ref()?.1.clone())).collect();
    let sum = sum.filter(|_| sums.len() == parts.len()).map(|name| (name, sums::of_parts(name, &sums)));
    let tag = format!("\"{id}-{}\"", parts.len());
    Object { data: Bytes::from(data), modified: time::now(ahead), tag, sum }
}

/// Number, tag and checksum of each part that is named, in order.
fn named(body: &[u8]) -> Option<Vec<(u32, String, Option<String>)>> {
    let text = std::str::from_utf8(body).ok()?;
    let document = Document::parse(text).ok()?;
    let root = document.root_element();
    if root.tag_name().name() != "CompleteMultipartUpload" {
        return None;
    }
    let mut found = Vec::new();
    for part in root.children().filter(|node| node.tag_name().name() == "Part") {
        let text = |begin: &str| {
            part.children().find(|node| node.tag_name().name().starts_with(begin)).and_then(|node| node.text())
        };
        let number = text("PartNumber")?.parse().ok()?;
        found.push((number, text("ETag")?.to_owned(), text("Checksum").map(str::to_owned)));
    }
    if found.is_empty() { None } else { Some(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named() {
        let text = "<CompleteMultipartUpload xmlns=\"a\"><Part><ETag>\"t\"</ETag><PartNumber>1</PartNumber>\
            <ChecksumCRC32C>x</ChecksumCRC32C></Part><Part><PartNumber>2</PartNumber><ETag>u</ETag></Part></CompleteMultipartUpload>";
        let part = |number, tag: &str, sum: Option<&str>| (number, tag.to_owned(), sum.map(str::to_owned));
        assert_eq!(named(text.as_bytes()), Some(vec![part(1, "\"t\"", Some("x")), part(2, "u", None)]));
        for text in ["", "<CompleteMultipartUpload/>", "<a><Part/></a>", "<CompleteMultipartUpload><Part/>"] {
            assert_eq!(named(text.as_bytes()), None, "{text}");
        }
    }
}
