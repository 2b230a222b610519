"""A queue of a batch system held at a length, from the suite to the verdict."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

pytestmark = pytest.mark.timed


def test_the_example_holds_its_queue(tmp_path: Path) -> None:
    done = pileup("run", "suite:hold", "--quiet", cwd=tmp_path)
    assert done.returncode in (0, 4), done.stdout + done.stderr
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    held = next(case["held"] for case in results["cases"] if case["name"] == "submit")
    # how well depends on how long this machine lets the poller wait; the verdict must say the same as the figure
    assert held["share"] >= 0.5
    assert (done.returncode == 0) == (held["share"] >= 0.9)
    assert (held["set_point"], held["low"], held["high"], held["by"]) == (300, 270, 330, "rate")
    assert held["looks"] >= 15
    assert max(held["levels"]) > 2 * min(held["levels"])
    assert any("poll.queued was between 270 and 330" in note for note in done_notes(results))


def done_notes(results: dict[str, list[dict[str, list[str]]]]) -> list[str]:
    """Return the notes of all cases."""
    return [note for case in results["cases"] for note in case["notes"]]
