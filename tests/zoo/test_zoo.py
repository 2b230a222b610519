"""The run ends in time whatever a test does, names each that misbehaves, and keeps what the others have measured."""

import json
import time
from pathlib import Path

import pytest

from pileup.record import RunFolder
from tests.support import pileup, run_folder

HERE = Path(__file__).resolve().parent
ANIMALS = {
    # name: (outcome, what the reason tells)
    "FailsInSetUp": ("failed", "no licence to be had"),
    "Hangs": ("failed", "still going at the end"),
    "Exits": ("failed", "enough of this"),
    "Floods": ("passed", ""),
    "ReturnsNonsense": ("failed", "returned {'passed': 42}"),
    "RaisesWithoutWords": ("failed", "Mute"),
    "RaisesInTeardown": ("passed", ""),
    "LeaksThreads": ("passed", ""),
    "Recurses": ("failed", "RecursionError"),
    "HasNoProgram": ("error", "which program?"),
}
ISOLATED = {
    "Vanishes": ("failed", "lost"),
    "Crashes": ("failed", "lost"),
    "Spins": ("failed", "still going at the end"),
    "Hangs": ("failed", "still going at the end"),
    "Exits": ("failed", "enough of this"),
    "Floods": ("passed", ""),
    "LeaksThreads": ("passed", ""),
}
LONGEST = 120
"""Seconds that a whole zoo may take on a busy machine; alone it takes a tenth."""


def suite(folder: Path, animals: dict[str, tuple[str, str]], isolate: str) -> Path:
    """Write a suite with each animal between two tame ones."""
    lines = [
        "pileup: 1",
        "title: zoo",
        f"isolate: {isolate}",
        "tests:",
        f'  - {{name: first, use: "{HERE}/animals.py:Tame", load: {{times: 5}}}}',
        *(f'  - {{name: {name}, use: "{HERE}/animals.py:{name}", timeout: 1 s}}' for name in animals),
        f'  - {{name: last, use: "{HERE}/animals.py:Tame", load: {{times: 5}}}}',
        "  - {name: needs-hangs, use: noop, after: [Hangs]}",
    ]
    path = folder / "zoo.yaml"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.long
@pytest.mark.parametrize(("isolate", "animals"), [("thread", ANIMALS), ("process", ISOLATED)])
def test_every_animal_is_named_and_the_others_are_kept(
    tmp_path: Path, isolate: str, animals: dict[str, tuple[str, str]]
) -> None:
    begin = time.monotonic()
    done = pileup(
        "run", str(suite(tmp_path, animals, isolate)), "--quiet", cwd=tmp_path, timeout=LONGEST + 60, drawn=True
    )
    assert time.monotonic() - begin < LONGEST
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr + done.stdout
    folder = run_folder(done)
    cases = {
        case["name"]: (case["outcome"], case["reason"])
        for case in json.loads((folder / "run.json").read_text())["cases"]
    }
    for name, (outcome, reason) in animals.items():
        assert cases[name][0] == outcome, (name, cases[name])
        assert reason in cases[name][1], (name, cases[name])
    assert cases["first"] == cases["last"] == ("passed", "")
    assert cases["needs-hangs"] == ("not run", "needs Hangs, which failed")
    found = RunFolder.open(folder).operations().arrays("case", "outcome", where="parent = 0")
    assert (found["outcome"][(found["case"] == "first") | (found["case"] == "last")] == "passed").sum() == 10
    assert set(animals) - set(found["case"]) <= {"FailsInSetUp", "HasNoProgram"}
    assert (folder / "report.html").stat().st_size > 10_000
    kept = sum(path.stat().st_size for path in (folder / "output").rglob("*") if path.is_file())
    assert kept < 10_000_000, "a flood of output is cut"
