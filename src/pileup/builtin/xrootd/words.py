"""What XRootD's answers mean for a load: failed, refused or ambiguous, in the words of the engine's own client."""

from __future__ import annotations

import re

from pileup.builtin.credentials.token_end import is_over
from pileup.plugin import Ambiguous, Cause, Failed, NotThere, Refused, ThereAlready

FIRST = 3000
NOT_FOUND, IS_FOLDER, EXISTS = 3011, 3016, 3018
NAMES = (  # noqa: SIM905  not a list of 35 lines
    "ArgInvalid ArgMissing ArgTooLong FileLocked FileNotOpen FSError InvalidRequest IOError NoMemory NoSpace "
    "NotAuthorized NotFound ServerError Unsupported noserver NotFile isDirectory Cancelled ItExists ChkSumErr "
    "inProgress overQuota SigVerErr DecryptErr Overloaded fsReadOnly BadPayload AttrNotFound TLSRequired noReplicas "
    "AuthFailed Impossible Conflict TooManyErrs ReqTimedOut"
).split()
"""Errors of the protocol from FIRST on (XProtocol.hh, XErrorCode)."""
REFUSALS = frozenset({3003, 3009, 3010, 3021, 3024, 3025, 3028, 3030})
"""With which a server refuses: rights, quota, room, load, TLS wanted."""
LONGEST_CAUSE = 80

SERVER_SAID = 400
"""Code of a client's status that carries an error of the server (XrdClStatus.hh, errErrorResponse)."""
EXPIRED = frozenset({103, 206})
"""No answer in time (errSocketTimeout, errOperationExpired)."""
BROKEN = frozenset({104, 107, 207})
"""The connection was lost with a request under way (errSocketDisconnected, errStreamDisconnect,
errOperationInterrupted)."""
NOT_XROOT = {
    201: "an unknown message",
    303: "an answer that does not belong there",
    307: "an unknown header",
}
UNREACHED = {
    101: "the address is not valid",
    102: "no connection",
    108: "no connection",
    109: "the session has ended",
    110: "TLS: no session",
    202: "the handshake failed",
    203: "the login failed",
    302: "a redirect to no address",
    306: "redirected too often",
}
DENIED = 204
"""The server denies access like this (errAuthFailed)."""

QUICK = {"TimeoutResolution": 1, "ConnectionRetry": 1, "StreamErrorWindow": 0}
"""How the client looks after its timeouts, seconds: each second, not each 15; and it connects again at once, not after
30 minutes. What the user's own XRD_ variables say goes before."""


class IsFolder(Failed):
    """The object is a folder."""


def failure(code: int, number: int, text: str) -> Failed | Refused | Ambiguous | TimeoutError:
    """Return what to raise for a status of the official client: its code, the server's error number, its message."""
    if code == SERVER_SAID:
        return server_failure(number, text)
    if code in EXPIRED:
        return TimeoutError()
    if code in BROKEN:
        return Ambiguous("connection closed before the answer")
    if code == DENIED:
        return Refused("xroot 3030 AuthFailed")
    if code in NOT_XROOT:
        return Failed(f"the answer is not xroot: {NOT_XROOT[code]}")
    return Failed(UNREACHED.get(code) or f"error {code} of the client")


def server_failure(number: int, text: str) -> Failed | Refused:
    """Return what to raise for an error of the server: its name, and the end of its text, which the system said."""
    place = number - FIRST
    name = NAMES[place] if 0 <= place < len(NAMES) else "an unknown error"
    _, found, cause = text.strip("\0 \n").rpartition("; ")  # before the last semicolon names of objects may be
    plain = found and 0 < len(cause) <= LONGEST_CAUSE and not re.search(r"[/?=]", cause)
    words = f"xroot {number} {name}: {cause}" if plain else f"xroot {number} {name}"
    if number in REFUSALS:
        return Refused(words)
    return {NOT_FOUND: NotThere, IS_FOLDER: IsFolder, EXISTS: ThereAlready}.get(number, Failed)(words)


def to_bearer(problem: Exception, token: str) -> Exception:
    """Return what is raised for a client that has shown a token: with the cause where that was over."""
    if isinstance(problem, Refused) and is_over(token):
        problem.because(Cause.TOKEN_EXPIRED)
    return problem
