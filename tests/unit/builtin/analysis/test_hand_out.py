"""A query that several clients run together, in virtual time: every event counts once, or it fails and says why."""

import heapq
import re
from random import Random

import hist
import numpy as np
import pytest

from pileup.builtin.analysis.carried import packed
from pileup.builtin.analysis.data_set import DataFile, DataSet, Recipe
from pileup.builtin.analysis.hand_out import HandOut, Task
from pileup.builtin.analysis.packages import versions
from pileup.plugin import Ask

SECOND = 10**9
EVENTS, CLUSTER = 1000, 50
EDGES = [*range(0, EVENTS + 1, CLUSTER)]


def data_set(nodes):
    recipe = Recipe(model="event", storage="ttree", codec="none", seed=1, events=EVENTS, cluster=CLUSTER)
    files = [
        DataFile(
            name=f"f{number}", number=number, place=node, bytes=1, events=EVENTS, clusters=EDGES, sha256="", truth={}
        )
        for number, node in enumerate(nodes)
    ]
    return DataSet.of(recipe, files)


def counted(file, begin, end, files):
    """Return a histogram of which events were read."""
    found = hist.Hist(hist.axis.Integer(0, files * EVENTS), storage=hist.storage.Int64())
    found.fill(np.arange(begin, end) + file * EVENTS)
    return packed({"events": found})


