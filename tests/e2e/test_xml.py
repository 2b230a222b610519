"""A suite in XML through the whole program: from the file to the record, and back to YAML."""

import json
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

SUITE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- Two points, twice. -->
<suite pileup="1" title="From XML" repeat="2">
  <variables clients="2" key="hunter2&amp;hunter2"/>
  <target name="disk" kind="posix"><credentials password="$key"/></target>
  <test name="fill" use="storage.write" scope="run"><options files="4" size="1 KiB"/></test>
  <test name="read" use="storage.read" after="fill">
    <options files="4" size="1 KiB"/>
    <load clients="$clients" for="300 ms"/>
  </test>
  <criterion id="C1" check="fraction(read.failed) == 0"><says>Nothing fails</says></criterion>
  <scan><axis name="read.order"><value>sequential</value><value>random</value></axis></scan>
</suite>
"""


@pytest.mark.long
def test_a_suite_in_xml_runs_as_one_in_yaml_does(tmp_path: Path) -> None:
    (tmp_path / "mine.xml").write_text(SUITE)
    done = pileup("run", "mine.xml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    info = json.loads((tmp_path / run_folder(done) / "run.json").read_text())
    assert info["scan"] == {"read.order": ["sequential", "random"]}
    assert len(info["cases"]) == 1 + 2 * 2
    assert info["suite"]["text"].startswith("<?xml")
    assert "hunter2" not in json.dumps(info)


def test_it_has_the_plan_of_its_yaml(tmp_path: Path) -> None:
    (tmp_path / "mine.xml").write_text(SUITE)
    done = pileup("convert", "mine.xml", "mine.yaml", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert done.stderr == "note: mine.xml: not carried over: comments\n"
    plans = [pileup("plan", name, "--json", "--set", "clients=3", cwd=tmp_path) for name in ("mine.xml", "mine.yaml")]
    one, other = (json.loads(plan.stdout) for plan in plans)
    assert one["cases"] == other["cases"]
    assert one["totals"] == other["totals"]
