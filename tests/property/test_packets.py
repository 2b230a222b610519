"""Whatever workers do, every event counts once."""

from hypothesis import given
from hypothesis import strategies as st

from pileup.plugin.packets import File, Packetizer

EDGES = st.lists(st.integers(1, 50), min_size=0, max_size=12).map(
    lambda sizes: [sum(sizes[:number]) for number in range(len(sizes) + 1)]
)
NODES = st.sampled_from(["x/a", "x/b", "y/c", "y/d"])
FILES = st.lists(st.builds(File, NODES, EDGES), max_size=8)
ACTS = st.lists(st.tuples(st.sampled_from(["ask", "finish", "lose", "join"]), st.integers(0, 9)), max_size=200)


class World:
    """Workers that hold packets, and what has been counted."""

    def __init__(self, files):
        self.files, self.made = files, Packetizer(files)
        self.held = {}
        self.counted = []
        self.joined = 0
        self.now = 0.0

    def act(self, what, number):
        self.now += number / 10
        if what == "join" or not self.held:
            self.made.join(f"w{self.joined}", ["x/a", "x/b", "y/c", "z/e"][number % 4])
            self.held[f"w{self.joined}"] = []
            self.joined += 1
            return
        worker = sorted(self.held)[number % len(self.held)]
        if what == "lose":
            self.made.lose(worker)
            del self.held[worker]
        elif what == "ask":
            if (packet := self.made.ask(worker, self.now)) is not None:
                self.follows_edges(packet)
                self.held[worker].append(packet)
        elif self.held[worker]:
            packet = self.held[worker].pop(number % len(self.held[worker]))
            self.counted += self.made.finish(worker, packet, 0.1 * (number + 1))

    def follows_edges(self, packet):
        edges = self.files[packet.file].edges
        assert packet.begin in edges
        assert packet.end in edges
        assert packet.begin < packet.end

    def drain(self):
        """Let one more worker finish everything; whoever holds something is too slow for ever."""
        self.act("join", 0)
        worker = f"w{self.joined - 1}"
        for _ in range(10_000):
            if self.made.done:
                return
            self.now += 10
            packet = self.made.ask(worker, self.now)
            if packet is None:  # all is held by as many as may hold it: they are lost
                self.act("lose", 0 if sorted(self.held)[0] != worker else 1)
                continue
            self.follows_edges(packet)
            self.counted += self.made.finish(worker, packet, 0.5)
        raise AssertionError("it does not end")


@given(FILES, ACTS)
def test_every_event_counts_once(files, acts):
    world = World(files)
    for what, number in acts:
        world.act(what, number)
    world.drain()
    seen = sorted((packet.file, packet.begin, packet.end) for packet in world.counted if packet.events)
    wanted = sorted(
        (number, begin) for number, file in enumerate(files) for begin in range(file.edges[0], file.edges[-1])
    )
    assert [(file, event) for file, begin, end in seen for event in range(begin, end)] == wanted
    assert (world.made.unassigned, world.made.uncounted) == (0, 0)
