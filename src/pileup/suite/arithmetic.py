"""Values that are computed: `= 2 * $minute`, `= 500 / $duration`, `= ($slots + 50) * 10`.

    sum     = product { ("+" | "-") product }
    product = value { ("*" | "/") value }
    value   = NUMBER [UNIT] | "$name" | "${name}" | "(" sum ")"

Numbers keep their dimension: a time times a number is a time, a number over a time is a rate, a size over a time a
bandwidth. It is exact; what is not a whole number of nanoseconds or bytes is rounded to one at the end. Nothing is ever
evaluated as code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

from pileup.model.units import BANDWIDTH, FRACTION, RATE, SIZE, TIME

SIGN = "= "
"""How a computed text begins."""
LONGEST = 200
"""Most characters of one such text."""
DIGITS = 17
"""Significant digits of a result that is not a whole number: all that a float holds."""
LARGEST = 2**63

Exponents = tuple[int, int]
"""Powers of seconds and of bytes."""
NUMBER, SECONDS, BYTES, PER_SECOND, BYTES_PER_SECOND = (0, 0), (1, 0), (0, 1), (-1, 0), (-1, 1)
NAMES = {NUMBER: "number", SECONDS: "time", BYTES: "size", PER_SECOND: "rate", BYTES_PER_SECOND: "bandwidth"}
EXPECTED = "numbers with or without units, $names, + - * / and parentheses, such as `= 2 * $minute`"


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact number in seconds, bytes or their products."""

    amount: Fraction
    of: Exponents = NUMBER

    @property
    def kind(self) -> str:
        """Its dimension in words."""
        powers = zip(("time", "size"), self.of, strict=True)
        return NAMES.get(self.of) or " ".join(f"{name}^{power}" for name, power in powers if power)


def _factors() -> dict[str, Quantity]:
    """Unit -> what one of it is."""
    found = {unit: Quantity(Fraction(factor) / 10**9, SECONDS) for unit, factor in TIME.items()}
    found |= {unit: Quantity(Fraction(factor), BYTES) for unit, factor in SIZE.items()}
    found |= {unit: Quantity(Fraction(factor), BYTES_PER_SECOND) for unit, factor in BANDWIDTH.items()}
    # a sixtieth is not a decimal: it is the fraction nearest to the one kept there
    found |= {unit: Quantity(Fraction(factor).limit_denominator(10**6), PER_SECOND) for unit, factor in RATE.items()}
    return found | {unit: Quantity(Fraction(factor)) for unit, factor in FRACTION.items()} | {"": Quantity(Fraction(1))}


FACTORS = _factors()
_UNIT = "|".join(sorted((re.escape(unit) for unit in FACTORS if unit), key=len, reverse=True))
_NUMBER = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT})(?![\w%/]))?(?![\w.])"
    r"|\$(?P<name>[A-Za-z_]\w*)|\$\{(?P<braced>[^{}]*)\}|(?P<sign>[-+*/()]))",
    re.ASCII,
)
_VALUE = re.compile(rf"\s*(?P<minus>-?)(?P<number>{_NUMBER})\s*(?P<unit>{_UNIT})?\s*\Z", re.ASCII)


def compute(text: str, value_of: Callable[[str], str]) -> str:
    """Return the result of a text (without its sign) as a quantity that the schema reads.

    `value_of` gives the text of a variable by its name. Raises ValueError, as "what; expected what", and whatever
    `value_of` raises.
    """
    if len(text) > LONGEST:
        raise ValueError(
            f"{len(text)} characters are to be computed; expected at most {LONGEST}, and variables for parts"
        )
    return written(_Reader(text, value_of).read())


