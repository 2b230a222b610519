"""Numbers from any endpoint that Prometheus could scrape."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

from pileup.builtin.http.location import is_loopback
from pileup.builtin.monitors.labels import checkable_labels, checkable_name
from pileup.builtin.monitors.scrape import Endpoint, Number, numbers_of
from pileup.plugin import Duration, Monitor, PluginError, Sample, option

UNITS = {"seconds": "s", "bytes": "B", "percent": "%", "celsius": "degC", "volts": "V", "amperes": "A", "joules": "J"}
"""Units by the last word of a name, as the naming rules of Prometheus have them (https://prometheus.io/docs/practices)."""
ENDINGS = ("_total", "_sum")
GROWING = ("_total", "_sum", "_count", "_bucket")
Identity = tuple[str, str]
"""Name and labels of a series."""


class PrometheusMonitor(Monitor):
    """Scrape an endpoint that speaks the Prometheus text format or OpenMetrics, as exporters and many services do.

    `metrics` lists the names to keep, exactly or with `*` and `?`; `only` restricts them by labels. Values are kept as
    they are, with their labels. Counters listed in `rates` become their growth per second since the scrape before, so
    the first scrape gives none; a counter that was reset counts from 0. Gauges that match a pattern of `rates` stay as
    they are. Names in `rates` need not be in `metrics`.

        monitors:
          - {use: prometheus, name: disk, url: "http://server:9100/metrics", every: 5 s,
             metrics: [node_load1], rates: ["node_disk_*_bytes_total"], only: {device: "sd*"}}

    In a check: `max(disk.node_load1) < 8`, `mean(disk.node_disk_read_bytes_total[device=sda]) > 100 MB/s`. Units
    follow from OpenMetrics or from the end of a name (`_seconds`, `_bytes`, …). Characters that checks do not allow
    (`:` in names, `,=[]` in values of labels) become `_`. Values that are not finite numbers are left out.

    A scrape that fails, or has more than `series` of the requested series, leaves a gap, and the reason is recorded
    once. The bearer token is read again for each scrape and sent only over https, or within this machine. Redirects are
    not followed.
    """

    name = "prometheus"

    url: str = option(help="where the metrics are, e.g. http://127.0.0.1:9100/metrics")
    metrics: list[str] = option([], help="names of metrics to keep; * and ? stand for any characters")
    rates: list[str] = option([], help="names of counters to keep as growth per second; * and ? as above")
    only: dict[str, str] = option({}, help="label: value (with * and ?) that a series must have to be kept")
    buckets: bool = option(False, help="keep the `_bucket` series of histograms too")
    series: int = option(1000, ge=1, le=100_000, help="most series that may be asked for")
    timeout: Duration = option(10 * 10**9, gt=0, help="how long an answer may take")
    ca: str | None = option(None, help="file with the CA certificates to verify the server by, PEM")
    token_file: str | None = option(None, help="file with a bearer token")

    def check(self) -> None:
        """Refuse an address that is none, a choice of nothing, and a token that would go over the wire in plain."""
        try:
            parts = urlsplit(self.url)
            named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            named = False
        if not named:
            raise ValueError("`url` is not an address of metrics; expected one like http://127.0.0.1:9100/metrics")
        if parts.username is not None or parts.password is not None:
            raise ValueError(
                "`url` holds a user or a password; expected a token_file: urls are written into the record"
            )
        if not self.metrics and not self.rates:
            raise ValueError("nothing is asked for; expected names in `metrics` or `rates`, e.g. metrics: [node_load1]")
        if parts.scheme == "http" and self.ca is not None:
            raise ValueError("`ca` is given, but the url does without TLS; expected https://")
        if parts.scheme == "http" and self.token_file is not None and not is_loopback(parts.hostname or ""):
            raise ValueError("the token would go over plain HTTP; expected https://")
        self._endpoint = Endpoint(self.url, self.timeout, self.ca, self.token_file)
        self._before: dict[Identity, float] = {}
        self._moment = 0.0

    def sample(self) -> Iterator[Sample]:
        """Scrape once. Raises PluginError."""
        page = self._endpoint.fetch()
        moment = time.monotonic()
        found: dict[Identity, Number] = {}
        for number in filter(self._wanted, numbers_of(page)):
            found[checkable_name(number.name), checkable_labels(number.labels)] = number
            if len(found) > self.series:
                raise PluginError(
                    f"{self.url} gives more than {self.series} of the series asked for",
                    "fewer",
                    "name fewer in `metrics` and `rates`, narrow them by `only`, or raise `series`",
                )
        if not found:
            raise PluginError(f"{self.url} gives no number that is asked for", "metrics of these names and labels")
        return iter(self._samples(found, moment))

    def _wanted(self, number: Number) -> bool:
        return (
            math.isfinite(number.value)
            and (self.buckets or not (number.kind.endswith("histogram") and number.name.endswith("_bucket")))
            and _meets(number.name, [*self.metrics, *self.rates])
            and all(fnmatchcase(number.labels.get(label, ""), value) for label, value in self.only.items())
        )

    def _samples(self, found: dict[Identity, Number], moment: float) -> list[Sample]:
        before, passed = self._before, moment - self._moment
        counters = {key: each.value for key, each in found.items() if self._counted(each)}
        self._before, self._moment = counters, moment
        samples = []
        for (name, labels), number in found.items():
            unit = _unit(number)
            if (name, labels) not in counters:
                samples.append(Sample(name, number.value, unit, labels))
            elif (name, labels) in before and passed > 0:
                samples.append(
                    Sample(name, _growth(before[name, labels], number.value) / passed, _per_second(unit), labels)
                )
        return samples

    def _counted(self, number: Number) -> bool:
        """Whether it is kept as a rate: it is asked for, and it only grows."""
        growing = number.kind in ("histogram", "summary", "unknown") and number.name.endswith(GROWING)
        grows = growing or (number.kind == "counter" and not number.name.endswith("_created"))
        exact = number.kind == "unknown" and number.name in self.rates
        return (grows or exact) and _meets(number.name, self.rates)


def _meets(name: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _growth(before: float, after: float) -> float:
    """Return how much a counter grew; one that was set back began at 0, as Prometheus takes it too."""
    return after - before if after >= before else after


def _unit(number: Number) -> str:
    """Return the unit of a value, empty for a count of something and for a date."""
    if number.name.endswith(("_count", "_bucket", "_created")):
        return ""
    name = number.name
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return UNITS.get(number.unit or name.rpartition("_")[2], "")


def _per_second(unit: str) -> str:
    """Return the unit of a rate; seconds per second are a share, which has none."""
    return "" if unit == "s" else f"{unit}/s"
