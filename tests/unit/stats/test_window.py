"""The measured time, and what was done in it."""

import numpy as np
import pytest

from pileup.record import RunFolder, TableWriter
from pileup.record.operations import ROW
from pileup.stats.window import windows

SECOND = 10**9
T0 = 1_795_000_000 * SECOND


def found(tmp_path, spans, wanted=None, parts=()):
    """`spans`: (start, end, phase) in seconds since T0, 100 bytes each; `parts`: what the load's stages measure."""
    folder = RunFolder.create(tmp_path, "x", T0)
    folder.save({"cases": [{"id": 1, "name": "c"}]})
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
        window = windows(connection, [{"id": 1, "for": wanted, "spans": parts}]).get(1)
    return window and (window.seconds, *window.done["copy", True])


def test_a_check_takes_from_its_first_start_to_its_last_end(tmp_path):
    assert found(tmp_path, [(0, 1, 3), (1, 3, 3)]) == (3.0, 2.0, 200.0)


def test_long_iterations_of_a_closed_load_count_with_their_share(tmp_path):
    spans = [(0, 8, 3), (8, 16, 3)]
    assert found(tmp_path, spans, 10 * SECOND) == (10.0, 1.25, 125.0)


def test_what_the_warm_up_left_over_counts_with_its_share(tmp_path):
    spans = [(-3, 1, 2), (0, 1, 3), (9, 10, 3)]
    assert found(tmp_path, spans, 10 * SECOND) == (10.0, 2.25, 225.0)


def test_a_backlog_served_after_the_end_does_not_raise_the_rate(tmp_path):
    spans = [(0, 10, 3), (0, 20, 3), (0, 20, 3)]
    assert found(tmp_path, spans, 10 * SECOND) == (10.0, 2.0, 200.0)


def test_a_load_that_was_stopped_ends_with_its_last(tmp_path):
    assert found(tmp_path, [(0, 1, 3), (3, 4, 3)], 60 * SECOND) == (4.0, 2.0, 200.0)


def test_a_load_whose_last_start_was_a_little_before_the_end_has_its_whole_time(tmp_path):
    assert found(tmp_path, [(0, 1, 3), (9, 9.5, 3)], 10 * SECOND)[0] == 10.0


def test_instants_count_whole(tmp_path):
    assert found(tmp_path, [(0, 0, 3), (1, 1, 3), (2, 2, 3)]) == (2.0, 3.0, 300.0)


@pytest.mark.parametrize("phase", [0, 1, 2, 5])
def test_other_phases_are_not_measured(tmp_path, phase):
    assert found(tmp_path, [(0, 1, phase)]) is None


def test_ramps_between_stages_are_not_measured(tmp_path):
    parts = [(0, 2 * SECOND), (5 * SECOND, 6 * SECOND)]
    spans = [(0, 1, 3), (1, 3, 3), (3, 4, 1), (4.5, 5.5, 1), (5.5, 6, 3)]
    assert found(tmp_path, spans, parts=parts) == (3.0, 3.0, 300.0)


def test_stages_that_were_stopped_end_with_the_last(tmp_path):
    parts = [(0, 2 * SECOND), (5 * SECOND, 15 * SECOND), (20 * SECOND, 30 * SECOND)]
    assert found(tmp_path, [(0, 1, 3), (6, 7, 3)], parts=parts) == (4.0, 2.0, 200.0)
    assert found(tmp_path / "first", [(0, 1, 3)], parts=parts) == (1.0, 1.0, 100.0)
