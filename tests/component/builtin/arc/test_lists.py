"""Jobs of many users are looked up by a list for each user: how many lists an audit of many jobs asks for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pileup._core._native import now
from pileup.builtin.arc.jobs import Jobs
from pileup.builtin.arc.target import ArcTarget
from pileup.model.record import ClaimRow
from pileup.record import RunFolder
from pileup.run.audit.lookup import AuditLimits, Lookup

USERS, EACH = 5, 600
LISTS = 3
"""Of names twice (a job whose state is being written is in none), of states once."""


class Service:
    """A computing element with the finished jobs of some users, and how many lists it was asked for."""

    private = None
    one = False

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()

    def names(self) -> set[str]:
        return {f"user{number}" for number in range(USERS)}

    def rest(self, user: str) -> "Asked":
        return Asked(self, user)


class Asked:
    """What one user can ask."""

    def __init__(self, service: Service, user: str) -> None:
        self.service, self.user = service, user

    def ids(self) -> list[str]:
        self.service.asked[self.user] += 1
        return [f"{self.user}-{number}" for number in range(EACH)]

    def states(self) -> dict[str, str]:
        return dict.fromkeys(self.ids(), "FINISHED")

    def act(self, _action: str, ids: Sequence[str]) -> Iterator[dict[str, object]]:
        for each in ids:
            document = {"ComputingActivity": {"Name": f"job-{each}"}}
            yield {"id": each, "status-code": "200", "state": "FINISHED", "info_document": document}


class Element(ArcTarget):
    """Somebody's computing element, by a service of the test."""

    accounting = None  # type: ignore[assignment]
    jobs = None  # type: ignore[assignment]


def test_an_audit_of_thousands_of_jobs_asks_for_each_list_a_few_times(tmp_path: Path) -> None:
    service, target = Service(), Element("https://localhost:443/arex")
    target.jobs = Jobs(service, None)  # type: ignore[arg-type, assignment]
    with closing(RunFolder.create(tmp_path, "audit", now())) as folder:
        lookup = Lookup(target, folder, 0, AuditLimits(60, 10, 0), lambda: False)
        names = [f"user{user}-{number}" for number in range(EACH) for user in range(USERS)]
        claims = [ClaimRow(1, 1, "submit", "ce", f"job-{each}", each) for each in names]
        assert lookup.look_up(claims) == ""
        assert lookup.looked == USERS * EACH
        assert {finding.fate for finding in folder.findings()} == {"ran once"}
    assert service.asked == dict.fromkeys(service.names(), LISTS)
