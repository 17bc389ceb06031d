"""Texts that a template keeps: never those of another row, switch or family.

What a body reads beside its key would go stale unseen, so every body of the templates is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined, nodes

from rocefort.dialects.vrp import once
from rocefort.dialects.vrp.once import Each, Once
from rocefort.dialects.vrp.render import environment, render
from rocefort.models.bgp import Bgp, BgpGroup, BgpPeer
from rocefort.models.device import Device
from rocefort.models.hardware import SyntaxFamily
from rocefort.models.interface import Interface, PfcThreshold
from rocefort.models.lossless import AiEcn, AiEcnQueue, DiffservDomain, DscpMap, Pfc, PfcProfile
from rocefort.models.management import Netconf, Syslog
from rocefort.models.static import Vrf
from rocefort.paths import TEMPLATES

V200, G1, G2 = SyntaxFamily.V200, SyntaxFamily.V300_G1, SyntaxFamily.V300_G2
TEMPLATE = {V200: "ce9860", G1: "ce8851", G2: "ce8855"}
PORT = Interface(
    name="100GE1/0/1",
    description="to spine01",
    domain="roce",
    thresholds=(PfcThreshold(queue=4, xoff_kbytes=600, xon_kbytes=550),),
)
OTHER = PORT.model_copy(update={"description": "to spine02"})
EQUAL = Interface.model_validate(PORT.model_dump())


class Counted:
    """A template whose body says how often it was written."""

    def __init__(self, source: str) -> None:
        self.times = 0
        self.environment = Environment(
            loader=DictLoader({"t": source}), extensions=[Once, Each], undefined=StrictUndefined
        )
        self.environment.globals["written"] = self.written

    def written(self) -> str:
        self.times += 1
        return ""

    def text(self, family: str, *rows: object) -> str:
        return self.environment.get_template("t").render(rows=rows, family=family)


EACH = "{% each row in rows %}{{ written() }}{{ family }} {{ row.description }}\n{% endeach %}"
ONCE = "{% once rows %}{{ written() }}{{ family }} {{ rows[0].description }}\n{% endonce %}"


@pytest.mark.parametrize("source", [EACH, ONCE])
@pytest.mark.parametrize(
    ("family", "row", "times"),
    [
        pytest.param("a", PORT, 1, id="the same object"),
        pytest.param("a", EQUAL, 1, id="an equal object"),
        pytest.param("a", OTHER, 2, id="another value of the same key"),
        pytest.param("a", PORT.model_copy(update={"name": "100GE1/0/2"}), 2, id="another key"),
        pytest.param("b", PORT, 2, id="another family"),
    ],
)
def test_what_is_written_anew(source: str, family: str, row: Interface, times: int) -> None:
    counted = Counted(source)
    assert counted.text("a", PORT) == "a to spine01\n"
    assert counted.text(family, row) == f"{family} {row.description}\n"
    assert counted.times == times
    assert counted.text("a", PORT) == "a to spine01\n"


def test_two_places_keep_two_texts() -> None:
    source = (
        "{% each row in rows %}{{ row.name }}{% endeach %}\n{% each row in rows %}no{% endeach %}"
    )
    counted = Counted(source)
    assert [counted.text("a", PORT) for _ in range(2)] == ["100GE1/0/1\nno"] * 2


def test_a_peer_and_a_group_of_one_name_keep_two_texts() -> None:
    counted = Counted("{% each row in rows %}{{ row.group | default('none') }} {% endeach %}")
    group, peer = BgpGroup(name="10.0.0.1"), BgpPeer(address="10.0.0.1", group="G")
    assert counted.text("a", group, peer, group) == "none G none "


def test_what_fails_leaves_the_text_that_was() -> None:
    counted = Counted("{% each row in rows %}{{ 1 // row.mtu }}{% endeach %}")
    good, bad = (PORT.model_copy(update={"mtu": mtu}) for mtu in (1, 0))
    for row in (good, bad, good, bad):
        if row is good:
            assert counted.text("a", row) == "1"
        else:
            with pytest.raises(ZeroDivisionError):
                counted.text("a", row)


@pytest.mark.parametrize("source", [EACH, ONCE])
def test_more_rows_than_are_kept_are_written_right(
    monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    monkeypatch.setattr(once, "MOST_KEPT", 2)
    counted = Counted(source)
    ports = [
        PORT.model_copy(update={"name": f"100GE1/0/{n}", "description": f"to {n}"})
        for n in range(5)
    ]
    for _ in range(2):
        assert [counted.text("a", port) for port in ports] == [f"a to {n}\n" for n in range(5)]


# -- the templates of the switches ------------------------------------------------------------------


def forget() -> None:
    """Let the templates write everything anew, as a new process does."""
    for extension in environment().extensions.values():
        if isinstance(extension, (Once, Each)):
            extension.kept.clear()


def anew(device: Device, family: SyntaxFamily) -> str:
    forget()
    return render(device, family, TEMPLATE[family])


BASE = Device(
    name="leaf01",
    interfaces=(PORT,),
    domains=(DiffservDomain(name="roce", dscp=(DscpMap(value=26, phb="af4"),)),),
    bgp=Bgp(asn=65101, peers=(BgpPeer(address="10.0.0.1", asn=65001),)),
)
AROUND = {  # what is not the port's own, but said of the whole switch
    "name": "leaf02",
    "vlans": (10,),
    "lldp": True,
    "bfd": True,
    "domains": (DiffservDomain(name="roce", dscp=(DscpMap(value=26, phb="ef"),)),),
    "pfc": Pfc(profiles=(PfcProfile(queues=(5,)),)),
    "ai_ecn": AiEcn(enabled=True, queues=(AiEcnQueue(queue=5),)),
    "vrfs": (Vrf(name="MGMT"),),
    "bgp": Bgp(asn=65102, maximum_paths=8, peers=(BgpPeer(address="10.0.0.1", asn=65001),)),
    "ntp_servers": (IPv4Address("10.255.0.5"),),
    "netconf": Netconf(server=True),
    "syslog": Syslog(hosts=(IPv4Address("10.255.0.7"),)),
}


@pytest.mark.parametrize("field", AROUND)
def test_a_switch_with_the_ports_of_another_says_its_own_facts(field: str) -> None:
    other = BASE.model_copy(update={field: AROUND[field]})
    for first, then in ((BASE, other), (other, BASE)):
        expected = anew(then, G1)
        assert expected != anew(first, G1)  # which is kept when the next is written
        assert render(then, G1, TEMPLATE[G1]) == expected


def test_a_switch_of_another_family_has_its_own_words() -> None:
    expected = {family: anew(BASE, family) for family in SyntaxFamily}
    assert len({*expected.values()}) == 2  # V200 and G2 say these thresholds alike
    forget()
    for family in (*SyntaxFamily, *reversed(SyntaxFamily)):
        assert render(BASE, family, TEMPLATE[family]) == expected[family]


# -- what the bodies of the templates read ----------------------------------------------------------


@dataclass(frozen=True)
class Body:
    """A tag of a template: where it stands, what its key is made of, what its body reads."""

    place: tuple[str, int]
    tag: type
    keys: frozenset[str]
    reads: frozenset[str]


@cache
def parsed(name: str) -> nodes.Template:
    source, _, _ = environment().loader.get_source(environment(), name)  # type: ignore[union-attr]
    return environment()._parse(source, name, None)


NAMES = sorted(str(path.relative_to(TEMPLATES / "vrp")) for path in TEMPLATES.glob("vrp/**/*.j2"))
CONSTANTS = {"family", "built_in_queue"}  # the one is in every key, the other the same for all


def everything_of(node: nodes.Node) -> Iterator[nodes.Node]:
    """A node and all below it, with what it includes and what any family puts into its blocks."""
    yield node
    if isinstance(node, nodes.Include):
        assert isinstance(node.template, nodes.Const), "a name that is not written there"
        yield from everything_of(parsed(node.template.value))
    if isinstance(node, nodes.Block):
        for name in NAMES:
            for block in parsed(name).find_all(nodes.Block):
                if block.name == node.name and block is not node:
                    for child in block.body:
                        yield from everything_of(child)
    for child in node.iter_child_nodes():
        yield from everything_of(child)


def read_by(body: Sequence[nodes.Node], given: set[str]) -> Iterator[str]:
    """Names that a body does not make itself, `device.pfc` with their first attribute."""
    found = [node for part in body for node in everything_of(part)]
    named = [node for node in found if isinstance(node, nodes.Name)]
    own = {node.name for node in named if node.ctx != "load"} | given | {"loop"}
    with_attribute = [
        node for node in found if isinstance(node, nodes.Getattr) and node.node in named
    ]
    parts = {id(node.node) for node in with_attribute}
    for node in with_attribute:
        if isinstance(node.node, nodes.Name) and node.node.name not in own:
            yield f"{node.node.name}.{node.attr}"
    yield from (node.name for node in named if node.name not in own and id(node) not in parts)


def bodies(template: nodes.Template, name: str) -> Iterator[Body]:
    for block in template.find_all(nodes.CallBlock):
        called = block.call.node
        assert isinstance(called, nodes.ExtensionAttribute)
        tag = {Once.identifier: Once, Each.identifier: Each}[called.identifier]
        rows = block.call.args[2]
        values = rows.items if isinstance(rows, nodes.Tuple) else [rows]
        keys = read_by(values, set()) if tag is Once else iter(())
        reads = read_by(block.body, {argument.name for argument in block.args})
        yield Body((name, block.lineno), tag, frozenset(keys), frozenset(reads) - CONSTANTS)


BODIES = [body for name in NAMES for body in bodies(parsed(name), name)]


@pytest.mark.parametrize("body", BODIES, ids=lambda body: f"{body.place[0]}-{body.place[1]}")
def test_a_kept_text_reads_nothing_beside_its_key(body: Body) -> None:
    assert body.reads <= body.keys


def test_the_tags_of_the_templates_are_found() -> None:
    assert [(body.tag, body.place[0]) for body in BODIES] == [
        (Once, "cloudengine.j2"),
        (Each, "cloudengine.j2"),
        (Once, "cloudengine.j2"),
        (Once, "cloudengine.j2"),
        (Each, "common/bgp.j2"),
        (Each, "common/bgp.j2"),
    ]
    assert {"device.pfc", "device.domains", "device.filters"} <= BODIES[0].reads


@pytest.mark.parametrize(
    ("source", "beside"),
    [
        ("{% each a in rows %}{{ a.name }}{{ device.vlans }}{% endeach %}", {"device.vlans"}),
        ("{% each a in rows %}{{ a.name }}{{ device }}{% endeach %}", {"device"}),
        ("{% each a in rows %}{% include 'common/acl.j2' %}{% endeach %}", {"device.acls"}),
        ("{% once device.bfd %}{% if device.lldp %}a{% endif %}{% endonce %}", {"device.lldp"}),
        ("{% for x in y %}{% once x.name %}{{ x.kind }}{% endonce %}{% endfor %}", {"x.kind"}),
        ("{% once device.bfd %}{% block profile_timers %}{% endblock %}{% endonce %}", {"profile"}),
    ],
)
def test_a_body_that_reads_more_is_found(source: str, beside: set[str]) -> None:
    (body,) = bodies(environment()._parse(source, "t", None), "t")
    assert {
        read.partition(".")[0] if read not in beside else read for read in body.reads - body.keys
    } == beside


def test_no_entry_adds_to_what_its_family_says() -> None:
    """A body is kept for all entries of a family, so none may fill a block of its own."""
    for name in (name for name in NAMES if name.startswith("ce") and name[2].isdecimal()):
        assert list(parsed(name).find_all((nodes.Block, nodes.Output, nodes.Include))) == []
