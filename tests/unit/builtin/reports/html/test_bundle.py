"""The drawing library is made once and kept; what is there and cannot be trusted is made again."""

from importlib.metadata import version
from pathlib import Path

import pytest
import vl_convert

from pileup.builtin.reports.html.bundle import bundle, kept

SCRIPT = "let made = 'ä\r\n';"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Count how often it is made."""
    calls: list[str] = []

    def make(snippet: str) -> str:
        calls.append(snippet)
        return SCRIPT

    monkeypatch.setattr(vl_convert, "javascript_bundle", make)
    return calls


def test_it_is_made_once(tmp_path: Path, made: list[str]) -> None:
    folder = tmp_path / "cache/pileup"
    assert [kept(folder), kept(folder)] == [SCRIPT] * 2
    assert len(made) == 1
    (file,) = folder.iterdir()
    assert file.name == f"vega-{version('vl-convert-python')}.js"
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("broken", [b"", b"\xff\xfe", SCRIPT.encode(), b"0" * 64 + b"\n" + SCRIPT.encode()])
def test_what_is_not_whole_is_made_again(tmp_path: Path, made: list[str], broken: bytes) -> None:
    kept(tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_bytes(broken)
    assert [kept(tmp_path), kept(tmp_path)] == [SCRIPT] * 2
    assert len(made) == 2


def test_a_folder_that_cannot_be_is_no_matter(tmp_path: Path, made: list[str]) -> None:
    (tmp_path / "file").touch()
    assert [kept(tmp_path / "file/below"), kept(None), kept(None)] == [SCRIPT] * 3
    assert len(made) == 3


def test_no_script_element_ends_in_it() -> None:
    assert "vegaEmbed" in bundle()
    assert "</script" not in bundle()
    assert "<!--" not in bundle()
