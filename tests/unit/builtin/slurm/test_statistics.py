"""What Slurm reports on itself: sdiag's words, and REST's."""

import json

import pytest

from pileup.builtin.slurm.statistics import Requests, from_rest, from_sdiag
from pileup.plugin import Failed

SDIAG = """\
*******************************************************
sdiag output at Sat Nov 21 17:25:23 2026 (1795281923)
Data since      Thu Jan 01 00:00:00 1970 (0)
*******************************************************
Server thread count:  3
Agent queue size:     1
Agent count:          2
Agent thread count:   4
DBD Agent queue size: 5

Jobs submitted: 30
Jobs started:   20
Jobs completed: 15
Jobs canceled:  1
Jobs failed:    2

Main schedule statistics (microseconds):
\tLast cycle:   39
\tMax cycle:    16081
\tTotal cycles: 3
\tMean cycle:   5869
\tMean depth cycle:  12
\tCycles per minute: 4
\tLast queue length: 7

Backfilling stats
\tTotal backfilled jobs (since last slurm start): 6
\tTotal backfilled jobs (since last stats cycle start): 0
\tTotal cycles: 9
\tLast cycle when: N/A
\tLast cycle: 11
\tMean cycle: 13
\tLast queue length: 8

Latency for 1000 calls to gettimeofday(): 23 microseconds

Remote Procedure Call statistics by message type
\tREQUEST_SUBMIT_BATCH_JOB                ( 4003) count:30     ave_time:1055   total_time:31662
\tREQUEST_PING                            ( 1008) count:1      ave_time:232    total_time:232

Remote Procedure Call statistics by user
\tslurm           (   64030) count:31     ave_time:1025   total_time:31789

Pending RPC statistics
\tNo pending RPCs
"""
FIGURES = {
    "server_thread_count": 3,
    "agent_queue_size": 1,
    "agent_count": 2,
    "agent_thread_count": 4,
    "dbd_agent_queue_size": 5,
    "jobs_submitted": 30,
    "jobs_started": 20,
    "jobs_completed": 15,
    "jobs_canceled": 1,
    "jobs_failed": 2,
    "schedule_cycle_last": 39,
    "schedule_cycle_mean": 5869,
    "schedule_cycle_mean_depth": 12,
    "schedule_cycle_total": 3,
    "schedule_queue_length": 7,
    "bf_backfilled_jobs": 6,
    "bf_cycle_counter": 9,
    "bf_cycle_last": 11,
    "bf_cycle_mean": 13,
    "bf_queue_len": 8,
}
REQUESTS = {"REQUEST_SUBMIT_BATCH_JOB": Requests(30, 31662), "REQUEST_PING": Requests(1, 232)}


def test_sdiag_is_read_section_by_section() -> None:
    found = from_sdiag(SDIAG.splitlines())
    assert found.figures == FIGURES
    assert found.requests == REQUESTS


def test_rest_says_the_same() -> None:
    kinds = [
        {"message_type": kind, "type_id": 1, "count": each.count, "average_time": 1, "total_time": each.time}
        for kind, each in REQUESTS.items()
    ]
    told = {"statistics": {**FIGURES, "rpcs_by_message_type": kinds, "bf_active": False, "other": "text"}}
    found = from_rest(json.dumps(told).encode())
    assert {name: found.figures[name] for name in FIGURES} == FIGURES
    assert found.requests == REQUESTS


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"statistics": 3}', b'{"statistics": {"rpcs_by_message_type": [1]}}']
)
def test_an_answer_that_is_none_is_told(body: bytes) -> None:
    with pytest.raises(Failed, match="holds no statistics"):
        from_rest(body)


def test_an_output_that_is_none_is_told() -> None:
    with pytest.raises(Failed, match="sdiag: the output holds no statistics"):
        from_sdiag(["slurm_load_diag: Unable to contact slurm controller"])
