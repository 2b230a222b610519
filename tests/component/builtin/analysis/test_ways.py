"""The same data set read over root:// and http://, from real servers."""

import pytest

from pileup.builtin.analysis.query import AnalysisQuery
from pileup.builtin.analysis.ways import way_of
from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.posix.target import PosixTarget
from pileup.builtin.xrootd.target import XrootdTarget
from pileup.plugin import Context, PluginError
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


def test_a_path_lies_before_what_is_read():
    target = XrootdTarget("root://se.site.org//data")
    target.via = "127.0.0.1:2"
    way = way_of(target, "set")
    assert way.url_of("a.root") == "root://127.0.0.1:2//data/set/a.root"
    assert way.name_of("a.root") == "root://se.site.org//data/set/a.root"
    web = WebDavTarget("davs://se.site.org/data", Credentials(user="me", password="secret"))
    web.via = "127.0.0.1:2"
    way = way_of(web, "")
    assert way.url_of("a.root") == "https://127.0.0.1:2/data/a.root"
    options = way.for_fsspec()
    assert options["server_hostname"] == "se.site.org"
    assert options["headers"] == {"Host": "se.site.org", "Authorization": "Basic bWU6c2VjcmV0"}
    assert "secret" not in repr(way)


def test_a_kind_that_no_library_reads_is_told():
    class Other(PosixTarget):
        kind = "other"

    with pytest.raises(PluginError, match="the kind other is read by neither uproot nor ROOT; expected kind posix"):
        way_of(Other("other://x"), "")
