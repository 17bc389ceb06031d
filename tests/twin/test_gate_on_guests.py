"""`apply` on a twin whose gate is real RDMA between two guests: good changes stay, bad ones do not.

The message that stops a wave has its source: perftest, or the leaves' queue counters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from twin_labs import GUESTS, GuestLab

from rocefort.change.effects.switch_configs import sides_of
from rocefort.design.derive.derive import derive
from rocefort.fleet.connections import Connections, load_connections
from rocefort.fleet.running_configs import running_of
from rocefort.lab.twin.registry import connections_of
from rocefort.lab.twin.twin import Twin
from rocefort.models.change.plan import Plan
from rocefort.models.device.device import Device
from rocefort.rdma import queue_gate
from rocefort.rdma.run.gate import DEADLINE_S
from rocefort.rollout.apply import apply as rollout_apply
from rocefort.rollout.apply.apply import apply_plan
from rocefort.rollout.journal.events import Event, RolloutOutcome
from rocefort.rollout.journal.run_directory import RunDirectory
from rocefort.rollout.plan.make_plan import make_plan

pytestmark = [pytest.mark.twin, pytest.mark.thorough]
EditHeps = Callable[..., Path]
TRIES = 4
LEAF, PORT = "leaf01", "100GE1/0/2"  # of the first guest
UPLINKS = ("100GE1/0/57", "100GE1/0/58")
SEGMENT = IPv4Network("10.65.0.0/24")
DESCRIBED = ("  - name: k8sgn08\n", "  - name: k8sgn08\n    description: measured\n")


@pytest.fixture
def twin(guest_lab: GuestLab) -> Twin:
    return guest_lab.twin


@pytest.fixture
def access(twin: Twin) -> Connections:
    file = connections_of(twin.registry, twin.record)
    assert file is not None
    return load_connections(file)


@pytest.fixture
def plan(edit_heps: EditHeps, access: Connections) -> Plan:
    """Return a plan for one switch; its gate is what the guests can measure."""
    fabric = edit_heps(DESCRIBED)
    made_plan = make_plan(fabric, access, running_of(fabric, access, None))
    assert [change.device for change in made_plan.changes if not change.empty] == [LEAF]
    return made_plan


@pytest.fixture
def apply(access: Connections, tmp_path: Path) -> Callable[[Plan], tuple[RolloutOutcome, str]]:
    """Carry a plan out over SSH: its outcome, and the verdict of its gate.

    Repeated if perftest printed `-nan` for a deviation, as it does when a busy machine holds a
    guest for a fifth of a second: the gate has failed correctly, and all is as before.
    """

    def applied(plan: Plan) -> tuple[RolloutOutcome, str]:
        for number in range(TRIES):
            events: list[Event] = []
            done = apply_plan(
                plan,
                access,
                RunDirectory.of_journal(tmp_path / f"journal{number}"),
                [events.append],
            )
            gates = [e.detail for e in events if e.act == "gate" and e.detail]
            summary = gates[-1] if gates else ""
            if "not-a-number" not in summary:
                break
        return done, summary

    return applied


def spoilt(plan: Plan, running: Mapping[str, str], change: Callable[[Device], Device]) -> Plan:
    """Return the plan with another configuration for the leaf than its fabric's, validly sealed."""
    network = derive(Path(plan.source)).network
    nodes = [
        n.model_copy(update={"device": change(n.device)}) if n.name == LEAF else n
        for n in network.nodes
    ]
    sides = sides_of(network.model_copy(update={"nodes": tuple(nodes)}), running)
    return plan.model_copy(update={"changes": tuple(each.whole for each in sides)}).seal()


def with_ports(device: Device, names: tuple[str, ...], **update: object) -> Device:
    """Change some ports of a switch."""
    assert {i.name for i in device.interfaces} >= set(names)
    interfaces = tuple(
        i.model_copy(update=update) if i.name in names else i for i in device.interfaces
    )
    return device.model_copy(update={"interfaces": interfaces})


def no_trust(device: Device) -> Device:
    """Ignore the DSCP of packets from the server."""
    return with_ports(device, (PORT,), trust_dscp=False)


def short_mtu(device: Device) -> Device:
    """Block RDMA, but not BGP."""
    return with_ports(device, UPLINKS, mtu=1600)


def no_way_back(device: Device) -> Device:
    """Stop announcing the servers of the leaf."""
    assert device.bgp is not None
    networks = tuple(n for n in device.bgp.networks if n != SEGMENT)
    assert len(networks) + 1 == len(device.bgp.networks)
    return device.model_copy(update={"bgp": device.bgp.model_copy(update={"networks": networks})})


def test_leaves_without_a_guest_are_told(edit_heps: EditHeps, access: Connections) -> None:
    fabric = edit_heps(("  - name: readout03\n", "  - name: readout03\n    description: x\n"))
    plan = make_plan(fabric, access, running_of(fabric, access, None))
    assert plan.waves[0].gate.pairs == ()
    assert plan.waves[0].gate.unmeasured == (
        "leaf07, because no server on it, or on another leaf, is a guest",
    )


SPOILT = [  # change, limit of a run, source of the verdict
    (
        no_trust,
        DEADLINE_S,  # its runs end; the counters show the fault
        f"{LEAF} 100GE1/0/5",
        "packets of the test left by queue 0",
        "its priority map is not RoCE's",
    ),
    (short_mtu, 8.0, "k8sgn08 -> k8sgn09 ib_write_bw: ", "", ""),
    (no_way_back, 8.0, "k8sgn08 -> k8sgn09 ib_write_bw: ", "", ""),
]


@pytest.mark.parametrize(
    ("change", "deadline_s", "who", "what", "why"), SPOILT, ids=[row[0].__name__ for row in SPOILT]
)
def test_what_breaks_rdma_is_rolled_back(
    twin: Twin,
    plan: Plan,
    access: Connections,
    apply: Callable[[Plan], tuple[RolloutOutcome, str]],
    monkeypatch: pytest.MonkeyPatch,
    change: Callable[[Device], Device],
    deadline_s: float,
    who: str,
    what: str,
    why: str,
) -> None:
    monkeypatch.setattr(queue_gate, "DEADLINE_S", deadline_s)
    # Our own commands replace the planned ones: no fabric leads to a configuration that breaks
    # RDMA.
    monkeypatch.setattr(rollout_apply, "refuse_forged", lambda *_, **__: None)
    fabric = Path(plan.source)
    before = running_of(fabric, access, None)
    done, summary = apply(spoilt(plan, before, change))
    assert "the RDMA gate failed: " in summary
    for words in (who, what, why):
        assert words in summary
    assert (done.confirmed, done.rolled_back, done.unknown) == ((), (LEAF,), ())
    assert done.exit_code == 3
    for guest in GUESTS:  # the kernel caches a path MTU for ten minutes
        assert twin.run(guest, ["ip", "route", "flush", "cache"])[0] == 0
    after = running_of(fabric, access, None)
    assert _lines(after[LEAF]) == _lines(before[LEAF])


def test_what_is_good_is_confirmed(
    plan: Plan, apply: Callable[[Plan], tuple[RolloutOutcome, str]]
) -> None:
    """The last test: the leaf keeps the description."""
    done, said = apply(plan)
    assert done.failure == ""
    assert done.confirmed == (LEAF,)
    assert said == "1 pair measured, speed not judged; RoCE left by queue 4"


def _lines(text: str) -> list[str]:
    """Return a configuration without the header, which has the time of the last change."""
    return [line for line in text.splitlines() if not line.startswith("!")]
