"""A private ARC CE over a Slurm of its own on this machine, launched as a suite's is."""

import contextlib
import os
import pwd
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from pileup.builtin.arc.launcher import arc_launcher
from pileup.builtin.arc.proxy import Signer, sign
from pileup.builtin.arc.target import ArcTarget
from pileup.model.suite import Credentials
from pileup.run.servers.supervisor import Supervisor
from tests.servers.launched import NAME, supervised
from tests.servers.slurm import PROGRAMS as BATCH_SYSTEM
from tests.support import require_programs

PROGRAMS = {
    "arched": "nordugrid-arc-arex",
    "/usr/lib/arc/arcconfig-parser": "nordugrid-arc-arex",
    "openssl": "openssl",
    **BATCH_SYSTEM,
}
END = "-----END CERTIFICATE-----\n"
HOUR = 3600 * 10**9
QUICK = {"cycle": 0, "defer": False, "information": "5 s"}
"""Settings of one that starts jobs at once."""


@dataclass(frozen=True)
class RunningArc:
    """A running computing element."""

    supervisor: Supervisor

    @property
    def home(self) -> Path:
        """The folder of everything that is its own, which goes with it."""
        short = self.supervisor._find(NAME)[0].filling.short
        assert short is not None
        return short

    def target(self, **options: Any) -> ArcTarget:
        """Return a target that reaches it as who it knows."""
        credentials = Credentials.model_validate(self.supervisor.credentials(NAME))
        return ArcTarget(self.supervisor.url(NAME), credentials, **{"patience": 20 * 10**9, **options})

    def site(self, folder: Path) -> ArcTarget:
        """Return a target that knows no more of it than of somebody else's: copies of its identities, and its CA."""
        identities = folder / "identities"
        identities.mkdir()
        for each in (self.home / "identities").glob("*.pem"):
            (identities / each.name).write_bytes(each.read_bytes())
        own = str(identities / "pileup.pem")
        given = {**self.supervisor.credentials(NAME), "certificate": own, "key": own}
        return ArcTarget(self.supervisor.url(NAME), Credentials.model_validate(given), identities=str(identities))

    def give(self, user: str, folder: Path) -> dict[str, str]:
        """Put into a folder of a user all that somebody has who uses a computing element of a site.

        That is a proxy, the certificates of CAs, and identities of users, each theirs and secrets for nobody else to
        read. Returns the variables by which programs find the first two.
        """
        known = pwd.getpwnam(user)
        certificates, identities = folder / "certificates", folder / "identities"
        for made in (certificates, identities):
            made.mkdir()
        (certificates / "ca.pem").write_bytes((self.home / "ca" / "ca.pem").read_bytes())
        for each in (self.home / "identities").glob("user*.pem"):
            (identities / each.name).write_bytes(each.read_bytes())
        proxy = folder / "x509up"
        proxy.write_text(proxy_of(self.home / "identities" / "pileup.pem", HOUR))
        for path in (folder, *folder.rglob("*")):
            path.chmod(0o700 if path.is_dir() else 0o600)
            os.chown(path, known.pw_uid, known.pw_gid)
        return {"X509_USER_PROXY": str(proxy), "X509_CERT_DIR": str(certificates)}

    def kill(self, *names: str) -> None:
        """Kill some of its daemons, and what they have started."""
        for name in names:
            self.supervisor.kill(f"{NAME}.{name}", 9)

    def start_again(self, *names: str) -> None:
        """Start some of its daemons again."""
        for name in names:
            self.supervisor.restart(f"{NAME}.{name}")

    def processes(self) -> list[psutil.Process]:
        """Return everything that has its folder among its words or in its environment."""
        return processes_of(str(self.home))


def proxy_of(identity: Path, lifetime: int) -> str:
    """Return a proxy that lasts for so many ns, as arcproxy writes it: certificate, key, chain."""
    key = rsa.generate_private_key(65537, 2048)
    request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, SHA256())
    pem = request.public_bytes(Encoding.PEM).decode()
    certificate, chain = sign(pem, Signer.read(identity, identity), lifetime).text.split(END, 1)
    secret = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()
    return certificate + END + secret + chain


def processes_of(home: str) -> list[psutil.Process]:
    """Return processes that name a folder in their words or their environment, but for dead ones."""
    found = []
    for each in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            words = " ".join((*each.cmdline(), *each.environ().values()))
            if home in words and each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
    return found


@contextlib.contextmanager
def arc(folder: Path, /, **settings: Any) -> Iterator[RunningArc]:
    """Yield a computing element with these settings (of a suite's `launch`); its logs are in folder.logs."""
    require_programs(PROGRAMS)
    with supervised(arc_launcher(settings, folder), folder) as supervisor:
        running = RunningArc(supervisor)
        try:
            yield running
        finally:
            running.kill("arex-ws", "arex")  # asked to end, it sleeps for up to 10 s
