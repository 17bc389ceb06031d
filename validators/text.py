"""Text: lines that are not understood, and command forms that no vendor source confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from rocefort.models.device import Device
from rocefort.models.finding import Severity
from rocefort.models.network import TextLine
from rocefort.models.static import FACTORY_VRF
from rocefort.validators.by_switch import Said, Switch
from rocefort.validators.rules import Need, Subject, Verdict, rule

LONGEST_SHOWN = 120  # characters of a line in a message

# Which Device makes the command stand in its text, by the command's first words as the hardware
# data write it.
USES: dict[str, Callable[[Device], bool]] = {
    "acl name": lambda d: any(not acl.name.isdecimal() for acl in d.filters.acls),
    "ai-service": lambda d: d.ai_ecn.enabled or bool(d.ai_ecn.queues),
    "dcb pfc buffer": lambda d: any(i.thresholds for i in d.interfaces),
    "dcb pfc enable": lambda d: any(i.pfc for i in d.interfaces),
    "info-center loghost source": lambda d: d.syslog.source_interface is not None,
    "netconf": lambda d: d.netconf.port_830,
    "snmp-agent protocol source-interface": lambda d: d.snmp.source_interface is not None,
    "telemetry": lambda d: bool(d.telemetry),
    "user-group": lambda d: bool(d.user_groups),
    "local-source-interface": lambda d: any(s.source_interface for s in d.telemetry.subscriptions),
    "ip binding vpn-instance (MEth0/0/0)": lambda d: any(
        i.vrf not in (None, FACTORY_VRF) and i.kind == "management" for i in d.interfaces
    ),
    "ip vpn-instance": lambda d: bool(d.vrfs),
    "load-balancing as-path-relax": lambda d: d.bgp is not None and d.bgp.as_path_relax,
    "drop-profile": lambda d: bool(d.drop_profiles),
    "fec mode": lambda d: any(i.fec for i in d.interfaces),
    "negotiation disable": lambda d: not all(i.autonegotiation for i in d.interfaces),
    "diffserv domain": lambda d: bool(d.domains),
    "port split refresh": lambda d: bool(d.splits),
    "priority Q deadlock-detect": lambda d: any(p.timers for p in d.pfc.profiles),
    "priority Q turn-off": lambda d: any(p.turn_off for p in d.pfc.profiles),
    "qos buffer headroom-pool": lambda d: d.pfc.headroom_pool_kbytes is not None,
    "traffic policy": lambda d: bool(d.filters.policies),
    "undo priority": lambda d: any(3 not in p.queues for p in d.pfc.profiles),
}


@cache
def _use_of(command: str) -> Callable[[Device], bool] | None:
    return next((used for words, used in USES.items() if command.startswith(words)), None)


def in_use(command: str, device: Device) -> bool | None:
    """Whether a Device makes a command stand in its text; None: no Device tells of it."""
    used = _use_of(command)
    return None if used is None else used(device)


@rule(
    "TXT001",
    severity=Severity.INFO,
    source="the hardware data's own notes on what V300R023C00 and V200 documents do not say",
    needs=(Need.FAMILY,),
)
def unconfirmed_commands(subject: Subject) -> Iterator[Verdict]:
    """Command forms in use that no vendor source confirms.

    The text is written by the nearest form that is documented, with the ports that the hardware
    data name. Try such a line on one switch
    before a rollout; when it is confirmed, take it off the family's list in the hardware data.
    """
    yield from subject.by_switch(_unconfirmed)


def _unconfirmed(switch: Switch) -> Iterator[Said]:
    node, hardware = switch.node, switch.node.hardware
    if hardware is not None and not hardware.confirmed and hardware.note:
        yield switch.finding(
            node,
            f"the data of {hardware.model} are not confirmed: {hardware.note}",
            "compare them with the switch before a rollout",
        )
    for entry in node.family.unconfirmed if node.family else ():
        used = _use_of(entry.command)
        if used is not None and not used(node.device):
            continue
        form = f"`{entry.command}` is not confirmed on {node.syntax}"
        if used is None:
            yield switch.not_judged(
                node, f"{form}; whether the switch uses it cannot be told from its model"
            )
        else:
            yield switch.finding(
                node, f"{form}: {entry.note}", "try it on one switch before a rollout"
            )


@rule(
    "TXT002",
    severity=Severity.WARNING,
    source="the models: a line that they do not know is kept, never dropped",
)
def unknown_lines(subject: Subject) -> Iterator[Verdict]:
    """Every line of the text is understood.

    What a line says that is not understood is judged by no rule. It stays on the switch: a plan
    neither changes nor removes it.
    """
    yield from subject.by_switch(_unknown_lines)


def _unknown_lines(switch: Switch) -> Iterator[Said]:
    node = switch.node
    for line in node.unmodelled:
        if not line.command:
            yield switch.finding(
                node,
                f"{_shown(line)} is not understood",
                "no rule judges it; look at it yourself",
                path=f"unmodelled[{line.line}]",
            )


def _shown(line: TextLine) -> str:
    view = f" in {_short(' / '.join(line.path))}" if line.path else ""
    return f"`{_short(line.text)}`{view}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} .."


@rule(
    "TXT004",
    severity=Severity.INFO,
    source="the command table, whose rows name the vendor's section each; the models",
)
def known_lines(subject: Subject) -> Iterator[Verdict]:
    """Known commands that no rule judges.

    The command is known, and what it sets is no part of what Rocefort judges, or it stands where
    it sets nothing. Passwords and keys are among these on purpose. The line stays on the switch: a
    plan neither changes nor removes it.
    """
    yield from subject.by_switch(_known_lines)


def _known_lines(switch: Switch) -> Iterator[Said]:
    node = switch.node
    for line in node.unmodelled:
        if line.command:
            yield switch.finding(
                node,
                f"`{line.command}` is known, but nothing judges what it sets",
                "",
                path=f"unmodelled[{line.line}]",
            )


@rule(
    "TXT005",
    severity=Severity.WARNING,
    source="V300R023C00 configuration guide, Configuration Scripts: each ends with `return`",
)
def whole_text(subject: Subject) -> Iterator[Verdict]:
    """A saved configuration ends with `return`.

    Text without its end may be cut off, by a full disk or a session that ended too early. What is
    missing is judged as if it were not configured. Save the whole text again.
    """
    yield from subject.by_switch(_cut_off)


def _cut_off(switch: Switch) -> Iterator[Said]:
    node = switch.node
    if node.cut_off_at is not None:
        yield switch.finding(
            node,
            "the text ends without `return`; it may be cut off here",
            "save the whole output of `display current-configuration` again",
            path="cut_off",
        )
