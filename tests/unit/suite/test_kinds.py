"""Kinds that follow from urls, and slips that neither hide other faults nor make false ones."""

from collections.abc import Callable

import pytest

from pileup.model.plan import Plan
from pileup.suite.kinds import kind_by

SUITE = """
pileup: 1
title: t
options: {files: 2}
targets:
  se: {KIND}
tests:
  - {name: fill, use: storage.write, options: {size: 1 kB}}
"""
PRIVATE = "kind: xrootd, launch: {}"


@pytest.fixture
def fake_plugins() -> None:
    """Use the built-in plug-ins: their names are what this is about."""


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("root://h//data", "xrootd"),
        ("ROOTS://h//data", "xrootd"),
        ("http://h/", "webdav"),
        ("davs://h/", "webdav"),
        ("file:///data", "posix"),
        ("/data", "posix"),
        ("data", ""),
        ("s3s://h/bucket", "s3"),
        ("ftp://h/", ""),
        ("http://[", ""),
    ],
)
def test_a8_the_scheme_says_the_kind(url: str, kind: str) -> None:
    assert kind_by(url) == kind


def test_a8_a_kind_left_out_follows_from_the_url(plan: Callable[..., Plan]) -> None:
    assert plan(SUITE.replace("KIND", 'url: "davs://h/x"')).suite.targets["se"].kind == "webdav"
    assert plan(SUITE.replace("KIND", 'url: "file:///data"')).suite.targets["se"].kind == "posix"


def test_a8_a_url_that_is_set_brings_its_kind(plan: Callable[..., Plan]) -> None:
    text = SUITE.replace("KIND", PRIVATE)
    for url, kind in (("https://h/x", "webdav"), ("root://h//x", "xrootd"), ("/data", "posix")):
        assert plan(text, {"targets.se.url": url}).suite.targets["se"].kind == kind
    kept = plan(text, {"targets.se.url": "https://h/x", "targets.se.kind": "webdav"}).suite.targets["se"]
    assert (kept.kind, kept.launch) == ("webdav", None)


def test_a8_a_scheme_of_another_kind(faults: Callable[..., list[str]]) -> None:
    text = SUITE.replace("KIND", 'kind: xrootd, url: "https://h/x"')
    told = "target 'se' of kind 'xrootd' has the url 'https://h/x'; expected a url that begins with root:// or roots://"
    assert faults(text) == [f"6:27: {told} (write `kind: webdav`, or leave the kind out)"]
    assert faults(SUITE.replace("KIND", "url: data")) == [
        "6:7: the word `kind` is missing; expected what kind of system: a name from `pileup list targets`, "
        "or a url that says it"
    ]


def test_a8_an_option_is_no_variable(faults: Callable[..., list[str]]) -> None:
    text = SUITE.replace("KIND", PRIVATE)
    assert faults(text, {"files": "3"}) == [
        "--set files: there is no variable 'files'; expected options.files (it is an option: --set options.files=…)"
    ]
    assert "expected tests.fill.options.size " in faults(text, {"size": "3"})[0]


def test_a8_a_target_that_is_not_there_is_one_fault(faults: Callable[..., list[str]]) -> None:
    text = SUITE.replace("KIND", PRIVATE)
    assert faults(text, {"targets.sf.url": ""}) == ["--set targets.sf.url: there is no target 'sf'; expected 'se'"]


@pytest.mark.parametrize(
    ("word", "slip"),
    [
        ("targets", "tragets"),
        ("tests", "testss"),
        ("title", "titel"),
        ("use", "usr"),
        ("name", "nmae"),
        ("kind", "kidn"),
    ],
)
def test_a8_a_slip_is_one_fault_and_hides_none(word: str, slip: str, faults: Callable[..., list[str]]) -> None:
    text = SUITE.replace("KIND", PRIVATE).replace("1 kB", "1 parsec").replace(f"{word}:", f"{slip}:", 1)
    found = faults(text)
    assert len(found) == 2, found
    assert any(f"unknown word '{slip}'" in each for each in found), found
    assert any("parsec" in each for each in found), found


ONLY_A_TARGET = """
pileup: 1
title: t
targets: {se: {KIND}}
tests: [{name: nothing, use: noop}]
"""


@pytest.mark.parametrize(
    ("target", "told"),
    [
        (
            "kind: webdav, url: 'http://h:99999/'",
            "the url of h has the port '99999'; expected a number from 1 to 65535",
        ),
        (
            "kind: http, url: 'https://h:0/'",
            "the url of h has the port '0'; expected a number from 1 to 65535 (correct",
        ),
        (
            "kind: xrootd, url: 'root://h:port//d'",
            "the url of h has the port 'port'; expected a number from 1 to 65535",
        ),
        (
            "kind: webdav, url: 'https:///d'",
            "'https:///d' is not a url of an HTTP server; expected one like https://host",
        ),
        ("kind: xrootd, url: 'root:////d'", "'root:////d' is not a url of an XRootD server; expected one like root://"),
        (
            "kind: webdav, url: 'https://[x/'",
            "is not a url: Invalid IPv6 URL; expected one like https://host:1094/path (",
        ),
        (
            "kind: posix, url: 'file://other/d'",
            "'file://other/d' is not a path of this machine; expected a path, or file:",
        ),
        (
            "kind: database, url: 'oracle://h/d'",
            "`url` is not an address of a database; expected one like sqlite:////path",
        ),
        (
            "kind: database, url: 'mysql://h:70000/d'",
            "`url` is not an address of a database; expected one like sqlite:////",
        ),
        ("kind: database, url: 'sqlite://d'", "`url` names no file of SQLite; expected sqlite:////path/jobs.db (four"),
        ("kind: slurm, url: 'ftp://h/'", "'ftp://h/' is not a url of slurmrestd; expected"),
        ("kind: slurm, url: 'http://h:65536/'", "the url of h has the port '65536'; expected a number from 1 to 65535"),
        ("kind: arc, url: 'http://h/arex'", "'http://h/arex' has no TLS, by which a computing element knows its users"),
        (
            "kind: practice-batch, url: 'http://h:x/'",
            "the url of h has the port 'x'; expected a number from 1 to 65535",
        ),
    ],
)
def test_d13_a_url_is_checked_before_a_run(faults: Callable[..., list[str]], target: str, told: str) -> None:
    (fault,) = faults(ONLY_A_TARGET.replace("KIND", target))
    assert told in fault
    assert fault.endswith(")"), "it says what to do"


@pytest.mark.parametrize(
    "target",
    [
        "kind: database, url: 'postgresql://me@/d?host=/run/postgresql'",
        "kind: database, url: 'mariadb://me@h:3306/d'",
        "kind: database, url: 'sqlite:////tmp/d.db'",
        "kind: database, url: '/tmp'",
        "kind: slurm, url: 'unix:/run/slurmrestd.sock'",
        "kind: webdav, url: 'davs://[::1]:443/d'",
        "kind: xrootd, url: 'root://me@h//d?xrd.wantprot=unix'",
        "kind: posix, url: '~/d'",
    ],
)
def test_d13_urls_of_every_kind_that_can_be(plan: Callable[..., Plan], target: str) -> None:
    assert plan(ONLY_A_TARGET.replace("KIND", target))
