"""The soak in small: the queue is held, every role acts, and the slopes of pileup itself have intervals."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder


@pytest.mark.long
def test_a_short_soak_has_slopes_with_intervals(tmp_path: Path) -> None:
    values = [word for value in ("held=20 s", "settle=5 s") for word in ("--set", value)]
    done = pileup("run", "suite:soak", "--quiet", *values, cwd=tmp_path)
    results = json.loads((tmp_path / run_folder(done) / "results.json").read_text())
    cases = {case["name"]: case["outcome"] for case in results["cases"]}
    assert cases == dict.fromkeys(("submit", "poll", "purge", "watch", "newcomers", "renewal", "drain"), "passed")
    found = {each["id"]: each for each in results["criteria"]}
    assert (found["A"]["verdict"], found["R"]["verdict"]) == ("met", "met"), done.stdout
    for name in ("M", "F"):
        slope = found[name]["figure"]
        assert slope["interval"]["low"] < slope["value"] < slope["interval"]["high"], name
