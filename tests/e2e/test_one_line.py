"""One changed line makes a stress test of a check, be it native, Python or a command; outputs stay apart."""

import json
import re
from pathlib import Path

import pytest

from tests.support import pileup, run_folder

PLUGINS = '''
import asyncio, time
from pileup.plugin import Test

class Plain(Test):
    """Prints who it is, line by line."""
    def run(self, op):
        for part in range(3):
            print(f"plain {op.client} {op.number} part {part}")
            time.sleep(0.002)

class Later(Test):
    """The same, async."""
    async def run(self, op):
        with op("wait"):
            for part in range(3):
                print(f"later {op.client} {op.number} part {part}")
                await asyncio.sleep(0.002)
'''

SUITE = """
pileup: 1
title: One line
targets: {{null-target: {{kind: noop}}}}
tests:
  - name: check
    use: {use}
    options: {options}
    load: {load}
"""

KINDS = {
    "native": ("noop", "{cost: 5 ms}"),
    "plain": ("./mine.py:Plain", "{}"),
    "later": ("./mine.py:Later", "{}"),
    "command": ("command", "{command: 'echo command one; echo two', shell: true}"),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("load", ["once", "{clients: 100, for: 3 s}"])
def test_a_check_becomes_a_stress_test(kind: str, load: str, tmp_path: Path) -> None:
    use, options = KINDS[kind]
    (tmp_path / "mine.py").write_text(PLUGINS)
    words = "{once: true}" if load == "once" else load
    (tmp_path / "suite.yaml").write_text(SUITE.format(use=use, options=options, load=words))
    done = pileup("run", "suite.yaml", "--quiet", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    folder = tmp_path / run_folder(done)
    case = json.loads((folder / "results.json").read_text())["cases"][0]
    passed = case["operations"][0]["counts"]["passed"]
    assert passed == 1 if load == "once" else passed >= 100
    if kind in ("plain", "later"):
        blocks = outputs(folder / "output/check/stdout.txt")
        assert len(blocks) >= passed
        for block in blocks:
            assert len({line.rpartition(" part ")[0] for line in block}) == 1, "output of two iterations in one block"
            assert [line[-1] for line in block] == ["0", "1", "2"]


def outputs(path: Path) -> list[list[str]]:
    """The lines of each iteration's block; a block begins with a title line in dashes."""
    parts = re.split(r"^-+ .*\n", path.read_text(), flags=re.MULTILINE)
    return [part.strip().splitlines() for part in parts if part.strip()]
