"""Times as logs have them, to ns since the epoch: numbers, ISO 8601, or a format of strptime."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

SECOND = 10**9
UNITS = {"s": SECOND, "ms": 10**6, "us": 10**3, "ns": 1}
YEARS = ("%Y", "%y", "%G", "%c", "%x", "%s")
KEPT = 4096
"""Different seconds that are remembered: most lines of a log share theirs with the lines before."""
FRACTION = re.compile(r"^(.*?:\d\d)[.,](\d+)(.*)$", re.DOTALL)
"""Text before the fraction of a second, the fraction, and what follows, such as a zone."""


def zone_of(name: str) -> tzinfo | None:
    """Return a time zone; None for `local`, that of this machine. Raises ValueError."""
    if name == "local":
        return None
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"there is no time zone {name!r}; expected UTC, local, or one like Europe/Zurich") from None


def number_of(text: str, unit: int) -> int:
    """Return a number with a unit of so many ns, exactly. Raises ValueError."""
    whole, point, part = text.partition(".")
    if not whole.isascii() or not whole.isdigit() or (point and not (part.isascii() and part.isdigit())):
        raise ValueError(f"{text!r:.100} is not a number")
    if len(whole) > 20:
        raise ValueError(f"{text[:20]}… is out of bounds")
    found = int(whole) * unit
    return found + int(part[:9].ljust(9, "0")) * unit // SECOND if point else found


def numbers_of(texts: Sequence[str], unit: int) -> list[int]:
    """Return many numbers as `number_of` does; quicker where all have as many digits behind the point."""
    joined = "".join(texts)
    points = joined.count(".")
    if not joined.isascii() or not joined.replace(".", "").isdigit():
        return [number_of(text, unit) for text in texts]
    if not points:
        return [int(text) * unit for text in texts]
    digits = len(texts[0].partition(".")[2])
    factor, left = divmod(unit, 10**digits)
    if not digits or left or points != len(texts) or any(text[-digits - 1 : -digits] != "." for text in texts):
        return [number_of(text, unit) for text in texts]
    return [int(text.replace(".", "")) * factor for text in texts]


class Times:
    """Reads times of one format: s, ms, us or ns since the epoch, iso, or one of strptime. Raises ValueError."""

    def __init__(self, form: str, zone: str = "local") -> None:
        self._zone = zone_of(zone)
        self._form = form
        self._known: dict[str, int] = {}
        self._unit = UNITS.get(form, 0)
        if not self._unit and form != "iso":
            if "%" not in form:
                wanted = "s, ms, us, ns, iso, or a format of strptime such as '%d/%b/%Y:%H:%M:%S %z'"
                raise ValueError(f"{form!r} is no format of times; expected {wanted}")
            self._try()
        self._yearless = bool(self._form) and "%" in form and not any(each in form for each in YEARS)
        self._parse: Callable[[str], datetime] = (
            datetime.fromisoformat if form == "iso" else lambda text: datetime.strptime(text, plain)
        )
        plain = re.sub(r"[.,]%f", "", form)

    def _try(self) -> None:
        """Refuse a format that strptime does not know, and one without a day. Raises ValueError."""
        now = datetime(2026, 11, 25, 23, 59, 58, tzinfo=UTC)
        try:
            read = datetime.strptime(now.strftime(self._form), self._form)
        except ValueError as problem:
            raise ValueError(f"{self._form!r} is no format of strptime: {problem}") from None
        if (read.month, read.day) != (11, 25):
            raise ValueError(f"{self._form!r} does not say month and day; expected both")

    def column(self, texts: Sequence[str]) -> list[int]:
        """Return the times of many lines. Raises ValueError if one is none."""
        if self._unit:
            return numbers_of(texts, self._unit)
        known = self._known
        if len(known) > KEPT:
            known.clear()
        return [found if (found := known.get(text)) is not None else self._new(text) for text in texts]

    def _new(self, text: str) -> int:
        """Return a time whose text was not seen yet; the second that it is in is remembered."""
        split = FRACTION.match(text)
        if split is None:
            found = self._known[text] = self._seconds(text) * SECOND
            return found
        second = split[1] + split[3]
        whole = self._known.get(second)
        if whole is None:
            whole = self._known[second] = self._seconds(second) * SECOND
        return whole + int(split[2][:9].ljust(9, "0"))

    def _this_year(self, text: str) -> datetime:
        """Return a time without a year: the last one that is not later than tomorrow."""
        now = datetime.now()
        form = re.sub(r"[.,]%f", "", self._form)
        try:
            found = datetime.strptime(f"{now.year} {text}", f"%Y {form}")
        except ValueError:  # the 29th of February, of the year before
            return datetime.strptime(f"{now.year - 1} {text}", f"%Y {form}")
        late = found.replace(tzinfo=None) > now + timedelta(days=1)
        return datetime.strptime(f"{now.year - 1} {text}", f"%Y {form}") if late else found

    def _seconds(self, text: str) -> int:
        try:
            found = self._this_year(text) if self._yearless else self._parse(text)
        except OverflowError as problem:
            raise ValueError(str(problem)) from None
        if found.tzinfo is None and self._zone is not None:
            found = found.replace(tzinfo=self._zone)
        try:
            return int(found.timestamp())
        except (OverflowError, OSError) as problem:
            raise ValueError(f"{text!r:.100} is out of bounds: {problem}") from None
