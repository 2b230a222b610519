"""Macaroons are those of libmacaroons."""

from pileup.builtin.credentials.macaroons import mint

KNOWN = (
    "MDAxNGxvY2F0aW9uIFBJTEVVUAowMDE0aWRlbnRpZmllciBpZC0xCjAwMTRjaWQgbmFtZTpwaWxldXAKMDAxM2NpZCBwYXRoOi9kYXRhCjAw"
    "MmZzaWduYXR1cmUgQih82B3QrJtX-KYA4upf_aCiwL2XB_p_jzAdfG5quUQK"
)
"""Made by pymacaroons 0.13 from the same words."""


def test_a_macaroon_is_byte_for_byte_what_another_implementation_makes() -> None:
    assert mint(b"k" * 64, "PILEUP", "id-1", ["name:pileup", "path:/data"]) == KNOWN


def test_another_key_or_caveat_gives_another_signature() -> None:
    assert mint(b"l" * 64, "PILEUP", "id-1", ["name:pileup", "path:/data"]) != KNOWN
    assert mint(b"k" * 64, "PILEUP", "id-1", ["path:/data", "name:pileup"])[-40:] != KNOWN[-40:]
