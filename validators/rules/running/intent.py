"""Rules on running configurations beside the intent: each switch has one, as intended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rocefort.base.documents.suggest import nearest
from rocefort.models.base import natural
from rocefort.models.change.edits import Edit
from rocefort.models.finding import Finding, Severity, Where
from rocefort.models.network.network import End, Node
from rocefort.models.wording import count_of, listing
from rocefort.validators.rules.registry import Place, Verdict, rule
from rocefort.validators.rules.running.running_subject import RunningSubject

DEFAULT = "the default"
REFERENCE = "the fabric is the reference of its switches"
# Differences that stop traffic or send it elsewhere: an error even where no other rule has one,
# because most rules judge what runs, and not what the fabric intends beside it.
ERRORS = {
    r"interfaces\[\]": "a gateway or a port is missing, and its servers or its link with it",
    r"interfaces\[\]\.enabled": "a port is down that the fabric has up",
    r"interfaces\[\]\.(access_vlan|trunk_vlans.*)": "servers are in another VLAN",
    r"interfaces\[\]\.addresses\[\]": "servers have no gateway, or a link no session",
    r"bgp|bgp\.(asn|router_id)": "sessions stay down, or two switches have one router id",
    r"bgp\.(peers|groups)\[\]": "a session is missing, or goes to a peer without intent",
    r"bgp\.(peers|groups)\[\]\.(asn|group|active|(import|export)_policy)": (
        "a session stays down, or carries other routes"
    ),
    r"bgp\.networks\[\]": "a prefix is not announced, or announced without intent",
    r"(route_policies|prefix_lists)\[\].*": "BGP accepts or announces other prefixes",
    r"static_routes\[\]": "a route overrides those of BGP, or is missing",
}
STOPS_TRAFFIC = re.compile("|".join(ERRORS))


@rule("TXT201", judges=RunningSubject, severity=Severity.ERROR, source=REFERENCE)
def one_text_a_switch(subject: RunningSubject) -> Iterator[Verdict]:
    """Each switch of the fabric has one text, and each text a switch.

    A switch without a text is judged as the fabric intends it, so that the other switches are
    judged at all. A text of an unknown switch is not judged. A text with another sysname is judged
    as the switch whose addresses, or whose file name, it has. Two texts that are swapped are one
    finding: their differences are its consequences.

    Example: the fabric has no switch leaf99: its configuration is not judged
    Fix: Save the configuration of every switch of the fabric, and of no other one.
    """
    running, names = subject.running, [node.name for node in subject.network.nodes]
    for name in running.missing:
        yield subject.finding(
            subject.network.by_name[name],
            f"no configuration of {name} in {running.source}: it is judged as the fabric "
            "intends it",
            "save what the switch runs there",
        )
    for name, other in running.copies.items():
        yield subject.finding(
            subject.network.by_name[name],
            f"{name} runs the text of {other}: all addresses in it are those of {other}; {name} is "
            f"judged as the fabric intends it, and {_withheld(running.withheld[name])}",
            f"load the configuration of {name}, or save its text under its own name",
        )
    for name, other in running.renamed.items():
        if circle := _circle(running.renamed, name):
            if name == min(circle, key=natural):
                yield _swapped(subject, circle)
            continue
        yield subject.finding(
            subject.network.by_name[name],
            f"the sysname is {other}, but by its addresses or its file this is {name}",
            f"set «name of a switch: {name}», or correct the name in the fabric",
            path="name",
        )
    for name, position in running.strangers.items():
        yield Finding(
            rule=subject.rule.id,
            severity=subject.rule.severity,
            where=Where(device=name, file=position.file, line=position.line),
            message=f"the fabric has no switch {name}: its configuration is not judged",
            hint=nearest(name, names, "remove the text, or add the switch to the fabric"),
        )


def _withheld(number: int) -> str:
    are = "is" if number == 1 else "are"
    return f"{count_of(number, 'difference')} as a consequence {are} not listed"


def _circle(renamed: Mapping[str, str], name: str) -> list[str]:
    """Switches whose texts are exchanged in a circle, each with the next one's; empty: none."""
    owner = {sysname: device for device, sysname in renamed.items()}
    circle, following = [name], owner.get(name)
    while following is not None and following not in circle:
        circle.append(following)
        following = owner.get(following)
    return circle if following == name else []


