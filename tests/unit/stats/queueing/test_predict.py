"""A queueing model from records of simulated libraries, whose truth is known."""

from dataclasses import replace
from random import Random

import pytest

from pileup.model.exits import ExitCode
from pileup.stats.queueing import FIGURES, CannotPredict, History, fit, predict
from pileup.stats.queueing.history import Project, Request
from pileup.stats.queueing.machine import Run, Service

MINUTE = 60 * 10**9


def line(limit: int = 1, drives: int = 1, projects: int = 30, files: int = 2) -> History:
    """A history that can be worked out: every file takes a drive 2 min, 1 of them its transfer; work takes none.

    Each project has a node of its own, asks for all its files at once, and its stager hands over one at a time. Drives
    serve in the order of handing over, and each file lies in a folder of its own.
    """
    free = [0] * drives
    requests = []
    handed = {(project, 0): 0 for project in range(projects)}
    for number in range(files):
        for project in range(projects):
            drive = min(range(drives), key=free.__getitem__)
            begin = max(free[drive], handed[project, number])
            free[drive] = begin + 2 * MINUTE
            handed[project, number + 1] = free[drive]
            group = f"/{project}/{number}"
            times = (0, handed[project, number], begin + MINUTE, free[drive])
            requests.append(Request(project, f"n{project}", group, f"d{drive}", *times))
    ends = {each.project: each.delivered for each in requests}
    done = [
        Project(number, number, 0, ends[number], f"n{number}", files, files, (0,) * files) for number in range(projects)
    ]
    requests.sort(key=lambda each: each.project)
    return History("line", {}, tuple(requests), tuple(done), 0)


def test_the_limit_is_seen_in_the_record_and_the_drives_too() -> None:
    history = line(drives=3)
    assert history.limit == 1
    system = fit([history])
    assert system.drives.number == 3
    assert system.busy > 0.9
    assert {each.busy for each in system.drives.change} == {2 * MINUTE}
    assert {each.transfer for each in system.drives.change} == {MINUTE}


def test_what_was_recorded_is_predicted_to_the_minute() -> None:
    history = line()
    (same,) = predict(fit([history]), [history], [1])
    for name in FIGURES:
        assert same.figures[name].value == pytest.approx(history.figures[name], rel=1e-9)


def test_no_limit_moves_the_wait_from_the_stager_to_the_tape_queue() -> None:
    history = line()
    (found,) = predict(fit([history]), [history], [2])
    assert found.figures["stager_queue"].value == 0
    assert found.figures["all"].value == pytest.approx(60 * 2 * MINUTE)
    assert found.figures["queue_wait"].value > history.figures["queue_wait"]


def test_twice_the_drives_take_half_the_time() -> None:
    history = line(projects=40)
    (found,) = predict(fit([history]), [history], [1], drives=2)
    assert found.drives == 2
    assert found.figures["all"].value == pytest.approx(history.figures["all"] / 2)


def test_the_interval_is_widened_by_what_the_model_does_wrong() -> None:
    """Ends that are a tenth later than all that is in the model."""
    history = line()
    late = replace(history, projects=tuple(each._replace(end=each.end * 11 // 10) for each in history.projects))
    (found,) = predict(fit([late]), [late], [2])
    low, high = found.figures["all"].low, found.figures["all"].high
    assert low == pytest.approx(60 * 2 * MINUTE)
    assert high == pytest.approx(1.1 * low)


def test_a_model_that_does_not_do_what_was_recorded_is_refused() -> None:
    history = line()
    late = replace(history, projects=tuple(each._replace(end=each.end * 2) for each in history.projects))
    with pytest.raises(CannotPredict, match=r"0\.50 times the measured `all`") as found:
        predict(fit([late]), [late], [2])
    assert found.value.exit_code is ExitCode.UNKNOWN


def test_records_that_cannot_carry_a_model_are_refused_with_the_reason() -> None:
    history = line()
    with pytest.raises(CannotPredict, match="2 files of line did not come"):
        fit([replace(history, failed=2)])
    with pytest.raises(CannotPredict, match="640 files of line were asked from a cache"):
        fit([replace(history, cached=640)])
    with pytest.raises(CannotPredict, match="have other projects"):
        fit([history, line(projects=31)])
    with pytest.raises(CannotPredict, match="changed to files of another folder 8 times"):
        fit([line(projects=4)])
    apart = zip(range(0, 600 * MINUTE, 10 * MINUTE), line(drives=60).requests, strict=True)
    alone = tuple(each._replace(handed=at, begun=at + MINUTE, delivered=at + 2 * MINUTE) for at, each in apart)
    with pytest.raises(CannotPredict, match="60 drives served"):
        fit([replace(history, requests=alone)])
    other = tuple(each._replace(node=f"{each.node}-{each.group[-1]}") for each in history.requests)
    with pytest.raises(CannotPredict, match="use several stagers each"):
        fit([replace(history, requests=other)])


def apart(*, open_: bool) -> History:
    """A project of a file every 10 min, by one client: when it is due, or 8 min after the one before."""
    history = line(projects=30, files=1)
    starts = [10 * MINUTE * number for number in range(30)]
    requests = [
        each._replace(node="n0", asked=at, handed=at, begun=at + MINUTE, delivered=at + 2 * MINUTE)
        for each, at in zip(history.requests, starts, strict=True)
    ]
    projects = [
        each._replace(client=0, node="n0", start=at, end=at + 2 * MINUTE)
        for each, at in zip(history.projects, starts, strict=True)
    ]
    return replace(history, requests=tuple(requests), projects=tuple(projects), open=open_)


@pytest.mark.parametrize("open_", [True, False])
def test_projects_begin_when_they_are_due_or_so_long_after_the_one_before(open_: bool) -> None:
    history = apart(open_=open_)
    system = fit([history])
    (same,) = predict(system, [history], [1])
    assert same.figures["all"].value == history.figures["all"]
    slower = replace(system.drives, change=[Service(10 * MINUTE, MINUTE)])
    run = Run(slower, system.demand, 1, Random(1))
    assert run.figures()["all"] == (30 * 10 if open_ else 30 * 10 + 29 * 8) * MINUTE


def test_a_record_that_does_not_say_which_drive_read_a_file_is_refused() -> None:
    """As of a system that is polled: the times are those of the polls."""
    history = line()
    polled = tuple(each._replace(drive="") for each in history.requests)
    with pytest.raises(CannotPredict, match="which drive read it is not known of 60 files of line") as found:
        fit([replace(history, requests=polled)])
    assert found.value.expected
    assert found.value.hint


def test_stagers_with_different_limits_are_refused() -> None:
    one, two = line(), line(files=4)
    shifted = tuple(each._replace(project=each.project + 100, node=f"m{each.node}") for each in two.requests)
    early = tuple(each._replace(handed=0 if each.group.endswith("/1") else each.handed) for each in shifted)
    with pytest.raises(CannotPredict, match="1, 2 of its requests were with the library"):
        fit([replace(one, requests=(*one.requests, *early))])