class Cluster:
    """Clients that take part, each at a node with a speed (events per second), until all queries are over."""

    def __init__(self, nodes, files, *, seed=1, missing=(), queries=1, stall=None, kill=()):
        self.random, self.files = Random(seed), len(files)
        self.nodes, self.missing, self.queries = nodes, missing, queries
        self.stall, self.kill = stall, dict(kill)
        self.judged, self.told, self.records = [], {client: [] for client in range(len(nodes))}, []
        made = data_set(files)
        task = Task(made.files, [EDGES] * len(files), "", self.judge, made.without_truth())
        self.machine = HandOut(task, len(nodes))
        self.due = [(self.random.uniform(0, SECOND), client, "join") for client in range(len(nodes))]
        self.due += [(at * SECOND, client, "kill") for client, at in self.kill.items()]
        self.dead, self.now = set(), 0

    def judge(self, found):
        counts = found["events"].values()
        self.judged.append(counts)
        return None if (counts == 1).all() else ("events are not counted once", "1", "")

    def run(self):
        heapq.heapify(self.due)
        while self.due and self.now < 10_000 * SECOND:
            wake = self.machine.wake
            if wake is not None and wake < self.due[0][0]:
                self.now, self.machine.wake = wake, None
                self.reply(list(self.machine.tick(self.now)))
                continue
            self.now, client, act = heapq.heappop(self.due)
            self.now = int(self.now)
            if client in self.dead:
                continue
            if act == "kill":
                self.dead.add(client)
                self.reply(list(self.machine.leave([client], True, self.now)))
            else:
                self.reply(list(self.machine.take([self.ask(client, act)], self.now)))
        return self

    def ask(self, client, act):
        if act == "join":
            told = {
                "do": "join",
                "node": self.nodes[client],
                "place": 1,
                "missing": self.missing if client in self.cut else [],
            }
            return Ask(client, told)
        if act == "wait":
            return Ask(client, {"do": "wait"})
        (file, begin, end), took = act
        return Ask(client, {"do": "next", "seconds": took / SECOND}, counted(file, begin, end, self.files))

    cut = ()
    """Clients that cannot read `missing`."""

    def reply(self, replies):
        for each in replies:
            if each.client in self.dead:
                continue
            if "packet" in each.told:
                file, begin, end = each.told["packet"]
                assert each.client not in self.cut or file not in self.missing, "it cannot read that"
                took = (end - begin) / self.random.uniform(400, 1200) * SECOND
                if self.stall == each.client:
                    took, self.stall = took + 60 * SECOND, None
                heapq.heappush(self.due, (self.now + took, each.client, (tuple(each.told["packet"]), took)))
            elif "wait" in each.told:
                heapq.heappush(self.due, (self.now + SECOND // 1000, each.client, "wait"))
            else:
                self.over(each)

    def over(self, each):
        self.told[each.client].append(each.told["over"].get("failed"))
        if record := each.told["over"].get("record"):
            self.records.append(record)
        if len(self.told[each.client]) < self.queries:
            heapq.heappush(self.due, (self.now + SECOND // 100, each.client, "join"))
        else:
            self.machine.leave([each.client], False, self.now)


def test_every_event_counts_once_and_all_are_told_so():
    done = Cluster(["a", "a", "b"], ["a", "b", "b"], queries=3).run()
    assert done.told == {client: [None] * 3 for client in range(3)}
    assert len(done.judged) == len(done.records) == 3
    for record in done.records:
        assert {name for name, *_ in record["files"]} == {"f0", "f1", "f2"}
        assert all(record["begin"] <= begin < end <= record["end"] for _, _, begin, end in record["files"])
        assert record["begin"] < record["tail"]["begin"] <= record["end"]


@pytest.mark.parametrize("seed", range(20))
def test_lost_workers_change_no_bin(seed):
    random = Random(seed)
    kill = {client: random.uniform(0.5, 3) for client in random.sample(range(6), 4)}
    done = Cluster(["a", "a", "b", "b", "c", "c"], ["a", "b", "c", "c"], seed=seed, kill=kill.items()).run()
    assert {told[0] for client, told in done.told.items() if client not in kill} == {None}
    (judged,) = done.judged
    assert (judged == 1).all()
    assert done.records[0]["lost"] >= 0


def test_who_stalls_is_not_waited_for_and_counts_once():
    done = Cluster(["a", "a", "b"], ["a", "b"], stall=1, queries=2).run()
    assert done.told == {client: [None] * 2 for client in range(3)}
    first = done.records[0]
    assert (first["end"] - first["begin"]) < 10 * SECOND
    assert first["again"] > 0, "others were given what it had"


def test_the_tail_is_named():
    done = Cluster(["a", "a"], ["a"]).run()
    (record,) = done.records
    tail = record["tail"]
    assert re.fullmatch(r"f0 \d+-1000|f0 \d+-\d+", tail["packet"])
    assert tail["worker"] in (0, 1)
    assert tail["why"] in ("last", "late")


def test_files_that_one_node_alone_can_read_go_to_its_workers():
    class Split(Cluster):
        cut = (1, 2)

    done = Split(["a", "b", "b"], ["a", "b"], missing=[0]).run()
    assert done.told == {client: [None] for client in range(3)}
    lost = Split(["a", "b", "b"], ["a", "b"], missing=[0], kill={0: 1.1}.items()).run()
    for told in (lost.told[1], lost.told[2]):
        assert told[0][0] == "f0 of the data set is at a, where no worker is left to read it"
    assert not lost.judged


def test_a_wrong_result_fails_at_all_clients():
    done = Cluster(["a", "a"], ["a"])
    done.judge = lambda found: ("the histogram 'px' has 3 in bin 4", "2", "")
    done.machine._task = Task(data_set(["a"]).files, [EDGES], "", done.judge)
    done.run()
    assert done.told == {client: [["the histogram 'px' has 3 in bin 4", "2", ""]] for client in range(2)}


def test_what_one_client_cannot_do_fails_the_query_of_all():
    machine = HandOut(Task(data_set(["a"]).files, [EDGES], "", lambda found: None), 2)
    join = {"do": "join", "node": "a", "place": 1, "missing": []}
    assert not list(machine.take([Ask(0, join)], 0))
    given = list(machine.take([Ask(1, join)], 0))
    assert [each.client for each in given] == [0, 1]
    failed = list(machine.take([Ask(0, {"do": "fail", "told": ["it is truncated", "all", "look"]})], SECOND))
    assert [each.told for each in failed] == [{}]
    (later,) = machine.take([Ask(1, {"do": "next", "seconds": 1.0}, b"")], 2 * SECOND)
    assert later.told == {"over": {"failed": ["worker 0: it is truncated", "all", "look"]}}


def test_bytes_that_are_no_histograms_fail_the_query():
    machine = HandOut(Task(data_set(["a"]).files, [EDGES], "", lambda found: None), 1)
    (_,) = machine.take([Ask(0, {"do": "join", "node": "a", "place": 1, "missing": []})], 0)
    (over,) = machine.take([Ask(0, {"do": "next", "seconds": 1.0}, b"nonsense")], SECOND)
    assert over.told["over"]["failed"][0].startswith("these are no histograms")


def test_a_query_without_all_of_its_clients_is_refused():
    machine = HandOut(Task(data_set(["a"]).files, [EDGES], "", lambda found: None), 2)
    list(machine.leave([1], False, 0))
    (over,) = machine.take([Ask(0, {"do": "join", "node": "a", "place": 1, "missing": []})], SECOND)
    assert over.told["over"]["failed"][0] == "1 of 2 clients came to the query"


def test_packets_of_another_query_count_nothing():
    machine = HandOut(Task(data_set(["a"]).files, [EDGES], "", lambda found: None), 1)
    (over,) = machine.take([Ask(0, {"do": "next", "seconds": 1.0}, b"")], 0)
    assert over.told["over"]["failed"][0] == "no query is under way"


def test_a_worker_with_other_packages_is_refused():
    made = data_set(["a"])
    machine = HandOut(Task(made.files, [EDGES], "", lambda found: None, made.without_truth()), 1)
    (same,) = machine.take([Ask(0, {"do": "enter", "node": "n1", "versions": versions()})], 0)
    assert DataSet.model_validate(same.told["set"]).truth == {}
    (other,) = machine.take([Ask(0, {"do": "enter", "node": "n1", "versions": {**versions(), "uproot": "9.9"}})], 0)
    assert other.told["failed"][0] == "worker 0 at n1 has uproot 9.9"
    assert "as here" in other.told["failed"][1]
