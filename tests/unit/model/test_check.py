"""The grammar of checks."""

import re

import pytest

from pileup.model.check import BARE, Selected, parse, resolve

TESTS = {"copy", "new-comers", "fill_2"}
MONITORS = {"node", "lab.power"}


@pytest.mark.parametrize(
    ("text", "function", "path", "right"),
    [
        ("rate(copy.bytes) >= 200 MB/s", "rate", ("copy", "bytes"), (">=", 200e6, "bandwidth")),
        ("fraction(copy.failed) < 0.1 %", "fraction", ("copy", "failed"), ("<", 0.001, "fraction")),
        (
            "p99(new-comers.read.service)<=1.5ms",
            "quantile",
            ("new-comers", "read", "service"),
            ("<=", 1_500_000, "time"),
        ),
        (" max ( copy ) != 3 ", "max", ("copy",), ("!=", 3, BARE)),
        ("last(node.load1) < 1", "last", ("node", "load1"), ("<", 1, BARE)),
        ("count(copy.missed) == 0", "count", ("copy", "missed"), ("==", 0, BARE)),
        ("sum(fill_2.bytes) > 1 GiB", "sum", ("fill_2", "bytes"), (">", 2**30, "size")),
    ],
)
def test_a_check_is_read(text, function, path, right):
    check = parse(text)
    assert (check.function, check.path) == (function, path)
    assert (check.comparison, check.value, check.dimension) == right


@pytest.mark.parametrize(("word", "share"), [("p50", 0.5), ("p99.99", 0.9999), ("p1", 0.01), ("p0.1", 0.001)])
def test_quantiles_are_shares(word, share):
    assert parse(f"{word}(copy) < 1 s").quantile == share


def test_labels_are_sorted_pairs():
    check = parse("mean(node.cpu[mode=user, host=a-1.b]) < 80 %")
    assert check.labels == (("host", "a-1.b"), ("mode", "user"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "column 1: the check ends too early"),
        ("rat(copy) > 1", "column 1: 'rat' is not a function; expected rate"),
        ("p100(copy) > 1 s", "column 1: 'p100' is not a function"),
        ("p0(copy) > 1 s", "column 1: 'p0' is not a function"),
        ("rate copy > 1", "column 6: found 'c'; expected '(' after the function"),
        ("rate() > 1", "column 6: found ')'; expected the name of a test or monitor"),
        ("rate(copy.) > 1", "column 11: found ')'; expected an operation, a field or a metric"),
        ("rate(copy > 1", "column 11: found '>'; expected ')' after the selector"),
        ("rate(copy) 1", "column 12: found '1'; expected a comparison"),
        ("rate(copy) = 1", "column 12: found '='; expected a comparison"),
        ("rate(copy) >", "column 13: the end is not a value"),
        ("rate(copy) > many", "column 14: 'many' is not a value"),
        ("rate(copy) > 1 MB/sec", "column 14: unknown unit 'MB/sec'; expected"),
        ("rate(copy) > 1 s or 2", "column 14: '1 s or 2' is not a value"),
        ("rate(copy) > 1e999", "column 14: '1e999' is too large"),
        ("sum(copy.bytes) > 1e305 TB", "column 19: '1e305 TB' is too large"),
        ("mean(node.cpu[mode]) < 1", "column 19: found ']'; expected '='"),
        ("mean(node.cpu[a=1,a=2]) < 1", "column 19: label 'a' is given twice"),
        ("x" * 501, "column 1: 501 characters"),
    ],
)
def test_what_is_wrong_is_told_with_its_column(text, says):
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert str(caught.value).startswith(says)
    assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("p50(copy) < 1 s", Selected("test", "copy", None, "response", dimension="time")),
        ("rate(copy) < 1", Selected("test", "copy", None, "response", dimension="rate")),
        ("rate(copy.read.bytes) < 1 B/s", Selected("test", "copy", "read", "bytes", dimension="bandwidth")),
        ("max(copy.read) < 0", Selected("test", "copy", "read", "response", dimension="time")),
        ("fraction(copy.failed) < 0.01", Selected("test", "copy", None, "failed", dimension="fraction")),
        ("sum(copy.failed) < 3", Selected("test", "copy", None, "failed", dimension="count")),
        ("max(lab.power.volt.a) < 3", Selected("monitor", "lab.power", metric="volt.a")),
        ("mean(node.x[a=b]) < 3 ms", Selected("monitor", "node", metric="x", labels=(("a", "b"),))),
    ],
)
def test_names_are_looked_up(text, selected):
    assert resolve(parse(text), TESTS, MONITORS) == selected


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("rate(cpoy) > 1", "there is no test or monitor 'cpoy'; expected copy"),
        ("max(node) > 1", "'node' is a monitor and no metric is named; expected node.METRIC"),
        ("rate(node.load1) > 1", "rate of a monitor's metric"),
        ("count(node.load1) > 1 s", "count(node.load1) is a count, the value '1 s' is a time; expected a count"),
        ("rate(copy.bytes) > 10 /s", "rate(copy.bytes) is a bandwidth, the value '10 /s' is a rate"),
        ("p99(copy) < 5", "p99(copy) is a time, the value '5' is a number without a unit"),
        ("fraction(copy.failed) < 5 s", "fraction(copy.failed) is a fraction, the value '5 s' is a time"),
        ("fraction(copy) < 5 %", "fraction of response; expected fraction of one of passed"),
        ("p99(copy.failed) < 5", "p99 of failed; expected one of count"),
        ("count(copy.read.missed) < 5", "operations cannot be missed"),
        ("rate(copy[a=b]) < 5", "'copy' is a test, whose labels select in criteria alone"),
    ],
)
def test_what_does_not_fit_is_refused(text, says):
    with pytest.raises(ValueError) as caught:
        resolve(parse(text), TESTS, MONITORS)
    assert says in str(caught.value)
    assert "expected" in str(caught.value)


