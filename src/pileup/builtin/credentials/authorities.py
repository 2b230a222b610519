"""Whom a TLS client believes: CA certificates from a file, from a folder as the grid has them, or the system's."""

from __future__ import annotations

import re
import ssl
from contextlib import suppress
from pathlib import Path

from pileup.plugin import TargetError

CERTIFICATE = re.compile("-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----", re.DOTALL)


def trusting(ca: str | None) -> ssl.SSLContext:
    """Return a context that verifies servers by the CAs in a file or a folder; None: by the system's.

    A folder holds PEM files of any names, such as /etc/grid-security/certificates; anything else is skipped.
    Raises TargetError when nothing usable is there.
    """
    if ca is None or not is_folder(ca):
        try:
            return ssl.create_default_context(cafile=ca)
        except (ssl.SSLError, OSError) as problem:
            raise TargetError(f"ca {ca} cannot be used: {problem}", "a file with CA certificates in PEM") from problem
    try:
        found = _certificates(Path(ca))
    except OSError as problem:
        raise TargetError(
            f"the folder {ca} cannot be read: {problem.strerror}", "a folder of CA certificates"
        ) from None
    context = None
    for certificate in found:
        with suppress(ssl.SSLError):  # one that OpenSSL does not take does not keep the others out
            if context is None:
                context = ssl.create_default_context(cadata=certificate)
            else:
                context.load_verify_locations(cadata=certificate)
    if context is None:
        raise TargetError(f"the folder {ca} has no CA certificate", "files with CA certificates in PEM")
    return context


def is_folder(path: str) -> bool:
    """Return whether a path is that of a folder; False where one may not look."""
    try:
        return Path(path).is_dir()
    except OSError:
        return False


def _certificates(folder: Path) -> list[str]:
    """Return every certificate of a folder once; names that are hashes of them are links to the same files."""
    found: dict[str, None] = {}
    for file in {path.resolve(): None for path in sorted(folder.iterdir())}:
        with suppress(OSError):
            found |= dict.fromkeys(CERTIFICATE.findall(file.read_text(errors="replace")) if file.is_file() else ())
    return list(found)
