"""What applying a change disrupts on a CloudEngine, beside what the change itself does."""

from __future__ import annotations

from collections.abc import Mapping

_LOST = "what it held is lost, and no rollback brings it back"
# Field of a Device -> what a reason adds; it never takes a reason away.
DISRUPTS: Mapping[str, str] = {
    "splits[]": _LOST,
    "splits[].type": _LOST,
    "bgp.asn": "BGP is deleted and built again, with a commit in between",
}
