"""Steps of `expand`: grow a fabric in memory, prove that nothing is lost, then write it.

One spine after the other, then all leaves: isolated (configured, no cable to the existing fabric),
cabled (existing switches have no configuration for it), sessions up (it announces nothing), taking
traffic. A switch takes no traffic while the first node of its export policy denies every route.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocefort.base.errors import BadInput, Problem
from rocefort.change.edit import FabricFile, Versions, read_fabric, versions_of
from rocefort.change.effects.drain import drain_commands, remaining_capacity, with_drained
from rocefort.change.growth import Growth, GrowthStage, ListedCable, ListedSwitch, StagedGrowth
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.expand import (
    GROUPS,
    LEAVES,
    SERVERS,
    SPINES,
    GrownFabric,
    GrowthRequest,
    NewSwitchModel,
    grow,
)
from rocefort.design.load.documents import load_catalogue
from rocefort.dialects.network_text import read_back, render_all
from rocefort.models.base import check_name, natural
from rocefort.models.network.network import End, Link, Network, Node, SwitchRole
from rocefort.models.wording import count_of
from rocefort.validators.capacity.bisection import Bandwidth
from rocefort.validators.routing.engine import analyse
from rocefort.validators.routing.reachability_matrix import denied_pairs, reachability_of
from rocefort.validators.routing_results import Reachability, SessionStatus
from rocefort.validators.rules.verification.growth_subject import prove

ISOLATED, CABLED, SESSIONS, TRAFFIC = "isolated", "cabled", "sessions up", "taking traffic"


@dataclass(frozen=True)
class GrowthStep:
    """One part of a growth: the Networks without and with its switches."""

    before: Network
    after: Network
    new: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class _StageJudge:
    """Check that every state keeps the server pairs of the beginning."""

    start: Reachability

    def stage(
        self, network: Network, title: str, spines: int, serving: Sequence[Node]
    ) -> GrowthStage:
        """Solve a state. spines, serving: spines and leaves that take traffic."""
        solution = analyse(network)
        capacity = remaining_capacity(solution, self.start, {leaf.name for leaf in serving})
        up = sum(session.status is SessionStatus.ESTABLISHED for session in solution.sessions)
        least = spines * min((leaf.links_per_pair or 1 for leaf in serving), default=1)
        allowed = capacity.now.pairs - denied_pairs(network, capacity.now)
        wrong = [f"{count_of(capacity.lost, 'server pair')} lost"] if capacity.lost else []
        if capacity.widths and capacity.least < least:
            wrong.append(f"ECMP width {capacity.least} instead of {least}")
        return GrowthStage(
            title=title,
            sessions=(up, len(solution.sessions)),
            in_service=(spines, len(serving)),
            widths=capacity.widths,
            pairs=(capacity.now.delivered, allowed),
            lost=capacity.lost,
            wrong=tuple(wrong),
        )


def staged(steps: Sequence[GrowthStep]) -> StagedGrowth:
    """Every checked state of a growth; raises Refused if the routing engine refuses a state."""
    first = _from_text(steps[0].before)
    judge = _StageJudge(reachability_of(analyse(first).trips))
    serving = first.role(SwitchRole.LEAF)
    spines = len(first.role(SwitchRole.SPINE))
    stages = [judge.stage(first, "as it is", spines, serving)]
    for step in steps:
        stages += _states(judge, step)
    drain, lift = drain_commands(steps[0].after.by_name[steps[0].new[0]])
    return StagedGrowth(fabric=first.name, stages=tuple(stages), drain=drain, lift=lift)


def _states(judge: _StageJudge, step: GrowthStep) -> Iterator[GrowthStage]:
    old, final = step.before, _from_text(step.after)
    drained = _from_text(with_drained(step.after, step.new))
    old_devices = {node.name: node.device for node in old.nodes}
    waiting = drained.model_copy(
        update={
            "nodes": tuple(
                node.model_copy(update={"device": old_devices.get(node.name, node.device)})
                for node in drained.nodes
            )
        }
    )
    apart = [link for link in final.links or () if not _joins_old_and_new(link, step.new)]
    isolated = waiting.model_copy(update={"links": tuple(apart)})
    spines, leaves = len(old.role(SwitchRole.SPINE)), old.role(SwitchRole.LEAF)
    for state, word in ((isolated, ISOLATED), (waiting, CABLED), (drained, SESSIONS)):
        yield judge.stage(state, f"{step.title} {word}", spines, leaves)
    all_spines, all_leaves = len(final.role(SwitchRole.SPINE)), final.role(SwitchRole.LEAF)
    yield judge.stage(final, f"{step.title} {TRAFFIC}", all_spines, all_leaves)


def _joins_old_and_new(link: Link, new: Sequence[str]) -> bool:
    return (link.a.device in new) != (link.b.device in new)


def _from_text(network: Network) -> Network:
    """Return the Network with every Device parsed from its own text."""
    return read_back(network, render_all(network))


@dataclass(frozen=True)
class Expansion:
    """A proven growth before it is written."""

    growth: Growth
    versions: Versions[GrownFabric]


@dataclass(frozen=True)
class GrowthOptions:
    """Options of a growth, as typed.

    hardware: MODEL, MODEL@RELEASE, or either after `spines=` or `leaves=`. racks, names: RACK,RACK
    in the same form. like: names of switches. segments: SEGMENT,SEGMENT.
    """

    spines: int
    leaves: int
    servers: int
    hardware: Sequence[str] | None = None
    racks: Sequence[str] | None = None
    like: Sequence[str] | None = None
    segments: str | None = None
    names: Sequence[str] | None = None


def wanted_of(given: GrowthOptions) -> GrowthRequest:
    """Growth that the options request; raises BadInput for an empty or ambiguous request.

    Names without a number of switches are the number.
    """
    new = {SPINES: given.spines, LEAVES: given.leaves}
    names = {group: _words("--names", text) for group, text in _by_names(given.names or (), new)}
    for group, own in names.items():
        new[group] = new[group] or len(own)
        if len(own) != new[group]:
            what = f"{count_of(len(own), 'name')} for {count_of(new[group], 'new switch')}"
            raise BadInput(what, where="--names", how="name each, or leave the number out")
    if not any(new.values()):
        how = "add --add-spines or --add-leaves"
        raise BadInput("nothing to add", how=how)
    for part in ("servers", "segments"):
        if getattr(given, part) and not new[LEAVES]:
            how = f"add --add-leaves: new {part} need new leaves"
            raise BadInput(f"--{part} without --add-leaves", how=how)
    groups = [group for group in GROUPS if new[group]]
    models = {
        group: _model(text) for group, text in _by_group("--hardware", given.hardware or (), groups)
    }
    places = {
        group: _racks(text, new[group])
        for group, text in _by_group("--racks", given.racks or (), groups)
    }
    return GrowthRequest(
        new[SPINES],
        new[LEAVES],
        given.servers,
        models,
        places,
        like=given.like or (),
        segments=_words("--segments", given.segments) if given.segments is not None else (),
        names=names,
    )


def _by_names(names: Sequence[str], new: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Names by group; without any number they are of leaves."""
    headed = {text.partition("=")[0] for text in names if "=" in text}
    groups = [group for group in GROUPS if new[group] or group in headed]
    return _by_group("--names", names, groups or [LEAVES])


