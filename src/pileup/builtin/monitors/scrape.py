"""Fetches a page of metrics over HTTP and reads it: Prometheus text format or OpenMetrics."""

from __future__ import annotations

import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pileup.plugin import PluginError
from pileup.plugin.units import format_time

ACCEPT = "text/plain;version=0.0.4, application/openmetrics-text;version=1.0.0;q=0.5, text/plain;q=0.4, */*;q=0.1"
"""The older format first: what is a slip in it makes a whole page of OpenMetrics invalid."""
MOST_BYTES = 64 << 20
CHUNK = 64 << 10
COUNTER = re.compile(r"^#[ \t]+TYPE[ \t]+(\S+)[ \t]+counter[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Number:
    """One line of a page: `kind` is counter, gauge, histogram, summary, unknown, …; `unit` as OpenMetrics names it."""

    name: str
    labels: dict[str, str]
    value: float
    kind: str
    unit: str


@dataclass(frozen=True, slots=True)
class Page:
    """What an endpoint gave."""

    text: str
    open_metrics: bool


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the metrics are, how long an answer may take (ns), and the files that say who is who."""

    url: str
    timeout: int
    ca: str | None = None
    token_file: str | None = None

    def fetch(self) -> Page:
        """Ask once; the files are read again. Raises PluginError: no answer, not in time, or not 200."""
        request = urllib.request.Request(self.url, headers={"Accept": ACCEPT, **self._authorization()})  # noqa: S310
        until = time.monotonic() + self.timeout / 1e9
        try:
            with self._opener().open(request, timeout=self.timeout / 1e9) as answer:
                kind = answer.headers.get_content_type()
                return Page(
                    self._read(answer, until).decode("utf-8", "replace"), kind == "application/openmetrics-text"
                )
        except urllib.error.HTTPError as problem:
            with problem:
                raise PluginError(f"{self.url} answers {problem.code} {problem.reason}", "200 and metrics") from None
        except TimeoutError:
            raise self._late() from None
        except urllib.error.URLError as problem:
            if isinstance(problem.reason, TimeoutError):
                raise self._late() from None
            raise self._silent(problem.reason) from None
        except (OSError, http.client.HTTPException) as problem:
            raise self._silent(problem) from None

    def _authorization(self) -> dict[str, str]:
        if self.token_file is None:
            return {}
        token = _text("token_file", self.token_file).strip()
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise PluginError(f"token_file {self.token_file} holds no bearer token", "one line without spaces")
        return {"Authorization": f"Bearer {token}"}

    def _opener(self) -> urllib.request.OpenerDirector:
        if self.ca is not None:
            _text("ca", self.ca)
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except ssl.SSLError as problem:
            raise PluginError(f"ca {self.ca} cannot be used: {problem}", "certificates in PEM") from None
        return urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context), _NoRedirect()
        )

    def _read(self, answer: Any, until: float) -> bytes:
        parts, size = [], 0
        while chunk := answer.read1(CHUNK):
            parts.append(chunk)
            size += len(chunk)
            if size > MOST_BYTES:
                raise PluginError(f"{self.url} gives more than {MOST_BYTES >> 20} MiB", "a page of metrics")
            if time.monotonic() > until:
                raise self._late()
        return b"".join(parts)

    def _late(self) -> PluginError:
        return PluginError(f"{self.url} took longer than {format_time(self.timeout)}", hint="see `timeout`")

    def _silent(self, reason: object) -> PluginError:
        return PluginError(f"{self.url} cannot be read: {reason}", "an answer", "is the url right, and does it run?")


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: a token goes where the suite says and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        """Leave the answer as it is, which makes it an error with its number."""


def numbers_of(page: Page) -> Iterator[Number]:
    """Yield every line of a page, under the name that is there. Raises PluginError for what is no such page."""
    # kept out of start-up: prometheus_client brings a web server along
    from prometheus_client.openmetrics.parser import (  # noqa: PLC0415
        text_string_to_metric_families as read_open_metrics,
    )
    from prometheus_client.parser import text_string_to_metric_families as read_text  # noqa: PLC0415

    # The library adds _total to counters of the older format that lack it; users know the name that they see.
    bare = set() if page.open_metrics else {each for each in COUNTER.findall(page.text) if not each.endswith("_total")}
    try:
        read: Any = read_open_metrics if page.open_metrics else read_text
        for family in read(page.text):
            for sample in family.samples:
                if sample.value is None:  # a native histogram has no single value
                    continue
                own = family.type == "counter" and family.name in bare
                name = sample.name.removesuffix("_total") if own else sample.name
                yield Number(name, dict(sample.labels), float(sample.value), family.type, family.unit)
    except (ValueError, IndexError, KeyError, TypeError) as problem:
        wanted = "Prometheus text format or OpenMetrics"
        raise PluginError(f"the answer is not a page of metrics: {problem}"[:300], wanted) from None


def _text(word: str, path: str) -> str:
    """Return the text of a file; when that fails its name is reported, its content never."""
    try:
        return Path(path).expanduser().read_text(errors="replace")
    except OSError as problem:
        raise PluginError(
            f"{word} {path} cannot be read: {problem.strerror}", "a file that this user can read"
        ) from None
