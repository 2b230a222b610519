"""ARC's target where no server is needed: what suites may say of it, the book of jobs, the accounting."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from pileup.builtin.arc.accounting import Accounting
from pileup.builtin.arc.control_folder import Control
from pileup.builtin.arc.identities import Authority
from pileup.builtin.arc.jobs import times_of
from pileup.builtin.arc.known_jobs import Entry, JobIndex
from pileup.builtin.arc.rest import Rest
from pileup.builtin.arc.target import ArcTarget, on_nodes
from pileup.model.errors import Failed, Refused, TargetError
from pileup.model.suite import Credentials
from pileup.plugin import Step
from pileup.plugin.batch import Claim, Fate, Finding, Job, JobState
from pileup.plugin.target import NO_CLIENT
from tests.servers.tls import tls_server
from tests.support import closed, require_program

SECOND = 10**9
SCHEMA = Path("/usr/share/arc/sql-schema/arex_accounting_db_schema_v1.sql")


def target(url: str = "https://ce.site.org", folder: Path | None = None, **options: Any) -> ArcTarget:
    words = {"certificate": str(folder / "me.pem"), "key": str(folder / "me.pem")} if folder else {}
    return ArcTarget(url, Credentials.model_validate(words), **options)


@pytest.fixture
def identities(tmp_path: Path) -> Path:
    """A folder with two identities."""
    authority = Authority.make()
    for name in ("me", "jane"):
        (tmp_path / f"{name}.pem").write_text(authority.user(name).both)
    return tmp_path


@pytest.mark.parametrize(
    ("url", "where"),
    [
        ("https://ce.site.org", "https://ce.site.org/arex"),
        ("https://ce.site.org:8443/", "https://ce.site.org:8443/arex"),
        ("https://ce.site.org/other/", "https://ce.site.org/other"),
    ],
)
def test_its_service_is_where_most_have_it(url: str, where: str) -> None:
    assert target(url).location.url == where


def test_without_tls_or_credentials_nobody_is_known(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="has no TLS"):
        _ = target("http://ce.site.org/arex").location
    with pytest.raises(TargetError, match=r"no credentials for ce.site.org; expected .*a proxy"):
        _ = target().users
    with pytest.raises(TargetError, match="cannot be read"):
        _ = target(folder=tmp_path).users


def test_the_engine_is_not_for_it() -> None:
    assert target().client() is None
    assert target().problem_of(Step("noop", "noop")) == NO_CLIENT


def test_a1_an_identity_that_this_user_may_not_look_at_is_told_as_such(identities: Path, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (identities / "jane.pem").rename(theirs / "jane.pem")
    users = target(folder=identities, identities=str(theirs)).users
    with (
        closed(theirs),
        pytest.raises(Failed, match=r"certificate .*jane.pem cannot be read: Permission denied; expected"),
    ):
        users.rest("jane")
    assert users.identity("jane").certificate == str(theirs / "jane.pem")


def test_users_are_files_of_a_folder(identities: Path) -> None:
    users = target(folder=identities, identities=str(identities)).users
    assert users.private is None
    assert users.names() == {"", "jane"}
    assert users.identity("jane").certificate == str(identities / "jane.pem")
    users.introduce("jane")
    with pytest.raises(Refused, match="that pileup did not launch"):
        users.introduce("joe")
    with pytest.raises(Failed, match="there is no identity of user 'joe'"):
        users.rest("joe")
    with pytest.raises(Failed, match="is not a name of a user"):
        users.rest("../jane")
    assert (users.one, users.who("jane")) == (False, "jane")
    alone = target(folder=identities).users
    assert (alone.one, alone.who("jane")) == (True, "")
    assert alone.rest("jane") is alone.rest("joe") is alone.rest("")
    (identities / "joe.pem").write_text("nothing")
    with pytest.raises(Failed, match="cannot be used"):
        users.rest("joe")
    assert target(folder=identities).users.names() == {""}


def test_a_book_knows_names_and_owners() -> None:
    book = JobIndex()
    book.note([Entry("1", "a", "jane"), Entry("2", "a", "")])
    book.note([Entry("1", "other", "joe")])
    assert book.ids("a") == ["1", "2"]
    assert book.ids("other") == []
    assert book.entry("1").user == "jane"
    assert book.entry("9") == Entry("9", "", "")
    assert book.users() == {"jane", ""}
    gone = Job("a", "2", JobState.COMPLETED)
    book.note_ended([gone])
    assert book.ended(["a", "b"]) == [gone]
    assert book.purged("2") == gone
    assert book.purged("1") is None
    book.note([Entry("3", "", "")])  # the service has taken it, and does not tell its name yet
    assert not book.known("3")
    book.note([Entry("3", "c", "joe")])
    assert book.entry("3") == Entry("3", "c", "joe")


class Canned(Rest):
    """Answers as the service would, without one."""

    def __init__(self, status: int, reason: str, body: bytes, headers: dict[str, str] | None = None) -> None:
        super().__init__(self)  # type: ignore[arg-type]  it is its own connection
        self.head = self  # what is asked of an answer's head it has itself
        self.status, self.reason, self.body, self._headers = status, reason, body, headers or {}

    def send(self, *_asked: Any) -> "Canned":
        return self

    def getheader(self, name: str) -> str | None:
        return self._headers.get(name)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"", []),
        (b'{"job":""}', []),
        (b'{"job":{"id":"1"}}', ["1"]),
        (b'{"job":[{"id":"1"},{"id":"2"}]}', ["1", "2"]),
    ],
)
def test_lists_are_read_whatever_their_length(body: bytes, found: list[str]) -> None:
    assert Canned(HTTPStatus.OK, "OK", body).ids() == found


def test_an_error_is_told_from_a_no() -> None:
    with pytest.raises(Refused, match="No more jobs allowed"):
        Canned(500, "No more jobs allowed", b"").submit("&")
    with pytest.raises(Failed, match="500 Failed generating"):
        Canned(500, "Failed generating delegation request", b"").ask_to_sign()
    with pytest.raises(Failed, match="has no Location"):
        Canned(201, "Created", b"").ask_to_sign()
    with pytest.raises(Failed, match="is not JSON"):
        Canned(200, "OK", b"<jobs/>").ids()
    with pytest.raises(Failed, match="is not a JSON object"):
        Canned(200, "OK", b"[]").ids()
    place = {"Location": "/arex/rest/1.0/delegations?action=new/abc"}  # as 6.17 writes it
    assert Canned(201, "Created", b"text", place).ask_to_sign() == ("abc", "text")


def test_times_are_what_the_service_has_written_down() -> None:
    local = {"starttime": "19700101000140Z", "cleanuptime": "19700108000240Z", "lifetime": "604800"}
    ran = {"lrmsstarttime": "19700101000200Z", "lrmsendtime": "19700101000210Z"}
    full = {"submitted": 100 * SECOND, "started": 120 * SECOND, "ended": 160 * SECOND}
    assert times_of(JobState.COMPLETED, local, ran) == full
    at_once = {"lrmsstarttime": "19700101000200Z", "lrmsendtime": "19700101000200Z"}
    assert times_of(JobState.COMPLETED, local, at_once) == full
    assert times_of(JobState.CANCELLED, local, at_once) == {**full, "started": 0}
    nothing = {"submitted": 0, "started": 0, "ended": 0}
    assert times_of(JobState.FAILED, {}, {}) == nothing
    assert times_of(JobState.FAILED, {"cleanuptime": "soon", "lifetime": "x", "starttime": ""}, {}) == nothing
    facts = Canned(200, "OK", b"LRMSStartTime=20261121181943Z\nno sign\nargs=a=b\n").facts("1", "diag")
    assert facts == {"lrmsstarttime": "20261121181943Z", "args": "a=b"}
    assert Canned(404, "Not found", b"").facts("1", "diag") == {}


@pytest.fixture
def accounting(tmp_path: Path) -> Iterator[Accounting]:
    """The database of a service with a job that failed, and one that goes on."""
    require_program(str(SCHEMA), "apt-get install nordugrid-arc-arex")
    path = tmp_path / "accounting.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(SCHEMA.read_text())
        made.executescript(
            """
            INSERT INTO Status VALUES (1, 'in-progress'), (2, 'failed');
            INSERT INTO Users VALUES (1, '/O=pileup/CN=user1'), (2, '/O=pileup/CN=pileup');
            INSERT INTO AAR SELECT 1, 'A', '7', 1, 1, 1, 1, 2, 3, 100, 160, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0;
            INSERT INTO AAR SELECT 2, 'B', '', 1, 1, 2, 1, 1, 0, 110, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0;
            INSERT INTO JobExtraInfo VALUES (1, 'jobname', 'first');
            INSERT INTO AAR SELECT 3, 'C', '8', 1, 1, 2, 1, 2, 0, 120, 170, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0;
            INSERT INTO JobExtraInfo VALUES (3, 'jobname', 'third');
            INSERT INTO JobEvents VALUES (3, 'CANCELING', '1970-01-01 00:02:40'),
              (3, 'LRMSSTART', '1970-01-01 00:02:41'), (3, 'LRMSEND', '1970-01-01 00:02:41');
            INSERT INTO JobEvents VALUES (1, 'ACCEPTED', '1970-01-01 00:01:40'), (2, 'ACCEPTED', '1970-01-01 00:01:50'),
              (1, 'FINISHED', '1970-01-01 00:02:40'), (1, 'LRMSSTART', '1970-01-01 00:02:00');
            """
        )
    yield Accounting(path)


def test_the_accounting_tells_when_and_how_jobs_ended(accounting: Accounting) -> None:
    failed = Job("first", "A", JobState.FAILED, 100 * SECOND, 120 * SECOND, 160 * SECOND, "exit code 3", "user1")
    (found,) = accounting.ended_since(0, 10)
    assert (found.job, found.number) == (failed, 6)
    assert accounting.ended_since(6, 10) == []
    (third,) = accounting.ended(["third"])
    assert (third.state, third.user) == (JobState.CANCELLED, "")
    assert third.started == 0, "it was cancelled while it waited"
    assert accounting.ended(["first", "nobody"]) == [failed]
    assert accounting.submitted(["A", "B", "X"]) == {"A": 100 * SECOND, "B": 110 * SECOND}


def test_files_of_a_control_folder_are_counted(tmp_path: Path) -> None:
    squeue = tmp_path / "squeue"
    squeue.write_text('#!/bin/sh\n[ "$SLURM_CONF" = /conf ] && echo 17\n')
    squeue.chmod(0o755)
    control = Control(tmp_path, tmp_path / "begun", squeue, Path("/conf"))
    assert sum(control.counts().values()) == 0
    states = {
        "accepting/job.a.status": "ACCEPTED",
        "processing/job.b.status": "PENDING:PREPARING\n",
        "processing/job.c.status": "INLRMS",
        "processing/job.d.status": "INLRMS",
        "processing/job.e.status": "FINISHING",
        "processing/job.f.status": "FINISHING",  # seen twice, on its way
        "finished/job.f.status": "FINISHED",
        "finished/job.g.status": "FINISHED",
        "finished/job.h.status": "FINISHED",
        "job.g.failed": "LRMS error: (1) Job failed",
        "job.h.failed": "Job is canceled by external request",
    }
    for name, text in states.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert control.counts() == {
        JobState.QUEUED: 3,
        JobState.RUNNING: 2,
        JobState.COMPLETED: 1,
        JobState.FAILED: 1,
        JobState.CANCELLED: 1,
    }
    when = control.ended(["g", "b", "nobody"])
    assert when == {"g": (tmp_path / "finished/job.g.status").stat().st_mtime_ns}
    squeue.write_text("#!/bin/sh\nexit 1\n")
    with pytest.raises(Failed, match="does not say what waits"):
        control.counts()


def test_what_began_on_a_node_is_counted_and_decides_the_fate(tmp_path: Path) -> None:
    control = Control(tmp_path, tmp_path / "begun", Path("squeue"), Path("/conf"))
    assert control.executions(["a"]) == {"a": 0}, "nothing has begun yet"
    (tmp_path / "begun").write_text("/session/a\n/session/b\n/session/a\n")
    begun = control.executions(["a", "b", "c"])
    assert begun == {"a": 2, "b": 1, "c": 0}
    done = {name: Job(name, name, JobState.COMPLETED) for name in "abc"} | {"d": Job("d", "c", JobState.FAILED)}
    found = {name: Finding(Claim(name, job.id), Fate.ONCE, (job,)) for name, job in done.items()}
    fates = {name: on_nodes(each, begun) for name, each in found.items()}
    assert fates == {"a": Fate.TWICE, "b": Fate.ONCE, "c": Fate.LOST, "d": Fate.ONCE}
    assert on_nodes(found["c"], {}) is Fate.ONCE, "of a site's nodes nothing is known"


def test_an_accounting_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    assert Accounting(tmp_path / "none").ended_since(0, 1) == []
    (tmp_path / "empty").touch()
    assert Accounting(tmp_path / "empty").ended(["a"]) == []
    (tmp_path / "broken").write_bytes(b"x" * 5000)
    with pytest.raises(Failed, match="the accounting cannot be read"):
        Accounting(tmp_path / "broken").ended(["a"])


def test_a_relay_is_connected_to_under_the_name_of_the_service(identities: Path, tmp_path: Path) -> None:
    with tls_server(tmp_path) as server:
        words = {"certificate": str(identities / "me.pem"), "key": str(identities / "me.pem"), "ca": server.ca}
        ce = ArcTarget("https://localhost:2/arex", Credentials.model_validate(words))
        assert (ce.endpoint(), ce.reach()) == (("localhost", 2), ("localhost", 2))
        ce.via = f"127.0.0.1:{server.port}"
        with pytest.raises(Failed):  # it is no computing element
            ce.users.rest("").versions()
        assert server.seen == [("localhost", "localhost:2", "")]
