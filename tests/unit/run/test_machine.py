"""The order of cases as a log, compared whole."""

import itertools
from dataclasses import replace
from pathlib import Path

from pileup import suite as suites
from pileup.model.plan import Case, Plan
from pileup.model.record import ERROR, FAILED, PASSED, CaseOutcome
from pileup.model.suite import Suite, TestSpec
from pileup.run.machine import (
    BeginCase,
    CaseEnded,
    EndRoles,
    EnterPoint,
    Event,
    Finish,
    Instruction,
    LeavePoint,
    Skip,
    StopAsked,
    SuiteMachine,
    VisitFailed,
    Wait,
)


def plan(*tests: tuple[str, list[str]]) -> Plan:
    specs = [TestSpec(name=name, use="noop", after=tuple(after)) for name, after in tests]
    ids = {spec.name: number for number, spec in enumerate(specs, 1)}
    cases = [Case(ids[spec.name], spec.name, spec, tuple(ids[name] for name in spec.after)) for spec in specs]
    return Plan(Suite(pileup=1, title="t", tests=tuple(specs)), tuple(cases), "t.yaml", "", "", "")


def walk(
    plan: Plan,
    outcomes: dict[str, CaseOutcome],
    stop_in: str = "",
    broken: tuple[int, ...] = (),
    done: dict[int, CaseOutcome] | None = None,
) -> list[str]:
    """Carry instructions out with given outcomes; every one appends a word to a log."""
    machine = SuiteMachine(plan, done)
    log: list[str] = []

    def carry_out(instruction: Instruction) -> list[Event]:
        """Log an instruction and return what it is answered by."""
        match instruction:
            case EnterPoint(visit, settings):
                log.append(f"enter {visit}" + (f" {settings}" if settings else ""))
                return [VisitFailed(visit, "se: cannot be set")] if visit in broken else []
            case BeginCase(case, roles):
                log.append(f"begin {case.name}" + "".join(f" with {role.name}" for role in roles))
                asked: list[Event] = [StopAsked("stopped by the user")] if case.name == stop_in else []
                return [*asked, CaseEnded(case.id, outcomes.get(case.name, PASSED))]
            case EndRoles(roles):
                log.append("end " + " ".join(role.name for role in roles))
                return [CaseEnded(role.id, outcomes.get(role.name, PASSED)) for role in roles]
            case Skip(case, reason):
                log.append(f"skip {case.name}: {reason}")
            case LeavePoint(visit):
                log.append(f"leave {visit}")
        return []

    while not isinstance(instruction := machine.next(), Finish):
        for event in carry_out(instruction):
            machine.take(event)
    return [*log, "finish"]


def written(text: str, tmp_path: Path) -> Plan:
    """Return the plan of a suite of noops: `text` is its tests and more."""
    file = tmp_path / "suite.yaml"
    file.write_text("pileup: 1\ntitle: t\n" + text)
    return suites.load(file)


def test_cases_begin_in_the_order_of_the_plan() -> None:
    log = walk(plan(("a", []), ("b", []), ("c", ["a"])), {})
    assert log == ["begin a", "begin b", "begin c", "finish"]


def test_what_depends_on_a_failed_case_is_not_run_and_neither_is_what_depends_on_that() -> None:
    tests = ("fill", []), ("copy", ["fill"]), ("verify", ["copy"]), ("other", [])
    assert walk(plan(*tests), {"fill": FAILED}) == [
        "begin fill",
        "skip copy: needs fill, which failed",
        "skip verify: needs copy, which was not run",
        "begin other",
        "finish",
    ]


def test_an_error_hinders_as_a_failure_does() -> None:
    assert walk(plan(("a", []), ("b", ["a"])), {"a": ERROR}) == [
        "begin a",
        "skip b: needs a, which ended as error",
        "finish",
    ]


def test_after_a_stop_nothing_begins() -> None:
    assert walk(plan(("a", []), ("b", []), ("c", ["b"])), {}, stop_in="a") == [
        "begin a",
        "skip b: stopped by the user",
        "skip c: stopped by the user",
        "finish",
    ]


