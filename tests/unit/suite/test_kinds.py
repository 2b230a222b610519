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
        ("s3://h/", ""),
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
