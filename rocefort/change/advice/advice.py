"""Traffic impact and procedure for each part of a change, except growth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rocefort.change.advice.changed_values import values
from rocefort.change.advice.drain_steps import (
    DrainStudy,
    apply_steps,
    connections_step,
    drain_steps,
    drain_unconfirmed,
    left_while,
    names_of,
    typed,
    windows,
)
from rocefort.change.advice.renames import moves, server_renames
from rocefort.change.results import (
    Advice,
    AdviceKind,
    AdviceStep,
    FabricDifference,
    IntentChange,
    SwitchDifference,
)
from rocefort.dialects.words import line
from rocefort.models.change.compare import compare
from rocefort.models.network.network import Network, Node, SwitchRole
from rocefort.models.wording import count_of, listing
from rocefort.reports.wording import group_items

# Prefix of a fact of SwitchDifference -> the replacement that a switch gets.
ANOTHER_BOX = {"hardware": "another model", "system": "another system"}
NO_LIVE_PATCH = "{}: its whole configuration is loaded, see `rocefort replace`"
PORTS_NAMED = 16


def advice_on(sight: DrainStudy, intent: Sequence[IntentChange]) -> tuple[Advice, ...]:
    """Advice on every part of a change except growth, each with its line of the intent."""
    items = (
        *_removals(sight),
        *_renames(sight),
        *_not_renames(sight),
        *_other_boxes(sight),
        *moves(sight),
        *server_renames(sight),
        *values(sight),
    )
    return tuple(
        advice
        if advice.place
        else advice.model_copy(update={"place": _intent_place(advice, intent)})
        for advice in items
    )


def without_live_patches(change: FabricDifference) -> FabricDifference:
    """Drop the patch of a replaced switch: the new one has no configuration to patch."""
    switches = tuple(
        switch.model_copy(
            update={
                "no_patch": NO_LIVE_PATCH.format(box),
                "change": switch.change.model_copy(
                    update={"patch": (), "reverse": (), "conditions": ()}
                ),
            }
        )
        if (box := _another_box(switch.facts))
        else switch
        for switch in change.switches
    )
    return change.model_copy(update={"switches": switches})


def _another_box(facts: Iterable[str]) -> str:
    """Replacement of a switch by its facts; empty: the same switch stays."""
    kinds = (ANOTHER_BOX.get(fact.partition(": ")[0]) for fact in facts)
    return listing(list(filter(None, kinds)))


def _intent_place(advice: Advice, intent: Iterable[IntentChange]) -> str:
    """Line of the first value at the head that names a device or server of the advice."""
    names = {*advice.devices, *advice.servers}
    return next(
        (c.after_at for c in intent if c.after_at and any(f"[{n}]" in c.path for n in names)), ""
    ) or _first(advice, intent)


def _first(advice: Advice, intent: Iterable[IntentChange]) -> str:
    """Line of the first changed value, for advice on the whole fabric."""
    whole = advice.kind in (AdviceKind.LOSSLESS, AdviceKind.PASSWORD)
    return next((c.after_at for c in intent if c.after_at), "") if whole else ""


def _removals(sight: DrainStudy) -> Iterator[Advice]:
    gone: list[str] = []
    for side in sight.change.only_before:
        node = sight.before.by_name[side.device]
        if node.role is SwitchRole.SPINE:
            yield _spine_goes(sight, node, gone)
            gone.append(node.name)
        else:
            yield _leaf_goes(sight, node)


def _spine_goes(sight: DrainStudy, node: Node, gone: Sequence[str]) -> Advice:
    first = f"{names_of(gone)} went before. " if gone else ""
    neighbours = names_of(_neighbours(sight.before, node.name))
    return Advice(
        kind=AdviceKind.REMOVAL,
        title=f"{node.name} is removed: drain it first",
        devices=(node.name,),
        traffic=tuple(f"{first}{text}" for text in left_while(sight, node.name, gone=gone)),
        steps=(
            *drain_steps(node),
            connections_step([node.name]),
            apply_steps(sight, f"Apply the change: {neighbours} lose their ports and peers to it."),
            _shutdown_step(sight, node),
            *_keep_id(sight, node),
        ),
        unconfirmed=drain_unconfirmed(node),
    )


def _leaf_goes(sight: DrainStudy, node: Node) -> Advice:
    servers = sight.servers_on.get(node.name, [])
    later = {server.name: server.port.device for server in sight.after.servers or ()}
    moving = [s.name for s in servers if later.get(s.name, node.name) != node.name]
    leaving = [s.name for s in servers if s.name not in later]
    spines = names_of(_neighbours(sight.before, node.name))
    return Advice(
        kind=AdviceKind.REMOVAL,
        title=f"{node.name} is removed: its servers first",
        devices=(node.name,),
        servers=tuple(server.name for server in servers),
        traffic=(
            *_cannot_be_drained(sight, node),
            *([f"{names_of(leaving)}: no longer in the fabric."] if leaving else []),
            *([f"{names_of(moving)}: on another leaf then."] if moving else []),
        ),
        steps=(
            *_agree(sight, node),
            *drain_steps(node),
            connections_step([node.name, *leaving]),
            apply_steps(sight, f"Apply the change: {spines} lose their ports and peers to it."),
            _shutdown_step(sight, node),
            *_keep_id(sight, node),
        ),
        unconfirmed=drain_unconfirmed(node)[:1],
    )


def _cannot_be_drained(sight: DrainStudy, node: Node) -> Iterator[str]:
    """Loss of service while a leaf is drained: servers without another leaf."""
    servers = sight.servers_on.get(node.name, [])
    if servers:
        names = names_of(server.name for server in servers)
        yield (
            f"{node.name} cannot be drained while {names} use{'' if servers[1:] else 's'} it: "
            "no other leaf leads there, so it is a loss of service."
        )
    else:
        yield f"No server is on {node.name}: no loss of service."
    ways = [way.name for way in sight.before.exits or () if way.leaf == node.name]
    if ways:
        yield f"Its ways out of the fabric go: {names_of(ways)}."
    if not servers and not ways:
        yield "The other leaves keep all their uplinks."


def _agree(sight: DrainStudy, node: Node) -> Iterator[AdviceStep]:
    servers = sight.servers_on.get(node.name, [])
    if servers:
        owners = "; ".join(windows(sight, servers))
        yield AdviceStep(
            text=f"Agree the time with the owners, and stop or move their work ({owners})."
        )


def _shutdown_step(sight: DrainStudy, node: Node) -> AdviceStep:
    cables = [
        f"{link.a} - {link.b}"
        for link in sight.before.links or ()
        if node.name in (link.a.device, link.b.device)
    ]
    more = len(cables) - PORTS_NAMED
    rest = f" and {more} more" if more > 0 else ""
    return AdviceStep(
        text=f"Switch {node.name} off and unplug {count_of(len(cables), 'cable')}: "
        f"{', '.join(cables[:PORTS_NAMED])}{rest}. What it ran stays on it until it is erased."
    )


def _keep_id(sight: DrainStudy, node: Node) -> Iterator[AdviceStep]:
    """Reminder to retire an id: `expand` reads used ids only from the fabric."""
    if node.role is None or node.id is None or (node.role, node.id) in sight.retired:
        return
    group = "spines" if node.role is SwitchRole.SPINE else "leaves"
    yield AdviceStep(
        text=f"Add id {node.id} to `capacity.retired_{group}` in this change, so that no other "
        f"{node.role.value} gets what was {node.name}'s: its addresses, its ports"
        f"{' and its AS number' if node.role is SwitchRole.LEAF else ''}."
    )


def _neighbours(network: Network, name: str) -> Iterator[str]:
    ends = ((link.a.device, link.b.device) for link in network.links or ())
    yield from dict.fromkeys(b if a == name else a for a, b in ends if name in (a, b))


def _renames(sight: DrainStudy) -> Iterator[Advice]:
    for new, old in sight.renames.items():
        yield _rename(sight, old, new)


def _rename(sight: DrainStudy, old: str, new: str) -> Advice:
    was, will = sight.before.by_name[new], sight.after.by_name[new]
    bgp = will.device.bgp
    loopback = bgp.router_id if bgp else None
    about = [s for s in sight.change.changed if s.device == new or _is_mentioned(s, old)]
    others = [name for s in about if (name := s.device) != new]
    more = sum(not only_names(edit.path) for edit in compare(was.device, will.device))
    own = f"id {will.id}, loopback {loopback}, AS number {bgp.asn if bgp else 'none'} and ports"
    descriptions = f", and descriptions on {names_of(others)}" if others else ""
    traffic = [
        f"It stays one switch, by its id. {own[:1].upper()}{own[1:]} are what they were."
        if not more
        else f"It stays one switch, by its id {will.id}. {count_of(more, 'value')} of it "
        "change beside its name, and do what the other parts of this review say.",
        f"Its sysname changes{descriptions}.",
    ]
    if not more:
        traffic.append("No traffic is touched: no session, port, address or queue changes.")
    return Advice(
        kind=AdviceKind.RENAME,
        title=f"{old} is renamed {new}",
        devices=(new,),
        traffic=tuple(traffic),
        steps=(
            AdviceStep(
                text=f"Give {old} its new name by hand: `rocefort apply` refuses a switch that "
                "calls itself by another name.",
                on=old,
                commands=typed(was, [line(was, "name of a switch", new)]),
            ),
            AdviceStep(
                text="Give it the new name in the connections file, and in what watches it "
                "(syslog, SNMP)."
            ),
            apply_steps(sight, "Apply the rest."),
        ),
    )


def _is_mentioned(switch: SwitchDifference, name: str) -> bool:
    return any(
        edit.path.endswith(".description") and name in (edit.before_text or "").split()
        for edit in switch.change.edits
    )


def only_names(path: str) -> bool:
    """Whether a value is a name or a description, which no traffic depends on."""
    return path == "name" or path.endswith(".description")


def _not_renames(sight: DrainStudy) -> Iterator[Advice]:
    """A removed switch whose replacement has another id."""
    fresh = [sight.after.by_name[side.device] for side in sight.change.only_after]
    for side in sight.change.only_before:
        old = sight.before.by_name[side.device]
        new = next((node for node in fresh if _in_its_place(sight, old, node)), None)
        if new is not None:
            fresh.remove(new)
            yield _not_a_rename(old, new)
    for node in sight.after.nodes:
        was = sight.before.by_name.get(node.name)
        if was is not None and (was.role, was.id) != (node.role, node.id):
            yield _not_a_rename(was, node)


def _in_its_place(sight: DrainStudy, old: Node, new: Node) -> bool:
    """Whether the new switch has the old one's model and rack, or its servers."""
    if old.role is not new.role:
        return False
    mine = {server.name for server in sight.servers_on.get(old.name, ())}
    its = {s.name for s in sight.after.servers or () if s.port.device == new.name}
    box = (old.hardware and old.hardware.model, old.rack)
    return bool(mine & its) or box == (new.hardware and new.hardware.model, new.rack)


