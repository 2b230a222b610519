"""Which files a project asks for: its own ones, numbered with and without folders, or those of a list."""

from pathlib import Path

import pytest

from pileup.builtin.tape.project import TapeProject
from pileup.plugin import Context


def paths(folder: Path, *projects: int, **options: object) -> list[list[str]]:
    test = TapeProject(None, Context(folder=folder), **options)
    return [[test._path(project, number) for number in range(test.files)] for project in projects]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, ["/project-1/0/0", "/project-1/1/1", "/project-1/2/2"]),
        ({"together": 2}, ["/project-1/0/0", "/project-1/0/1", "/project-1/1/2"]),
        ({"prefix": "/tape", "together": 0}, ["/tape/0000003", "/tape/0000004", "/tape/0000005"]),
        ({"prefix": "/tape"}, ["/tape/0000003/0000003", "/tape/0000004/0000004", "/tape/0000005/0000005"]),
        (
            {"prefix": "/tape", "together": 2},
            ["/tape/0000002/0000004", "/tape/0000002/0000005", "/tape/0000003/0000006"],
        ),
        ({"paths": "list.txt"}, ["/d", "/a", "/b"]),
    ],
)
def test_each_project_has_files_of_its_own(options: dict[str, object], wanted: list[str], tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("# mine\n/a\n/b\n/c\n/d\n")
    before, found = paths(tmp_path, 0, 1, files=3, **options)
    assert found == wanted
    assert options.get("paths") or not set(before) & set(found)


def test_files_without_folders_need_a_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="together 0 without a prefix; expected `prefix`"):
        paths(tmp_path, together=0)
    with pytest.raises(ValueError, match="No such file or directory; expected a file beside"):
        paths(tmp_path, paths="none.txt")