def _swapped(subject: RunningSubject, circle: Sequence[str]) -> Finding:
    withheld = sum(subject.running.withheld[name] for name in circle)
    name, other, *more = circle
    pairs = zip(circle[1:], [*circle[2:], name], strict=True)
    *middle, last = (f"{switch} that of {owner}" for switch, owner in pairs)
    others = ", ".join([*middle, f"and {last}"])
    return subject.finding(
        subject.network.by_name[name],
        f"{listing(circle)} have each other's text{'s' if more else ''}: {name} runs that of "
        f"{other}, {others}, by all addresses; each text is judged as that of the switch whose "
        f"addresses it has, and {_withheld(withheld)}",
        "load each configuration on its own switch, or correct the two sysnames",
        path="name",
    )


@rule("TXT202", judges=RunningSubject, severity=Severity.WARNING, source=REFERENCE)
def runs_the_intent(subject: RunningSubject) -> Iterator[Verdict]:
    """Each switch runs what the fabric intends.

    Each value that differs is a finding at the line of the configuration, with the line of the
    fabric. Where it breaks a rule, that rule has a finding, too. A difference that stops traffic or
    sends it elsewhere is an error: a gateway or a port that is missing or down, an address, a VLAN
    of servers, a peer or a policy of BGP, a prefix, a static route. A description, and a port that
    is shut down and unused, are information. Lines of equal meaning are no difference: a setting
    that a peer repeats of its group, other numbers of rules in the same order, ECN in cells of the
    same size. Encrypted secrets are not compared. Lines that no fabric sets are in TXT002 and
    TXT004.

    Example: bgp.maximum_paths is the default, the fabric intends 32
    Fix: Roll the intent out (`rocefort plan`), or correct the fabric.
    """
    for name, facts in subject.running.facts.items():
        for fact in facts:
            yield subject.finding(subject.network.by_name[name], fact, "correct the fabric")
    for name, edits in subject.running.edits.items():
        for edit in edits:
            yield _difference(subject, subject.network.by_name[name], edit)


def _difference(subject: RunningSubject, node: Node, edit: Edit) -> Finding:
    port, path = edit.port_and_rest
    place: Place = End(device=node.name, interface=port) if port and path else node
    what = path if port and path else edit.path
    row = what.endswith("]")
    runs, intended = edit.before_text, edit.after_text
    if row and runs is None:
        message = f"{what} is missing, the fabric intends it"
    elif row and intended is None:
        message = f"{what} is here, the fabric does not intend it"
    else:
        message = f"{what} is {runs or DEFAULT}, the fabric intends {intended or DEFAULT}"
    hint = "roll the intent out (`rocefort plan`), or correct the fabric"
    if _is_harmless(edit):
        severity = Severity.INFO
    else:
        severity = Severity.ERROR if _stops_traffic(edit) else subject.rule.severity
    return subject.finding(place, message, hint, path=what, severity=severity)


def _is_harmless(edit: Edit) -> bool:
    """Whether a difference has no effect: a description, or an unused port that is down."""
    if edit.field.endswith(".description"):
        return True
    port = edit.before if edit.field == "interfaces[]" and edit.after is None else None
    return (
        isinstance(port, dict)
        and port.get("enabled") is False
        and port.keys() <= {"name", "enabled", "description"}
    )


def _stops_traffic(edit: Edit) -> bool:
    """Whether a difference is an error; a port that is up beyond the intent is none."""
    if edit.field == "interfaces[].enabled":
        return edit.before is False
    if edit.field == "interfaces[]":
        intended = edit.after if isinstance(edit.after, dict) else {}
        return edit.before is None and intended.get("enabled") is not False
    return STOPS_TRAFFIC.fullmatch(edit.field) is not None
