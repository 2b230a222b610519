"""No file of a crate uses one that uses it, and the search for such circles finds them."""

from pathlib import Path

import pytest

from tests.repo.crate_files import circles, graph

ROOT = Path(__file__).resolve().parents[2]
CRATES = sorted(path.parent for path in (ROOT / "crates").glob("*/Cargo.toml"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_no_circle_between_files(crate: Path) -> None:
    assert circles(crate) == []


def make(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / "src" / f"{name.replace('__', '/')}.rs"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_circles_are_found_by_way_of_others_and_of_names_handed_on(tmp_path: Path) -> None:
    crate = make(
        tmp_path,
        lib="mod a;\nmod b;\nmod c;\nmod d;\npub use a::A;\n",
        a="use crate::b::{self, B};\npub struct A;\n",
        b="use super::c;\npub struct B;\n",
        c='pub fn c() -> crate::A { crate::A } // crate::d::D in a comment\nconst TEXT: &str = "crate::d";\n',
        d="use crate::{\n    A,\n    c::{c, other as another},\n};\n",
    )
    assert graph(crate) == {
        "lib.rs": set(),
        "a.rs": {"b.rs"},
        "b.rs": {"c.rs"},
        "c.rs": {"a.rs"},
        "d.rs": {"a.rs", "c.rs"},
    }
    assert circles(crate) == [["a.rs", "b.rs", "c.rs"]]


def test_a_circle_with_the_root_and_inside_a_folder_is_found_and_tests_do_not_count(tmp_path: Path) -> None:
    crate = make(
        tmp_path,
        lib="mod a;\nmod f;\npub use a::Client;\npub struct Target(Client);\n",
        a="use crate::Target;\npub struct Client;\n",
        f__mod="mod x;\nmod y;\n#[cfg(test)]\nmod tests;\npub use self::x::X;\n",
        f__x="use super::y::Y;\npub struct X;\n",
        f__y="pub struct Y;\nfn of() -> super::X { super::x::X }\n#[cfg(test)]\nmod tests {\n    use crate::A;\n}\n",
        f__tests="use crate::Target;\n",
    )
    assert circles(crate) == [["a.rs", "lib.rs"], ["f/x.rs", "f/y.rs"]]
    assert "f/tests.rs" not in graph(crate)
