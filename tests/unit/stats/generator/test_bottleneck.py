"""What the bottleneck was, in one line."""

import pytest

from pileup.model.bottleneck import LimitedBy
from pileup.model.cause import Cause
from pileup.model.results import ErrorGroup
from pileup.stats.cases import CaseData
from pileup.stats.generator.advice import against_pileup
from pileup.stats.generator.bottleneck import limits, one_line
from pileup.stats.generator.holdups import Stretch
from tests.manifests import case_of

MS = 10**6
OPEN = {"id": 1, "name": "copy", "test": "copy", "load_kind": "open", "rate": 10.0, "clients": 4}
CLOSED = {**OPEN, "load_kind": "closed"}


def line(info, *frames):
    return one_line(limits([CaseData(case_of(info), list(frames), None)]))


def test_the_load_asked_for_was_reached(row, frame):
    frames = [frame(second, row([20 * MS] * 10), late=[MS // 2] * 10, clients=2) for second in range(1, 4)]
    assert line(OPEN, *frames) == "copy: the load asked for was reached (10 /s passed of 10 /s asked for)"


def test_the_system_did_not_keep_up(row, frame):
    frames = [frame(1, row([800 * MS] * 5), late=[500 * MS] * 5, in_flight=4, clients=4), frame(2, phase=4, missed=5)]
    assert line(OPEN, *frames) == (
        "copy: the system was the bottleneck (5 /s passed of 10 /s asked for, 5 missed, up to 4 in flight)"
    )


def test_a_load_that_waits_for_its_starts_misses_nothing_and_may_be_behind_all_the_same(row, frame):
    frames = [frame(1, row([800 * MS] * 5), late=[500 * MS] * 5, in_flight=4, clients=4)]
    assert (
        line(OPEN, *frames) == "copy: the system was the bottleneck (5 /s passed of 10 /s asked for, up to 4 in flight)"
    )


def test_failures_are_not_the_load_asked_for(row, frame):
    assert "the system was the bottleneck" in line(OPEN, frame(1, row([MS] * 7, failed=3)))


def test_clients_were_kept_busy(row, frame):
    assert line(CLOSED, frame(1, row([25 * MS] * 160), clients=4)).startswith(
        "copy: 4 clients kept busy: 160 /s at a median of 25 ms; more clients"
    )
    assert line(CLOSED, frame(1, row([25 * MS] * 90, refused=10), clients=4)) == (
        "copy: the system was the bottleneck: 4 clients, 90 /s at a median of 25 ms, and 10 of 100 did not pass"
    )
    assert line(CLOSED, frame(1, row(failed=1))) == "copy: it cannot be said: nothing passed"


def test_a_load_that_is_steered_asked_for_no_level(row, frame):
    hold = {"hold": {"metric": "poll.queued", "by": "rate"}, "rate": None, "clients": None}
    frames = [frame(1, row([20 * MS] * 10), clients=2)]
    assert line(OPEN | hold, *frames) == "copy: the rate followed what poll.queued asked for (10 /s passed)"
    late = [frame(1, row([800 * MS] * 5), in_flight=4, clients=4), frame(2, phase=4, missed=5)]
    assert line(OPEN | hold, *late) == "copy: the system was the bottleneck (5 /s passed, 5 missed, up to 4 in flight)"
    hold["hold"] = {"metric": "p90(copy.response)", "by": "clients"}
    assert line(CLOSED | hold, *frames) == (
        "copy: the clients followed what p90(copy.response) asked for (10 /s at a median of 20 ms)"
    )


def test_a_search_has_tried_more_clients(row, frame):
    found = line(CLOSED | {"find": {"raise": "clients", "measuring": 1}}, frame(1, row([25 * MS] * 160), clients=4))
    assert found == "copy: 4 clients kept busy: 160 /s at a median of 25 ms"


@pytest.mark.parametrize("info", [OPEN, CLOSED])
def test_the_generator_began_late(row, frame, info):
    found = limits([CaseData(case_of(info), [frame(1, row([20 * MS] * 10), late=[12 * MS] * 10, clients=2)], None)])
    assert found[0].generator
    assert "pileup was the bottleneck (half of the starts came 12 ms late or more)" in one_line(found)


@pytest.mark.parametrize("info", [OPEN, CLOSED])
def test_the_millisecond_that_a_load_asks_for_is_told_and_no_bottleneck(row, frame, info):
    late = [frame(1, row([12 * MS // 10] * 10), late=[11 * MS // 10] * 10, clients=2)]
    (coarse,) = limits([CaseData(case_of({**info, "pacing": "coarse"}), late, None)])
    (normal,) = limits([CaseData(case_of(info), late, None)])
    assert (coarse.generator, normal.generator) == (False, True)
    assert (
        "pileup's starts came 1.1 ms late in the median, up to 1 ms of it for coarse pacing: response times contain "
        "that, service times do not"
    ) in coarse.words


def test_coarse_starts_that_matter_little_are_not_told_and_late_ones_are_a_bottleneck(row, frame):
    info = {**OPEN, "pacing": "coarse"}
    little = frame(1, row([20 * MS] * 10), late=[MS // 2] * 10, clients=2)
    assert "coarse" not in line(info, little)
    late = frame(1, row([20 * MS] * 10), late=[12 * MS] * 10, clients=2)
    assert "pileup was the bottleneck (half of the starts came 12 ms late or more)" in line(info, late)


def test_late_by_less_than_a_tenth_of_the_median_does_not_matter(row, frame):
    assert "reached" in line(OPEN, frame(1, row([50 * MS] * 10), late=[3 * MS] * 10, clients=2))


def test_the_generator_had_no_cpu_left(row, frame):
    found = line(CLOSED, frame(1, row([MS] * 10), cpu=950 * MS))
    assert "pileup was the bottleneck (it took 95 % of a core)" in found


def test_checks_have_no_limit(row, frame):
    assert line({**OPEN, "load_kind": "once"}, frame(1, row([MS]))).startswith("No load was pressed")


@pytest.mark.parametrize("info", [OPEN, CLOSED])
def test_starts_that_were_a_little_late_are_told_and_excuse_nothing(row, frame, info):
    found = limits([CaseData(case_of(info), [frame(1, row([20 * MS] * 10), late=[3 * MS] * 10, clients=2)], None)])
    assert not found[0].generator
    assert "starts came 3 ms late at the 99th percentile: the slowest responses contain that" in found[0].words


@pytest.mark.parametrize(
    ("cause", "of"),
    [
        (Cause.OPEN_FILES, "open files (ulimit -n)"),
        (Cause.LOCAL_PORTS, "local ports (net.ipv4.ip_local_port_range)"),
    ],
)
@pytest.mark.parametrize("message", ["too many open files", "open: Too many open files (os error 24)", "whatever"])
def test_what_our_own_machine_refused_is_not_the_systems(row, frame, message, cause, of):
    data = CaseData(case_of(CLOSED), [frame(1, row([25 * MS] * 90, failed=10), clients=4)], None)
    errors = [ErrorGroup(case, "copy", "failed", message, 10, 0, "local", cause.word) for case in ("else", "copy")]
    (found,) = limits([data], errors=errors)
    assert (found.generator, found.failures) == (True, tuple(errors[1:]))
    assert found.words == (
        f"pileup was the bottleneck (10 failed: pileup had no more {of}); these failures are not the system's"
    )
    (other,) = limits([data], errors=errors[:1])
    assert not other.generator


@pytest.mark.parametrize("message", ["status 500: too many open files", "too many open files"])
@pytest.mark.parametrize("cause", [Cause.NONE, Cause.CANCELLED])
def test_what_a_server_says_of_its_own_files_is_the_systems(row, frame, message, cause):
    errors = [ErrorGroup("copy", "copy", "failed", message, 10, 0, "local", cause.word)]
    (found,) = limits(
        [CaseData(case_of(CLOSED), [frame(1, row([25 * MS] * 90, failed=10), clients=4)], None)], errors=errors
    )
    assert not found.generator


@pytest.mark.parametrize("info", [OPEN, CLOSED])
def test_t03_a_system_that_answers_nothing_is_never_excused(row, frame, info):
    """No answer has no median: the bar fell to 1 ms, and 3 ms of lateness excused a dead server."""
    frames = [
        frame(second, row(failed=10), late=[3 * MS] * 10, cpu=950 * MS, in_flight=2, clients=3)
        for second in range(1, 6)
    ]
    (found,) = limits([CaseData(case_of(info), frames, None)])
    assert not found.generator
    assert "pileup was the bottleneck" not in found.words


def test_t03_lateness_is_held_against_what_users_saw_not_what_survived(row, frame):
    """A few answers of 1 ms among many that never came: 3 ms late is nothing to those who waited in vain."""
    many = [frame(n, row([MS] * 4, failed=6), late=[3 * MS] * 10, clients=2) for n in range(1, 6)]
    (found,) = limits([CaseData(case_of(CLOSED), many, None)])
    assert not found.generator
    assert "the system was the bottleneck" in found.words


def test_t03_a_tail_of_late_starts_is_told_and_is_no_bottleneck(row, frame):
    """A fast system on a busy machine: one start in fifty is 3 ms late, the median is that of the system."""
    frames = [frame(n, row([MS // 10] * 98 + [3 * MS] * 2), late=[1000] * 98 + [3 * MS] * 2) for n in range(1, 6)]
    (found,) = limits([CaseData(case_of(CLOSED), frames, None)])
    assert not found.generator
    assert "starts came 3 ms late at the 99th percentile: the slowest responses contain that" in found.words


def test_t26_lateness_is_nothing_to_a_queue_of_minutes(row, frame):
    hold = {"hold": {"metric": "poll.queued", "by": "rate", "at": 5000.0, "half": 250.0}, "rate": None}
    frames = [frame(n, row([20 * MS] * 8), late=[70 * MS] * 8, clients=64) for n in range(1, 61)]
    (found,) = limits([CaseData(case_of(OPEN | hold), frames, None)])
    assert not found.generator
    assert found.stretches == ()


def row_of(info, *frames, errors=()):
    (found,) = limits([CaseData(case_of(info), list(frames), None)], errors=errors)
    return found.row


def test_each_bottleneck_is_a_row_with_evidence_and_a_next_step(row, frame):
    reached = row_of(OPEN, *[frame(n, row([20 * MS] * 10), late=[MS // 2] * 10, clients=2) for n in range(1, 4)])
    assert (reached.case, reached.by) == ("copy", LimitedBy.LOAD)
    assert reached.evidence == "10 /s passed of 10 /s asked for"
    assert reached.advice.startswith("Raise the rate")
    behind = row_of(OPEN, frame(1, row([800 * MS] * 5), in_flight=4, clients=4), frame(2, phase=4, missed=5))
    assert (behind.by, behind.evidence) == (
        LimitedBy.SYSTEM,
        "5 /s passed of 10 /s asked for, 5 missed, up to 4 in flight",
    )
    assert behind.advice.startswith("Find the highest rate that it sustains")
    busy = row_of(CLOSED, frame(1, row([25 * MS] * 160), clients=4))
    assert (busy.by, busy.evidence) == (LimitedBy.CLIENTS, "4 clients kept busy: 160 /s at a median of 25 ms")
    assert busy.advice.startswith("Raise `clients`")
    wrong = row_of(CLOSED, frame(1, row([25 * MS] * 90, refused=10), clients=4))
    assert (wrong.by, wrong.advice) == (LimitedBy.SYSTEM, "Look at *Errors* and the output of the case")
    assert row_of(CLOSED, frame(1, row(failed=1))).by is LimitedBy.UNKNOWN
    searched = row_of(
        CLOSED | {"find": {"raise": "clients", "measuring": 1}}, frame(1, row([25 * MS] * 160), clients=4)
    )
    assert (searched.by, searched.advice) == (LimitedBy.CLIENTS, "")
    hold = {"hold": {"metric": "poll.queued", "by": "rate"}, "rate": None, "clients": None}
    held = row_of(OPEN | hold, frame(1, row([20 * MS] * 10), clients=2))
    assert (held.by, held.advice) == (LimitedBy.HELD, "")


def test_a_fixed_number_of_iterations_is_an_offered_load(row, frame):
    fixed = {**CLOSED, "clients": 4, "times": 4}
    each = row_of(fixed, frame(1, row([800 * MS] * 4), clients=4))
    assert (each.by, each.evidence) == (
        LimitedBy.LOAD,
        "4 of 4 iterations by 4 clients in 1 s, at a median of 800 ms",
    )
    assert "more clients change nothing" in each.advice
    fewer = row_of({**fixed, "times": 160}, frame(1, row([25 * MS] * 160), clients=4))
    assert fewer.by is LimitedBy.LOAD
    assert fewer.advice.startswith("Vary `clients` in a scan")
    assert row_of(fixed, frame(1, row(failed=4), clients=4)).by is LimitedBy.UNKNOWN


def test_what_to_do_about_pileup_depends_on_what_it_lacked(row, frame):
    burnt = row_of(CLOSED, frame(1, row([MS] * 10), cpu=950 * MS))
    assert (burnt.by, burnt.evidence) == (
        LimitedBy.PILEUP,
        "It took 95 % of a core: these numbers do not describe the system",
    )
    assert "--fleet processes:4" in burnt.advice
    python = row_of(CLOSED | {"engine": "python"}, frame(1, row([MS] * 10), cpu=950 * MS))
    assert "native engine" in python.advice
    errors = [ErrorGroup("copy", "copy", "failed", "x", 10, 0, "local", Cause.OPEN_FILES.word)]
    refused = row_of(CLOSED, frame(1, row([25 * MS] * 90, failed=10), clients=4), errors=errors)
    assert (
        refused.evidence == "10 failed: pileup had no more open files (ulimit -n); these failures are not the system's"
    )
    assert "ulimit -Hn" in refused.advice
    for part, advice in (
        ({"stopped": 1}, "not paused"),
        ({"loop": 1}, "event loop"),
        ({"waited": 0.5}, "other programs"),
    ):
        assert advice in against_pileup([Stretch(0, 1, **part)], interpreted=False)


def test_a_tail_of_late_starts_is_part_of_the_evidence(row, frame):
    found = row_of(OPEN, frame(1, row([20 * MS] * 10), late=[3 * MS] * 10, clients=2))
    assert found.evidence.endswith(
        ". pileup's starts came 3 ms late at the 99th percentile: the slowest responses contain that"
    )
