"""The tool that names lost tests finds those of both languages, and no moved ones."""

import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import tool

OLD = {
    "a/test_a.py": "def test_kept() -> None: ...\n\n\nasync def test_lost() -> None: ...\ndef test_twice(): ...\n",
    "b/test_b.py": "class TestIt:\n    def test_twice(self): ...\n",
    "c/src/lib.rs": "#[test]\nfn moves() {}\n#[tokio::test]\n#[ignore]\nasync fn waits() {}\nfn testing() {}\n",
}
NEW = {
    "z/test_z.py": "def test_kept() -> None: ...\ndef test_twice(): ...\ndef test_new(): ...\n",
    "c/tests/it.rs": "    #[test]\n    fn moves() {}\n",
}


@pytest.fixture(name="tool")
def lost_tests() -> ModuleType:
    return tool("lost_tests")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits: `old` and `new`."""
    me = ("-c", "user.name=me", "-c", "user.email=me@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", str(tmp_path), "init", "-q"], check=True)
    for name, files in (("old", OLD), ("new", NEW)):
        subprocess.run(["git", "-C", str(tmp_path), "rm", "-rq", "--ignore-unmatch", "."], check=True)
        for path, text in files.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(text)
        for words in (["add", "."], [*me, "commit", "-q", "-m", name], ["tag", name]):
            subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    return tmp_path


def test_what_is_gone_is_named_and_what_has_moved_is_not(tool: ModuleType, repository: Path) -> None:
    lost = {files: tool.names(files, "old", repository) - tool.names(files, "new", repository) for files in tool.TESTS}
    assert {files: sorted(each.elements()) for files, each in lost.items()} == {
        "*.py": ["test_lost", "test_twice"],
        "*.rs": ["waits"],
    }
    with pytest.raises(ValueError, match="expected a commit of this repository"):
        tool.names("*.py", "nonsense", repository)


def test_the_answer_says_how_many(
    tool: ModuleType, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tool.names, "__defaults__", (repository,))
    assert tool.main(["old", "new"]) == 1
    assert "*.py: 4 tests in old, 3 in new; lost: 2\n    test_lost\n    test_twice\n" in capsys.readouterr().out
    assert tool.main(["new"]) == 0
    assert tool.main([]) == 2
