"""Disruption on a CloudEngine of applying a change, beyond the effect of the change itself."""

from __future__ import annotations

from collections.abc import Mapping

_LOST = "its configuration is lost, and no rollback restores it"
# Field of a Device -> an additional reason; it never removes a reason.
DISRUPTS: Mapping[str, str] = {
    "splits[]": _LOST,
    "splits[].type": _LOST,
    "bgp.asn": "BGP is deleted and built again, with a commit in between",
}
