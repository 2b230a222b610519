"""The table of faults on the page: figures with intervals, what never came back, colours, text as text."""

from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.html.fault_table import fault_table
from pileup.builtin.reports.html.text import ABSENT
from tests.unit.builtin.reports import synthetic
from tests.unit.builtin.reports.broken import broken


def test_each_load_that_a_fault_happened_to_is_a_row() -> None:
    found = fault_table(broken())
    assert found.words == ["failed", "ambiguous"]
    crash, poll, never = found.rows
    assert (crash.name, crash.test, crash.times, crash.tone) == ("crash", "submit", "2", "bad")
    assert (crash.recovery.value, crash.recovery.interval) == ("3 s", f"2 {ABSENT} 4 s")
    assert [shown.value for shown in crash.counts] == ["7.5", "1"]
    assert (crash.jobs_lost.value, crash.lost_share.value) == ("4", "4 %")
    assert (poll.jobs_lost.value, poll.recovery.interval, poll.tone) == (ABSENT, "", "warn")
    assert (never.never, never.tone) == ("never, 3 of 3 times", "bad")


def test_it_stands_on_the_page_and_only_where_there_are_faults() -> None:
    page = HtmlReport().render(broken(), {}).decode()
    assert '<section id="faults">' in page
    assert "kill of ce.slurmctld at 5 s of &lt;submit&gt;" in page
    assert '<section id="faults">' not in HtmlReport().render(synthetic.simple(), {}).decode()
