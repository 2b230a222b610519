"""What a server logs, recorded by monitors here and at another host: equal to the log to the row, joined, judged."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from pileup.record import RunFolder
from tests.pages import shown_files
from tests.servers.nginx import nginx
from tests.servers.sshd import Sshd, sshd
from tests.support import pileup, run_folder

__all__ = ["sshd"]

MS = 10**6
SUITE = """
pileup: 1
title: What the server says
targets: {web: {kind: webdav, url: "URL"}}
tests:
  - {name: fill, use: storage.write, target: web, options: {files: 20, size: 10 kB}}
  - name: read
    use: storage.read
    target: web
    after: [fill]
    options: {files: 20, size: 10 kB}
    load: {rate: 300 /s, for: 3 s}
monitors:
  - {use: "./access_log.py:AccessLog", name: here, every: 100 ms, file: LOG, watches: web}
  - {use: "./access_log.py:AccessLog", name: there, every: 100 ms, file: LOG, watches: web, host: "ssh://HOST"}
criteria:
  - {id: C1, says: quick, check: "p99(there.GET) < 1 s"}
  - {id: C2, says: as quick, check: "p99(there.GET[target=web]) < 1 s"}
  - {id: C3, says: none fail, check: fraction(there.GET.failed) == 0 %}
  - {id: C4, says: all of them, check: rate(here.GET) > 200 /s}
  - {id: C5, says: never there, check: "count(there.GET[status=503]) == 0"}
  - {id: C6, says: too slow, check: "p50(there.GET) > 1 s"}
"""


@pytest.mark.long
def test_what_monitors_record_is_the_log_of_the_server_to_the_row(tmp_path: Path, sshd: Sshd) -> None:
    log = tmp_path / "server" / "access.log"
    (tmp_path / "access_log.py").write_text(shown_files()["access_log.py"])
    (tmp_path / "server").mkdir()
    with nginx(tmp_path / "server", logs=True) as url:
        text = SUITE.replace("URL", url).replace("LOG", str(log)).replace("HOST", sshd.host)
        (tmp_path / "suite.yaml").write_text(text)
        before = len(log.read_text().splitlines()) if log.exists() else 0
        done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path, PILEUP_SSH=sshd.command)
    folder = RunFolder.open(tmp_path / run_folder(done))
    results = json.loads((folder.path / "results.json").read_text())
    verdicts = {each["id"]: each["verdict"] for each in results["criteria"]}
    said = {each["id"]: each["reason"] for each in results["criteria"]}
    assert verdicts == {**dict.fromkeys(("C1", "C2", "C3", "C4"), "met"), "C5": "unknown", "C6": "not met"}, said
    begin = min(case.started or 0 for case in folder.manifest().cases)  # probes come before monitors follow the log
    lines = [line.split(" ", 5) for line in log.read_text().splitlines()[before:]]
    lines = [line for line in lines if int(line[0].replace(".", "")) * MS > begin]
    clients = folder.operations().arrays("id", "key", where="test = 'read' AND side = 'client' AND operation = 'read'")
    keys = dict(zip(clients["id"].tolist(), clients["key"], strict=True))
    for name in ("here", "there"):
        rows = folder.operations().arrays(
            *("id", "parent", "key", "operation", "end", "start", "bytes", "case", "labels", "outcome"),
            where=f"""side = 'server' AND monitor = '{name}' AND "end" > {begin}""",
        )
        told = Counter(zip(rows["operation"], rows["key"], rows["bytes"].tolist(), strict=True))
        assert told == Counter((line[4], line[5].removeprefix("/"), int(line[3])) for line in lines), name
        ends = np.sort(rows["end"]) - np.sort([int(line[0].replace(".", "")) * MS for line in lines])
        assert np.abs(ends).max() <= (0 if name == "here" else 20 * MS), "by its clock, corrected by what it is off"
        gets = (rows["case"] == "read") & (rows["operation"] == "GET")
        assert np.count_nonzero(gets) == len(clients["id"])
        joined = {int(rows["parent"][at]): rows["key"][at] for at in np.nonzero(gets)[0] if rows["parent"][at]}
        assert joined.items() <= keys.items(), "by their keys"
        assert len(joined) > 0.9 * len(keys)
    events = [event.text for event in folder.events() if event.kind == "monitor"]
    assert not [text for text in events if "slow" not in text], events
