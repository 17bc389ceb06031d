"""Section of a review on the management path of the switches."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.change.results import ManagementPath
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Items, Section, code
from rocefort.reports.wording import group_items, name_ranges
from rocefort.verification.review.results import Review
from rocefort.verification.review.verdict import effects_lead


def management_section(review: Review) -> Section:
    """Parts of the management path that change; lines that are not judged come first."""
    path = review.management
    title = "Management path"
    if not path.switches:
        lead = "Not compared: there is no base to compare with."
        return Section(title, lead=lead, id="management")
    aspects = ", ".join(path.aspects)
    sides = [f"{len(path.new)} new"] if path.new else []
    sides += [f"{len(path.removed)} removed"] if path.removed else []
    beside = f"; {', '.join(sides)}, on one side only" if sides else ""
    apart = tuple(_one_sided_access(path))
    if not path.changes:
        same = f"on all of {count_of(path.switches, 'switch')}: {aspects}{beside}."
        unknown = effects_lead(review)
        lead = f"{unknown} Judged lines: unchanged {same}" if unknown else f"Unchanged {same}"
        return Section(title, (Items(apart),) if apart else (), lead, "management")
    alike = group_items(path.changes, lambda change: (change.aspect, change.what))
    lines = [
        f"{', '.join(name_ranges(c.device for c in found))}: {aspect}: {code(what)}"
        for (aspect, what), found in alike.items()
    ]
    changing = f"{path.switches - path.untouched} of {count_of(path.switches, 'switch')}"
    lead = effects_lead(review, f"Changes on {changing}; compared: {aspects}{beside}.")
    blocks = (Items(tuple(lines), strong=True), *([Items(apart)] if apart else []))
    return Section(title, blocks, lead, "management")


def _one_sided_access(path: ManagementPath) -> Iterator[str]:
    """Switches that only one side has: what ends, and how what comes is reached."""
    for access in path.removed:
        at = f" ({access.address})" if access.address else ""
        yield (
            f"{access.device}: removed, so access to it{at} ends by intent; it answers until it is "
            "switched off"
        )
    for access in path.new:
        at = f" at {access.address}" if access.address else ", at an address that is not known,"
        on = f" on {access.port}" if access.port else ""
        yield (
            f"{access.device}: new, reached by SSH{at}{on}, once its console has what "
            f"{code(f'rocefort day0 {access.device}')} prints"
        )
