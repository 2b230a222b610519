//! Uploads in parts (Amazon S3 User Guide, "Uploading and copying objects using multipart upload").

use std::fmt::Write;

use bytes::Bytes;
use http::header::{ETAG, IF_NONE_MATCH};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use pileup_engine::client::{Act, Call, Failure};
use pileup_engine::content::Object;
use pileup_engine::control::Problem;
use pileup_http1::{Answer, Body};

use crate::bucket::S3Client;
use crate::document::{Begun, Completed, Instead};
use crate::plan::{Ask, query, value};
use crate::sums::{Algorithm, written};
use crate::uploads::{Upload, Uploads};
use crate::{error, judge};

/// Most parts of an upload.
const PARTS: u64 = 10_000;
/// Most pages of uploads that are ended.
const PAGES: u32 = 10_000;
const ALGORITHM: HeaderName = HeaderName::from_static("x-amz-checksum-algorithm");

/// A part that the server has.
struct Part {
    tag: String,
    sum: Option<String>,
}

/// Write an object in parts of so many bytes. An upload that fails is ended, so that nothing is left of it; the failure stays what it was.
pub(crate) async fn write(
    client: &mut S3Client,
    call: &Call<'_>,
    object: Object,
    size: u64,
    act: &mut Act,
) -> Result<(), Problem> {
    if object.size.div_ceil(size) > PARTS {
        let parts = object.size.div_ceil(size);
        return Err(Failure::failed(format!("{parts} parts; expected at most {PARTS}: a larger part_size")).into());
    }
    let upload = Upload { id: begin(client, call, act).await?, key: client.bucket.place.key(call.key) };
    let written = all(client, call, (object, size), &upload, act).await;
    if written.is_err() {
        let mut aside = Act::default();
        // it is gone, or stays for the clean-up of the run
        let _ = end(client, &upload, call.id, &mut aside).await;
        act.calls += aside.calls;
    }
    written
}

async fn begin(client: &mut S3Client, call: &Call<'_>, act: &mut Act) -> Result<String, Problem> {
    let mut ask = Ask::new(Method::POST, client.path(call.key, "uploads="), call.id).with(Body::Empty);
    if let Some(algorithm) = client.bucket.checksum {
        ask = ask.and(ALGORITHM, HeaderValue::from_static(algorithm.word()));
    }
    let what = "the begin of an upload";
    let begun = client.document(&ask, what, Begun::default(), act).await?;
    if begun.id.is_empty() { Err(error::not_xml(what, "it has no UploadId").into()) } else { Ok(begun.id) }
}

async fn all(
    client: &mut S3Client,
    call: &Call<'_>,
    (object, size): (Object, u64),
    upload: &Upload,
    act: &mut Act,
) -> Result<(), Problem> {
    let mut parts = Vec::new();
    let mut at = 0;
    while at < object.size {
        let last = object.size.min(at + size);
        parts.push(
            send(client, call, Body::Known { object, begin: at, end: last }, (upload, parts.len() + 1), act).await?,
        );
        at = last;
    }
    complete(client, call, upload, &parts, act).await
}

