"""Rule on AS numbers: each is reserved for private use."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.models.fabric.as_numbers import REFUSED, is_private
from rocefort.models.finding import Severity
from rocefort.validators.rules.registry import Subject, Verdict, rule


@rule(
    "ADR005",
    severity=Severity.WARNING,
    source="RFC 6996 (64512-65534, 4200000000-4294967294); RFC 7607, 6793, 7300 (0, 23456, 65535, "
    "4294967295)",
)
def private_asns(subject: Subject) -> Iterator[Verdict]:
    """Every switch has an AS number for private use.

    A public AS number has an owner. Where routes of the fabric and routes of that owner meet, BGP
    drops paths with the number as loops. The owner of a public number may use it: waive the
    finding. A number that no switch may have is an error.

    Example: its AS number is 64511, which is public
    Fix: Use 64512 to 65534 or 4200000000 to 4294967294.
    """
    for node in subject.network.nodes:
        asn = node.device.bgp.asn if node.device.bgp else None
        if asn is None or is_private(asn):
            continue
        refused = asn in REFUSED
        what = f"which {REFUSED[asn]}" if refused else "which is public"
        yield subject.finding(
            node,
            f"its AS number is {asn}, {what}",
            "use 64512 to 65534 or 4200000000 to 4294967294",
            path="bgp.asn",
            severity=Severity.ERROR if refused else None,
        )
