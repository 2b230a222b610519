"""Jobs and audits on the page: states, failure rate, reasons, fates, names of what was lost."""

from dataclasses import replace

from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.html.submissions import audited
from tests.unit.builtin.reports import pieces, submitted, synthetic
from tests.unit.builtin.reports.html.test_page import Page


def text() -> str:
    return Page(HtmlReport().render(submitted.submitted(), {}).decode()).text


def test_t20_jobs_have_a_column_for_each_final_state_with_failure_rate_and_reasons() -> None:
    said = text()
    assert "Jobs by final state" in said
    assert "Submitted by completed failed cancelled Failure rate" in said
    assert "submit 52,684 1 3 0.0019 %" in said
    assert "n = 52,685" in said
    assert "BLAH error: submission command failed [exit] <201> job-7 1" in said
    assert "and 4 more reasons" in said


def test_what_became_of_submissions_stands_per_audit() -> None:
    said = text()
    assert "What became of the submissions" in said
    assert (
        "kill of ce <at> 5 s in submit +7.0 s not complete: it was stopped ce submit 70 of 90 40 0 0 0 30 0 0 2" in said
    )
    assert "the run +8.0 s ce submit 1,269 1,234 0 0 0 30 0 5 2 3 %" in said
    assert "submit on ce, after the run: 30 lost" in said
    assert "job-19 19 [red]&" in said
    assert "10 more: pileup export, table findings." in said
    assert "phantom no answer 99" in said


def test_rows_are_coloured_by_the_worst() -> None:
    results = submitted.submitted()
    assert [line.tone for line in audited(results, pieces.BEGIN)] == ["bad", "bad"]
    good = replace(results, audits=(submitted.audit(0, -1, ran_once=5),))
    assert audited(good, pieces.BEGIN)[0].tone == "warn", "ghosts are to be looked at"


def test_a_remark_stands_beside_its_criterion() -> None:
    assert "only <one> user" in text()


def test_a_run_without_jobs_has_no_such_part() -> None:
    said = Page(HtmlReport().render(synthetic.rich(), {}).decode()).text
    assert "Jobs by final state" not in said
    assert "became of the submissions" not in said