def _by_group(
    option: str, given: Sequence[str], groups: Sequence[str]
) -> Iterator[tuple[str, str]]:
    seen: set[str] = set()
    for text in given:
        head, is_named, rest = text.partition("=")
        if is_named and head not in groups:
            how = " or ".join(f"{group}=.." for group in groups)
            raise BadInput(f"no new {head} for {text!r}", where=option, how=f"write {how}")
        if not is_named and len(groups) > 1:
            how = f"write spines={text} or leaves={text}"
            raise BadInput(f"{text!r} may be of new spines or of new leaves", where=option, how=how)
        group, value = (head, rest) if is_named else (groups[0], text)
        if group in seen:
            raise BadInput(f"given twice for {group}", where=option, how="give it once")
        seen.add(group)
        yield group, value


def _racks(text: str, number: int) -> list[str]:
    """Racks of an option; each rack gets at least one switch."""
    racks = _words("--racks", text)
    if len(racks) > number:
        what = f"{len(racks)} racks for {count_of(number, 'new switch')}"
        raise BadInput(what, where="--racks", how=f"name at most {number}")
    return racks


def _words(option: str, text: str) -> list[str]:
    """Names of an option, separated by commas."""
    words = text.split(",")
    for word in words:
        try:
            check_name(word)
        except ValueError as error:
            form = option.removeprefix("--").removesuffix("s").upper()
            raise BadInput(str(error), where=option, how=f"write {form},{form}") from None
    return words


def _model(text: str) -> NewSwitchModel:
    hardware, _, software = text.partition("@")
    return NewSwitchModel(hardware, software)


