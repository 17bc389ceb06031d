"""Sources of values for random switches: small sets, so that values coincide, or any values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from typing import Any

from hypothesis import strategies as st

from rocefort.models.device.interface import HIGHEST_ID
from rocefort.models.device.lossless_queue import NO_DROP_PROFILES
from rocefort.models.device.packet_filters import (
    PortRange,
)
from rocefort.models.hardware.hardware import SyntaxFamily

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
TEMPLATES = {V200: "ce9860", G1: "ce8851", G2: "ce8855"}  # of templates/vrp

FEW_PREFIXES = [IPv4Network("10.0.0.11/32"), IPv4Network("10.65.0.0/16")]
FEW_WORDS = ["to spine01", "to spine02", "server 7", "spare"]
FEW_SOURCES = ["MEth0/0/0", "LoopBack0"]

QUEUES = st.integers(0, 7)
KBYTES = st.integers(1, 30720)
VLANS = st.integers(1, 4094)
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,12}", fullmatch=True).filter(
    lambda name: name not in ("none", "mode", "default")
)
DROP_NAMES = st.just("default") | NAMES.filter(lambda name: name not in NO_DROP_PROFILES)
DESCRIPTIONS = st.lists(st.text("#!/:-_.<>[]()*&%$+=,;@^~'\"aZ09", min_size=1), min_size=1).map(
    " ".join
)
ADDRESSES = st.integers(1, 2**32 - 2).map(IPv4Address)
LENGTHS = st.integers(0, 32)
PREFIXES = st.builds(lambda a, n: IPv4Network((a, n), strict=False), ADDRESSES, LENGTHS)
HOSTS = st.builds(lambda a, n: IPv4Interface((a, n)), ADDRESSES, LENGTHS)
ASNS = st.integers(1, 2**32 - 1)
INTERFACE_NAMES = st.one_of(
    st.builds("{}GE{}/0/{}".format, st.sampled_from([25, 100, 400]), QUEUES, st.integers(1, 64)),
    st.builds("100GE1/0/{}:{}".format, st.integers(1, 64), st.integers(1, 4)),
    st.builds("Vlanif{}".format, VLANS),
    st.builds("Eth-Trunk{}".format, st.integers(0, HIGHEST_ID)),
    st.sampled_from([*FEW_SOURCES, "LoopBack10", "NULL0"]),
)
SPLIT_PORTS = st.builds("{}GE1/0/{}".format, st.sampled_from([100, 200, 400]), st.integers(1, 64))
SPLIT_TYPES = st.sampled_from(["4*25GE", "2*50GE", "2*100GE", "4*50GE", "4*100GE", "2*200GE"])
FILTER_NAMES = st.integers(3000, 3999).map(str) | NAMES
FILTER_PORTS = st.builds(lambda a, b: PortRange(low=min(a, b), high=max(a, b)), ASNS, ASNS).filter(
    lambda ports: ports.high <= 65535
)


@dataclass(frozen=True)
class Pool:
    """Source of one switch's values: a few, or with `wide` any that its text can contain."""

    draw: st.DrawFn
    family: SyntaxFamily
    wide: bool

    def one(self, few: Sequence[Any], values: st.SearchStrategy[Any]) -> Any:
        """Draw one value."""
        return self.draw(values if self.wide else st.sampled_from(few))

    def maybe(self, few: Sequence[Any], values: st.SearchStrategy[Any]) -> Any:
        """Draw one value, or None: no line."""
        given = (self.wide or few) and self.flag()
        return self.one(few, values) if given else None

    def some(
        self, few: Sequence[Any], values: st.SearchStrategy[Any], most: int = 3, least: int = 0
    ) -> list[Any]:
        """Draw distinct values; values from small sets are sorted."""
        if self.wide:
            return self.draw(st.lists(values, min_size=least, max_size=most, unique=True))
        return sorted(self.draw(st.sets(st.sampled_from(few), min_size=least))) if few else []

    def flag(self) -> bool:
        """Draw whether a line exists."""
        return self.draw(st.booleans())
