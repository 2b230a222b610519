"""The same data set read over root:// and http://, from real servers."""

import pytest

from pileup.builtin.analysis.query import AnalysisQuery
from pileup.builtin.analysis.reading import lack_of, url_of
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Context
from pileup.plugin.credentials import Credentials
from pileup.plugin.testing import run_once
from tests.servers.nginx import nginx
from tests.servers.xrootd import figures, xrootd
from tests.unit.builtin.analysis.conftest import generate


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    assert all(done.passed for done in generate(root, files=1, events=300, cluster=300))
    return {path.name: path.read_bytes() for path in (root / "set").iterdir() if path.suffix in {".root", ".json"}}


def query(target, **options):
    done = run_once(AnalysisQuery, target, context=Context(), folder="set", **options)
    assert done.passed, done.error
    return sum(operation.bytes for operation in done.operations)


def test_over_root(data, tmp_path):
    with xrootd(tmp_path) as server:
        for name, content in data.items():
            server.put(f"set/{name}", content)
        target = XrootdTarget(server.root)
        assert query(target, query="proc") > 5e6
        before = figures(target.statistics())["xrootd.ops.open"]
        assert query(target, query="proc", check_files="size") > 5e6
        assert figures(target.statistics())["xrootd.ops.open"] > before, "it is read from the server"


def test_over_http(data, tmp_path):
    with nginx(tmp_path) as url:
        (tmp_path / "data" / "set").mkdir()
        for name, content in data.items():
            (tmp_path / "data" / "set" / name).write_bytes(content)
        assert query(WebDavTarget(url), query="procopt") > 1e5


def test_a_path_lies_before_what_uproot_reads():
    target = XrootdTarget("root://se.site.org//data")
    target.via = "127.0.0.1:2"
    assert (url_of(target, "set", "a.root"), lack_of(target)) == ("root://127.0.0.1:2//data/set/a.root", "")
    web = WebDavTarget("davs://se.site.org/data", Credentials(user="me"))
    web.via = "127.0.0.1:2"
    assert url_of(web, "", "a.root") == "https://se.site.org/data/a.root"
    assert lack_of(web) == (
        "uproot reads without the credentials of the target (user); uproot reads davs:// past the path of the target"
    )
