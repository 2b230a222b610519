"""What one operation costs in instructions of user space, everything recorded: a figure that other work does not touch.

callgrind runs a load of few and one of more iterations; the difference is theirs, and the start of the program is not.
"""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pileup._core import _native
from pileup.fleet.order import Order
from pileup.model.loads.load import Load
from pileup.model.program import Keys, Program, Step
from tests.servers.nginx import nginx
from tests.servers.xrootd import xrootd
from tests.support import require_program, tool

pytestmark = pytest.mark.long

CLIENTS = 64
FEW, MANY = 40 * CLIENTS, 240 * CLIENTS


def order_of(times: int) -> dict[str, Any]:
    """Return a load of so many iterations, as the engine takes it."""
    load = Load(clients=CLIENTS, times=times)
    order: dict[str, Any] = json.loads(Order(1, "load", load, 60 * 10**9, 1).to_native(0, 0, 1, 0, None))
    return order


def counted(folder: Path, times: int, protocol: str, url: str, step: Step) -> int:
    """Return the instructions of a program that presses so many iterations, all of which pass."""
    order = {
        "load": order_of(times),
        "client": {"protocol": protocol, "settings": {"url": url} if url else {}},
        "program": Program((step,)).to_native(),
    }
    (folder / "order.json").write_text(json.dumps(order))
    (folder / "record").unlink(missing_ok=True)
    tool = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'callgrind.out'}"]
    # without site-packages and the environment: the interpreter is not what is measured
    program = [sys.executable, "-S", "-E", str(Path(__file__).with_name("pressed.py")), str(_native.__file__)]
    files = [str(folder / "order.json"), str(folder / "record")]
    done = subprocess.run([*tool, *program, *files], capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, str(times)), done.stderr[-2000:]
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found, done.stderr[-2000:]
    return int(found[1])


def each(folder: Path, protocol: str, url: str, step: Step) -> float:
    """Return the instructions of one operation."""
    require_program("valgrind", "apt-get install valgrind")
    few, many = (counted(folder, times, protocol, url, step) for times in (FEW, MANY))
    return (many - few) / (MANY - FEW)


def bound(plain: int, trained: int) -> int:
    """Return the most that is allowed: `trained` where this compiler has a profile of the engine, which saves a sixth.

    An operation that takes more than `trained`, and less than `plain`, wants a new profile: `make train`.
    """
    return trained if tool("trained").settings() else plain


def test_an_iteration_that_does_nothing(tmp_path):
    assert 500 < each(tmp_path, "noop", "", Step("step", "noop", Keys())) < bound(1_900, 1_700)


def test_an_http_request(tmp_path):
    with nginx(tmp_path) as url:
        (tmp_path / "data" / "small").write_text("ok")
        step = replace(Step("step", "request", Keys(names=("small",))), method="GET")
        assert 2_000 < each(tmp_path, "http", url, step) < bound(5_500, 4_900)


def test_a_stat_by_xroot(tmp_path):
    with xrootd(tmp_path / "xrootd") as server:
        assert (
            1_500 < each(tmp_path, "xroot", server.root, Step("step", "stat", Keys(names=("",)))) < bound(5_700, 4_800)
        )
