"""Ranges of AS numbers: public, private, and refused (RFC 6996, 7300, 7607, 6793)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AsnBlock:
    """Range of AS numbers of one kind, from the first to the last."""

    first: int
    last: int
    what: str
    private: bool

    def __str__(self) -> str:
        return f"the {self.what} AS numbers {self.first} to {self.last}"


BLOCKS = (
    AsnBlock(1, 64511, "public 2-byte", private=False),
    AsnBlock(64512, 65534, "private 2-byte", private=True),  # RFC 6996
    AsnBlock(65536, 4199999999, "public 4-byte", private=False),
    AsnBlock(4200000000, 4294967294, "private 4-byte", private=True),  # RFC 6996
)
REFUSED = {
    0: "is reserved (RFC 7607)",
    23456: "represents every 4-byte AS number (AS_TRANS, RFC 6793)",
    65535: "is reserved (RFC 7300)",
    4294967295: "is reserved (RFC 7300)",
}


def block_of(asn: int) -> AsnBlock | None:
    """Block of an AS number; None for a number that no switch may have."""
    if asn in REFUSED:
        return None
    return next((block for block in BLOCKS if block.first <= asn <= block.last), None)


def is_private(asn: int) -> bool:
    """Whether RFC 6996 reserves the number for private use."""
    return any(block.private and block.first <= asn <= block.last for block in BLOCKS)
