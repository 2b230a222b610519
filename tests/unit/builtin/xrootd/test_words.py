"""What the official clients of XRootD say, and what it means for a load."""

import pytest

from pileup.builtin.xrootd.words import IsFolder, failure, server_failure
from pileup.builtin.xrootd.xrdcp import understood
from pileup.plugin import Ambiguous, Failed, NotThere, Refused, ThereAlready

SAID = "[ERROR] Server responded with an error: [{}] Unable to open /data/f7; {}\n"


@pytest.mark.parametrize(
    ("number", "cause", "kind", "words"),
    [
        (3011, "no such file or directory", NotThere, "xroot 3011 NotFound: no such file or directory"),
        (3018, "file exists", ThereAlready, "xroot 3018 ItExists: file exists"),
        (3016, "is a directory", IsFolder, "xroot 3016 isDirectory: is a directory"),
        (3010, "permission denied", Refused, "xroot 3010 NotAuthorized: permission denied"),
        (3007, "read of /data/f7", Failed, "xroot 3007 IOError"),
        (3007, "authz=secret", Failed, "xroot 3007 IOError"),
        (3007, "x" * 81, Failed, "xroot 3007 IOError"),
        (3024, "", Refused, "xroot 3024 Overloaded"),
        (4711, "?", Failed, "xroot 4711 an unknown error"),
    ],
)
def test_errors_of_the_server(number: int, cause: str, kind: type[Exception], words: str) -> None:
    text = SAID.format(number, cause)
    for problem in (
        failure(400, number, text),
        server_failure(number, text),
        understood(text.replace("\n", " (source)\n")),
    ):
        assert (type(problem), str(problem)) == (kind, words)


@pytest.mark.parametrize("number", [3003, 3009, 3010, 3021, 3024, 3025, 3028, 3030])
def test_a_no_is_a_refusal(number: int) -> None:
    assert type(server_failure(number, "")) is Refused


@pytest.mark.parametrize(
    ("code", "said", "kind", "words"),
    [
        (206, "[ERROR] Operation expired", TimeoutError, ""),
        (107, "[ERROR] Stream disconnect", Ambiguous, "connection closed before the answer"),
        (108, "[FATAL] Connection error: connection refused", Failed, "no connection"),
        (204, "[FATAL] Auth failed: No protocols left to try", Refused, "xroot 3030 AuthFailed"),
        (306, "[FATAL] Redirect limit has been reached", Failed, "redirected too often"),
        (303, "[ERROR] Invalid response", Failed, "the answer is not xroot: an answer that does not belong there"),
    ],
)
def test_errors_of_the_client_itself(code: int, said: str, kind: type[Exception], words: str) -> None:
    for problem in (failure(code, 0, said), understood(f"Run: {said} (source)\n")):
        assert (type(problem), str(problem)) == (kind, words)


def test_words_that_mean_nothing() -> None:
    assert understood("[FATAL] Something new") is None
    assert str(failure(77, 0, "")) == "error 77 of the client"