def _not_a_rename(old: Node, new: Node) -> Advice:
    same = old.name == new.name
    title = (
        f"{new.name} is another switch by its id"
        if same
        else f"{old.name} goes and {new.name} comes: not a rename"
    )
    ids = f"id {new.id} instead of {old.id}" if same else f"id {old.id}, {new.name} id {new.id}"
    return Advice(
        kind=AdviceKind.NOT_A_RENAME,
        title=title,
        devices=tuple(dict.fromkeys((new.name, old.name))),
        traffic=(
            (
                f"A switch is known by its permanent id, and {old.name} has {ids}: so loopback, AS "
                "number, links and addresses of servers are others, and traffic stops until all "
                "of them are."
            ),
            f"If it is the same box, give {new.name} id {old.id}: then nothing but names changes.",
        ),
    )


def _other_boxes(sight: DrainStudy) -> Iterator[Advice]:
    """Switches that get another model or another release."""
    changed = [switch for switch in sight.change.changed if switch.facts]
    alike = group_items(changed, lambda s: (s.facts, sight.before.by_name[s.device].role))
    for (facts, role), same in alike.items():
        nodes = [sight.before.by_name[switch.device] for switch in same]
        yield _other_box(sight, nodes, facts, spine=role is SwitchRole.SPINE)


