"""The page of runs compared: every contrast stands in it, nothing from outside is loaded or taken as markup."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import pytest

from pileup.builtin.reports.html import HtmlReport
from pileup.builtin.reports.junit import JUnitReport
from pileup.stats.compare.runs import compare_runs
from tests.unit.builtin.reports import synthetic
from tests.unit.stats.contrasts import MS, case, operation, run


@pytest.fixture
def page():
    slow = run(case(operation(30 * MS, rate=70.0, failed=9)), folder="/runs/<b>two", title="<script>alert(1)</script>")
    found = compare_runs([run(case(operation(20 * MS)))], [[slow], [run(case(operation(20 * MS)))]], 0.05)
    return HtmlReport().compared(found).decode()


class Checker(HTMLParser):
    """Counts elements and sees that they are closed."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], {}

    def handle_starttag(self, tag, attrs):
        self.seen[tag] = self.seen.get(tag, 0) + 1
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_it_is_whole_and_loads_nothing(page):
    checker = Checker()
    checker.feed(page)
    assert not checker.open
    assert not re.search(r"""src=|href="[^#]|url\(|@import""", page)
    assert "&lt;script&gt;alert(1)" in page
    assert "&lt;b&gt;two" in page


def test_the_only_script_is_that_of_the_theme(page):
    """It is the one of the report, and the browser is told its digest: it runs no other."""
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert "pileup-theme" in script
    assert f"<script>{script}</script>" in HtmlReport().render(synthetic.empty(), {}).decode()
    (digest,) = re.findall(r"script-src 'sha256-([^']+)';", page)
    assert digest == b64encode(sha256(script.encode()).digest()).decode()


def test_every_contrast_stands_in_it(page):
    for words in ("p50", "+50.0 % (", "-30.0 % (", "not passed", "too few", "the same within 5 %", "</span> worse<"):
        assert words in page, words
    assert page.count('<svg class="effect bad"') == 2 * 5, "what has changed, and all of it"
    assert page.count('<svg class="effect none"') == 5


def test_u9_the_sentence_is_first_and_what_has_not_changed_is_folded(page):
    first, second = re.findall(r'<p class="sentence">(.*?)</p>', page)
    assert "Regressed: 6 of 7 metrics are worse by 5 % or more" in first
    assert "The same within 5 %: 5 metrics." in second
    assert page.index("Regressed") < page.index("<h2>")
    folded = re.findall(r"<details.*?</details>", page, re.DOTALL)
    assert len(folded) == 2
    assert [fold.count('class="effect none"') for fold in folded] == [0, 5]
    assert "too few" not in re.sub(r"<details.*?</details>", "", page, flags=re.DOTALL)


def test_every_column_has_a_name(page):
    assert not re.search(r"<th[^>]*></th>", page)


def test_intervals_are_drawn_on_one_scale(page):
    found = re.findall(r'<line x1="([\d.]+)" y1="8" x2="([\d.]+)"', page)
    spans = [(float(low), float(high)) for low, high in found]
    assert all(0 <= low <= high <= 200 for low, high in spans)
    worse, same = spans[:5], spans[10:]
    assert all(high < 100 for low, high in worse[:2])
    assert all(low > 100 for low, high in worse[2:])
    assert all(low < 100 < high for low, high in same)


def test_other_reports_have_no_such_page():
    assert JUnitReport().compared(compare_runs([run()], [[run()]], 0.05)) == b""
