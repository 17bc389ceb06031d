"""Commands from one plan of a switch to another: only for the differences."""

from __future__ import annotations

from collections.abc import Iterator

from rocefort.dialects.frr.nftables import BASE, HOOK, TABLE
from rocefort.dialects.frr.state import LinkState, SwitchPlan
from rocefort.dialects.frr.vtysh_delta import line_delta
from rocefort.models.base import Frozen

MADE = ("bridge", "bond", "vlan", "vrf")  # kinds that the switch creates; ports come with cables


class SwitchDelta(Frozen):
    """Commands to run inside the switch's namespace, in this order; empty without a difference.

    new_ports, gone_ports: ends of cables by the switch's own names, which the cabling code creates
    before and removes after. lines: configuration lines for each running daemon. start: daemons
    that do not run yet, with their texts. stop: those that are no longer needed.
    """

    name: str
    new_ports: tuple[str, ...] = ()
    sysctls: tuple[tuple[str, str], ...] = ()
    ip: tuple[str, ...] = ()  # lines of `ip -batch`
    nft: str = ""  # one transaction of `nft -f`
    stop: tuple[str, ...] = ()
    start: tuple[tuple[str, str], ...] = ()
    lines: tuple[tuple[str, tuple[str, ...]], ...] = ()
    gone_ports: tuple[str, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return self == SwitchDelta(name=self.name)


def delta(old: SwitchPlan, new: SwitchPlan) -> SwitchDelta:
    """Return commands that take a switch from one plan to the other and change nothing else."""
    texts = old.texts
    changes = ((name, line_delta(texts[name], text)) for name, text in new.daemons if name in texts)
    return SwitchDelta(
        name=new.name,
        new_ports=tuple(sorted(new.ports.keys() - old.ports.keys())),
        sysctls=tuple(item for item in new.sysctls if item not in old.sysctls),
        ip=tuple(_link_commands(old, new)),
        nft=_filter_commands(dict(old.chains), dict(new.chains)),
        stop=tuple(name for name in texts if name not in new.texts),
        start=tuple(item for item in new.daemons if item[0] not in texts),
        lines=tuple((name, lines) for name, lines in changes if lines),
        gone_ports=tuple(sorted(old.ports.keys() - new.ports.keys())),
    )


def _link_commands(old: SwitchPlan, new: SwitchPlan) -> Iterator[str]:
    """Remove, create, join, address, bring up: an address may move from one link to another."""
    before, after = old.by_link, new.by_link
    for link in old.links:
        then = after.get(link.name)
        addresses = set(then.addresses) if then is not None else set()
        gone = link.kind != "port" or then is not None  # a removed port takes its own along
        for address in link.addresses if gone else ():
            if address not in addresses:
                yield f"address del {address} dev {link.name}"
    for link in reversed(old.links):
        if link.kind in MADE and _made_anew(link, after.get(link.name)):
            yield f"link del dev {link.name}"
    fresh = [link for link in new.links if _made_anew(link, before.get(link.name))]
    for link in fresh:
        if link.kind in MADE:
            above = f"link {link.parent} " if link.parent else ""
            settings = f" {link.settings}" if link.settings else ""
            yield f"link add {above}name {link.name} type {link.kind}{settings}"
    names = {link.name for link in fresh}
    bonds = {link.name for link in new.links if link.kind == "bond"}
    for link in new.links:
        was = before.get(link.name) if link.name not in names else None
        was = was or LinkState(name=link.name, kind=link.kind, up=False)
        if was.up and link.master in bonds and link.master != was.master:
            yield f"link set dev {link.name} down"  # a bond accepts only links that are down
            was = was.model_copy(update={"up": False})
        yield from _settle(was, link)


def _made_anew(link: LinkState, other: LinkState | None) -> bool:
    """Whether a link has to be created, or created again, compared with the other plan."""
    if other is None:
        return True
    return (link.kind, link.settings, link.parent) != (other.kind, other.settings, other.parent)


def _settle(was: LinkState, link: LinkState) -> Iterator[str]:
    if link.mtu is not None and link.mtu != was.mtu:
        yield f"link set dev {link.name} mtu {link.mtu}"
    if link.master != was.master:
        yield f"link set dev {link.name} " + (
            f"master {link.master}" if link.master else "nomaster"
        )
    for address in link.addresses:
        if address not in was.addresses:
            yield f"address add {address} dev {link.name}"
    if link.up != was.up:
        yield f"link set dev {link.name} {'up' if link.up else 'down'}"


Chains = dict[str, tuple[str, ...]]


def _filter_commands(old: Chains, new: Chains) -> str:
    """Return one transaction; an unchanged chain keeps its counters."""
    if old == new:
        return ""
    if not new:
        return f"delete table {TABLE}\n"
    lines = [f"add table {TABLE}"]
    changed = [name for name, rules in new.items() if old.get(name) != rules]
    for name in changed:
        hook = f" {{ {HOOK} }}" if name == BASE else ""
        lines += [f"add chain {TABLE} {name}{hook}", f"flush chain {TABLE} {name}"]
    for name in changed:
        lines += [f"add rule {TABLE} {name} {rule}" for rule in new[name]]
    lines += [f"delete chain {TABLE} {name}" for name in old if name not in new]
    return "\n".join(lines) + "\n"
