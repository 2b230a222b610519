"""Globals of a test's file that it changes while it runs are found; what only looks like it is not."""

from pathlib import Path

import pytest

from pileup.run.places.changed_globals import changed, remark_on


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("N = 0\ndef f():\n    global N\n    N = 1\n", ["N"]),
        ("TOKENS = {}\nclass A:\n    def run(self, op):\n        TOKENS[op.client] = 1\n", ["TOKENS"]),
        ("SEEN: list[int] = []\nasync def f():\n    SEEN.append(1)\n", ["SEEN"]),
        ("A = {}\ndef f():\n    del A[1]\n", ["A"]),
        ("A = {}\ndef f():\n    return A[1], A.get(2)\n", []),
        ("A = {}\ndef f():\n    A = {}\n    A[1] = 2\n", []),
        ("A = {}\ndef f(A):\n    A[1] = 2\n", []),
        ("A = {}\nA[1] = 2\n", []),
        ("def f():\n    self.a[1] = 2\n", []),
    ],
)
def test_what_a_function_changes_is_found(text: str, found: list[str]) -> None:
    assert changed(text) == found


def test_the_remark_names_what_is_changed_and_what_to_use(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("TOKENS = {}\ndef f():\n    TOKENS[1] = 1\n")
    told = remark_on("./own.py:Own", tmp_path)
    assert told.startswith("./own.py changes TOKENS while it runs: each place has its own")
    assert "self.shared" in told
    assert remark_on("storage.write", tmp_path) == ""
    (tmp_path / "own.py").write_text("no python at all(")
    assert remark_on("./own.py:Own", tmp_path) == ""
