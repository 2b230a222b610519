"""Quantities are read exactly and written for people."""

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
        "0 ns",
        "999 ns",
        "12.3 ms",
        "59.9 s",
        "1 min 30 s",
        "1 h 1 min",
    ]
    assert (format_size(64 * 2**20), format_bandwidth(2e8), format_rate(1234)) == ("64 MiB", "200 MB/s", "1.23 k/s")
    assert (format_count(20_000), format_fraction(0.00123)) == ("20 000", "0.123 %")


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
    [(1, "", "1 case"), (0, "", "0 cases"), (2, "", "2 cases"), (20_000, "", "20 000 cases"), (3, "boxes", "3 boxes")],
)
def test_d13_one_of_a_thing_is_told_in_the_singular(count: int, several: str, told: str) -> None:
    assert counted(count, "case", several) == told
