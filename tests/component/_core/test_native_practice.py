"""Practice storage in this process: it answers, writes its log, and says what is wrong with its settings."""

import http.client
import json
import socket
from pathlib import Path

import pytest

from pileup._core._native import PracticeStorage


def test_it_keeps_what_is_put_and_logs_it(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    server = PracticeStorage(json.dumps({"log": str(log)}))
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("PUT", "/a", b"hello")
    put = connection.getresponse()
    put.read()
    connection.request("GET", "/a", headers={"x-pileup-id": "7"})
    got = connection.getresponse()
    assert (put.status // 100, got.status, got.read()) == (2, 200, b"hello")
    connection.close()
    server.stop()
    server.stop()
    lines = log.read_text().splitlines()
    assert lines[0] == "id,method,path,arrived,began,first_byte,ended,service,status,bytes_in,bytes_out,fault,note"
    assert [line.split(",")[:3] for line in lines[1:]] == [["0", "PUT", "/a"], ["7", "GET", "/a"]]


def test_a_taken_port_is_an_os_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(OSError, match=r"expected"):
        PracticeStorage(json.dumps({"port": taken.getsockname()[1]}))


@pytest.mark.parametrize("wrong", ["", "5", '{"thread": 5}', '{"threads": "many"}'])
def test_wrong_settings_are_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        PracticeStorage(wrong)
