"""Tests to cases: points, repeats and loops, scopes, needs, and roles."""

from typing import Any

from pileup.model.plan import WHOLE, Case
from pileup.model.suite import Suite
from pileup.suite.expand import Expansion


def cases(tests: list[dict[str, Any]], options: set[str] | None = None, **words: object) -> dict[str, Case]:
    """The cases by name, in their order."""
    tests = [{"use": "x", **test} for test in tests]
    targets = {"se": {"kind": "x", "launch": {}}}
    suite = Suite.model_validate({"pileup": 1, "title": "t", "tests": tests, "targets": targets, **words})
    found = Expansion(suite, lambda _: options or set()).cases()
    assert [case.id for case in found] == list(range(1, len(found) + 1))
    assert len({case.name for case in found}) == len(found)
    return {case.name: case for case in found}


def names(found: dict[str, Case], *numbers: int) -> list[str]:
    return [list(found)[number - 1] for number in numbers]


SCAN = {"se.threads": ["4", "16"]}
PRESS = {"clients": 1, "for": "1 s"}


def test_without_a_scan_each_test_is_a_case() -> None:
    found = cases([{"name": "b", "after": ["a"]}, {"name": "a"}])
    assert list(found) == ["a", "b"]
    assert found["b"].after == (1,)
    assert found["a"].point == {}
    assert (found["a"].loop, found["a"].repeat, found["a"].visit) == (1, 1, 0)


def test_each_test_at_each_point_to_and_fro() -> None:
    found = cases([{"name": "a"}, {"name": "b", "after": ["a"]}], scan=SCAN, repeat=2)
    assert list(found) == [
        *["a[se.threads=4]#1", "b[se.threads=4]#1", "a[se.threads=16]#1", "b[se.threads=16]#1"],
        *["a[se.threads=16]#2", "b[se.threads=16]#2", "a[se.threads=4]#2", "b[se.threads=4]#2"],
    ]
    for case in found.values():
        if case.test.name == "b":
            need = found[names(found, *case.after)[0]]
            assert (need.point, need.repeat, need.visit) == (case.point, case.repeat, case.visit)
    assert [case.visit for case in found.values()] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert found["a[se.threads=16]#2"].settings == {"se": {"threads": "16"}}


def test_a_loop_is_the_whole_suite_again() -> None:
    found = cases([{"name": "fill", "scope": "run"}, {"name": "a", "after": ["fill"]}], scan=SCAN, loop=2)
    assert list(found) == [
        *["fill", "a[se.threads=4]", "a[se.threads=16]"],
        *["fill~2", "a[se.threads=4]~2", "a[se.threads=16]~2"],
    ]
    assert names(found, *found["a[se.threads=4]~2"].after) == ["fill~2"]
    assert [case.visit for case in found.values()] == [WHOLE, 0, 1, WHOLE, 2, 3]
    assert [case.loop for case in found.values()] == [1, 1, 1, 2, 2, 2]


def test_scopes() -> None:
    tests = [{"name": "once", "scope": "run"}, {"name": "each", "scope": "point", "after": ["once"]}]
    found = cases([*tests, {"name": "a", "after": ["each", "once"]}], scan=SCAN, repeat=2)
    assert next(iter(found)) == "once"
    assert [name for name in found if name.startswith("each")] == ["each[se.threads=4]", "each[se.threads=16]"]
    assert names(found, *found["a[se.threads=16]#2"].after) == ["once", "each[se.threads=16]"]
    assert found["once"].settings == {}
    assert found["once"].visit == WHOLE


def test_what_needs_all_points_is_done_after_them() -> None:
    tests = [{"name": "sum", "scope": "run", "after": ["a"]}, {"name": "a"}]
    tests += [{"name": "tell", "scope": "run", "after": ["sum"]}, {"name": "first", "scope": "run"}]
    found = cases(tests, scan=SCAN)
    assert list(found) == ["first", "a[se.threads=4]", "a[se.threads=16]", "sum", "tell"]
    assert names(found, *found["sum"].after) == ["a[se.threads=4]", "a[se.threads=16]"]
    assert names(found, *found["tell"].after) == ["sum"]


def test_a_role_lives_beside_the_cases_of_its_visit() -> None:
    tests: list[dict[str, Any]] = [{"name": "one", "load": PRESS}, {"name": "two", "load": PRESS}]
    tests += [{"name": "role", "with": ["one", "two"], "load": {"clients": 1}}]
    found = cases(tests, scan=SCAN, repeat=2)
    role = found["role[se.threads=16]#2"]
    assert role.role
    assert names(found, *role.beside) == ["one[se.threads=16]#2", "two[se.threads=16]#2"]
    assert not found["one[se.threads=4]#1"].role
    assert found["one[se.threads=4]#1"].beside == ()


def test_a_role_has_the_scope_of_whom_it_lives_beside() -> None:
    tests: list[dict[str, Any]] = [{"name": "role", "with": ["fill"], "load": {"every": "1 s"}}]
    found = cases([*tests, {"name": "fill", "scope": "run", "load": PRESS}, {"name": "a"}], scan=SCAN)
    assert list(found) == ["role", "fill", "a[se.threads=4]", "a[se.threads=16]"]
    assert names(found, *found["role"].beside) == ["fill"]
    assert found["role"].visit == WHOLE


def test_options_and_loads_are_those_of_the_point() -> None:
    scan = {"a.size": ["1 B", "2 B"], "a.load.times": ["3", "5"], "options.files": ["7"]}
    found = cases([{"name": "a"}, {"name": "b"}], {"files"}, scan=scan)
    last = found["a[a.size=2 B,a.load.times=5,options.files=7]"]
    assert last.test.options == {"size": "2 B", "files": "7"}
    assert last.load.times == 5
    assert last.point == {"a.size": "2 B", "a.load.times": "5", "options.files": "7"}
    other = found["b[a.size=2 B,a.load.times=5,options.files=7]"]
    assert other.test.options == {"files": "7"}
    assert other.load.kind == "once"


def test_the_points_are_told_as_texts() -> None:
    suite = Suite.model_validate(
        {"pileup": 1, "title": "t", "tests": [{"name": "a", "use": "x"}], "scan": {"a.law": [{"fixed": 1}, None]}}
    )
    assert Expansion(suite, lambda _: set()).points() == ({"a.law": "{fixed: 1}"}, {"a.law": ""})
    bare = suite.model_copy(update={"scan": {}})
    assert Expansion(bare, lambda _: set()).points() == ()
