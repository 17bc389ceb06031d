"""Commands that filter data packets: advanced ACLs, classifiers, behaviors, policies (MQC)."""

from __future__ import annotations

import re

from rocefort.dialects.vrp.acl_words import ORDER, prefix_of, saved_rule
from rocefort.dialects.vrp.parsing import arguments
from rocefort.dialects.vrp.parsing.commands import UNMODELLED, Match, View, command, flag, setting
from rocefort.dialects.vrp.parsing.parts import Part
from rocefort.models.traffic import Ports

FIELDS = dict(
    zip(
        ORDER,
        ("source", "source_ports", "destination", "destination_ports", "dscp"),
        strict=True,
    )
)
MATCH = re.compile(rf" ({'|'.join(sorted(ORDER, key=len, reverse=True))}) ")
precedence = arguments.number(0, 65535, "precedence")


def _filters(device: Part) -> Part:
    return device.part("filters")


@command("system", r"acl (?:number )?(3\d{3})")
def _numbered(device: Part, match: Match) -> View:
    return View("acl-advanced", _filters(device).row("acls", match[1], name=match[1]))


@command("system", r"acl name (\S*[^\d\s]\S*) advance")
def _named(device: Part, match: Match) -> View:
    return View("acl-advanced", _filters(device).row("acls", match[1], name=match[1]))


@command("acl-advanced", r"rule (\d+) (permit|deny) (\S.*)")
def _rule(acl: Part, match: Match) -> View | None:
    """Read a rule; one that matches by more than the models know stays unmodelled."""
    saved = saved_rule(match[3].split())
    values = None if saved is None else _matches(saved)
    if saved is None or values is None:
        return UNMODELLED
    index = arguments.number(0, 4294967294, "rule")(match[1])
    row = acl.row("rules", index, index=index)
    row.set("action", match[2])
    row.set("protocol", saved.split()[0])
    for field, value in values.items():
        row.set(field, value)
    return None


def _matches(saved: str) -> dict[str, object] | None:
    """Fields of a rule that it gives; None where a wildcard has gaps and names no network."""
    pieces = MATCH.split(f"{saved} ")[1:]
    values: dict[str, object] = {}
    for name, text in zip(pieces[::2], pieces[1::2], strict=True):
        value = _value(name, text.strip())
        if value is None:
            return None
        values[FIELDS[name]] = value
    return values


def _value(name: str, text: str) -> object:
    if name.endswith("-port"):
        _, first, *last = text.split()
        return Ports(low=int(first), high=int((last or [first])[0]))
    return int(text) if name == "dscp" else prefix_of(text)


@command("system", r"traffic classifier (\S+)(?: type (?:and|or))?")
def _classifier(device: Part, match: Match) -> View:
    """Open a classifier; with ACLs alone, which is all that is modelled, both types mean the same.

    V300R023C00, `traffic classifier`: of `type and`, packets have to match one of the ACLs.
    """
    row = _filters(device).row("classifiers", match[1], name=match[1])
    return View("traffic-classifier", row)


@command("traffic-classifier", r"if-match acl (\S+)")
def _if_match(classifier: Part, match: Match) -> None:
    classifier.add("acls", match[1])


@command("system", r"traffic behavior (\S+)")
def _behavior(device: Part, match: Match) -> View:
    return View("traffic-behavior", _filters(device).row("behaviors", match[1], name=match[1]))


flag("traffic-behavior", "deny", "deny")
flag("traffic-behavior", "permit", "deny", value=False)


@command("system", r"traffic policy (\S+)")
def _policy(device: Part, match: Match) -> View:
    return View("traffic-policy", _filters(device).row("policies", match[1], name=match[1]))


@command("traffic-policy", r"classifier (\S+) behavior (\S+)(?: precedence (\d+))?")
def _binding(policy: Part, match: Match) -> None:
    row = policy.row("bindings", match[1], classifier=match[1])
    row.set("behavior", match[2])
    row.set("precedence", precedence(match[3]) if match[3] else None)


setting("interface", r"traffic-policy (\S+) inbound", "filter_in")
setting("interface", r"traffic-policy (\S+) outbound", "filter_out")
