"""CPU of a tree of processes: whatever begins and ends between samples, every tick is reported once."""

from dataclasses import dataclass, field, replace

from hypothesis import given
from hypothesis import strategies as st

from pileup.builtin.monitors.process_cpu import CpuUse
from pileup.builtin.monitors.process_table import TICKS, ProcessRow, Table

ROOT = 10


@dataclass
class World:
    """Processes below one root, which only burn CPU, start children, and wait for those that have ended."""

    processes: dict[int, ProcessRow] = field(default_factory=dict)
    now: int = 1000
    burnt: int = 0
    last: int = ROOT

    def __post_init__(self) -> None:
        self.start(1)

    def start(self, parent: int) -> None:
        pid, self.last = self.last, self.last + 1
        self.processes[pid] = ProcessRow(pid, parent, self.now, "x", False, 1, 0, 0, 0, 0, 0)

    def burn(self, pid: int, user: int, system: int) -> None:
        each = self.processes[pid]
        self.processes[pid] = replace(each, user=each.user + user, system=each.system + system)
        self.burnt += user + system
        self.now += user + system

    def end(self, pid: int) -> None:
        """End one that has no children; its parent waits for it."""
        if pid == ROOT or any(each.parent == pid for each in self.processes.values()):
            return
        gone = self.processes.pop(pid)
        parent = self.processes[gone.parent]
        user, system = gone.user + gone.reaped_user, gone.system + gone.reaped_system
        self.processes[parent.pid] = replace(
            parent, reaped_user=parent.reaped_user + user, reaped_system=parent.reaped_system + system
        )

    def table(self) -> Table:
        self.now += 1
        return Table(self.now / TICKS, self.now, dict(self.processes))


STEPS = st.lists(
    st.tuples(st.sampled_from(["start", "burn", "burn", "end", "look"]), st.integers(0, 50), st.integers(0, 30)),
    max_size=80,
)


@given(STEPS)
def test_every_tick_is_told_once(steps: list[tuple[str, int, int]]) -> None:
    world, spending, told = World(), CpuUse(reaped=True), 0.0
    last = world.table()
    spending.since(last, last.with_offspring([ROOT]))

    def look() -> float:
        nonlocal last
        table = world.table()
        shares = spending.since(table, table.with_offspring([ROOT]))
        assert shares is not None
        passed, last = table.moment - last.moment, table
        assert all(share.user >= 0 and share.system >= 0 for share in shares)
        return sum(share.whole for share in shares) / 100 * TICKS * passed

    for what, which, amount in steps:
        pids = sorted(world.processes)
        pid = pids[which % len(pids)]
        if what == "start":
            world.start(pid)
        elif what == "burn":
            world.burn(pid, amount, which)
        elif what == "end":
            world.end(pid)
        else:
            told += look()
    told += look()
    assert abs(told - world.burnt) < 1e-6 * max(1, world.burnt)