def _other_box(
    sight: DrainStudy, nodes: Sequence[Node], facts: Sequence[str], *, spine: bool
) -> Advice:
    box = _another_box(facts)
    names = names_of(node.name for node in nodes)
    impact: list[str] = []
    steps: list[AdviceStep] = []
    if nodes[1:]:
        steps.append(AdviceStep(text=f"One after the other, each by these steps: {names}."))
    for node in nodes:
        impact += (
            left_while(sight, node.name, gone=()) if spine else _cannot_be_drained(sight, node)
        )
        steps += [] if spine else _agree(sight, node)
    steps += drain_steps(nodes[0])
    steps += _swap(sight, nodes[0]) if box else _upgrade(sight, nodes[0])
    unconfirmed = drain_unconfirmed(nodes[0])
    replacement = "; ".join(
        fact.removeprefix("hardware: ").removeprefix("system: ") for fact in facts
    )
    return Advice(
        kind=AdviceKind.HARDWARE if box else AdviceKind.RELEASE,
        title=f"{names} get{'' if nodes[1:] else 's'} {box or 'another release'}: {replacement}",
        devices=tuple(node.name for node in nodes),
        servers=tuple(s.name for node in nodes for s in sight.servers_on.get(node.name, ())),
        traffic=tuple(dict.fromkeys((*_interim_lines(sight, nodes, replaced=bool(box)), *impact))),
        steps=tuple(steps),
        unconfirmed=unconfirmed if spine else unconfirmed[:1],
    )


