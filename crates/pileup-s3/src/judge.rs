//! When an answer passes, and what is known when it does not.

use http::StatusCode;
use pileup_engine::client::{Act, Failure, NOT_OURS};
use pileup_engine::control::{Found, Problem};
use pileup_http1::Answer;

use crate::document::{Collect, Document, Instead};
use crate::error;

/// Largest document.
const LARGEST: u64 = 64 << 20;

/// Take in an answer whose body does not matter. `new`: nothing was to be there before.
pub(crate) async fn plain(answer: &mut Answer, new: bool, act: &mut Act) -> Result<(), Problem> {
    if answer.status().is_success() {
        answer.drain(None).await?;
        return Ok(());
    }
    Err(refused(answer, new, act).await)
}

/// Why an answer does not pass. `new`: nothing was to be there before.
pub(crate) async fn refused(answer: &mut Answer, new: bool, act: &mut Act) -> Problem {
    let status = answer.status();
    let (failure, said) = error::refusal(answer, act).await;
    match status {
        StatusCode::PRECONDITION_FAILED if new => {
            Problem { failure: Failure::failed(NOT_OURS), found: Found::Something }
        }
        // without a code it is the answer to HEAD
        StatusCode::NOT_FOUND if matches!(said.code.as_str(), "" | "NoSuchKey" | "NotFound") => {
            Problem { failure, found: Found::Nothing }
        }
        _ => failure.into(),
    }
}

/// Take in an answer in XML; `what` it is.
pub(crate) async fn document<C: Collect>(
    answer: &mut Answer,
    what: &str,
    collect: C,
    act: &mut Act,
) -> Result<Result<C, Instead>, Problem> {
    if !answer.status().is_success() {
        return Err(refused(answer, false, act).await);
    }
    let mut document = Document::new(collect);
    let mut got = 0;
    while let Some(piece) = answer.piece().await? {
        got += piece.len() as u64;
        act.came(got);
        if got > LARGEST {
            return Err(Failure::failed(format!("{what} is larger than 64 MiB")).into());
        }
        if let Err(why) = document.feed(piece) {
            return Ok(Err(Instead::Wrong(why)));
        }
    }
    Ok(document.finish())
}