class _Reader:
    """Reads one text from left to right, and computes as it goes."""

    def __init__(self, text: str, value_of: Callable[[str], str]) -> None:
        self._text = text
        self._at = 0
        self._value_of = value_of

    def read(self) -> Quantity:
        """Return the value of the whole text."""
        found = self._sum()
        if self._rest():
            raise self._wrong()
        return found

    def _sum(self) -> Quantity:
        total = self._product()
        while sign := self._sign("+-"):
            other = self._product()
            if other.of != total.of:
                raise ValueError(
                    f"{self._shown()}: a {other.kind} is added to a {total.kind}, or taken from it; "
                    "expected two of one kind"
                )
            total = Quantity(total.amount + (other.amount if sign == "+" else -other.amount), total.of)
        return total

    def _product(self) -> Quantity:
        found = self._value()
        while sign := self._sign("*/"):
            other = self._value()
            if sign == "/" and not other.amount:
                raise ValueError(f"{self._shown()} divides by zero; expected another divisor")
            power = 1 if sign == "*" else -1
            of = (found.of[0] + power * other.of[0], found.of[1] + power * other.of[1])
            found = Quantity(found.amount * other.amount**power, of)
        return found

    def _value(self) -> Quantity:
        token = self._next()
        if token is None:
            raise self._wrong()
        if token["number"]:
            return quantity(token["number"], token["unit"])
        if token["sign"] == "(":
            found = self._sum()
            if not self._sign(")"):
                raise self._wrong()
            return found
        name = token["name"] or token["braced"]
        if name is None:
            raise self._wrong(token.start("sign"))
        return self._variable(name)

    def _variable(self, name: str) -> Quantity:
        value = self._value_of(name)
        match = _VALUE.match(value)
        if match is None or len(value) > LONGEST:
            raise ValueError(
                f"the variable {name!r} is {_short(value)}; expected a number or a quantity to compute with"
            )
        found = quantity(match["number"], match["unit"])
        return Quantity(-found.amount, found.of) if match["minus"] else found

    def _next(self) -> re.Match[str] | None:
        match = _TOKEN.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
        return match

    def _sign(self, wanted: str) -> str:
        """Take one of these signs if it comes next; "" when it does not."""
        match = _TOKEN.match(self._text, self._at)
        if match is None or not match["sign"] or match["sign"] not in wanted:
            return ""
        self._at = match.end()
        return match["sign"]

    def _rest(self) -> str:
        return self._text[self._at :].strip()

    def _shown(self) -> str:
        return _short(self._text.strip())

    def _wrong(self, at: int | None = None) -> ValueError:
        rest = self._text[self._at if at is None else at :].strip()
        found = f"from {_short(rest)} on" if rest else "as something is missing at its end"
        return ValueError(f"{self._shown()} cannot be computed {found}; expected {EXPECTED}")


def quantity(number: str, unit: str | None) -> Quantity:
    """Return a number with a unit, exactly."""
    one = FACTORS[unit or ""]
    return Quantity(Fraction(number) * one.amount, one.of)


def written(found: Quantity) -> str:
    """Return a quantity as a suite writes it. Raises ValueError for one that no value of a suite is."""
    if found.of not in NAMES:
        raise ValueError(f"the result is a {found.kind}; expected a time, a size, a bandwidth, a rate or a number")
    if abs(found.amount) >= LARGEST:
        raise ValueError(f"the result is larger than {LARGEST}; expected a {found.kind} that fits in 64 bits")
    if found.of == SECONDS:
        return _time(round(found.amount * 10**9))
    if found.of == BYTES:
        return f"{round(found.amount)} B"
    unit = {PER_SECOND: " /s", BYTES_PER_SECOND: " B/s"}.get(found.of, "")
    return _decimal(found.amount) + unit


def _time(nanoseconds: int) -> str:
    """A time in the largest unit of which it is a whole number."""
    units = sorted(((int(factor), unit) for unit, factor in TIME.items() if unit.isascii()), reverse=True)
    factor, unit = next(each for each in units if nanoseconds % each[0] == 0)
    return f"{nanoseconds // factor} {unit}" if nanoseconds else "0 s"


def _decimal(amount: Fraction) -> str:
    """A number without exponent; whole ones with all their digits."""
    if amount.denominator == 1:
        return str(amount.numerator)
    with localcontext() as context:
        context.prec = DIGITS
        found = Decimal(amount.numerator) / Decimal(amount.denominator)
    return f"{found.normalize():f}"


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