def expand(name: Path, request: GrowthRequest) -> Expansion:
    """Grow a fabric in memory; a refusal gives the numbers, and no file is written."""
    file = read_fabric(name, "it cannot grow so")
    catalogue = load_catalogue(file.loaded.site)
    versions = versions_of(file, lambda: grow(file.text, file.loaded, catalogue, request))
    old, new, grown = versions.old, versions.new, versions.edited
    proof, moved = prove(old.network, new.network, old.texts, new.texts)
    versions.refuse(moved)
    switches = tuple(new_switches(old.network, new.network))
    states_racks = any(node.rack for node in old.network.nodes)
    before, after = versions.bandwidths
    growth = Growth(
        fabric=old.network.name,
        file=str(file.path),
        lines=sum(len(one.text.strip().splitlines()) for one in grown.insertions),
        switches=switches,
        servers=grown.new.get(SERVERS, ()),
        without_rack=tuple(s.name for s in switches if states_racks and not s.rack),
        cables=tuple(sorted(new_cables(old.network, new.network), key=by_place)),
        before=before,
        after=after,
        proof=proof,
        warnings=tuple(versions.warnings),
        not_judged=versions.not_judged,
    )
    _check_ways(growth, file)
    return Expansion(growth, versions)


def _check_ways(growth: Growth, file: FabricFile) -> None:
    """Refuse a growth that loses a server pair or a path, by the routing engine."""
    was, will = growth.before, growth.after
    problems = list(lost_pairs(was, will))
    if was.widths and will.widths and will.widths[0] < was.widths[0]:
        what = f"ECMP width {will.widths[0]} from leaf to leaf; before {was.widths[0]}"
        problems.append(Problem("", what))
    if problems:
        raise file.untouched(problems)


def lost_pairs(was: Bandwidth, will: Bandwidth) -> Iterator[Problem]:
    """Yield the problem of more server pairs without delivery than before."""
    if was.pairs and will.pairs and will.pairs[1] - will.pairs[0] > was.pairs[1] - was.pairs[0]:
        what = f"{will.pairs[0]} of {will.pairs[1]} server pairs delivered by every path; before"
        yield Problem("", f"{what} {was.pairs[0]} of {was.pairs[1]}")


def new_switches(before: Network, after: Network) -> Iterator[ListedSwitch]:
    """Switches that only the later Network has."""
    for node in after.nodes:
        if node.name not in before.by_name and node.hardware and node.role:
            bgp = node.device.bgp
            yield ListedSwitch(
                name=node.name,
                role=node.role.value,
                id=node.id or 0,
                hardware=node.hardware.model,
                software=node.software or "",
                rack=node.rack,
                asn=bgp.asn if bgp else 0,
                loopback=bgp.router_id if bgp else None,
                management=node.management,
            )


def new_cables(before: Network, after: Network) -> Iterator[ListedCable]:
    """Cables that only the later Network has."""
    links, servers = set(before.links or ()), {server.name for server in before.servers or ()}
    for link in after.links or ():
        if link not in links:
            yield ListedCable(
                near=link.a,
                far=link.b,
                length_m=link.cable_m,
                medium=link.medium,
                speed_gbps=after.speed_gbps(link.a),
                near_fits=_fits(after.by_name[link.a.device], link.a),
                far_fits=_fits(after.by_name[link.b.device], link.b),
            )
    for server in after.servers or ():
        for port in server.ports if server.name not in servers else ():
            yield ListedCable(
                near=port,
                far=server.name,
                length_m=server.cable_m,
                medium=server.medium,
                speed_gbps=server.flow_gbps,
                near_fits=_fits(after.by_name[port.device], port),
            )


def by_place(cable: ListedCable) -> tuple[object, ...]:
    """Sort key: links by spine and port, then servers by leaf and port."""
    near = natural(cable.near.device), natural(cable.near.interface)
    return (not isinstance(cable.far, End), *near)


def _fits(node: Node, end: End) -> str | None:
    return node.hardware.form_factor(end.interface) if node.hardware else None


def stages_of(expansion: Expansion) -> StagedGrowth:
    """Intermediate states: one new spine after the other, then all new leaves."""
    return staged(list(_steps(expansion)))


def _steps(expansion: Expansion) -> Iterator[GrowthStep]:
    grown, start = expansion.versions.edited, expansion.versions.file.start
    loaded, before = grown.loaded, start.network
    fabric, old = loaded.fabric, start.fabric
    leaves = grown.new.get(LEAVES, ())
    for spine in grown.new.get(SPINES, ()):
        number = next(i for i, one in enumerate(fabric.spines) if one.name == spine) + 1
        part = {"spines": fabric.spines[:number], "leaves": old.leaves, "servers": old.servers}
        smaller = replace(loaded, fabric=fabric.model_copy(update=part))
        after = derive_loaded(smaller).network
        yield GrowthStep(before, after, (spine,), spine)
        before = after
    if leaves:
        title = leaves[0] if len(leaves) == 1 else f"{leaves[0]} to {leaves[-1]}"
        yield GrowthStep(before, expansion.versions.end.network, tuple(leaves), title)
