"""One HTTP request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, SecretStr

from pileup.plugin import Content, Expect, Keys, Program, Size, Step, Test, option

Status = Annotated[int, Field(ge=100, le=599)]
PARTIAL_CONTENT = 206
WITHOUT_BODY = ("GET", "HEAD", "OPTIONS", "TRACE")


def _clean_headers(headers: dict[str, SecretStr]) -> dict[str, SecretStr]:
    for name, value in headers.items():
        if not name or not name.isascii() or any(letter in name for letter in " :\r\n\t\0"):
            raise ValueError(f"{name!r} is not a name of a header; expected letters, digits and dashes")
        if any(letter in value.get_secret_value() for letter in "\r\n\0"):
            raise ValueError(f"the value of header {name!r} has a line break; expected one line")
    return headers


class HttpRequest(Test):
    """Send one HTTP request and judge the answer.

    It passes if the status is one of `statuses` (by default any 2xx) and `contains` occurs in the answer. Unexpected
    401, 403, 429 and 503 count as refused, no answer within the timeout as ambiguous, everything else as failed. The
    bytes counted are those of the bodies sent and received. The option `keep_alive` of the target says whether
    connections are kept between requests.
    """

    name = "http.request"
    needs = "http"

    path: str | list[str] = option(
        "", help="path (and ?query) relative to the url of the target; of a list, one after another"
    )
    method: str = option(
        "GET", pattern=r"^[A-Z]{1,32}$", help="GET, HEAD, PUT, POST, DELETE, PROPFIND, ... in capitals"
    )
    headers: Annotated[dict[str, SecretStr], AfterValidator(_clean_headers)] = option(
        {}, help="headers to send besides the usual ones"
    )
    body: Size = option(0, help="size of the body to send; its content is known and made from the seed of the suite")
    checksum: Literal["none", "adler32"] = option("none", help="checksum to send with the body")
    statuses: list[Status] = option([], help="HTTP statuses that pass; when empty, 200 to 299, of a range 206 alone")
    contains: str | None = option(None, help="text that must occur in the first MiB of the answer")
    offset: Size = option(0, help="ask for the answer from this byte on (a Range header)")
    length: Size | None = option(
        None, gt=0, help="ask for so many bytes from `offset` on; when left out, up to the end"
    )

    def check(self) -> None:
        """Refuse a body where HTTP has none, a checksum of nothing, a range of a body."""
        if self.body and self.method in WITHOUT_BODY:
            raise ValueError(f"a body of {self.body} bytes with method {self.method}; expected PUT or POST, or no body")
        if self.checksum != "none" and not self.body:
            raise ValueError(f"checksum {self.checksum} without a body; expected `body: SIZE` beside it")
        if self.path == []:
            raise ValueError("path is an empty list; expected at least one path")

    def _headers(self) -> Iterator[tuple[str, str]]:
        yield from ((name, value.get_secret_value()) for name, value in self.headers.items())

    def program(self) -> Program:
        """Return the one request."""
        step = Step(
            self.method.lower(),
            "request",
            keys=Keys(names=(self.path,) if isinstance(self.path, str) else tuple(self.path)),
            content=Content(self.context.seed, self.body) if self.body else None,
            verify=False,
            checksum=self.checksum,
            method=self.method,
            headers=(*self._headers(), *self._range()),
            expect=Expect(self._passing(), self.contains),
        )
        return Program((step,))

    def _range(self) -> tuple[tuple[str, str], ...]:
        """Return the Range header; its last byte counts (RFC 9110, 14.1.2)."""
        if not self.offset and self.length is None:
            return ()
        last = "" if self.length is None else self.offset + self.length - 1
        return (("Range", f"bytes={self.offset}-{last}"),)

    def _passing(self) -> tuple[int, ...]:
        """Return the statuses that pass; a server that does not heed the range answers 200 with all of it."""
        return tuple(self.statuses) or ((PARTIAL_CONTENT,) if self._range() else ())

    def bounds(self, iterations: int) -> tuple[int | None, int | None]:
        """One operation each; how much comes back is known for HEAD alone."""
        return iterations, 0 if self.method == "HEAD" else None
