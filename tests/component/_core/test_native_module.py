"""The compiled module itself: its clock, and whether it was built from these sources."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from pileup._core import _native
from tests.support import ROOT, tool

SOURCES = tool("source_hash")


def test_the_module_was_built_from_these_sources() -> None:
    assert SOURCES.source_hash(ROOT) == _native.SOURCE_HASH


@pytest.mark.parametrize("change", ["edit", "add", "rename"])
def test_the_hash_sees_every_change(tmp_path: Path, change: str) -> None:
    (tmp_path / "crates" / "one" / "src").mkdir(parents=True)
    source = tmp_path / "crates" / "one" / "src" / "lib.rs"
    source.write_text("//! one")
    (tmp_path / "crates" / "one" / "notes.txt").write_text("no source")
    before = SOURCES.source_hash(tmp_path)
    (tmp_path / "crates" / "one" / "notes.txt").write_text("still none")
    assert SOURCES.source_hash(tmp_path) == before
    match change:
        case "edit":
            source.write_text("//! two")
        case "add":
            (tmp_path / "Cargo.lock").write_text("")
        case "rename":
            source.rename(source.with_name("bin.rs"))
    assert SOURCES.source_hash(tmp_path) != before


def test_now_is_utc_and_never_goes_back() -> None:
    readings = [_native.now() for _ in range(1000)]
    assert readings == sorted(readings)
    assert abs(time.time_ns() - _native.now()) < 10**9


MOVED = """
import time
from pathlib import Path
from pileup._core._native import Press, Recorder, now, shift_clock

before, hour = now(), 3600 * 10**9
shift_clock(hour)
assert hour <= now() - before < 2 * hour
press = Press(Recorder("moved.table", 0), Path("load.json").read_text().replace('"START"', str(now() + 10**7)))
assert press.spawn() == 0
op = press.seat(0).next()
assert op.intended >= before + hour and op.start >= op.intended
assert abs(time.time_ns() + hour - op.start) < 60 * 10**9
shift_clock(-hour)
assert abs(time.time_ns() - now()) < 60 * 10**9
"""


def test_a_moved_clock_moves_what_the_engine_reads_and_waits_for(tmp_path: Path, load_of: Callable[..., str]) -> None:
    (tmp_path / "load.json").write_text(load_of(kind="open", rate=1, times=1, start="START"))
    subprocess.run([sys.executable, "-c", MOVED], cwd=tmp_path, check=True, timeout=60)


def test_the_version_is_that_of_the_crates() -> None:
    assert f'version = "{_native.VERSION}"' in (ROOT / "Cargo.toml").read_text()
