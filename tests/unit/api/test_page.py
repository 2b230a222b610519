"""What a notebook shows of a run: its sentence first, a small picture, never much."""

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pytest

from pileup.api import html
from pileup.api.sketch import together
from pileup.model.headline import headline
from pileup.model.results import RunResults
from tests.unit.builtin.reports import synthetic

SECOND = 10**9


class Closed(HTMLParser):
    """Sees that elements are closed in their order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def plain(page: str) -> str:
    """The text of a page, without its elements."""
    return unescape(re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", page)).strip())


def test_the_sentence_comes_first_then_criteria_picture_and_figures() -> None:
    results = synthetic.rich()
    page = html.run(results)
    assert plain(page).startswith(f"✗ {headline(results)} {results.run.title}")
    places = [page.index(words) for words in (">Criterion<", "<svg", ">Throughput<", ">Error<")]
    assert places == sorted(places)
    assert page.count("<svg") == 1


@pytest.mark.parametrize("name", ["rich", "simple", "empty", "hostile", "scanned", "spread"])
def test_it_is_small_whole_and_without_a_script(name: str) -> None:
    page = html.run(getattr(synthetic, name)())
    assert len(page.encode()) <= html.LARGEST
    assert "<script" not in page
    (checker := Closed()).feed(page)
    assert not checker.open


def test_what_is_left_out_is_counted() -> None:
    page = html.run(synthetic.huge(cases=300, seconds=600))
    assert len(page.encode()) <= html.LARGEST
    rows = int(re.findall(r"and (\d+) more", page)[0])
    assert 0 < rows < 600


def test_texts_without_end_do_not_make_it_large() -> None:
    rich = synthetic.rich()
    long = "<" * 100_000
    criteria = tuple(replace(each, says=long, threshold=long) for each in rich.criteria * 30)
    page = html.run(replace(rich, criteria=criteria, notes=(long[:500],) * 3))
    assert len(page.encode()) <= html.LARGEST


def drawn(results: RunResults) -> list[str]:
    """The lines of the picture, without its axis."""
    return re.findall(r'<path d="(M[^"H]*)"', html.run(results))


def test_the_picture_takes_the_colour_of_the_notebook_and_shows_what_did_not_pass() -> None:
    passed, failed = drawn(synthetic.rich())
    assert passed.count("L") > 20
    assert failed != passed
    page = html.run(synthetic.rich())
    assert 'stroke="currentColor"' in page
    assert f'stroke="{html.BAD}"' in page
    assert re.search(r'aria-label="Passed per second, at most [0-9,.]+ /s, over [^"]+"', page)


def test_a_run_that_measured_nothing_has_no_picture() -> None:
    assert "<svg" not in html.run(synthetic.empty())


def test_loads_beside_each_other_are_summed_and_gaps_stay_gaps() -> None:
    line = next(case.timeline for case in synthetic.simple().cases if case.timeline is not None)
    first = replace(line, times=(SECOND, 2 * SECOND), seconds=(1.0, 1.0))
    second = replace(line, times=(2 * SECOND, 4 * SECOND), seconds=(1.0, 1.0))
    found = together([first, second], [(10.0, 20.0), (5.0, 8.0)], 0, 4 * SECOND)
    assert found[2] is None
    assert [found[0], found[1], found[3]] == pytest.approx([10.0, 25.0, 8.0])


def test_an_interval_counts_as_far_as_it_lies_in_a_part() -> None:
    line = next(case.timeline for case in synthetic.simple().cases if case.timeline is not None)
    half = replace(line, times=(SECOND // 2, 3 * SECOND // 2), seconds=(0.5, 1.0))
    assert together([half], [(10.0, 20.0)], 0, 2 * SECOND) == pytest.approx([15.0, 20.0])
