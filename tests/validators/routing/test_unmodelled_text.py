"""Lines outside the models: refused by `solve` if they may change an answer, else ignored.

A verification has readings of many such lines instead: tests/validators/routing/test_readings.py.
"""

from __future__ import annotations

import pytest

from rocefort.base.errors import Refused
from rocefort.dialects.data import sources_of
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network, Node, Sources
from rocefort.validators.routing.engine import solve
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.routing.underlay import design_problems, unmodelled_forwarding

TEXT = """#
sysname leaf01
#
{system}#
interface 100GE1/0/1
 undo portswitch
 ip address 10.1.0.1 31
{port}#
interface Vlanif10
 ip address 10.2.0.1 24
{vlanif}#
bgp 65101
 peer 10.1.0.0 as-number 65000
{bgp} #
 ipv4-family unicast
  peer 10.1.0.0 enable
{family}#
return
"""


def node(view: str, line: str) -> tuple[Node, Sources, int]:
    """leaf01 with one more line in a view, and the line's number."""
    indents = {"system": "", "port": " ", "vlanif": " ", "bgp": " ", "family": "  "}
    parts = {name: f"{indents[name]}{line}\n" if name == view else "" for name in indents}
    text = TEXT.format(**parts)
    parsed = parse(text, "leaf01.cfg")
    number = next(n for n, x in enumerate(text.splitlines(), 1) if x.strip() == line)
    assert [at.line for at in parsed.unmodelled] == [number]  # else the models know it
    device = Node(device=parsed.device, unmodelled=parsed.unmodelled)
    return device, Sources(sources_of(parsed, "leaf01.cfg")), number


@pytest.mark.parametrize(
    ("view", "line", "effect"),
    [
        ("system", "ip route-static 0.0.0.0 0.0.0.0 10.9.9.9 track nqa a b", "the routes"),
        ("system", "ip route-static 10.9.0.0 16 Vlanif10 10.2.0.9", "the routes"),
        ("system", "ospf 1", "the routes"),
        ("system", "isis 1", "the routes"),
        ("system", "dfs-group 1", "the paths over a pair of switches"),
        ("system", "policy-based-route P permit node 5", "the paths of packets"),
        ("system", "traffic-policy P global inbound", "the packets that are filtered"),
        ("system", "traffic-filter inbound acl 3001", "the packets that are filtered"),
        ("system", "route-policy P permit node 10 extra", "the routes that BGP uses or announces"),
        ("port", "dfs-group 1 m-lag 10", "the paths over a pair of switches"),
        ("port", "ospf enable 1 area 0", "the routes"),
        ("port", "isis enable 1", "the routes"),
        ("vlanif", "vrrp vrid 1 virtual-ip 10.2.0.254", "the gateways"),
        ("vlanif", "ip address unnumbered interface LoopBack0", "the connected subnets"),
        ("bgp", "peer 10.1.0.0 ebgp-max-hop 2", "the BGP sessions"),
        ("bgp", "default local-preference 200", "the BGP sessions"),
        ("family", "import-route direct med 5", "the routes that BGP uses or announces"),
        ("family", "peer 10.1.0.0 allow-as-loop", "the routes that BGP uses or announces"),
    ],
)
def test_a_line_that_may_change_an_answer_is_refused_by_it(
    view: str, line: str, effect: str
) -> None:
    leaf, sources, number = node(view, line)
    with pytest.raises(Refused) as caught:
        solve(Network(name="text", origin="text", nodes=(leaf,)), sources)
    assert str(caught.value) == (
        f"leaf01 (leaf01.cfg:{number}): `{line}` may change {effect} and is not modelled; "
        "leave the line out: no routing engine models it"
    )
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("view", "line"),
    [
        ("system", "snmp-agent trap enable"),
        ("system", "info-center loghost 10.255.0.6 facility local4"),
        ("system", "acl number 4000"),
        ("system", "ip route-static vpn-instance MGMT 0.0.0.0 0 10.255.0.254 tag 5"),
        ("system", "ospfv3 1"),  # IPv6
        ("system", "ripng 1"),
        ("system", "ip community-filter basic C permit 65000:100"),
        ("port", "stp disable"),
        ("port", "device transceiver 100GBASE-FIBER"),
        ("vlanif", "arp expire-time 300"),
        ("vlanif", "dhcp select relay"),
        ("bgp", "peer 10.1.0.0 valid-ttl-hops 1"),
        ("bgp", "graceful-restart"),
        ("bgp", "timer connect-retry 10"),
        ("bgp", "peer 10.1.0.0 timer connect-retry 10"),
        ("bgp", "peer 10.1.0.0 bfd block"),
        ("bgp", "undo default ipv4-unicast"),
        ("family", "undo synchronization"),
        ("bgp", "peer 10.1.0.0 ignore"),  # certain: the session is closed
        ("family", "import-route direct"),
        ("family", "preference 20 200 200"),  # without a static route
        ("family", "preference route-policy P"),
        ("family", "peer 10.1.0.0 advertise-community"),
    ],
)
def test_a_line_that_does_not_is_let_be(view: str, line: str) -> None:
    leaf, sources, _ = node(view, line)
    network = Network(name="text", origin="text", nodes=(leaf,))
    (running,) = as_it_runs(network, sources).network.nodes
    assert list(unmodelled_forwarding(running)) == []


