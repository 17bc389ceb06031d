"""Plan against a saved text of a switch: defaults are no change, and no secret shows."""

from __future__ import annotations

from planned import make_changes

from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_all, with_commands
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.models.network.network import Network

BESIDE = """#
vlan 1
#
interface 100GE1/0/40
#
interface 100GE1/0/41
#
interface NULL0
#
"""


def _running(network: Network, name: str, text: str) -> dict[str, str]:
    texts = render_all(network)
    return {**texts, name: texts[name].replace("#\nbgp ", f"{text}bgp ", 1)}


def test_empty_ports_and_vlan_1_are_no_change(heps: DerivedNetwork) -> None:
    running = _running(heps.network, "leaf01", BESIDE)
    assert "interface 100GE1/0/40" in running["leaf01"]
    changes = make_changes(heps.network, running)
    assert [change.edits for change in changes] == [()] * len(changes)
    assert all(change.empty for change in changes)


def test_a_port_that_is_shut_down_is_a_change(heps: DerivedNetwork) -> None:
    text = BESIDE.replace("100GE1/0/41\n", "100GE1/0/41\n shutdown\n")
    changes = make_changes(heps.network, _running(heps.network, "leaf01", text))
    edits = {change.device: change.edits for change in changes if change.edits}
    assert list(edits) == ["leaf01"]
    assert [edit.path for edit in edits["leaf01"]] == ["interfaces[100GE1/0/41]"]


def test_a_key_that_somebody_typed_is_in_no_change(heps: DerivedNetwork) -> None:
    text = "#\nospf 1\n area 0\n  authentication-mode md5 1 hunter2\n#\n"
    changes = make_changes(heps.network, _running(heps.network, "leaf01", text))
    assert all("hunter2" not in change.model_dump_json() for change in changes)


SEEN = """#
qos buffer lossless-pool percent 92 slot 1
port mode 100GE interface 100GE1/0/41 to 100GE1/0/44
snmp-agent trap source MEth0/0/0
#
"""
ON_PORT = (
    " qos buffer queue 1 shared-threshold dynamic 6\n"
    " port mode 10G\n"
    " device transceiver 100GBASE-FIBER\n"
)
OURS = " dcb pfc buffer 4 xoff static 600 kbytes xon offset 50 kbytes\n"


def test_lines_of_real_v200_switches_are_said_once_or_stay(heps: DerivedNetwork) -> None:
    """A threshold in cells is overwritten by the intended one; other lines are read and kept."""
    running = _running(heps.network, "leaf01", SEEN)
    cells = " dcb pfc buffer 4 xoff static 1500 cells\n"
    running["leaf01"] = running["leaf01"].replace(OURS, cells + ON_PORT, 1)
    [change] = [each for each in make_changes(heps.network, running) if not each.empty]
    assert change.patch == ("interface 100GE1/0/1", OURS.rstrip(), " quit")
    assert change.reverse == ("interface 100GE1/0/1", cells.rstrip(), " quit")
    assert [line.rpartition(" / ")[2] for line in change.kept] == [
        line.strip() for line in [*ON_PORT.splitlines(), *SEEN.splitlines()] if line != "#"
    ]
    parsed = parse(running["leaf01"], "leaf01.cfg")
    lines = with_commands(parsed.unmodelled, dialect_of(None))
    assert all(line.command for line in lines), "each is a known command"


def test_the_source_of_time_is_the_fabrics(heps: DerivedNetwork) -> None:
    """The change of a time server includes a source that only the switch has."""
    running = dict(render_all(heps.network))
    [server] = [x for x in running["leaf01"].splitlines() if x.startswith("ntp unicast-server ")]
    running["leaf01"] = running["leaf01"].replace(server, f"{server} source-interface MEth0/0/0")
    [change] = [each for each in make_changes(heps.network, running) if not each.empty]
    assert change.patch == (server,)
    assert [edit.path for edit in change.edits] == ["ntp_source"]
