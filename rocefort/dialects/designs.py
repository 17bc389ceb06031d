"""Designs in the texts of switches that no fabric describes: one sentence for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import ForeignDesign
from rocefort.dialects.dialect import Dialect
from rocefort.models.network.network import Network, TextLine
from rocefort.models.wording import count_of, names_text

# What Rocefort has instead of another design.
EBGP = "Rocefort computes routes of eBGP only"
NO_OVERLAY = "a fabric routes IPv4 between its leaves, without an overlay"
NO_LABELS = "a fabric forwards IPv4, without labels"
CONTRASTS = {
    ForeignDesign.OSPF: EBGP,
    ForeignDesign.ISIS: EBGP,
    ForeignDesign.RIP: EBGP,
    ForeignDesign.EVPN: NO_OVERLAY,
    ForeignDesign.VXLAN: NO_OVERLAY,
    ForeignDesign.VPN: "a fabric routes its servers in the public table",
    ForeignDesign.MLAG: "in a fabric, each server is on one leaf",
    ForeignDesign.VRRP: "in a fabric, each gateway is on one leaf",
    ForeignDesign.STACK: "in a fabric, each switch has a configuration of its own",
    ForeignDesign.MPLS: NO_LABELS,
    ForeignDesign.SEGMENT_ROUTING: NO_LABELS,
    ForeignDesign.IPV6: "Rocefort judges IPv4 only",
}


@dataclass(frozen=True, slots=True)
class DesignLines:
    """Lines of one design, each with the name of its switch, in order of the switches."""

    design: ForeignDesign
    lines: tuple[tuple[str, TextLine], ...]

    @property
    def switches(self) -> tuple[str, ...]:
        """Names of the switches that have them, each once."""
        return tuple(dict.fromkeys(name for name, _ in self.lines))

    def __str__(self) -> str:
        """Return the one sentence on the design."""
        names = self.switches
        count = f"{count_of(len(self.lines), 'line')} on {count_of(len(names), 'switch')}"
        contrast = CONTRASTS[self.design]
        return f"{self.design} is not modelled: {count} ({names_text(names)}); {contrast}"


def designs_of(
    texts: Iterable[tuple[str, Dialect, Iterable[TextLine]]],
) -> tuple[DesignLines, ...]:
    """Return the designs in the unmodelled lines of switches, in the order of ForeignDesign."""
    by_design: dict[ForeignDesign, list[tuple[str, TextLine]]] = {}
    for name, dialect, lines in texts:
        for line in lines:
            if (design := dialect.foreign_design(line)) is not None:
                by_design.setdefault(design, []).append((name, line))
    return tuple(
        DesignLines(each, tuple(by_design[each])) for each in ForeignDesign if each in by_design
    )


def designs_in(network: Network) -> tuple[DesignLines, ...]:
    """Return the designs in the texts of a network; what a site's templates write is none."""
    return designs_of(_texts(network))


def _texts(network: Network) -> Iterator[tuple[str, Dialect, tuple[TextLine, ...]]]:
    for node in network.nodes:
        if node.read_by is not None:
            yield node.name, dialect_of(node), node.unmodelled
