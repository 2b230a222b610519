"""Criteria on monitors that did not measure what they are about are not covered."""

from typing import Any

import pytest

from pileup.model.record import Sample, SampleRow
from pileup.run.info import first_info
from pileup.stats import results
from pileup.stats.coverage import elsewhere
from pileup.suite import load
from tests.support import EXAMPLES
from tests.unit.stats import scans

FAR = "root://se01.site.org:1094//data/pileup"


def info(target: dict[str, Any], **monitor: str) -> dict[str, Any]:
    return {
        "hosts": [{"name": "Worker7"}],
        "targets": [{"name": "se", "launched": False, **target}],
        "monitors": [{"name": "node", "watches": "se", **monitor}],
    }


@pytest.mark.parametrize(
    ("target", "monitor", "covered"),
    [
        ({"url": FAR}, {}, False),
        ({"url": "https://[2001:db8::1]:443/"}, {}, False),
        ({"url": FAR}, {"host": "ssh://root@se01"}, True),
        ({"url": FAR}, {"watches": ""}, True),
        ({"url": FAR, "launched": True}, {}, True),
        ({"url": "http://127.0.0.1:80/"}, {}, True),
        ({"url": "http://[::1]:80/"}, {}, True),
        ({"url": "http://localhost/"}, {}, True),
        ({"url": "http://worker7/"}, {}, True),
        ({"url": "/data/pileup"}, {}, True),
        ({"url": None}, {}, True),
    ],
)
def test_t19_a_monitor_measured_the_host_of_its_target_or_not(
    target: dict[str, Any], monitor: dict[str, str], covered: bool
) -> None:
    assert (elsewhere(info(target, **monitor)) == {}) is covered


def test_a_record_without_these_words_covers_all() -> None:
    assert elsewhere({"monitors": [{"name": "node", "use": "node"}], "targets": [{"name": "se", "url": FAR}]}) == {}
    assert elsewhere({}) == {}


@pytest.mark.parametrize("suite", ["vendor-acceptance", "read-ahead"])
def test_t19_shipped_suites_by_url_cover_the_servers_disks_only_with_a_host(suite: str) -> None:
    """Row T19: by url the monitors stay on the client, and say nothing of the server."""
    by_url = {"targets.se.url": FAR}
    target = {"name": "se", "launched": False, "url": FAR}
    plan = load(EXAMPLES / f"{suite}.yaml", by_url)
    assert plan.suite.targets["se"].launch is None
    assert sorted(elsewhere({**first_info(plan, 1), "targets": [target]})) == ["node", "process"]
    private = {"name": "se", "launched": True, "url": "root://127.0.0.1:1094//"}
    assert elsewhere({**first_info(load(EXAMPLES / f"{suite}.yaml"), 1), "targets": [private]}) == {}


@pytest.mark.parametrize(
    ("watches", "verdict"), [({"watches": "se"}, "not covered"), ({"watches": "se", "host": "ssh://se01"}, "met")]
)
def test_t19_a_criterion_on_another_host_is_not_covered(tmp_path, watches, verdict) -> None:  # type: ignore[no-untyped-def]
    begin = scans.START + scans.SECOND
    told = scans.info(
        [scans.case(1, "copy", begin)],
        axes={},
        hosts=[{"name": "here"}],
        targets=[{"name": "se", "url": FAR, "launched": False}],
        monitors=[{"name": "node", "use": "node", "every": scans.SECOND, **watches}],
        criteria=[{"id": "C12", "says": "It does not wait", "check": "mean(node.load1) < 30", "coverage": "full"}],
    )
    samples = [SampleRow(begin + k * scans.SECOND, "node", "here", Sample("load1", 1.0, "", "")) for k in range(4)]
    folder = scans.write(tmp_path, told, [scans.rows_of(1, begin, 10_000_000)], samples=samples)
    found = results(folder)
    (judged,) = found.criteria
    assert judged.verdict == verdict
    assert found.exit_code == 0
    if verdict == "not covered":
        assert judged.figure.value is None
        assert "measured this machine, and target se is on se01.site.org" in judged.reason
