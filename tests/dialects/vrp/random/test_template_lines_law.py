"""Law of lines that a site's template adds: they are kept and undone, or there is an error."""

from __future__ import annotations

from collections import Counter

from efforts import tries
from hypothesis import event, given, settings
from hypothesis import strategies as st
from random_switches import switches
from random_values import TEMPLATES

from rocefort.base.errors import BadInput
from rocefort.change.effects.switch_configs import running_digest
from rocefort.design.load.hardware_catalogue import load_catalogue
from rocefort.dialects.changes import change_of
from rocefort.dialects.data import ParsedConfig
from rocefort.dialects.vrp.dialect import DIALECT
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, replay
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.models.device.device import Device
from rocefort.models.hardware.hardware import SyntaxFamily

FAMILIES = load_catalogue().families
WORDS = st.from_regex(r"[a-z]{2,8}( [a-z0-9]{1,6}){0,3}", fullmatch=True)
KNOWN = st.sampled_from(
    (
        *("storm suppression broadcast 5", "lacp priority 5", "stp instance 1 cost 2"),
        *("clock timezone CET add 01:00:00", "undo fan on", "ospf 1", "vlan 7", "shutdown"),
        *(
            "lldp enable",
            "mtu 9000",
            "vlan batch 99999",
            "peer 10.1.1.1 ignore",
            "graceful-restart",
        ),
        *("sysname other", "snmp-agent community read cipher word", "acl 2000", "rule 5 permit"),
    )
)


@st.composite
def sections(draw: st.DrawFn, text: str) -> str:
    """Return lines for a block of a template, in views of a text or in new ones."""
    views = [line.text for line in parse_tree(text) if line.children]
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        view = draw(st.sampled_from(["", *views]) | WORDS)
        inside = draw(st.lists(WORDS | KNOWN, min_size=1, max_size=3))
        lines += ["#", *filter(None, [view]), *(f" {line}" if view else line for line in inside)]
    return "\n".join(lines)


def lines_of(parsed: ParsedConfig) -> Counter[tuple[str, ...]]:
    return Counter((*line.path, line.text) for line in parsed.unmodelled)


@settings(max_examples=tries(60))
@given(data=st.data(), name=st.sampled_from(SyntaxFamily))
def test_lines_of_a_template_are_kept_and_undone_or_refused(
    data: st.DataObject, name: SyntaxFamily
) -> None:
    device: Device = data.draw(switches(name))
    shipped = render(device, name, TEMPLATES[name])
    body = data.draw(sections(shipped))
    template = (
        '{% extends "shipped/cloudengine.j2" %}\n{% block more %}{% raw %}\n'
        f"{body}\n{{% endraw %}}{{% endblock %}}\n"
    )
    text = render(device, name, TEMPLATES[name], (("cloudengine.j2", template),))
    plain = parse(shipped, "shipped")
    try:
        parsed = parse(text, "site")
    except BadInput as error:
        event("refused by the parser")
        places = {problem.file for problem in error.problems}
        assert places == {"site"}
        return
    if parsed.device != plain.device:
        event("changes a value")
        return
    if any(map(DIALECT.leaves_view, parsed.unmodelled)):
        event("opens a view outside of its own, which is an error")
        return
    if any(map(DIALECT.removes, parsed.unmodelled)):
        event("removes a line, which is an error")
        return
    if any(DIALECT.actions(text, parsed.unmodelled)):
        event("acts on the switch, which is an error")
        return
    event("keeps its lines")
    family = FAMILIES[name]
    own = tuple(dict.fromkeys(lines_of(parsed) - lines_of(plain)))
    change = change_of(shipped, device, shipped, device, family, (), ((), own))
    lines = [line[2:].split(" / ") for line in change.unjudged]
    before = DIALECT.applied(shipped, (), family)  # as the switch saves it
    try:
        there = DIALECT.applied(before, change.patch, family, lines)
    except VrpRefusal as error:
        at_start = [(each.line, each.message) for each in replay(parse_tree(text), name)[1]]
        if (error.line, error.message) not in at_start:
            raise
        event("the switch refuses a line, at its start, too")
        return
    assert lines_of(parse(there, "there")) - lines_of(parse(before, "before")) == Counter(own)
    assert parse(there, "there").device == parse(before, "before").device
    back = DIALECT.applied(there, change.reverse, family, lines)
    digests = [running_digest(parse(each, "digest"), family) for each in (before, back)]
    assert digests[0] == digests[1]
