"""The corpus of bad suites: every one is refused with exit code 3 and every fault at its line, in a moment."""

import re
import time
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.model.errors import SuiteError
from pileup.model.problem_codes import ProblemCode
from pileup.suite import load
from tests.support import ROOT

CORPUS = sorted((ROOT / "tests" / "data/bad_suites").glob("*.*ml"))
SHORT = re.compile(r" \((?:see examples|the first is in line|first in line).*\)$")
"""What a fault says of lines, which differ between formats."""
EXPECT = re.compile(rb"^(?:# |<!-- )expect: (\d+:\d+) (.*?)(?: -->)?$", re.MULTILINE)


def test_the_corpus_is_there() -> None:
    for suffix in (".yaml", ".xml"):
        assert sum(path.suffix == suffix for path in CORPUS) >= 100


def expectations(path: Path) -> list[tuple[str, str]]:
    """(line:column, text) of each fault that a file says it has; no comment of XML can hold two dashes."""
    found = EXPECT.findall(path.read_bytes())
    return [(where.decode(), text.decode().replace("- -", "--")) for where, text in found]


def found(told: str, path: Path) -> list[str]:
    """What is said of a file: a line for each problem without its code, the hint that is below in brackets."""
    lines: list[str] = []
    for line in told.splitlines():
        if line.startswith(f"{path}:"):
            said, _, code = line.removeprefix(f"{path}:").rpartition("  [")
            assert code.removesuffix("]") in set(ProblemCode), line
            lines.append(said)
        elif line.startswith("      = hint: "):
            lines[-1] += f" ({line.removeprefix('      = hint: ')})"
    return lines


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_bad_suite_is_refused(path: Path, fake_plugins: None, capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.process_time()
    code = main(["validate", str(path)])
    assert time.process_time() - begin < 2
    told = capsys.readouterr()
    assert code == 3
    assert told.out == ""
    assert "Traceback" not in told.err
    lines = found(told.err, path)
    expected = expectations(path)
    assert expected, "the file says which faults it has"
    for where, text in expected:
        assert any(line.startswith(f"{where}: ") and text in line for line in lines), (where, text, lines)
    if len(expected) < len(lines):
        assert len(lines) > 200, f"faults that the file does not expect: {lines}"


TWINS = [path for path in CORPUS if path.suffix == ".xml" and path.with_suffix(".yaml") in CORPUS]
APART = {
    "bad-utf8",
    "latin-1",
    "nul",
    "control-character",
    "comment-alone",
    "depth",
    "depth-never-closed",
    "too-many-faults",
}
"""Twins by name whose faults lie in the format, not in what the suite says."""


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_both_formats_have_the_same_faults(path: Path, fake_plugins: None) -> None:
    def faults(path: Path) -> set[str]:
        with pytest.raises(SuiteError) as caught:
            load(path)
        return {SHORT.sub("", str(fault).removeprefix(f"{fault.where}: ")) for fault in caught.value.problems}

    if path.stem not in APART:
        assert faults(path) == faults(path.with_suffix(".yaml"))


def test_a_file_in_utf_16_is_refused_at_its_first_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.yaml"
    path.write_text("pileup: 1\n", encoding="utf-16")
    assert main(["validate", str(path)]) == 3
    assert "wide.yaml:1:1: byte 0xff is not UTF-8" in capsys.readouterr().err