def _interim_lines(sight: DrainStudy, nodes: Sequence[Node], *, replaced: bool) -> Iterator[str]:
    """Inherited values of a replaced switch, and its traffic during the work."""
    if not replaced:
        yield "It restarts with the other release, and carries nothing meanwhile."
        return
    for node in nodes:
        yield from _inherited_lines(sight, node)
    yield (
        "No live patch: it is maintenance, and the switch carries nothing from power off until "
        "the new one is configured."
    )


def _inherited_lines(sight: DrainStudy, old: Node) -> Iterator[str]:
    """Values that a replacement inherits, and values that change."""
    new = sight.after.by_name[old.name]
    was, will = old.device.bgp, new.device.bgp
    same = was and will and (was.asn, was.router_id) == (will.asn, will.router_id)
    stay = "so do loopback and AS number" if same else "loopback or AS number do not"
    yield (
        f"The id {new.id} of {new.name} stays, {stay}. Its whole configuration is loaded on the "
        "new switch."
    )
    moved = list(_ports_moved(sight, old.name))
    more = len(moved) - PORTS_NAMED
    if moved:
        rest = f" and {more} more" if more > 0 else ""
        yield f"Cables of {new.name} go to other ports: {', '.join(moved[:PORTS_NAMED])}{rest}."
    else:
        yield f"Every cable of {new.name} keeps the name of its port."


def _ports_moved(sight: DrainStudy, name: str) -> Iterator[str]:
    was, will = _cables(sight.before, name), _cables(sight.after, name)
    for far, ports in was.items():
        later = will.get(far, [])
        if later and ports != later:
            yield f"{far}: {listing(ports)} -> {listing(later)}"


def _cables(network: Network, name: str) -> dict[str, list[str]]:
    """Ports of a switch by the far device or server of their cables."""
    ports: dict[str, list[str]] = {}
    for link in network.links or ():
        for own, far in ((link.a, link.b), (link.b, link.a)):
            if own.device == name:
                ports.setdefault(far.device, []).append(own.interface)
    for server in network.servers or ():
        if server.port.device == name:
            ports[server.name] = [port.interface for port in server.ports]
    return ports


def _swap(sight: DrainStudy, node: Node) -> Iterator[AdviceStep]:
    others = [s.device for s in sight.change.changed if s.device != node.name and s.change.edits]
    beside = f" Its plan has {names_of(others)}, too, as this review shows." if others else ""
    yield AdviceStep(
        text="Exchange it: this prints every step, from the console to `rocefort apply`." + beside,
        commands=(f"rocefort replace {sight.file} {node.name} --connections FILE",),
    )


def _upgrade(sight: DrainStudy, node: Node) -> Iterator[AdviceStep]:
    no_patch = next((s.no_patch for s in sight.change.switches if s.device == node.name), "")
    yield AdviceStep(
        text="Save, so that it is still drained when it comes back; then install the release and "
        "restart by the vendor's upgrade guide, which Rocefort does not do.",
        on=node.name,
        commands=(line(node, "save"),),
    )
    if no_patch:
        yield AdviceStep(text=f"Its configuration: {no_patch}.")
    yield apply_steps(
        sight, "Plan again against its running configuration, and apply: this ends the drain."
    )
