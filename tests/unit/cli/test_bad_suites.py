"""The corpus of bad suites: every one is refused with exit code 3 and every fault at its line, in a moment."""

import re
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pileup.cli import main
from pileup.model.errors import SuiteError
from pileup.suite import load
from pileup.suite.formats.size_limits import LARGEST
from tests.support import ROOT

CORPUS = sorted((ROOT / "tests" / "data/bad_suites").glob("*.*ml"))
SHORT = re.compile(r" \((?:see examples|the first stands in line|first in line).*\)$")
"""What a fault says of lines, which differ between formats."""
EXPECT = re.compile(rb"^(?:# |<!-- )expect: (\d+:\d+) (.*?)(?: -->)?$", re.MULTILINE)


def test_the_corpus_is_there() -> None:
    for suffix in (".yaml", ".xml"):
        assert sum(path.suffix == suffix for path in CORPUS) >= 100


def expectations(path: Path) -> list[tuple[str, str]]:
    """(line:column, text) of each fault that a file says it has; no comment of XML can hold two dashes."""
    found = EXPECT.findall(path.read_bytes())
    return [(where.decode(), text.decode().replace("- -", "--")) for where, text in found]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_a_bad_suite_is_refused(path: Path, fake_plugins: None, capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.process_time()
    code = main(["validate", str(path)])
    assert time.process_time() - begin < 2
    told = capsys.readouterr()
    assert code == 3
    assert told.out == ""
    assert "Traceback" not in told.err
    lines = [line.removeprefix(f"{path}:") for line in told.err.splitlines() if line.startswith(f"{path}:")]
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
        return {SHORT.sub("", str(fault).removeprefix(f"{fault.where}: ")) for fault in caught.value.faults}

    if path.stem not in APART:
        assert faults(path) == faults(path.with_suffix(".yaml"))


def refused(path: Path, *, cpu: int = 2, memory: int = 500 << 20) -> str:
    """Validate in a process of its own under a limit of CPU time; check exit code and memory, return stderr."""
    code = (
        "import resource, sys\n"
        "from pileup.cli import main\n"
        "code = main(['validate', sys.argv[1]])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert int(done.stdout) * 1024 < memory
    return done.stderr


@pytest.mark.timed
@pytest.mark.parametrize("name", ["alias-bomb", "depth-never-closed", "variable-bomb", "too-many-faults"])
def test_a_bomb_takes_little_time_and_memory(name: str) -> None:
    refused(next(path for path in CORPUS if path.stem == name))


def test_a_file_of_50_mb_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    assert "too large" in refused(path)


@pytest.mark.timed
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n" * (LARGEST // 4), "more than 100000 values"),
        ("k: {" + ", ".join(f"k{number}: v" for number in range(45_000)) + "}\n", "unknown word 'k'"),
        ("".join(f"wrong{number}: x\n" for number in range(45_000)), "more than 199 faults"),
        ("[" * LARGEST, "deeper than 100"),
        ("a: " + "x" * (LARGEST - 3), "unknown word 'a'"),
        ("? " * (LARGEST // 2), "a list or mapping as a key"),
        ("a: &a [" + "x, " * 50_000 + "]\nb: [*a, *a, *a, *a, *a]\n", "more than 100000 values"),
    ],
    ids=["items", "words", "wrong-words", "depth", "long-text", "keys", "aliases"],
)
def test_the_largest_files_take_little_time_and_memory(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "large.yaml"
    path.write_text(text)
    assert told in refused(path)


@pytest.mark.timed
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<suite>" + "<test/>" * (LARGEST // 8), "more than 100000 values"),
        ("<suite " + " ".join(f'k{number}="v"' for number in range(90_000)) + "/>", "more than 199 faults"),
        ("<suite><k " + " ".join(f'k{number}="v"' for number in range(90_000)) + "/></suite>", "unknown word 'k'"),
        ("<a>" * (LARGEST // 3), "the file holds <a>"),
        ("<suite>" + "<a>" * (LARGEST // 4), "deeper than 100"),
        ("<suite><a>" + "x" * (LARGEST - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite><a>" + "\n" * (LARGEST - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite><a>" + "x\n" * (LARGEST // 2 - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite><a>" + "&lt;" * (LARGEST // 4 - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite>" + "<!-- x -->" * (LARGEST // 10 - 30) + "</suite>", "the word `pileup` is missing"),
        ("<suite>" + "<?x?>" * (LARGEST // 5 - 30) + "</suite>", "more than 199 faults"),
        (
            "<suite><options>" + '<option b="" name="a"/>' * 30_000 + "</options></suite>",
            "more than 199 faults",
        ),
        ("<suite><a>" + '<entry b="" name="a"/>' * 30_000 + "</a></suite>", "more than 199 faults"),
        ("<suite><a>" + "<value>&gt;x</value>" * 95_000 + "</a></suite>", "unknown word 'a'"),
        ("<suite " + "xmlns:a='b' " * 300_000, "the file ends"),
        ("<suite>" + "<p:x/>" * 300_000, "more than 199 faults"),
        ("<suite a='" + "x" * (LARGEST - 30), "the file ends"),
        ("<!--" + "x" * (LARGEST - 30), "the file ends"),
        ("<" * LARGEST, "this is not XML"),
        ("<suite>" + "&a;" * 1_000_000, "an entity that XML does not have"),
        ("<suite>" + "<![CDATA[x]]>" * 300_000 + "</suite>", "holds text"),
    ],
    ids=map(str, range(21)),
)
def test_the_largest_files_of_xml_too(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "large.xml"
    path.write_text(text)
    assert len(text) <= LARGEST
    assert told in refused(path)


def test_a_file_in_utf_16_is_refused_at_its_first_byte(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wide.yaml"
    path.write_text("pileup: 1\n", encoding="utf-16")
    assert main(["validate", str(path)]) == 3
    assert "wide.yaml:1:1: byte 0xff is not UTF-8" in capsys.readouterr().err
