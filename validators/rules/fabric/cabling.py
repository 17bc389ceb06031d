"""Rule on cabling evidence: LLDP, addresses and descriptions agree on every port."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocefort.models.finding import Severity
from rocefort.models.network.network import CablingEvidence, CablingSource, End
from rocefort.validators.rules.registry import Subject, Verdict, rule

EVIDENCE = {
    CablingSource.LLDP: "LLDP reports {} there",
    CablingSource.ADDRESSES: "by its address it is cabled to {}",
    CablingSource.DESCRIPTIONS: "its description names {}",
}
HINTS = {
    CablingSource.ADDRESSES: "move the cable, or the address to the port that it is plugged into",
    CablingSource.DESCRIPTIONS: "correct the description, or what it describes",
}


@rule(
    "TOP007",
    severity=Severity.ERROR,
    source="«the vendor's reference», «neighbours of ports»; RFC 7938, 5.1 (a subnet a link)",
)
def one_cabling(subject: Subject) -> Iterator[Verdict]:
    """LLDP, addresses and descriptions agree on the cabling.

    For a directory of configurations, Rocefort infers the cables. LLDP has precedence over
    addresses, and addresses over descriptions. Where they disagree, a cable is in the wrong port,
    an address is on the wrong port, or a description is old (a warning). All other rules use the
    cable of the evidence that has precedence.

    Example: LLDP reports spine02 there; by its address it is cabled to spine01 100GE1/0/1
    Fix: Move the cable, or the address to the port that it is plugged into; correct an old
    description.
    """
    by_end: dict[End, list[CablingEvidence]] = defaultdict(list)
    for claim in subject.network.claims:
        by_end[claim.at].append(claim)
    for end, claims in by_end.items():
        yield from _disagreement(subject, end, claims)


def _disagreement(subject: Subject, end: End, claims: list[CablingEvidence]) -> Iterator[Verdict]:
    """Report each piece of evidence that conflicts with the first, which has precedence."""
    believed = claims[0]
    for claim in claims[1:]:
        if not believed.conflicts_with(claim):
            continue
        old = claim.by is CablingSource.DESCRIPTIONS
        words = "; ".join(EVIDENCE[c.by].format(c.far) for c in (believed, claim))
        yield subject.finding(
            end,
            words,
            HINTS.get(claim.by, "check the cable: LLDP reports two neighbours on one port"),
            severity=Severity.WARNING if old else Severity.ERROR,
            path=_path(believed, claim),
        )


def _path(believed: CablingEvidence, claim: CablingEvidence) -> str:
    """Path to check: the LLDP output, or the line that conflicts."""
    if CablingSource.LLDP in (believed.by, claim.by):
        return "lldp"
    return "description" if claim.by is CablingSource.DESCRIPTIONS else "addresses"