SCAN = """
scan: {copy.cost: [0 s, 1 ms], look.cost: [0 s, 2 ms]}
repeat: 2
tests:
  - {name: verify, use: noop, scope: run, after: [copy]}
  - {name: fill, use: noop, scope: run}
  - {name: warm, use: noop, scope: point, after: [fill]}
  - {name: copy, use: noop, after: [warm]}
  - {name: look, use: noop}
"""


def test_points_are_interleaved_and_every_second_repeat_goes_backwards(tmp_path: Path) -> None:
    log = walk(written(SCAN, tmp_path), {})
    a, b, c, d = (f"[copy.cost={x},look.cost={y}]" for x in ("0 s", "1 ms") for y in ("0 s", "2 ms"))
    first = [
        [f"enter {n}", f"begin warm{p}", f"begin copy{p}#1", f"begin look{p}#1", f"leave {n}"]
        for n, p in enumerate((a, b, c, d))
    ]
    second = [
        [f"enter {n}", f"begin copy{p}#2", f"begin look{p}#2", f"leave {n}"] for n, p in enumerate((d, c, b, a), 4)
    ]
    assert log == ["begin fill", *itertools.chain.from_iterable(first + second), "begin verify", "finish"]


def test_what_failed_at_a_point_hinders_that_point_alone(tmp_path: Path) -> None:
    failed = "warm[copy.cost=0 s,look.cost=2 ms]"
    log = walk(written(SCAN, tmp_path), {failed: FAILED})
    skipped = [line for line in log if line.startswith("skip")]
    assert skipped == [
        f"skip copy[copy.cost=0 s,look.cost=2 ms]#1: needs {failed}, which failed",
        f"skip copy[copy.cost=0 s,look.cost=2 ms]#2: needs {failed}, which failed",
        "skip verify: needs copy[copy.cost=0 s,look.cost=2 ms]#1, which was not run",
    ]


def test_a_point_that_cannot_be_set_is_left_and_the_others_go_on(tmp_path: Path) -> None:
    suite = "scan: {a.cost: [0 s, 1 s, 2 s]}\ntests:\n  - {name: a, use: noop}\n"
    log = walk(written(suite, tmp_path), {}, broken=(1,))
    assert log == [
        *("enter 0", "begin a[a.cost=0 s]", "leave 0"),
        *("enter 1", "skip a[a.cost=1 s]: se: cannot be set", "leave 1"),
        *("enter 2", "begin a[a.cost=2 s]", "leave 2", "finish"),
    ]


ROLES = """
tests:
  - {name: early, use: noop, with: [a, b], load: {every: 1 s}}
  - {name: a, use: noop}
  - {name: late, use: noop, with: [b], after: [a], load: {every: 1 s}}
  - {name: b, use: noop}
  - {name: c, use: noop, after: [early]}
"""


def test_a_role_begins_with_the_first_of_its_tests_and_ends_with_the_last(tmp_path: Path) -> None:
    assert walk(written(ROLES, tmp_path), {}) == [
        "enter 0",
        "begin a with early",
        "begin b with late",
        "end early late",
        "begin c",
        "leave 0",
        "finish",
    ]


def test_a_role_whose_needs_failed_does_not_begin_and_its_tests_do(tmp_path: Path) -> None:
    assert walk(written(ROLES, tmp_path), {"a": FAILED}) == [
        "enter 0",
        "begin a with early",
        "begin b",
        "end early",
        "begin c",
        "leave 0",
        "skip late: needs a, which failed",
        "finish",
    ]


def test_a_stop_ends_roles_and_says_of_the_others_why_they_never_began(tmp_path: Path) -> None:
    assert walk(written(ROLES, tmp_path), {}, stop_in="a") == [
        "enter 0",
        "begin a with early",
        *(f"skip {name}: stopped by the user" for name in ("b",)),
        "end early",
        "skip c: stopped by the user",
        "leave 0",
        "skip late: stopped by the user",
        "finish",
    ]


