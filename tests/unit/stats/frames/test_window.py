"""The measured time: as the places told it, and for older records as the rows have it."""

import numpy as np
import pytest

from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.stats.frames.window import windows
from tests.manifests import case_of, run_of

SECOND = 10**9
T0 = 1_795_000_000 * SECOND


def found(tmp_path, spans, wanted=None, parts=(), frames=(), **case):
    """Return seconds and edges (s after T0). `spans`: (start, end, phase), s after T0; `parts`: of the stages."""
    folder = RunFolder.create(tmp_path, "x", T0)
    folder.save(run_of({"cases": [{"id": 1, "name": "c"}]}))
    rows = np.zeros(len(spans), ROW)
    rows["id"] = np.arange(len(spans)) + 1
    rows["intended"] = rows["start"] = [T0 + int(start * SECOND) for start, _, _ in spans]
    rows["end"] = [T0 + int(end * SECOND) for _, end, _ in spans]
    rows["phase"] = [phase for _, _, phase in spans]
    rows["case"], rows["bytes"], rows["operation"] = 1, 100, 1
    writer = TableWriter(folder.operations_path(0), "operations", ROW)
    writer.append(rows, [b"copy"], ("operation",))
    writer.close()
    with folder.operations().connect() as connection:
        told = {"id": 1, "for": wanted, "spans": parts, "ended": T0 + 60 * SECOND, **case}
        window = windows(connection, [case_of(told)], {1: frames}).get(1)
    return window and (window.seconds, (window.begin - T0) / SECOND, (window.end - T0) / SECOND)


@pytest.fixture
def told(frame):
    def make(second, begin, end, **fields):
        edges = {"measured_from": T0 + int(begin * SECOND), "measured_to": T0 + int(end * SECOND) if end else 0}
        return frame(second, **edges, **fields)

    return make


def test_t01_the_measured_time_is_what_the_places_tell_even_where_nothing_began_in_it(tmp_path, told):
    frames = [told(1, 2, 7, phase=1), told(7.5, 2, 7, phase=4)]
    assert found(tmp_path, [(0, 9, 1)], frames=frames) == (5.0, 2.0, 7.0)


def test_a_run_that_goes_on_has_been_measured_up_to_its_newest_frame(tmp_path, told):
    assert found(tmp_path, [(0, 1, 3)], frames=[told(5, 2, 7)], ended=None) == (3.0, 2.0, 5.0)
    assert found(tmp_path / "before", [], frames=[told(1, 2, 7)], ended=None) is None


def test_an_early_stop_ends_it(tmp_path, told):
    assert found(tmp_path, [(0, 1, 3)], frames=[told(3, 0, 60), told(5, 0, 4)]) == (4.0, 0.0, 4.0)


def test_what_no_time_ends_ends_with_the_last_iteration(tmp_path, told):
    assert found(tmp_path, [(0, 1, 3), (1, 3.5, 3)], frames=[told(4, 0, None)]) == (3.5, 0.0, 3.5)


def test_places_begin_with_the_first_and_end_with_the_last(tmp_path, told):
    frames = [told(9, 1, 6, place=0), told(9, 0.9, 6.1, place=1)]
    assert found(tmp_path, [(1, 2, 3)], frames=frames) == (5.2, 0.9, 6.1)


def test_trials_of_a_level_are_no_part_of_it(tmp_path, told):
    frames = [told(3, 1, 3), told(9, 6, 8)]
    find = {"measuring": frames[0].time + 1}
    assert found(tmp_path, [(6, 7, 3)], frames=frames, find=find) == (2.0, 6.0, 8.0)
    assert found(tmp_path / "before", [], frames=frames, find={"measuring": None}) is None


def test_of_older_records_a_check_takes_from_its_first_start_to_its_last_end(tmp_path):
    assert found(tmp_path, [(0, 1, 3), (1, 3, 3)])[0] == 3.0


def test_of_older_records_a_load_that_was_stopped_ends_with_its_last(tmp_path):
    assert found(tmp_path, [(0, 1, 3), (3, 4, 3)], 60 * SECOND)[0] == 4.0


def test_of_older_records_a_load_has_its_whole_time_where_its_last_start_was_a_little_before_the_end(tmp_path):
    assert found(tmp_path, [(0, 1, 3), (9, 9.5, 3)], 10 * SECOND)[0] == 10.0


@pytest.mark.parametrize("phase", [0, 1, 2, 5])
def test_other_phases_are_not_measured(tmp_path, phase):
    assert found(tmp_path, [(0, 1, phase)]) is None


def test_ramps_between_stages_are_not_measured(tmp_path, told):
    parts = [(0, 2 * SECOND), (5 * SECOND, 6 * SECOND)]
    spans = [(0, 1, 3), (1, 3, 3), (3, 4, 1), (4.5, 5.5, 1), (5.5, 6, 3)]
    assert found(tmp_path, spans, parts=parts)[0] == 3.0
    assert found(tmp_path / "told", spans, parts=parts, frames=[told(6, 0, 6)])[0] == 3.0


def test_stages_that_were_stopped_end_with_the_last(tmp_path):
    parts = [(0, 2 * SECOND), (5 * SECOND, 15 * SECOND), (20 * SECOND, 30 * SECOND)]
    assert found(tmp_path, [(0, 1, 3), (6, 7, 3)], parts=parts)[0] == 4.0
    assert found(tmp_path / "first", [(0, 1, 3)], parts=parts)[0] == 1.0
