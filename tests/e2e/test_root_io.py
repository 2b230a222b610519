"""The example root-io: every way reads the same, and sparse reading reads less."""

import json
import re
from importlib.util import find_spec
from tempfile import gettempdir

import pytest

from tests.support import EXAMPLES, give_up, pileup, require_program, run_folder

LEFT_OUT = re.compile(r"^  - \{name: \w+_cache(?:0_branches|300_branches|0_events|30_events|300_events),.*\n", re.M)
"""Cases that repeat others with another cache: each starts a ROOT of its own, which takes seconds."""


@pytest.mark.long
def test_every_way_reads_the_same(tmp_path):
    if find_spec("ROOT") is None or find_spec("uproot") is None:
        give_up("ROOT or uproot is not installed: pip install 'pileup[analysis,root]'")
    require_program("xrootd", "apt-get install xrootd-server xrootd-server-plugins")
    folder = tmp_path / "data"
    folder.mkdir(mode=0o755)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.parent.is_relative_to(gettempdir()):
            parent.chmod(0o755)  # the server is another user
    small = {"folder": folder, "events": 300, "cluster": 100, "times": 1, "latency": "5 ms"}
    words = [word for name, value in small.items() for word in ("--set", f"{name}={value}")]
    text, left_out = LEFT_OUT.subn("", (EXAMPLES / "root-io.yaml").read_text())
    assert left_out == 10
    (tmp_path / "suite.yaml").write_text(text)
    done = pileup("run", "suite.yaml", "--quiet", *words, cwd=tmp_path, drawn=True, timeout=400)
    assert done.returncode == 0, done.stdout + done.stderr
    run = tmp_path / run_folder(done)
    results = json.loads((run / "results.json").read_text())
    moved = {case["name"]: sum(each["bytes"] for each in case["operations"][:1]) for case in results["cases"]}
    for way in ("local", "root", "https"):
        assert moved[f"{way}_uproot_branches"] < moved[f"{way}_uproot_events"] < moved[f"{way}_uproot_full"]
        assert moved[f"{way}_uproot_full"] == moved["local_uproot_full"]
    for way in ("local", "root"):
        full = [moved[f"{way}_cache{cache}_full"] for cache in (0, 30, 300)]
        assert len(set(full)) == 1
        assert moved[f"{way}_cache30_branches"] < full[0] / 5
    assert "reading_wall" in (run / "report.html").read_text(), "the chart"