def test_a_password_of_a_peer_is_let_be_and_never_shown() -> None:
    text = TEXT.format(
        system="", port="", vlanif="", family="", bgp=" peer 10.1.0.0 password cipher S3cret\n"
    )
    parsed = parse(text, "leaf01.cfg")
    assert "S3cret" not in repr(parsed)
    leaf = Node(device=parsed.device, unmodelled=parsed.unmodelled)
    assert list(unmodelled_forwarding(leaf)) == []


def test_a_port_in_a_vpn_instance_is_refused() -> None:
    text = TEXT.format(system="", port="", vlanif=" ip binding vpn-instance T\n", bgp="", family="")
    leaf = Node(device=parse(text, "leaf01.cfg").device)
    with pytest.raises(Refused) as caught:
        solve(Network(name="text", origin="text", nodes=(leaf,)))
    assert str(caught.value) == (
        "leaf01 Vlanif10: Vlanif10 is in vpn-instance T, which is not modelled"
    )


def test_the_management_port_may_have_a_vpn_instance_of_its_own() -> None:
    # its subnet is that of a gateway, in another table
    system = (
        "interface MEth0/0/0\n ip binding vpn-instance MGMT\n ip address 10.2.0.11 24\n#\n"
        "ip route-static vpn-instance MGMT 0.0.0.0 0 10.2.0.254\n"
    )
    text = TEXT.format(system=system, port="", vlanif="", bgp="", family="")
    parsed = parse(text, "leaf01.cfg")
    assert parsed.unmodelled == ()
    state = solve(Network(name="text", origin="text", nodes=(Node(device=parsed.device),)))
    assert state.routes == ()


def test_a_policy_in_a_vlan_filters_what_its_ports_carry() -> None:
    parsed = parse("sysname leaf01\n#\nvlan 10\n traffic-policy P inbound\n#\nreturn\n", "x.cfg")
    leaf = Node(device=parsed.device, unmodelled=parsed.unmodelled)
    assert [line.text for line, _ in unmodelled_forwarding(leaf)] == ["traffic-policy P inbound"]


def test_another_design_is_named_at_its_first_line() -> None:
    leaf, sources, number = node("system", "dfs-group 1")
    leaf = leaf.model_copy(update={"read_by": "vrp"})
    problems = design_problems(Network(name="text", origin="text", nodes=(leaf,)), sources)
    assert [(problem.file, problem.line) for problem in problems] == [("leaf01.cfg", number)]
