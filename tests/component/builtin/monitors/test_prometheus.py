"""The `prometheus` monitor on endpoints that prometheus_client itself serves, and on pages of text as others write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Summary, start_http_server

from pileup.builtin.monitors.prometheus import PrometheusMonitor
from pileup.builtin.monitors.scrape import ACCEPT, Page, numbers_of
from pileup.model.record import Sample
from pileup.plugin import PluginError
from tests.servers.certificates import make_certificate

TOKEN = "a-token-that-nobody-may-see"


class Service:
    """Metrics of a service, served by prometheus_client."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.queue = Gauge("queue", "Waiting", ["pool"], registry=self.registry)
        self.sent = Counter("sent_bytes", "Sent", ["to"], registry=self.registry)
        self.busy = Counter("busy_seconds", "CPU time", registry=self.registry)
        self.took = Histogram("took_seconds", "Times", registry=self.registry, buckets=(1, 2))
        self.asked = Summary("asked_seconds", "Times", registry=self.registry)
        self.url = ""


@contextmanager
def served(service: Service, **tls: Any) -> Iterator[Service]:
    server, thread = start_http_server(0, "127.0.0.1", service.registry, **tls)
    service.url = f"http{'s' if tls else ''}://127.0.0.1:{server.server_port}/metrics"
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with served(Service()) as running:
        yield running