/// Send the n-th part, from 1.
async fn send(
    client: &mut S3Client,
    call: &Call<'_>,
    body: Body,
    (upload, number): (&Upload, usize),
    act: &mut Act,
) -> Result<Part, Problem> {
    let number = number.to_string();
    let path = client.path(call.key, &query(&[("partNumber", &number), ("uploadId", &upload.id)]));
    let mut ask = Ask::new(Method::PUT, path, call.id);
    let mut sum = None;
    if let (Some(algorithm), Body::Known { object, begin, end }) = (client.bucket.checksum, &body) {
        let text = written(&algorithm.of_content(object, *begin, *end));
        ask = ask.and(algorithm.header(), value(&text)?);
        sum = Some(text);
    }
    let judged = async |answer: &mut Answer, act: &mut Act| {
        judge::plain(answer, false, act).await?;
        let tag = answer.headers().get(ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        tag.ok_or_else(|| Failure::failed("the answer to a part has no ETag").into())
    };
    let tag = client.ask(&ask.with(body), act, judged).await?;
    Ok(Part { tag, sum })
}

/// End an upload so that the object is there. What cannot be understood leaves open whether it is.
async fn complete(
    client: &mut S3Client,
    call: &Call<'_>,
    upload: &Upload,
    parts: &[Part],
    act: &mut Act,
) -> Result<(), Problem> {
    let new = call.step.new;
    let body = Bytes::from(document(parts, client.bucket.checksum));
    let path = client.path(call.key, &query(&[("uploadId", &upload.id)]));
    let mut ask = Ask::new(Method::POST, path, call.id).with(Body::Fixed(body));
    if new {
        ask = ask.and(IF_NONE_MATCH, HeaderValue::from_static("*"));
    }
    let what = "the end of an upload";
    client
        .ask(&ask, act, async |answer, act| {
            let status = answer.status();
            if status == StatusCode::PRECONDITION_FAILED {
                return Err(judge::refused(answer, new, act).await);
            }
            match judge::document(answer, what, Completed::default(), act).await? {
                Ok(Completed { tagged: true }) => Ok(()),
                Ok(_) => Err(unclear("it has no ETag")),
                Err(Instead::Said(said)) => Err(error::said(status, &said).into()),
                Err(Instead::Wrong(why)) => Err(unclear(why)),
            }
        })
        .await
}

fn unclear(why: &str) -> Problem {
    Failure::ambiguous(format!("the answer is not the end of an upload of S3: {why}")).into()
}

/// What names the parts.
fn document(parts: &[Part], algorithm: Option<Algorithm>) -> String {
    let mut text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">".to_owned();
    for (number, part) in (1..).zip(parts) {
        let tag = part.tag.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        let _ = write!(text, "<Part><ETag>{tag}</ETag><PartNumber>{number}</PartNumber>");
        if let (Some(algorithm), Some(sum)) = (algorithm, &part.sum) {
            let name = algorithm.word();
            let _ = write!(text, "<Checksum{name}>{sum}</Checksum{name}>");
        }
        text.push_str("</Part>");
    }
    text.push_str("</CompleteMultipartUpload>");
    text
}

/// End an upload so that nothing is left of it.
async fn end(client: &mut S3Client, upload: &Upload, id: u64, act: &mut Act) -> Result<(), Problem> {
    let path = client.bucket.place.path(&upload.key, &query(&[("uploadId", &upload.id)]));
    let ask = Ask::new(Method::DELETE, path, id);
    client
        .ask(&ask, act, async |answer, act| {
            if answer.status() == StatusCode::NOT_FOUND {
                answer.drain(None).await?; // it has ended
                return Ok(());
            }
            judge::plain(answer, false, act).await
        })
        .await
}

/// End all uploads below a folder that were begun and not ended; returns how many.
pub(crate) async fn end_all(client: &mut S3Client, folder: &str, act: &mut Act) -> Result<u64, Problem> {
    let prefix = client.bucket.place.folder(folder);
    let mut ended = 0;
    for _ in 0..PAGES {
        let path = client.bucket.place.bucket(&query(&[("prefix", &prefix), ("uploads", "")]));
        let ask = Ask::new(Method::GET, path, 0);
        let found = client.document(&ask, "a list of uploads", Uploads::default(), act).await?.found;
        let ours: Vec<&Upload> = found.iter().filter(|upload| upload.key.starts_with(&prefix)).collect();
        if ours.is_empty() {
            return Ok(ended);
        }
        for upload in ours {
            end(client, upload, 0, act).await?;
            ended += 1;
        }
    }
    Err(Failure::failed(format!("{ended} uploads were ended, and there are more")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_named_in_their_order() {
        let part = |tag: &str, sum: Option<&str>| Part { tag: tag.to_owned(), sum: sum.map(str::to_owned) };
        let text = document(&[part("\"a\"", Some("4waSgw==")), part("<&>", Some("x"))], Some(Algorithm::Crc32c));
        assert_eq!(
            text,
            "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\
             <Part><ETag>\"a\"</ETag><PartNumber>1</PartNumber><ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part>\
             <Part><ETag>&lt;&amp;&gt;</ETag><PartNumber>2</PartNumber><ChecksumCRC32C>x</ChecksumCRC32C></Part>\
             </CompleteMultipartUpload>"
        );
    }
}
