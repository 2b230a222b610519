"""CA certificates from folders as the grid has them."""

from pathlib import Path

import pytest

from pileup.builtin.credentials.authorities import trusting
from pileup.plugin import TargetError
from tests.servers.certificates import make_certificate


def test_every_certificate_of_a_folder_counts_once_whatever_its_name(tmp_path: Path) -> None:
    first, second, third = (make_certificate()[0] for _ in range(3))
    (tmp_path / "one.pem").write_text(first)
    (tmp_path / "b1f6c0fe.0").symlink_to("one.pem")
    (tmp_path / "two.crt").write_text(f"about them\n{second}{third}")
    (tmp_path / "one.signing_policy").write_text("access_id_CA X509 '/CN=x'")
    (tmp_path / "broken.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    (tmp_path / "folder").mkdir()
    assert trusting(str(tmp_path)).cert_store_stats()["x509"] == 3


def test_a_folder_or_file_without_one_is_told(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="has no CA certificate; expected files"):
        trusting(str(tmp_path))
    (tmp_path / "ca.pem").write_text("no")
    with pytest.raises(TargetError, match=r"ca .*ca.pem cannot be used: .*; expected a file with CA certificates"):
        trusting(str(tmp_path / "ca.pem"))
