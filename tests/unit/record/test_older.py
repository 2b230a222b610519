"""What records of before tell in sentences alone is read out of them by the record, once."""

import pytest

from pileup.model.ending import StoppedBy
from pileup.model.journal import EventEntry
from pileup.record.older import completed, event
from tests.manifests import run_of


@pytest.mark.parametrize(
    ("stopped", "by"),
    [
        ("", None),
        (None, None),
        ("user: Ctrl-C", StoppedBy.USER),
        ("limit: 3 TiB moved", StoppedBy.LIMIT),
        ("internal: KeyError", StoppedBy.INTERNAL),
        ("who knows", StoppedBy.INTERNAL),
        (7, StoppedBy.INTERNAL),
    ],
)
def test_who_stopped_an_older_run_is_in_its_sentence(stopped: object, by: StoppedBy | None) -> None:
    assert completed({"stopped": stopped})["stopped_by"] == by


def test_what_a_record_says_itself_counts_and_nonsense_does_not() -> None:
    assert completed({"stopped": "limit: x", "stopped_by": "user"})["stopped_by"] == "user"
    assert completed({"stopped": "limit: x", "stopped_by": ["user"]})["stopped_by"] == "limit"
    assert completed({"stopped": "", "stopped_by": ["user"]})["stopped_by"] is None
    assert completed({"title": "x"}) == {"title": "x"}


def test_what_is_read_has_it_typed() -> None:
    assert run_of({"stopped": "limit: 3 TiB moved"}).stopped_by is StoppedBy.LIMIT
    assert run_of({"stopped": "limit: x", "stopped_by": "user"}).stopped_by is StoppedBy.USER
    assert run_of({"stopped": ""}).stopped_by is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("kill of ce at 10 s of submit lasted 2 s", "kill of ce at 10 s of submit"),
        ("kill of ce at 10 s of submit lasted 2 s; submit: 3 failed", "kill of ce at 10 s of submit"),
        ("kill of ce at 10 s of submit; no more", "kill of ce at 10 s of submit"),
    ],
)
def test_what_a_fault_was_is_in_the_sentence_of_an_older_event(text: str, says: str) -> None:
    assert event(EventEntry(1, 0, "fault", text)).says == says
    assert event(EventEntry(1, 0, "fault", text, says="x")).says == "x"
    assert event(EventEntry(1, 0, "place", text)).says == ""
