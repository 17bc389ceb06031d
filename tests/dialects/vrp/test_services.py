"""Roles and telemetry as text: laws 1 and 4 over random ones, and the forms that people type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address

import pytest
from canonical import canonical
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st

from rocefort.base.errors import BadInput
from rocefort.dialects.changes import change_of
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.interpreter.interpreter import apply_lines
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.render import render
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.models.device.device import Device
from rocefort.models.device.management import (
    Collector,
    DestinationGroup,
    LocalUser,
    Sampling,
    SensorGroup,
    Subscription,
    TaskGroupGrant,
    Telemetry,
    UserGroup,
)
from rocefort.models.hardware.hardware import SyntaxFamily

MeaningOf = Callable[[str, Sequence[str], SyntaxFamily], frozenset[tuple[str, ...]]]
G1 = SyntaxFamily.V300_G1

NAMES = st.sampled_from(["a", "b", "ports", "queues"])
RIGHTS = st.lists(st.sampled_from(["read", "read-write", "debug"]), min_size=1, unique=True)
GRANTS = st.builds(TaskGroupGrant, name=NAMES, rights=RIGHTS.map(tuple))
USER_GROUPS = st.builds(
    UserGroup,
    name=NAMES,
    grants=st.lists(GRANTS, unique_by=lambda g: g.name, max_size=3).map(tuple),
)
USERS = st.builds(
    LocalUser, name=NAMES, service_types=st.just(("ssh",)), group=st.none() | NAMES
) | st.builds(LocalUser, name=NAMES, service_types=st.just(("ssh",)), level=st.integers(0, 3))
PATHS = st.sampled_from(["huawei-ifm:ifm/interfaces", "huawei-qos:qos/global-query"])
COLLECTORS = st.builds(
    Collector,
    address=st.sampled_from([IPv4Address("10.0.0.1"), IPv4Address("10.0.0.2")]),
    port=st.sampled_from([57400, 57500]),
    protocol=st.just("grpc"),
    tls=st.booleans(),
)
SAMPLINGS = st.builds(Sampling, group=NAMES, interval_ms=st.none() | st.sampled_from([100, 1000]))


def _some(rows: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.lists(rows, unique_by=lambda row: getattr(row, "key", row), max_size=3).map(tuple)


TELEMETRY = st.builds(
    Telemetry,
    sensor_groups=_some(st.builds(SensorGroup, name=NAMES, paths=_some(PATHS))),
    destination_groups=_some(st.builds(DestinationGroup, name=NAMES, collectors=_some(COLLECTORS))),
    subscriptions=_some(
        st.builds(
            Subscription,
            name=NAMES,
            source_interface=st.none() | st.just("MEth0/0/0"),
            samplings=_some(SAMPLINGS),
            destinations=_some(NAMES),
        )
    ),
)
DEVICES = st.builds(
    Device,
    name=st.just("leaf01"),
    user_groups=_some(USER_GROUPS),
    users=_some(USERS),
    telemetry=TELEMETRY,
)


@given(DEVICES, st.sampled_from(SyntaxFamily))
def test_what_is_rendered_reads_back(device: Device, family: SyntaxFamily) -> None:
    parsed = parse(render(device, family, "ce8851"), "leaf01.cfg")
    assert parsed.device == device
    assert parsed.unmodelled == ()


@settings(max_examples=tries(60))
@given(before=DEVICES, after=DEVICES)
def test_a_patch_leads_there_and_back(meaning: MeaningOf, before: Device, after: Device) -> None:
    old, new = (render(device, G1, "ce8851") for device in (before, after))
    there, back = make_patch(old, new, G1), make_patch(new, old, G1)
    assert meaning(old, there.commands, G1) == meaning(new, (), G1)
    assert meaning(new, back.commands, G1) == meaning(old, (), G1)


@pytest.mark.parametrize(
    "collector",
    [
        "ipv4-address 10.0.0.1 port 57400 protocol grpc",
        "ipv4-address 10.0.0.1 port 57400 protocol gRPC",
    ],
)
def test_a_protocol_is_read_as_typed_and_as_saved(collector: str) -> None:
    text = f"sysname a\ntelemetry\n destination-group d\n  {collector}\n"
    (group,) = parse(text, "a.cfg").device.telemetry.destination_groups
    assert group.collectors == (
        Collector(address=IPv4Address("10.0.0.1"), port=57400, protocol="grpc"),
    )


def test_what_no_telemetry_model_holds_is_kept_as_a_line() -> None:
    text = (
        "sysname a\ntelemetry\n destination-group d\n"
        "  ipv4-address 10.0.0.1 port 57400 protocol grpc compression gzip\n"
    )
    parsed = parse(text, "a.cfg")
    assert [line.line for line in parsed.unmodelled] == [4]


def test_a_port_beyond_its_range_is_one_clear_error() -> None:
    text = "sysname a\ntelemetry\n destination-group d\n  ipv4-address 10.0.0.1 port 70000\n"
    with pytest.raises(BadInput, match=r"a\.cfg:4: .*70000.*1 to 65535"):
        parse(text, "a.cfg")


def test_telemetry_that_stops_is_said() -> None:
    sampled = Telemetry(subscriptions=(Subscription(name="a", destinations=("d",)),))
    before, after = Device(name="a", telemetry=sampled), Device(name="a")
    texts = [render(device, G1, "ce8851") for device in (before, after)]
    change = change_of(texts[0], before, texts[1], after, load_families()[G1], ())
    assert change.service_affecting == ("telemetry stops, in part or whole",)


def test_a_subscription_goes_before_the_groups_that_it_uses() -> None:
    sampled = Telemetry(
        sensor_groups=(SensorGroup(name="a", paths=("huawei-ifm:ifm",)),),
        destination_groups=(
            DestinationGroup(
                name="a",
                collectors=(Collector(address=IPv4Address("10.0.0.1"), port=1, protocol="grpc"),),
            ),
        ),
        subscriptions=(
            Subscription(name="a", samplings=(Sampling(group="a"),), destinations=("a",)),
        ),
    )
    text = render(Device(name="a", telemetry=sampled), G1, "ce8851")
    patch = make_patch(text, render(Device(name="a"), G1, "ce8851"), G1)
    commands = [line.strip() for line in patch.commands]
    assert commands.index("undo subscription a") < commands.index("undo sensor-group a")
    remaining = apply_lines(canonical(parse_tree(text), G1), patch.commands, G1)
    assert not any(line.children for line in remaining if line.text == "telemetry")
