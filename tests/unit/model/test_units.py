"""Quantities are read exactly and written for people."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pileup.model.units import (
    DIMENSIONS,
    counted,
    dimension_of,
    format_bandwidth,
    format_count,
    format_fraction,
    format_quantity,
    format_range,
    format_rate,
    format_size,
    format_time,
    parse,
)


@pytest.mark.parametrize(
    ("text", "dimension", "value"),
    [
        ("0.1 s", "time", 100_000_000),
        ("1.000000001 s", "time", 1_000_000_001),
        ("2 min", "time", 120 * 10**9),
        ("0", "time", 0),
        ("64 MiB", "size", 64 * 2**20),
        ("1e3 kB", "size", 10**6),
        ("1 Gbit/s", "bandwidth", 125_000_000),
        ("200 MB/s", "bandwidth", 200_000_000),
        ("5 %", "fraction", Decimal("0.05")),
        ("0.05", "fraction", Decimal("0.05")),
        ("60 /min", "rate", 1),
        ("1e7", "count", 10**7),
    ],
)
def test_reading_is_exact(text: str, dimension: str, value: Decimal) -> None:
    assert parse(text, dimension) == value


@pytest.mark.parametrize(
    ("text", "dimension", "said"),
    [
        ("5 MB", "time", "'5 MB' is a size; expected a time"),
        ("5", "time", "has no unit"),
        ("5 parsec", "time", "unknown unit 'parsec'"),
        ("nan", "count", "is not a number"),
        ("inf s", "time", "is not a number"),
        ("1e9999 s", "time", "is not a number"),
        ("x" * 10_000, "size", "is not a number"),
    ],
)
def test_what_is_wrong_is_named(text: str, dimension: str, said: str) -> None:
    with pytest.raises(ValueError, match="expected") as problem:
        parse(text, dimension)
    assert said in str(problem.value)
    assert len(str(problem.value)) < 300


def test_a_unit_belongs_to_one_dimension() -> None:
    units = [unit for kind in DIMENSIONS.values() for unit in kind.units if unit]
    assert len(units) == len(set(units))
    assert (dimension_of("ms"), dimension_of("Gbit/s"), dimension_of("furlong")) == ("time", "bandwidth", None)


def test_writing_is_for_people() -> None:
    assert [format_time(value) for value in (0, 999, 12_345_678, 59.94e9, 90e9, 3_700e9)] == [
        "0 s",
        "999 ns",
        "12.3 ms",
        "59.9 s",
        "1 min 30 s",
        "1 h 1 min",
    ]
    assert (format_size(64 * 2**20), format_bandwidth(2e8), format_rate(1234)) == ("64 MiB", "200 MB/s", "1,230 /s")
    assert (format_count(20_000), format_fraction(0.00123)) == ("20,000", "0.123 %")


@given(st.integers(0, 10**15), st.sampled_from(["ns", "us", "ms", "s", "min", "h"]))
def test_whole_times_come_out_whole(number: int, unit: str) -> None:
    assert parse(f"{number} {unit}", "time") == number * DIMENSIONS["time"].units[unit]


@given(st.text(max_size=40), st.sampled_from(sorted(DIMENSIONS)))
def test_any_text_is_a_quantity_or_a_value_error(text: str, dimension: str) -> None:
    try:
        parse(text, dimension)
    except ValueError as problem:
        assert "expected" in str(problem)


@pytest.mark.parametrize(
    ("count", "several", "told"),
    [(1, "", "1 case"), (0, "", "0 cases"), (2, "", "2 cases"), (20_000, "", "20,000 cases"), (3, "boxes", "3 boxes")],
)
def test_d13_one_of_a_thing_is_told_in_the_singular(count: int, several: str, told: str) -> None:
    assert counted(count, "case", several) == told


@pytest.mark.parametrize(
    ("per_second", "told"),
    [
        (0, "0 /s"),
        (0.0095, "34.2 /h"),
        (4.16667, "4.17 /s"),
        (3_164.7, "3,160 /s"),
        (0.05, "3 /min"),
        (1e-5, "0.864 /d"),
        (999.7, "1,000 /s"),
        (1.5e6, "1.5 M/s"),
    ],
)
def test_u10_a_rate_is_told_in_the_unit_that_people_use(per_second: float, told: str) -> None:
    assert format_rate(per_second) == told


@pytest.mark.parametrize(
    ("low", "high", "dimension", "told"),
    [
        (0, 2e7, "time", "0-20 ms"),
        (9e5, 2.1e7, "time", "0.9-21 ms"),
        (5, 2e7, "time", "5 ns to 20 ms"),
        (5e10, 1.2e11, "time", "50 s to 2 min"),
        (0, 0.000176, "fraction", "0-0.0176 %"),
        (-0.1, 0.2, "fraction", "-10 to 20 %"),
        (32.4 / 3600, 36 / 3600, "rate", "32.4-36 /h"),
        (0, 15_000 / 3600, "rate", "0-4.17 /s"),
        (1, 40, "", "1-40"),
    ],
)
def test_u10_a_range_has_its_unit_once(low: float, high: float, dimension: str, told: str) -> None:
    assert format_range(low, high, dimension) == told


AMOUNTS = st.floats(1e-3, 1e13, allow_nan=False)
WRITTEN = sorted(set(DIMENSIONS) - {"count"})


def read_back(text: str, dimension: str) -> float:
    """Return the quantity that a person reads: `1 min 30 s` in its parts, `M/s` for millions."""
    plain = text.replace(",", "").replace(" M/s", "e6 /s")
    words = plain.split()
    parts = [" ".join(pair) for pair in zip(words[::2], words[1::2], strict=True)] if dimension == "time" else [plain]
    return float(sum(parse(part, dimension) for part in parts))


@given(AMOUNTS, st.sampled_from(WRITTEN))
def test_what_is_written_is_what_was_measured(value: float, dimension: str) -> None:
    told = format_quantity(value, dimension)
    assert read_back(told, dimension) == pytest.approx(
        value, rel=0.0051 if value < 60e9 or dimension != "time" else 0.02
    )
    assert not re.search(r"\bus\b|\d k/s", told), "one spelling of microseconds, no thousands of rates"


@given(AMOUNTS, AMOUNTS, st.sampled_from(WRITTEN))
def test_both_ends_of_a_range_can_be_read(one: float, other: float, dimension: str) -> None:
    low, high = sorted((one, other))
    told = format_range(low, high, dimension)
    ends = (
        told.split(" to ")
        if " to " in told
        else [f"{told.partition('-')[0]} {told.split()[-1]}", told.partition("-")[2]]
    )
    if "e-" not in told:
        assert [read_back(end, dimension) for end in ends] == pytest.approx([low, high], rel=0.02)


@given(st.floats(1e-3, 1e9), st.floats(1.02, 1e3), st.sampled_from(["rate", "bandwidth", "size", "time"]))
def test_the_larger_of_two_is_never_written_as_the_smaller(value: float, times: float, dimension: str) -> None:
    less, more = (read_back(format_quantity(each, dimension), dimension) for each in (value, value * times))
    assert less < more


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (1, "100 %"),
        (0.999, "99.9 %"),
        (0.9996, "99.96 %"),
        (0.999869, "99.987 %"),
        (1 - 1e-7, "99.99999 %"),
        (1.0004, "100 %"),
    ],
)
def test_a_share_that_is_nearly_all_is_not_rounded_to_all(fraction: float, text: str) -> None:
    assert format_fraction(fraction) == text
    assert format_range(fraction, 1, "fraction") == f"{text.removesuffix(' %')}-100 %"