@pytest.mark.parametrize(
    ("comparison", "below", "same", "above"),
    [("<", 1, 0, 0), ("<=", 1, 1, 0), (">", 0, 0, 1), (">=", 0, 1, 1), ("==", 0, 1, 0), ("!=", 1, 0, 1)],
)
def test_comparisons(comparison, below, same, above):
    check = parse(f"rate(copy) {comparison} 2")
    assert [check.holds(value) for value in (1, 2, 3)] == [below, same, above]
    assert (check.figure, check.threshold) == ("rate(copy)", f"{comparison} 2")


def test_values_of_labels_may_have_spaces_and_be_in_quotes():
    wanted = (("drive", "disk 3"), ("place", "n2"))
    for text in ("max(copy.response[place=n2, drive=disk 3]) < 1", 'max(copy.response[place="n2",drive="disk 3"]) < 1'):
        assert parse(text).labels == wanted


def test_a_figure_is_told_with_its_labels():
    assert parse("mean(node.temperature[sensor=core (0)]) < 3").figure == "mean(node.temperature[sensor=core (0)])"


def test_a_threshold_is_told_with_its_unit():
    assert parse("rate(copy.bytes) >= 200 MB/s").threshold == ">= 200 MB/s"


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("last(copy.entries) == 10", "entries"),
        ("mean(copy.speed) >= 200 MB/s", "speed"),
        ("p90(copy.load) < 3", "load"),
    ],
)
def test_a_number_that_a_test_reported_is_told_from_an_operation_by_its_dimension(text: str, metric: str) -> None:
    selected = resolve(parse(text), {"copy"}, set())
    assert (selected.kind, selected.name, selected.metric) == ("monitor", "copy", metric)
    operation = resolve(parse(f"p90(copy.{metric}) < 3 s"), {"copy"}, set())
    assert (operation.kind, operation.operation) == ("test", metric)


@pytest.mark.parametrize(
    ("text", "kind", "operation", "field", "dimension"),
    [
        ("p99(server.GET) < 10 ms", "monitor", None, "response", None),
        ("rate(server.GET) > 5 /s", "served", "GET", "response", "rate"),
        ("fraction(server.GET.failed) < 1 %", "served", "GET", "failed", "fraction"),
        ("p99(server.GET.response[target=se]) < 10 ms", "served", "GET", "response", "time"),
        ("sum(server.a.b.bytes) > 5 MB", "served", "a.b", "bytes", "size"),
        ("max(server.lost) == 0", "monitor", None, "response", None),
        ("max(server.lost) < 5", "monitor", None, "response", None),
        ("sum(server.GET.lost) == 0", "served", "GET", "lost", "count"),
        ("p99(copy.read[drive=d2]) < 10 ms", "test", "read", "response", "time"),
    ],
)
def test_what_monitors_record_and_labels_of_tests_are_selected(text, kind, operation, field, dimension):
    found = resolve(parse(text), {"copy"}, {"server", "node"}, {"server"})
    assert (found.kind, found.operation, found.field, found.dimension) == (kind, operation, field, dimension)
    assert found.labels == parse(text).labels


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rate(node.load1) < 5", "rate of a monitor's metric"),
        ("fraction(server.GET.missed) < 5 %", "operations cannot be missed"),
        ("rate(server.GET) < 5 ms", "rate(server.GET) is a rate"),
        ("fraction(server.GET.bytes) < 5 %", "fraction of bytes"),
    ],
)
def test_what_monitors_do_not_record_is_refused(text, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        resolve(parse(text), {"copy"}, {"server", "node"}, {"server"})
