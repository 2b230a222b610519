//! Conditions of a request (RFC 9110, 13): do it only when this, or nothing, is there.

use http::header::{IF_MATCH, IF_NONE_MATCH};
use http::{HeaderMap, Method};

use crate::answer::{Answer, plain, says};
use crate::store::Node;

/// What is answered instead when a condition does not hold for what is there.
pub(crate) fn unmet(method: &Method, headers: &HeaderMap, there: Option<&Node>) -> Option<Answer> {
    let tag = match there {
        Some(Node::Object(object)) => Some(object.tag()),
        _ => None,
    };
    let names = |value: &str| {
        value.split(',').map(str::trim).any(|one| {
            (one == "*" && there.is_some()) || tag.as_deref().is_some_and(|tag| one.trim_start_matches("W/") == tag)
        })
    };
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if text(IF_MATCH).is_some_and(|value| !names(value)) {
        return Some(says(412, "what is there is another than the one stated"));
    }
    if !text(IF_NONE_MATCH).is_some_and(names) {
        return None;
    }
    if matches!(*method, Method::GET | Method::HEAD) {
        return Some(plain(http::StatusCode::NOT_MODIFIED));
    }
    Some(says(412, "something is there already"))
}
