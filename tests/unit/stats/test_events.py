"""What happened to the run: in order, with what it is about, and the pauses between sessions."""

import pytest

from pileup.model.journal import EventEntry
from pileup.record.typed_json import read_known
from pileup.stats.events import events
from tests.manifests import run_of

SECOND = 10**9


def told(lines, sessions=()):
    return events([read_known(EventEntry, {"number": 1, **line}) for line in lines], sessions)


def test_events_have_a_begin_an_end_and_what_they_are_about():
    found = told(
        [
            {"number": 3, "time": 9, "kind": "monitor", "text": "too slow"},
            {"number": 1, "time": 5, "kind": "fault", "text": "se is killed", "begin": 2, "end": 4, "target": "se"}
            | {"says": "kill of se at 2 s of copy"},
            {"number": 2, "time": 3, "kind": "case", "text": "copy begins"},
            {"number": 4, "time": 10, "kind": "place", "text": "lost", "place": 0, "end": "never"},
        ]
    )
    assert [(each.kind, each.begin, each.end, each.about) for each in found] == [
        ("fault", 2, 4, "se"),
        ("monitor", 9, 9, ""),
        ("place", 10, 10, "0"),
    ]
    assert [each.says for each in found] == ["kill of se at 2 s of copy", "", ""]


@pytest.mark.parametrize(("ended", "begin"), [(70 * SECOND, 70), (None, 60)])
def test_a_run_that_was_taken_up_again_shows_when_nothing_ran(ended, begin):
    happened = [{"time": second * SECOND, "kind": "case", "text": ""} for second in (1, 60, 200)]
    sessions = [{"started": 0, "ended": ended}, {"started": 190 * SECOND, "ended": 300 * SECOND}]
    (pause,) = told(happened, run_of({"sessions": sessions}).sessions)
    assert (pause.kind, pause.begin, pause.end) == ("pause", begin * SECOND, 190 * SECOND)
    assert pause.text == ("resumed after 2 min" if ended else "resumed after 2 min 10 s")
