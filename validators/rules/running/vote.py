"""Rules on configurations without intent: what most switches have is taken as meant."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import in_one_spelling
from rocefort.models.finding import Finding, Severity
from rocefort.models.network.network import Node
from rocefort.models.vote import FEWEST, Vote
from rocefort.models.wording import count_of, listing
from rocefort.validators.facts.roce_ports import paused_queues, paused_vote, queue_words
from rocefort.validators.rules.registry import Place, Verdict, rule
from rocefort.validators.rules.running.kind_settings import (
    LEAST_ALIKE,
    OF_RELEASES,
    HostNumber,
    Outside,
    PortOfKind,
    Settings,
    filter_settings,
    kinds_of,
    paths_of,
    peer_settings,
    ports_of,
    release_fields,
    settings_of,
    value_text,
)
from rocefort.validators.rules.running.running_subject import VoteSubject

MOST_NAMED = 4  # switches that a message lists
AGREED = "agreed, not right: no intent confirms it"
UNLIKE = "give it the value of the others, or judge the texts by a fabric"
# Lines that make a switch safer: the others lack them, and it is not advised to remove them.
SAFER = re.compile(r"telnet_off\[|pfc\.profiles\[[^]]*\]\.timers\[|acls\[")
SAFER_VALUES = {("pfc.recovery_behavior", "discard")}  # whatever the others have
SAFER_HERE = "add the line to the others, too, or judge the texts by a fabric"


@rule(
    "PFC201",
    judges=VoteSubject,
    severity=Severity.ERROR,
    source="IEEE 802.1Q, 36 (PFC pauses a priority on both ends of a link)",
)
def one_lossless_queue(subject: VoteSubject) -> Iterator[Verdict]:
    """All switches pause the same queues.

    RoCE uses one lossless queue on its whole path. A switch that pauses another queue, or none,
    drops the packets of RoCE where the others pause. Without intent, the queues that most switches
    pause are taken as meant, and other rules judge by them. They are agreed, which is not right.
    Where no switch pauses a queue, a line that is there for RoCE is an error; a map of priorities
    alone is a warning, as other traffic has such maps, too.

    Example: pauses queue 5, but queue 4 is paused on 9 of 10 switches
    Fix: Pause one queue on every switch, or judge the texts by a fabric.
    """
    nodes = subject.network.nodes
    vote = paused_vote(nodes)
    if vote is None:
        yield from _nothing_paused(subject)
        return
    roles = [node for node in nodes if node.role] or [n for n in nodes if paused_queues(n)]
    values = {node.name: paused_queues(node) for node in roles} | dict(vote.values)
    whole = Vote(values)
    be, pronoun = ("are", "they are") if len(vote.taken) > 1 else ("is", "it is")
    number = f"on {vote.count} of {count_of(len(values), 'switch')}"
    if vote.tied:
        sides = (f"{queue_words(each)} on {_names(vote.voters(each))}" for each in vote.counts)
        message = f"the switches do not agree on the lossless queue: {listing(sides)}; "
        yield subject.finding(
            None,
            f"{message}of this tie, {queue_words(vote.taken)} {be} taken",
            "pause one queue on every switch, or judge the texts by a fabric",
        )
    elif whole.unanimous:
        yield subject.finding(
            None,
            f"{queue_words(vote.taken)} {be} taken as lossless, as {pronoun} paused {number}: "
            f"{AGREED}",
            "judge the texts by a fabric: `rocefort check FABRIC --configs DIR`",
            severity=Severity.INFO,
        )
    for name, queues in values.items():
        if queues != vote.taken:
            node = subject.network.by_name[name]
            yield subject.finding(
                node,
                f"pauses {queue_words(queues)}, but {queue_words(vote.taken)} {be} paused {number}",
                "pause one queue on every switch, or judge the texts by a fabric",
                path=_profile_path(node, queues ^ vote.taken),
            )


def _profile_path(node: Node, queues: frozenset[int]) -> str:
    """Path of the first paused queue that is another one, else of the profile of the ports."""
    names = {port.pfc.profile for port in node.device.interfaces if port.pfc}
    for profile in node.device.pfc.profiles:
        own = sorted(queues.intersection(profile.queues))
        if profile.name in names:
            return f"pfc.profiles[{profile.name}]" + (f".queues[{own[0]}]" if own else "")
    return "pfc"


def _nothing_paused(subject: VoteSubject) -> Iterator[Verdict]:
    """Report switches that are prepared for RoCE, if no switch pauses a queue."""
    for node in _in_one_spelling(subject.network.nodes):
        device = node.device
        signs = {
            "AI-ECN": (bool(device.ai_ecn.queues), "ai_ecn"),
            "PFC profile": (bool(device.pfc.profiles), "pfc"),
            "PFC thresholds": (any(port.thresholds for port in device.interfaces), "pfc"),
        }
        present = [(words, path) for words, (has, path) in signs.items() if has]
        if present:
            words, path = present[0]
            yield subject.finding(
                node,
                f"it has a line of {words}, but no port of any switch pauses a queue",
                "turn PFC on at the ports that carry RoCE («PFC in manual mode»)",
                path=path,
            )
        elif maps := [d for d in device.domains if d.dscp or d.dot1p]:
            yield subject.finding(
                node,
                f"map of priorities {maps[0].name} is here, but no port of any switch pauses a "
                "queue",
                "turn PFC on at the ports that carry RoCE («PFC in manual mode»), if any do",
                path=f"domains[{maps[0].name}]",
                severity=Severity.WARNING,
            )


@rule(
    "TXT203",
    judges=VoteSubject,
    severity=Severity.WARNING,
    source="RFC 7938, 4.2 (a Clos of like switches); what most switches have is taken as meant",
)
def like_the_others(subject: VoteSubject) -> Iterator[Verdict]:
    """Switches, and ports of a kind, have the settings of most others.

    Without intent, the value that at least two thirds of the switches of a role (or of the ports
    of a kind and speed) have is taken as meant. Who has another one is reported with both values.
    Switches that differ alike in several settings are another model or release, and are compared
    with each other. What all have may still be wrong: no rule passes because of it. A tie is
    information, as no switch is more right than the other. If two switches of a kind differ in a
    line that the other kinds do not have, both are named in a warning: their release may need it.

    Example: lldp is off here, and on at 3 of 4 leaves like leaf05
    Fix: Give it the value of the others, or judge the texts by a fabric.
    """
    if len(subject.network.nodes) < FEWEST:
        return
    nodes = _in_one_spelling(subject.network.nodes)
    outside = Outside.of(subject.overview)
    settings = {node.name: settings_of(node, outside) for node in nodes}
    ports = {node.name: ports_of(node, outside) for node in nodes}
    with_ports = {name: own | _usual(ports[name]) for name, own in settings.items()}
    kinds = kinds_of(subject.network, with_ports)
    yield from _of_switches(subject, settings, kinds)
    yield from _of_ports(subject, ports, kinds)
    yield from _of_peers(subject, nodes, outside, kinds)
    yield from _of_filters(subject, nodes)


def _in_one_spelling(nodes: Sequence[Node]) -> list[Node]:
    """Switches without differences in spelling alone, and without lines that they save alone."""
    devices = in_one_spelling([(dialect_of(node), node.device, node.family) for node in nodes])
    return [
        node.model_copy(update={"device": device})
        for node, device in zip(nodes, devices, strict=True)
    ]


def _usual(ports: list[PortOfKind]) -> Settings:
    """Most frequent settings of the ports of each kind, for the kind of their switch."""
    groups: defaultdict[tuple[str, str], list[PortOfKind]] = defaultdict(list)
    for port in ports:
        groups[port.kind, port.speed].append(port)
    return {
        f"{kind} {speed} {path}": Vote(
            {port.end.interface: port.settings.get(path) for port in same}
        ).taken
        for (kind, speed), same in groups.items()
        for path in paths_of(port.settings for port in same)
    }


@dataclass(frozen=True)
class _Voter:
    """Switch, port or peer with its settings; groups: those that it is compared with, in order."""

    place: Place
    settings: Mapping[str, Hashable]
    groups: tuple[str, ...]
    prefix: str = ""  # of the paths of its settings
    release: frozenset[str] = frozenset()  # fields of a release that it has

    def has_other_release(self, path: str, others: Iterable[_Voter]) -> bool:
        """Whether a setting is of a release, and all the others have another release."""
        return OF_RELEASES.match(path) is not None and all(
            len(self.release ^ other.release) >= LEAST_ALIKE for other in others
        )


def _of_switches(
    subject: VoteSubject, settings: Mapping[str, Settings], kinds: Mapping[str, str]
) -> Iterator[Finding]:
    by_name = subject.network.by_name
    voters = {
        name: _Voter(
            by_name[name],
            own,
            (kinds[name], _role(by_name[name]), "switch"),
            release=release_fields(own),
        )
        for name, own in settings.items()
    }
    yield from _dissent(subject, voters)


def _of_ports(
    subject: VoteSubject, ports: Mapping[str, list[PortOfKind]], kinds: Mapping[str, str]
) -> Iterator[Finding]:
    voters = {}
    for name, own in ports.items():
        role = _role(subject.network.by_name[name])
        for port in own:
            what = f"{port.speed}GE {port.kind}" if port.speed else port.kind
            groups = (f"{what} of {kinds[name]}", f"{what} of {role}", what)
            voters[str(port.end)] = _Voter(port.end, port.settings, groups)
    yield from _dissent(subject, voters)


def _of_peers(
    subject: VoteSubject, nodes: Iterable[Node], outside: Outside, kinds: Mapping[str, str]
) -> Iterator[Finding]:
    voters = {}
    for node in nodes:
        for (kind, address), own in peer_settings(node, outside).items():
            groups = (f"{kind} of {kinds[node.name]}", f"{kind} of {_role(node)}", kind)
            path = f"bgp.peers[{address}]"
            voters[f"{node.name} {address}"] = _Voter(node, own, groups, path)
    yield from _dissent(subject, voters)


def _of_filters(subject: VoteSubject, nodes: Iterable[Node]) -> Iterator[Finding]:
    """Compare the packet filters of the gateways of one VLAN."""
    voters = {
        f"{node.name} {port.name}": _Voter(
            node, filter_settings(node, port), (f"{port.name} gateway",) * 2
        )
        for node in nodes
        for port in node.device.vlanifs
        if port.enabled and port.addresses
    }
    yield from _dissent(subject, voters)


def _role(node: Node) -> str:
    return node.role or "switch"


def _dissent(subject: VoteSubject, voters: Mapping[str, _Voter]) -> Iterator[Finding]:
    """Findings of voters that differ from most of their kind, else from most of a wider group."""
    members: defaultdict[str, list[str]] = defaultdict(list)
    for name, voter in voters.items():
        for group in dict.fromkeys(voter.groups):
            members[group].append(name)
    smallest = dict.fromkeys(voter.groups[0] for voter in voters.values())
    for group in smallest:
        names = members[group]
        for path in paths_of(voters[name].settings for name in names):
            if path.startswith("pfc.profiles[") and ".queues[" in path:
                continue  # PFC201 reports it
            yield from _of_setting(subject, voters, members, group, path)


def _of_setting(
    subject: VoteSubject,
    voters: Mapping[str, _Voter],
    members: Mapping[str, list[str]],
    group: str,
    path: str,
) -> Iterator[Finding]:
    own = _vote(voters, members[group], path)
    if own.unanimous and len(own.values) > 1:
        return
    split = own.tied and len(own.values) > 1
    severity = Severity.INFO
    for wider in voters[members[group][0]].groups:
        vote = own if wider == group else _vote(voters, members[wider], path)
        if vote.clear and not vote.unanimous and vote.taken in own.counts:
            if split and vote.taken is None:
                severity = Severity.WARNING  # the release of this kind alone may need the line
                break
            agreed = [voters[other] for other in vote.voters(vote.taken)]
            yield from (
                _differs(subject, voters[name], path, vote, wider)
                for name in members[group]
                if voters[name].settings.get(path) != vote.taken
                and not _row_differs(voters, name, members[wider], path)
                and not voters[name].has_other_release(path, agreed)
                and not _as_role(voters, members, name, path, own)
            )
            return
    if split and len(own.counts) == 2 and not _row_tied(voters, members[group], path):
        one, two = ([voters[name] for name in own.voters(value)] for value in own.counts)
        if not all(each.has_other_release(path, two) for each in one):
            yield _tie(subject, path, own, group, severity)


def _as_role(
    voters: Mapping[str, _Voter],
    members: Mapping[str, list[str]],
    name: str,
    path: str,
    own: Vote[Hashable],
) -> bool:
    """Whether one against two of its kind has what most of its role have: of another release."""
    role = _vote(voters, members[voters[name].groups[1]], path)
    agrees = role.clear and role.taken == voters[name].settings.get(path)
    return len(own.values) == FEWEST and agrees


def _row_tied(voters: Mapping[str, _Voter], names: list[str], path: str) -> bool:
    """Whether the row that encloses a setting is at some only: a finding of its own."""
    row, enclosed, _ = path.rpartition("].")
    return bool(enclosed) and not _vote(voters, names, f"{row}]").unanimous


def _vote(voters: Mapping[str, _Voter], names: list[str], path: str) -> Vote[Hashable]:
    return Vote({name: voters[name].settings.get(path) for name in names})


def _row_differs(voters: Mapping[str, _Voter], name: str, names: list[str], path: str) -> bool:
    """Whether the row that encloses a setting is here alone or missing: a finding of its own."""
    row, enclosed, _ = path.rpartition("].")
    if not enclosed:
        return False
    return voters[name].settings.get(f"{row}]") != _vote(voters, names, f"{row}]").taken


def _differs(
    subject: VoteSubject, voter: _Voter, path: str, vote: Vote[Hashable], group: str
) -> Finding:
    value, usual = voter.settings.get(path), vote.taken
    count = f"{vote.count} of {_many(len(vote.values), group)}"
    if path.endswith("]"):
        have = "do not have it" if vote.taken is None else "have it"
        message = f"{path} is {'missing' if value is None else 'here'}, but {count} {have}"
    elif (
        isinstance(value, HostNumber)
        and isinstance(usual, HostNumber)
        and value.mask_bits != usual.mask_bits
    ):
        message = (
            f"the address has a mask of {value.mask_bits} bits here (host {value}), "
            f"and of {usual.mask_bits} bits (host {usual}) at {count}"
        )
    else:
        message = f"{path} is {value_text(value)} here, and {value_text(usual)} at {count}"
    at = f"{voter.prefix}.{path}" if voter.prefix else path
    if voter.prefix:
        message = f"peer {voter.prefix[len('bgp.peers[') : -1]}: {message}"
    alone = value is not None and vote.taken is None
    safer = (alone and SAFER.match(path)) or (path, value) in SAFER_VALUES
    return subject.finding(voter.place, message, SAFER_HERE if safer else UNLIKE, path=at)


def _tie(
    subject: VoteSubject, path: str, vote: Vote[Hashable], group: str, severity: Severity
) -> Finding:
    sides = (f"{value_text(value)} ({_names(vote.voters(value))})" for value in vote.counts)
    message = f"{path}: {_many(len(vote.values), group)} do not agree: {listing(sides)}"
    hint = "give both switches the intended value" if severity is Severity.WARNING else ""
    return subject.finding(None, message, hint, severity=severity)


def _many(number: int, group: str) -> str:
    """`16 fabric ports of leaves`, `8 leaves as leaf01`."""
    what, of, owners = group.partition(" of ")
    kind, like, first = (owners or what).partition(" as ")
    plural = {"leaf": "leaves", "spine": "spines"}.get(kind, "switches")
    alike = f" like {first}" if like else ""
    if of:
        return f"{count_of(number, what)} of {plural}{alike}"
    if what in ("leaf", "spine", "switch") or like:
        return f"{number} {plural}{alike}"
    return count_of(number, what)


def _names(names: list[str]) -> str:
    shown = names[:MOST_NAMED]
    more = [f"{len(names) - MOST_NAMED} more"] if names[MOST_NAMED:] else []
    return listing([*shown, *more])
