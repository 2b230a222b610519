"""Seams that cannot be used from outside: which files name a load shape, a verb, and a protocol of the engine.

A new one touches as many. The lists are what is the case; who makes one shorter says so here and in ARCHITECTURE.md.
Toys of these kinds would need a build of the engine: docs/decisions/0009 says why there are none.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.support import ROOT

STAGES = {
    "crates/pileup-engine/tests/it/puller.rs",
    "crates/pileup-schedule/src/shapes/mod.rs",
    "crates/pileup-schedule/src/shapes/segments.rs",
    "crates/pileup-schedule/tests/bounds.rs",
    "crates/pileup-schedule/tests/shapes.rs",
    "src/pileup/model/loads/load.py",
    "src/pileup/model/loads/stages.py",
}
"""The load shape `stages`, whose parts are segments in the engine."""
XROOT = {
    "Cargo.toml",
    "crates/pileup-py/Cargo.toml",
    "crates/pileup-py/src/protocols.rs",
    "pyproject.toml",
    "src/pileup/model/schemes.py",
}
"""Beside its crate and the folder of its target."""
SERVED_BY_XROOTD = {"src/pileup/builtin/http/webdav_target.py", "src/pileup/builtin/rucio/launcher_files.py"}
"""Targets of another protocol whose private server is XRootD: no new protocol is named there."""
READ_BY_LIBRARIES = {f"src/pileup/builtin/analysis/{name}.py" for name in ("rdataframe", "uproot_engine", "ways")}
"""Engines that read ROOT files with clients of their own: the protocol is one of those libraries."""
FORMATS_OF_LOGS = {f"src/pileup/builtin/logs/{name}.py" for name in ("monitor", "presets")}
"""Where the formats of servers' logs have names: XRootD's among them."""
RENAME = {
    "crates/pileup-engine/src/verb.rs",
    "crates/pileup-posix/src/client.rs",
    "crates/pileup-webdav/src/plan.rs",
    "crates/pileup-xroot/src/ops.rs",
    "src/pileup/builtin/http/curl.py",
    "src/pileup/builtin/storage/rename.py",
    "src/pileup/builtin/xrootd/bindings.py",
    "src/pileup/fleet/program_verbs.py",
    "src/pileup/model/verbs.py",
    "src/pileup/plugin/program_client.py",
}
"""A verb that nearly all clients have: registries, the seam for clients, five clients and a test. No guard rail."""


def naming(pattern: str, *tops: str, beside: tuple[str, ...] = ()) -> set[str]:
    """Return the files below some folders in which a pattern is, but those in `beside`."""
    found = set()
    for path in (path for top in tops for path in (ROOT / top, *(ROOT / top).rglob("*"))):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in (".py", ".rs", ".toml", ".pyi") and not name.startswith(beside):
            found |= {name} if re.search(pattern, path.read_text()) else set()
    return found


def row(thing: str) -> str:
    """Return the row of the Seams table for a thing to add."""
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## Seams")[2].partition("\n## ")[0]
    (found,) = re.findall(rf"^\| {thing} \| (.*) \|$", table, flags=re.MULTILINE)
    return str(found)


def test_a_load_shape_is_named_where_the_table_says() -> None:
    engine = naming(r"(?i)\bsegments?\b|\bstages\b", "crates/pileup-schedule", "crates/pileup-engine")
    assert engine | naming(r"(?i)\bstages\b", "src") == STAGES
    tests = [name for name in STAGES if "/tests/" in name]
    assert f"{len(STAGES)} files, {len(tests)} of them tests" in row("load shape")


def test_what_a_load_is_decides_nothing_outside_its_shape() -> None:
    """Everybody works on what all shapes answer: nobody asks which shape it is, or compares its kind."""
    asks = r"isinstance\([^)]*Shape\)|\bload\.kind (?:==|!=|in\b|not in\b)|\.shape is\b|match load\b"
    assert naming(asks, "src") == {"src/pileup/builtin/storage/files.py"}  # `once`: all files in one iteration


def test_a_protocol_of_the_engine_is_named_where_the_table_says() -> None:
    own = ("crates/pileup-xroot/", "src/pileup/builtin/xrootd/", "src/pileup/builtin/stager/")  # stagers are XRootD's
    # in prose the server is XRootD: what is spelled otherwise is a name in code
    found = naming(r"[xX]root|XROOT", "src", "crates", "Cargo.toml", "pyproject.toml", beside=own)
    assert found == XROOT | SERVED_BY_XROOTD | READ_BY_LIBRARIES | FORMATS_OF_LOGS
    assert f"{len(XROOT)} files" in row("protocol of the engine")
    for path in XROOT:
        assert path.rpartition("/")[2] in row("protocol of the engine")


def test_a_verb_is_named_where_the_table_says() -> None:
    found = naming(r"""\b(Verb|Self)::Rename\b|["']rename["']|def rename\(self, call""", "src", "crates")
    assert {name for name in found if "/tests/" not in name} == RENAME
    assert f"`rename` in {len(RENAME)} files" in row("verb")


def test_every_kind_of_plug_in_has_a_row_and_is_a_file_and_a_line() -> None:
    for thing in ("test", "target", "monitor", "report", "chart", "exporter", "log reader"):
        assert row(thing).startswith("one file, one entry-point line")


def test_contributing_says_how_to_add_each_in_ten_lines() -> None:
    section = (ROOT / "CONTRIBUTING.md").read_text().partition("## To add")[2].partition("\n## ")[0]
    table = (ROOT / "ARCHITECTURE.md").read_text().partition("## Seams")[2].partition("\n## ")[0]
    things = [name for name in re.findall(r"^\| ([^|]+?) \|", table, flags=re.MULTILINE) if name != "to add"]
    told = re.findall(r"^### (.+?)\n(.*?)(?=^### |\Z)", section, flags=re.MULTILINE | re.DOTALL)
    assert [name.lower() for name, _ in told] == things
    for name, text in told:
        assert len(text.strip().splitlines()) <= 10, name
        for path in re.findall(r"`((?:src|crates|tests|docs)/[^`*]+)`", text):
            assert Path(ROOT / path).exists(), f"{name} names {path}"
