"""The order of cases as a log, compared whole."""

from pileup.model.plan import Case, Plan
from pileup.model.record import ERROR, FAILED, PASSED, CaseOutcome
from pileup.model.suite import Suite, TestSpec
from pileup.run.machine import Begin, CaseEnded, Finish, Instruction, Skip, StopAsked, SuiteMachine


def plan(*tests: tuple[str, list[str]]) -> Plan:
    specs = [TestSpec(name=name, use="noop", after=tuple(after)) for name, after in tests]
    ids = {spec.name: number for number, spec in enumerate(specs, 1)}
    cases = [Case(ids[spec.name], spec.name, spec, tuple(ids[name] for name in spec.after)) for spec in specs]
    return Plan(Suite(pileup=1, title="t", tests=tuple(specs)), tuple(cases), "t.yaml", "", "", "")


def walk(plan: Plan, outcomes: dict[str, CaseOutcome], stop_in: str = "") -> list[str]:
    """Carry instructions out with given outcomes; every one appends a word to a log."""
    machine, log = SuiteMachine(plan), []
    waiting: list[Instruction] = machine.start()
    while waiting:
        match waiting.pop(0):
            case Begin(case):
                log.append(f"begin {case.name}")
                if case.name == stop_in:
                    machine.on(StopAsked("stopped by the user"))
                waiting += machine.on(CaseEnded(case.id, outcomes.get(case.name, PASSED)))
            case Skip(case, reason):
                log.append(f"skip {case.name}: {reason}")
            case Finish():
                log.append("finish")
    return log


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
