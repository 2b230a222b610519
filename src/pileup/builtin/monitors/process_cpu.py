"""CPU time that processes used between two looks at them, that of children which ended meanwhile included.

A child that ends and is waited for leaves its time, and that of its own children, in the account of its parent. What of
it was already counted while it lived is taken off there; so programs that run for less than an interval are counted,
and nothing is counted twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pileup.builtin.monitors.process_table import Identity, ProcessRow, Table


@dataclass(frozen=True, slots=True)
class Share:
    """Share of a core that a process used, %."""

    user: float
    system: float

    @property
    def whole(self) -> float:
        """Both together."""
        return self.user + self.system


class CpuUse:
    """Remembers the last look. `reaped`: whether the time of children that have ended counts."""

    def __init__(self, reaped: bool) -> None:
        self._reaped = reaped
        self._last: Table | None = None
        self._before: dict[Identity, ProcessRow] = {}

    @property
    def moment(self) -> float | None:
        """When the last look was (s, monotonic); None before the first."""
        return self._last.moment if self._last else None

    def since(self, table: Table, chosen: Mapping[int, ProcessRow]) -> list[Share] | None:
        """Return what each chosen process used since the last call; None at the first."""
        last, before = self._last, self._before
        self._last, self._before = table, {each.identity: each for each in chosen.values()}
        if last is None or table.moment <= last.moment:
            return None
        counted = self._counted(before, table) if self._reaped else {}
        scale = 100 / table.ticks / (table.moment - last.moment)
        found = []
        for each in chosen.values():
            then = before.get(each.identity)
            if then is None and each.born < last.boot - 1:  # it was there, and not chosen
                then = each
            user, system = self._grown(each, then, counted.get(each.identity, (0, 0)))
            found.append(Share(user * scale, system * scale))
        return found

    def _grown(self, now: ProcessRow, then: ProcessRow | None, counted: tuple[int, int]) -> tuple[int, int]:
        """Return the ticks in user and in system mode since `then` (None: since its birth)."""
        user = now.user - (then.user if then else 0)
        system = now.system - (then.system if then else 0)
        if self._reaped:
            reaped_user = now.reaped_user - (then.reaped_user if then else 0) - counted[0]
            reaped_system = now.reaped_system - (then.reaped_system if then else 0) - counted[1]
            user, system = user + max(0, reaped_user), system + max(0, reaped_system)
        return max(0, user), max(0, system)

    @staticmethod
    def _counted(before: Mapping[Identity, ProcessRow], table: Table) -> dict[Identity, tuple[int, int]]:
        """Return by parent what was already counted of children that have ended: it comes again in its account."""
        alive = {each.identity for each in table.processes.values()}
        numbers = {each.pid: each for each in before.values()}
        found: dict[Identity, tuple[int, int]] = {}
        for who, each in before.items():
            heir: ProcessRow | None = each
            while heir is not None and heir.identity not in alive:
                heir = numbers.get(heir.parent)
            if who in alive or heir is None:
                continue
            user, system = found.get(heir.identity, (0, 0))
            found[heir.identity] = user + each.user + each.reaped_user, system + each.system + each.reaped_system
        return found
