"""Bad suites as a user meets them, with the shipped plug-ins: exit code 3, no traceback, little time and memory."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import ROOT

SUITES = sorted((ROOT / "tests/data/bad_suites").glob("*.*ml"))
BOMBS = [path for path in SUITES if path.stem in ("alias-bomb", "entity-bomb", "depth-never-closed", "variable-bomb")]
CPU, MEMORY = 2, 500 << 20

EACH = """
import contextlib, io, json, os, resource, sys
from pileup.cli import main

with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
    main(["validate", sys.argv[2]])  # what every start imports
for path in sys.argv[2:]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_CPU, (int(sys.argv[1]), int(sys.argv[1])))
        told = io.StringIO()
        with contextlib.redirect_stderr(told), contextlib.redirect_stdout(told):
            code = main(["validate", path])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        with open(writer, "w") as answer:
            answer.write(json.dumps([path, code, peak, told.getvalue()]))
        os._exit(0)
    os.close(writer)
    with open(reader) as answer:
        print(answer.read() or json.dumps([path, -1, 0, "it was ended"]))
    os.waitpid(child, 0)
"""
"""Validates each file in a fork of one process, as starting Python hundreds of times would take minutes."""


def limited() -> None:
    """CPU seconds and address space beyond which the process is ended."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU, CPU))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


@pytest.fixture(scope="module")
def answers() -> dict[str, tuple[int, int, str]]:
    """File -> exit code, bytes of memory at most, what was printed."""
    command = [sys.executable, "-c", EACH, str(CPU), *map(str, SUITES)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {path: (code, peak, told) for path, code, peak, told in found}


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.name)
def test_it_is_refused_within_two_seconds_and_500_mb(path: Path, answers: dict[str, tuple[int, int, str]]) -> None:
    code, peak, told = answers[str(path)]
    assert code == 3, told
    assert 0 < peak < MEMORY
    assert "Traceback" not in told
    assert f"{path.name}:" in told
    assert "expected " in told


@pytest.mark.parametrize("path", BOMBS, ids=lambda path: path.name)
def test_a_bomb_is_refused_from_the_start_of_the_program(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pileup", "validate", str(path)],
        preexec_fn=limited,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert path.name in done.stderr