def test_the_whole_suite_again(tmp_path: Path) -> None:
    text = "loop: 2\ntests:\n  - {name: a, use: noop, scope: run}\n  - {name: b, use: noop, after: [a]}\n"
    assert walk(written(text, tmp_path), {"a": FAILED}) == [
        *("begin a", "skip b: needs a, which failed"),
        *("begin a~2", "enter 1", "begin b~2", "leave 1", "finish"),
    ]


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    done = {1: PASSED, 2: PASSED, 3: PASSED}
    assert walk(written(ROLES, tmp_path), {}, done=done) == [
        *("enter 0", "begin b", "begin c", "leave 0", "finish"),
    ]


def beside(plan: Plan, most: int, ends: list[str]) -> list[str]:
    """Carry instructions out with cases that end in an order given; "stop" is the user's wish; return a log."""
    plan = replace(plan, suite=plan.suite.model_copy(update={"parallel": most}))
    machine, log, running = SuiteMachine(plan), [], {}
    while not isinstance(instruction := machine.next(), Finish):
        match instruction:
            case BeginCase(case, beside=False):
                log.append(f"begin and end {case.name}")
                machine.take(CaseEnded(case.id, PASSED))
            case EndRoles(roles):
                for role in roles:
                    machine.take(CaseEnded(role.id, PASSED))
            case BeginCase(case):
                log.append(f"begin {case.name}")
                running[case.name] = case.id
            case Wait():
                name = ends.pop(0)
                if name == "stop":
                    machine.take(StopAsked("stopped"))
                    name = ends.pop(0)
                log.append(f"{name} ends")
                machine.take(CaseEnded(running.pop(name.removesuffix("!")), FAILED if name.endswith("!") else PASSED))
            case Skip(case, reason):
                log.append(f"skip {case.name}: {reason}")
            case other:
                log.append(type(other).__name__)
    return log


def test_so_many_independent_cases_are_under_way_at_a_time() -> None:
    log = beside(plan(("a", []), ("b", []), ("c", []), ("d", [])), 2, ["b", "a", "c", "d"])
    assert log == ["begin a", "begin b", "b ends", "begin c", "a ends", "begin d", "c ends", "d ends"]


def test_what_needs_another_waits_for_it_and_others_pass_by() -> None:
    log = beside(plan(("a", []), ("b", ["a"]), ("c", []), ("d", ["b"])), 3, ["c", "a", "b", "d"])
    assert log == ["begin a", "begin c", "c ends", "a ends", "begin b", "b ends", "begin d", "d ends"]


def test_what_needs_one_that_failed_is_skipped_when_nothing_is_under_way() -> None:
    log = beside(plan(("a", []), ("b", ["a"]), ("c", [])), 2, ["a!", "c"])
    assert log == ["begin a", "begin c", "a! ends", "c ends", "skip b: needs a, which failed"]


def test_a_stop_lets_what_is_under_way_end_and_begins_nothing() -> None:
    log = beside(plan(("a", []), ("b", []), ("c", [])), 2, ["stop", "a", "b"])
    assert log == ["begin a", "begin b", "a ends", "b ends", "skip c: stopped"]


def test_points_and_tests_with_roles_are_barriers(tmp_path: Path) -> None:
    text = """
tests:
  - {name: a, use: noop}
  - {name: b, use: noop}
  - {name: c, use: noop, load: {clients: 1, for: 1 s}}
  - {name: r, use: noop, with: [c], load: {every: 1 s}}
  - {name: d, use: noop}
options: {cost: 1 ms}
scan: {options.cost: [1 ms, 2 ms]}
"""
    points = [f"[options.cost={value} ms]" for value in (1, 2)]
    log = beside(written(text, tmp_path), 9, [f"{name}{point}" for point in points for name in "abd"])
    assert log == [
        word
        for point in points
        for word in (
            "EnterPoint",
            f"begin a{point}",
            f"begin b{point}",
            f"a{point} ends",
            f"b{point} ends",
            f"begin and end c{point}",
            f"begin d{point}",
            f"d{point} ends",
            "LeavePoint",
        )
    ]
