"""Which monitors did not measure what they are said to watch: criteria on them are not covered.

A monitor with `watches: TARGET` speaks of the host of that target. Without `host` it measures this machine, which is
that host only where pileup launched the target here, or where its url leads here.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit


def elsewhere(info: dict[str, Any]) -> dict[str, str]:
    """Return name of a monitor -> why it did not measure the host of the target that it watches, by run.json.

    Monitors that measured it, or that watch no target, are not in it; nor is one of a target that was never opened.
    """
    targets = {str(each.get("name")): each for each in info.get("targets") or []}
    here = [str(each.get("name", "")) for each in info.get("hosts") or []]
    found = {}
    for monitor in info.get("monitors") or []:
        target = targets.get(monitor.get("watches") or "")
        if target is None or monitor.get("host") or target.get("launched"):
            continue
        host = host_of(str(target.get("url") or ""))
        if not is_here(host, here):
            told = f"{monitor['name']} measured this machine, and target {target['name']} is on {host}"
            found[str(monitor["name"])] = f'{told}; it takes `host: "ssh://USER@{host}"` of the monitor'
    return found


def host_of(url: str) -> str:
    """Return the host of a url, empty for one without: a folder, a system of this machine."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_here(host: str, names: Sequence[str]) -> bool:
    """Return whether a host is this machine, which has these names; what is no url is here."""
    if host in ("", "localhost", *(name.lower() for name in names)):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