class Page200(ThreadingHTTPServer):
    """Gives any bytes to who asks, and keeps the headers of requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = b""
        self.seen: list[dict[str, str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}/metrics"


class Handler(BaseHTTPRequestHandler):
    server: Page200

    def do_GET(self) -> None:
        self.server.seen.append(dict(self.headers))
        self.wfile.write(self.server.answer)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def raw() -> Iterator[Page200]:
    with Page200() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def answer(body: str, kind: str = "text/plain") -> bytes:
    return f"HTTP/1.0 200 OK\r\nContent-Type: {kind}\r\n\r\n{body}".encode()


def sample(url: str, *metrics: str, **options: Any) -> list[Sample]:
    return list(PrometheusMonitor(url=url, metrics=list(metrics), **options).sample())


def test_gauges_with_their_labels_and_units(service: Service) -> None:
    service.queue.labels("tape").set(7)
    service.queue.labels("disk").set(0.5)
    service.busy.inc(3)
    assert sorted(sample(service.url, "queue", "busy_seconds_total"), key=str) == [
        Sample("busy_seconds_total", 3, "s"),
        Sample("queue", 0.5, "", "pool=disk"),
        Sample("queue", 7, "", "pool=tape"),
    ]


def test_patterns_and_labels_choose(service: Service) -> None:
    service.queue.labels("tape").set(1)
    service.queue.labels("disk-1").set(2)
    service.sent.labels("x").inc(10)
    assert sample(service.url, "q?eue", only={"pool": "disk*"}) == [Sample("queue", 2, "", "pool=disk-1")]
    assert sample(service.url, "*_bytes_total") == [Sample("sent_bytes_total", 10, "B", "to=x")]


def test_counters_become_rates(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([100.0, 110.0, 120.0])
    monitor = PrometheusMonitor(url=service.url, metrics=["queue"], rates=["*_total", "took_seconds_count", "queue"])
    service.queue.labels("tape").set(3)
    service.sent.labels("x").inc(1000)
    service.busy.inc(5)
    monkeypatch.setattr("pileup.builtin.monitors.prometheus.time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert list(monitor.sample()) == [Sample("queue", 3, "", "pool=tape")]  # a gauge stays what it is
    service.sent.labels("x").inc(500)
    service.sent.labels("y").inc(9)
    service.busy.inc(20)
    service.took.observe(0.5)
    assert sorted(monitor.sample(), key=str) == [
        Sample("busy_seconds_total", 2, ""),
        Sample("queue", 3, "", "pool=tape"),
        Sample("sent_bytes_total", 50, "B/s", "to=x"),
        Sample("took_seconds_count", 0.1, "/s"),
    ]
    service.busy.reset()
    service.busy.inc(4)
    assert Sample("busy_seconds_total", 0.4, "") in list(monitor.sample())


def test_buckets_only_when_asked_for(service: Service) -> None:
    service.took.observe(1.5)
    service.asked.observe(2)
    assert {each.metric for each in sample(service.url, "took*", "asked_seconds_sum")} == {
        "took_seconds_count",
        "took_seconds_sum",
        "took_seconds_created",
        "asked_seconds_sum",
    }
    buckets = sample(service.url, "took_seconds_bucket", buckets=True)
    assert Sample("took_seconds_bucket", 0, "", "le=1.0") in buckets
    assert Sample("took_seconds_bucket", 1, "", "le=+Inf") in buckets


def test_too_many_series_are_refused(service: Service) -> None:
    for number in range(6):
        service.queue.labels(str(number)).set(number)
    with pytest.raises(PluginError, match=r"gives more than 5 of the series asked for; expected fewer"):
        sample(service.url, "*", series=5)
    assert len(sample(service.url, "queue", series=6)) == 6


def test_open_metrics_by_its_name() -> None:
    text = '# TYPE a_bytes gauge\n# UNIT a_bytes bytes\na_bytes{x="1"} 5\n# TYPE n counter\nn_total 4\n# EOF\n'
    numbers = list(numbers_of(Page(text, open_metrics=True)))
    assert [(each.name, each.value, each.kind, each.unit) for each in numbers] == [
        ("a_bytes", 5, "gauge", "bytes"),
        ("n_total", 4, "counter", ""),
    ]


def test_an_answer_in_open_metrics(raw: Page200) -> None:
    raw.answer = answer("# TYPE n counter\nn_total 4\n# EOF\n", "application/openmetrics-text; version=1.0.0")
    assert sample(raw.url, "n_total") == [Sample("n_total", 4)]
    assert raw.seen[0]["Accept"] == ACCEPT
    raw.answer = answer("n_total 4\n", "application/openmetrics-text; version=1.0.0")
    with pytest.raises(PluginError, match=r"is not a page of metrics: Missing # EOF"):
        sample(raw.url, "n_total")


def test_names_stay_as_they_are_written(raw: Page200) -> None:
    raw.answer = answer("# TYPE requests counter\nrequests 5\n# TYPE sent_total counter\nsent_total 6\nplain 7\n")
    assert sample(raw.url, "*") == [Sample("requests", 5), Sample("sent_total", 6), Sample("plain", 7)]
    monitor = PrometheusMonitor(url=raw.url, rates=["requests", "plain"])
    assert list(monitor.sample()) == []
    assert [each.metric for each in monitor.sample()] == ["requests", "plain"]


def test_what_checks_cannot_name_and_what_is_no_number(raw: Page200) -> None:
    raw.answer = answer('job:rate:5m{path="/a,b[1]=c",empty=""} 1\nnothing NaN\nendless +Inf\n')
    assert sample(raw.url, "*") == [Sample("job_rate_5m", 1, "", "path=/a_b_1__c")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (answer("<html>"), r"the answer is not a page of metrics.*expected Prometheus text format or OpenMetrics"),
        (answer('a{b="c} 1\n'), r"the answer is not a page of metrics"),
        (answer("b 1\n"), r"gives no number that is asked for"),
        (b"HTTP/1.0 503 Busy\r\n\r\n", r"answers 503 Busy; expected 200 and metrics"),
        (b"HTTP/1.0 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n", r"answers 302 Found"),
        (b"rubbish", r"cannot be read: .*expected an answer"),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 50\r\n\r\na 1\n", r"gives no number|cannot be read"),
    ],
)
def test_what_goes_wrong_is_told(raw: Page200, given: bytes, message: str) -> None:
    raw.answer = given
    with pytest.raises(PluginError, match=message):
        sample(raw.url, "nonsuch")


def test_nobody_there_and_an_answer_that_does_not_come(raw: Page200, tmp_path: Path) -> None:
    gate = threading.Event()
    with pytest.raises(PluginError, match=r"127\.0\.0\.1:1/ cannot be read: .*refused"):
        sample("http://127.0.0.1:1/", "a")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Handler, "do_GET", lambda _: gate.wait(20))
        with pytest.raises(PluginError, match=r"took longer than 100 ms \(see `timeout`\)"):
            sample(raw.url, "a", timeout="100 ms")
        gate.set()


def test_the_token_is_read_anew_and_never_told(raw: Page200, tmp_path: Path) -> None:
    token = tmp_path / "token"
    monitor = PrometheusMonitor(url=raw.url, metrics=["a"], token_file=str(token))
    with pytest.raises(PluginError, match=r"token_file .*token cannot be read: No such file"):
        monitor.sample()
    raw.answer = answer("a 1\n")
    for text in (TOKEN, TOKEN + "-2"):
        token.write_text(text + "\n")
        assert list(monitor.sample()) == [Sample("a", 1)]
    assert [each["Authorization"] for each in raw.seen] == [f"Bearer {TOKEN}", f"Bearer {TOKEN}-2"]
    token.write_text(f"{TOKEN} {TOKEN}")
    with pytest.raises(PluginError, match=r"holds no bearer token") as problem:
        monitor.sample()
    assert TOKEN not in str(problem.value)


def test_tls_needs_the_right_authority(tmp_path: Path) -> None:
    for name, text in zip(("cert", "key"), make_certificate(), strict=True):
        (tmp_path / name).write_text(text)
    with served(Service(), certfile=str(tmp_path / "cert"), keyfile=str(tmp_path / "key")) as service:
        service.busy.inc(2)
        assert sample(service.url, "busy*total", ca=str(tmp_path / "cert")) == [Sample("busy_seconds_total", 2, "s")]
        with pytest.raises(PluginError, match=r"CERTIFICATE_VERIFY_FAILED"):
            sample(service.url, "busy*total")
        (tmp_path / "other").write_text("none")
        with pytest.raises(PluginError, match=r"ca .*other cannot be used"):
            sample(service.url, "busy*total", ca=str(tmp_path / "other"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"url": "server:9100"}, r"not an address of metrics; expected one like http://"),
        ({"url": "http://[::1/metrics"}, r"not an address of metrics"),
        ({"url": f"http://me:{TOKEN}@server/metrics"}, r"holds a user or a password"),
        ({"metrics": []}, r"nothing is asked for; expected names in `metrics` or `rates`"),
        ({"ca": "ca.pem"}, r"without TLS; expected https://"),
        ({"url": "http://server/metrics", "token_file": "t"}, r"over plain HTTP; expected https://"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as problem:
        PrometheusMonitor(**{"url": "http://127.0.0.1:9100/metrics", "metrics": ["a"], **options})
    assert TOKEN not in str(problem.value)
