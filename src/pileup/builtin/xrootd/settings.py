"""Settings of a private XRootD server: the keys of `launch` for the kinds xrootd and webdav."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from pileup.plugin import Bandwidth, Count, Part, Rate


class XrootdSettings(Part):
    """Settings of a private XRootD server: root:// and HTTP (WebDAV) on one port of 127.0.0.1.

    Its files are in a temporary folder that is removed with it, and survive restarts.
    """

    tls: bool = Field(
        False, description="speak TLS, with a certificate made for it: roots:// or https:// instead of root://, http://"
    )
    authorization: Literal["none", "macaroons", "tokens"] | None = Field(
        None,
        description="who has access: anyone on this machine (none), or clients with a macaroon or a WLCG token; "
        "pileup gets one. Default: none, but macaroons with `folder`, which may hold other files too",
    )
    checksum: Literal["none", "adler32", "crc32c", "md5"] = Field(
        "adler32", description="the kind of checksum that it computes"
    )
    threads: Count | None = Field(
        None, ge=3, le=100_000, description="most threads (xrd.sched maxt); default: as XRootD itself has it"
    )
    backlog: Count = Field(
        1024,
        ge=1,
        le=2**31 - 1,
        description="connections that may wait to be accepted, bounded by the kernel's "
        "somaxconn; it gets a socket that listens already",
    )
    throttle: Count | None = Field(
        None, ge=1, le=1_000_000, description="reads and writes done at the same time (throttle concurrency)"
    )
    bandwidth: Bandwidth | None = Field(
        None, ge=1000, description="bytes read and written per second, all together (throttle data)"
    )
    operations: Rate | None = Field(None, ge=1, description="reads and writes per second, all together (throttle iops)")
    open_files: Count | None = Field(None, ge=1, le=1_000_000, description="most open files of one user")
    connections: Count | None = Field(
        None, ge=1, le=1_000_000, description="most connections of one user that have a file open"
    )
    folder: str | None = Field(
        None, description="existing folder for the files, e.g. on the disk to be tested; default: its own"
    )
    tpc: bool = Field(
        False,
        description="third-party copies: over root:// (ofs.tpc), and with `tls` over https (libXrdHttpTPC)",
    )
    trace: bool = Field(
        False, description="write a line for each request into its log: for debugging, not for measuring"
    )
    monitoring: Count | None = Field(
        None,
        ge=1,
        le=65535,
        description="UDP port of 127.0.0.1 that it sends its detailed monitoring to: that of a monitor xrootd-stream",
    )
    directives: tuple[str, ...] = Field(
        (), description="further lines of its configuration, e.g. [`xrd.sched mint 16 avlt 8`]"
    )

    @field_validator("directives")
    @classmethod
    def _lines(cls, lines: tuple[str, ...]) -> tuple[str, ...]:
        for line in lines:
            if "\n" in line or "\r" in line:
                raise ValueError("a directive has several lines; expected one line for each")
        return lines

    @property
    def guard(self) -> Literal["none", "macaroons", "tokens"]:
        """How clients get access: 127.0.0.1 is open to every user of the machine, which a folder need not be."""
        if self.authorization is not None:
            return self.authorization
        return "none" if self.folder is None else "macaroons"

    @property
    def throttled(self) -> bool:
        """Whether its throttle is needed."""
        wanted = (self.throttle, self.bandwidth, self.operations, self.open_files, self.connections)
        return any(value is not None for value in wanted)
