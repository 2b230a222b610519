//! What clients ask of an issuer: forms (RFC 6749, appendix B), and who they say that they are (2.3.1).

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{HeaderMap, Request};
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::wire::Turn;

use super::no::No;

/// Largest form, bytes.
const LARGEST: usize = 64 << 10;

/// What is in a form, each name once.
pub(crate) type Form = HashMap<String, String>;

/// Take a form in.
pub(crate) async fn form(turn: &Turn, request: &mut Request<Incoming>) -> Result<Form, No> {
    let mut data = Vec::new();
    while let Some(frame) = request.body_mut().frame().await {
        let Ok(frame) = frame else { return Err(No::request("the body ended early")) };
        let Ok(piece) = frame.into_data() else { continue };
        turn.open.note(|line| line.bytes_in += piece.len() as u64);
        if data.len() + piece.len() > LARGEST {
            return Err(No::request("the body is longer than 64 KiB"));
        }
        data.extend_from_slice(&piece);
    }
    read(&data)
}

fn read(data: &[u8]) -> Result<Form, No> {
    let mut form = Form::new();
    for (name, value) in form_urlencoded::parse(data) {
        if form.insert(name.into_owned(), value.into_owned()).is_some() {
            return Err(No::request("a parameter is there twice")); // RFC 6749, 3.2
        }
    }
    Ok(form)
}

/// Name and secret of a client: of the Authorization header, else of the form, never of both.
pub(crate) fn client(headers: &HeaderMap, form: &Form) -> Result<(String, String), No> {
    let basic = headers.get(AUTHORIZATION);
    let in_form = form.get("client_id").zip(form.get("client_secret"));
    match (basic, in_form) {
        (Some(_), Some(_)) => Err(No::request("the client says twice who it is")),
        (Some(value), None) => {
            let named = value.to_str().ok().and_then(|text| text.strip_prefix("Basic ")).and_then(pair);
            named.ok_or_else(|| No::client("the Authorization header is not that of a client"))
        }
        (None, Some((name, secret))) => Ok((name.clone(), secret.clone())),
        (None, None) => Err(No::client("no client and secret")),
    }
}

fn pair(coded: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(coded.trim()).ok()?).ok()?;
    let (name, secret) = text.split_once(':')?;
    let plain = |text: &str| {
        let found = form_urlencoded::parse(text.as_bytes()).next();
        found.map_or_else(String::new, |(text, _)| text.into_owned())
    };
    Some((plain(name), plain(secret)))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn a_client_says_once_who_it_is() {
        let form = |text: &str| read(text.as_bytes()).unwrap();
        let basic = |text: &str| {
            let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(text))).unwrap();
            HeaderMap::from_iter([(AUTHORIZATION, value)])
        };
        let (none, both) = (HeaderMap::new(), form("client_id=a&client_secret=b%20c"));
        let named = |name: &str, secret: &str| (name.to_owned(), secret.to_owned());
        assert_eq!(client(&none, &both).unwrap(), named("a", "b c"));
        assert_eq!(client(&basic("a%3Ab:c+d"), &form("")).unwrap(), named("a:b", "c d"));
        assert_eq!(client(&basic("a:b"), &both).unwrap_err().error, "invalid_request");
        assert_eq!(client(&none, &form("client_id=a")).unwrap_err().error, "invalid_client");
        assert_eq!(client(&basic("a"), &form("")).unwrap_err().error, "invalid_client");
        assert_eq!(read(b"a=1&a=2").unwrap_err().error, "invalid_request");
    }
}
