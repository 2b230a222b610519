"""The worst files are refused in little time and memory, each in a process of its own."""

import os
from pathlib import Path

import pytest

from pileup.suite.formats.size_limits import LARGEST
from tests import warm
from tests.unit.cli.test_bad_suites import CORPUS

CPU = 6
"""Seconds of CPU time: several times what any of them takes, and far below what work of the square of its size does."""
MEMORY = 500 << 20


def refused(path: Path) -> str:
    """Validate in a process of its own; check exit code, CPU time and memory, return stderr."""
    done = warm.shared().run(["validate", str(path)], path.parent, os.environ, timeout=60)
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert done.cpu < CPU
    assert done.memory < MEMORY
    return done.stderr


@pytest.mark.long
@pytest.mark.parametrize("name", ["alias-bomb", "depth-never-closed", "variable-bomb", "too-many-faults"])
def test_a_bomb_takes_little_time_and_memory(name: str) -> None:
    refused(next(path for path in CORPUS if path.stem == name))


def test_a_file_of_50_mb_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "large.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    assert "too large" in refused(path)


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- a\n" * (LARGEST // 4), "more than 100000 values"),
        ("k: {" + ", ".join(f"k{number}: v" for number in range(45_000)) + "}\n", "unknown word 'k'"),
        ("".join(f"wrong{number}: x\n" for number in range(45_000)), "more than 199 problems"),
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


@pytest.mark.long
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<suite>" + "<test/>" * (LARGEST // 8), "more than 100000 values"),
        ("<suite " + " ".join(f'k{number}="v"' for number in range(90_000)) + "/>", "more than 199 problems"),
        ("<suite><k " + " ".join(f'k{number}="v"' for number in range(90_000)) + "/></suite>", "unknown word 'k'"),
        ("<a>" * (LARGEST // 3), "the file holds <a>"),
        ("<suite>" + "<a>" * (LARGEST // 4), "deeper than 100"),
        ("<suite><a>" + "x" * (LARGEST - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite><a>" + "\n" * (LARGEST - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite><a>" + "x\n" * (LARGEST // 2 - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite><a>" + "&lt;" * (LARGEST // 4 - 30) + "</a></suite>", "unknown word 'a'"),
        ("<suite>" + "<!-- x -->" * (LARGEST // 10 - 30) + "</suite>", "the word `pileup` is missing"),
        ("<suite>" + "<?x?>" * (LARGEST // 5 - 30) + "</suite>", "more than 199 problems"),
        (
            "<suite><options>" + '<option b="" name="a"/>' * 30_000 + "</options></suite>",
            "more than 199 problems",
        ),
        ("<suite><a>" + '<entry b="" name="a"/>' * 30_000 + "</a></suite>", "more than 199 problems"),
        ("<suite><a>" + "<value>&gt;x</value>" * 95_000 + "</a></suite>", "unknown word 'a'"),
        ("<suite " + "xmlns:a='b' " * 300_000, "the file ends"),
        ("<suite>" + "<p:x/>" * 300_000, "more than 199 problems"),
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
