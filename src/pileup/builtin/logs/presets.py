"""Ready log formats. Each is what a suite could say itself: patterns and how to read their fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

QUOTED = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
REQUEST = r'"(?:(?P<operation>[A-Z]++) (?P<key>[^ "\\]*+))?[^"\\]*+(?:\\.[^"\\]*+)*+"'
"""The first line of a request as servers quote it; it may be rubbish."""
ACCESS = rf"^\S++ \S++ \S++ \[(?P<time>[^\]]++)\] {REQUEST} (?P<status>\d++) (?P<bytes>\d++|-)(?: {QUOTED} {QUOTED})?+"
"""The formats `common` and `combined` of HTTP servers."""
APACHE_TIME = "%d/%b/%Y:%H:%M:%S %z"
NO_ANSWER = r"[45]\d\d|0"
"""Statuses of HTTP that are failures; 0: there was none."""


Value = str | list[str] | dict[str, str]
"""Of an option."""


@dataclass(frozen=True, slots=True)
class Format:
    """Options of the monitor `log` by their names; what a suite says takes their place."""

    about: str
    options: Mapping[str, Value] = field(default_factory=dict)


HTTP: dict[str, Value] = {"operation": "invalid", "failed": NO_ANSWER, "labels": ["status"], "prefix": "/"}
XROOTD = (
    r"^(?P<time>\d{6} \d\d:\d\d:\d\d(?:\.\d+)?) \d+ "
    r"(?P<user>(?:p(?P<client>\d+)(?=\.)|[^.\s]+)\.\d+:\d+@\S+)"
)
"""When, the thread, and who: login name, process, connection, host."""
CSV = r'(?:"(?:[^"]|"")*+"|[^,"]*+)'

FORMATS: dict[str, Format] = {
    "nginx": Format(
        "nginx's `combined` and ` $request_time $msec $http_x_pileup_id`",
        {
            "pattern": rf"{ACCESS} (?P<took>\d+\.\d+)(?: (?P<end>\d+\.\d+))?(?: (?P<id>\d+|-))?",
            "time": {"time": APACHE_TIME, "end": "s"},
            **HTTP,
        },
    ),
    "apache": Format(
        "Apache's `combined` and ` %D %{usec}t %{X-Pileup-Id}i`",
        {
            "pattern": rf"{ACCESS} (?P<took>\d+)(?: (?P<begin>\d{{16}}))?(?: (?P<id>\d+|-))?$",
            "time": {"time": APACHE_TIME, "begin": "us"},
            "stamp": "begin",
            "unit": "us",
            **HTTP,
        },
    ),
    "xrootd": Format(
        "XRootD's request trace: `xrootd.trace request response emsg`, started with `-z -l FILE` for microseconds",
        {
            "begins": rf"{XROOTD} Xrootd_Protocol: (?P<stream>[0-9a-f]+) req=(?P<operation>\w+)",
            "ends": rf"{XROOTD} Xrootd_Response: (?P<stream>[0-9a-f]+) send(?:ing|file) "
            r"(?!.*status=4000)(?:(?P<bytes>\d+) data|err(?:or)? (?P<error>.*)|)",
            "join": ["user", "stream"],
            "time": "%y%m%d %H:%M:%S",
        },
    ),
    "dcache-billing": Format(
        "dCache's billing file: transfers of pools and requests to doors",
        {
            "pattern": r"^(?P<time>\d\d\.\d\d \d\d:\d\d:\d\d) \[(?P<server>[^\]]+):(?P<operation>transfer|request)\] "
            r'(?:\["[^\]]*\] )?\[[^\]]*\] \[(?P<key>[^\]]*)\] \S+ (?:(?P<bytes>\d+) (?=\d+ (?:true|false) ))?'
            r"(?P<took>\d+) "
            r'.*\{(?:0:"[^"]*"|(?P<status>\d+):"(?P<error>[^"]*)")\}$',
            "time": "%m.%d %H:%M:%S",
            "unit": "ms",
            "failed": ".*",
            "labels": ["server"],
        },
    ),
    "dcache-access": Format(
        "dCache's access log: requests with a transaction, whose number says when it began",
        {
            "pattern": r"^level=\w+ ts=(?P<end>\S+) event=\S+ request\.method=(?P<operation>\w+) "
            r"request\.url=\w+://[^/\s]*(?P<key>\S*) response\.code=(?P<status>\d+) .*?"
            r"transaction=\S+:(?P<begin>\d{16})",
            "time": {"begin": "us", "end": "iso"},
            **HTTP,
        },
    ),
    "postgresql": Format(
        "PostgreSQL's `log_min_duration_statement` and auto_explain, `log_line_prefix` with %m first",
        {
            "pattern": r"^(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+) \S+ .*?duration: (?P<took>\d+\.\d+) ms  "
            r"(?:(?:statement|(?:execute|bind|parse) [^:]*): |plan:\n\s*Query Text: )"
            r"(?P<statement>[\s\S]*?)(?=\n[^\n]*\(cost=|\Z)",
            "continued": r"^\t",
            "unit": "ms",
        },
    ),
    "practice": Format(
        "the log of the practice storage, object store, tape library and token issuer",
        {
            "pattern": rf"^(?P<id>\d+),(?P<operation>\w+),(?P<key>{CSV}),(?P<begin>\d+),\d+,(?P<first_byte>\d+),"
            rf"(?P<end>\d+),\d+,(?P<status>\d+),\d+,(?P<bytes>\d+),(?P<error>{CSV}),",
            "time": "ns",
            "file": "practice-*.csv",
            **HTTP,
        },
    ),
}
