"""Law 3 over random histories: growth of every kind, and removals of switches in between."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, note, settings
from hypothesis import strategies as st

from rocefort.base.documents.read import document_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import Refused
from rocefort.base.repository import INVENTORY
from rocefort.design.derive.derive import derive_loaded
from rocefort.design.expand import GrowthRequest, NewSwitchModel, grow
from rocefort.design.load.documents import LoadedFabric, load_catalogue
from rocefort.design.new import Size, new_fabric
from rocefort.dialects.network_text import render_all
from rocefort.models.fabric.fabric import Fabric
from rocefort.models.network.network import Network
from rocefort.validators.rules.verification.growth_subject import prove

HEPS = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
STARTS = {
    "HEPS": HEPS,
    "an AS for each spine": HEPS.replace(
        "  spine_asn: 65000\n", "  spine_asn: 65000\n  spine_asns: each\n"
    ),
    "two links from each leaf to each spine": new_fabric(
        "twice", Size(2, 3, 1, links_per_pair=2), "CE8850-64CQ-EI", "CE9860-4C-EI"
    ),
}
LEAVES = {
    "": None,
    "128 MB": NewSwitchModel("CE8851-32CQ8DQ-P", "V300R023C00"),
    "42 MB": NewSwitchModel("CE8850-64CQ-EI", "V200R022C00"),
}
SPINES = {"": None, "other": NewSwitchModel("CE12800E", "V200R022C00")}


@dataclass(frozen=True)
class Growth:
    """Step that adds switches or servers."""

    spines: int
    leaves: int
    servers: int
    spine: str
    leaf: str
    racks: tuple[str, ...]

    def request(self, fabric: Fabric) -> GrowthRequest:
        """Growth like the newest switches."""
        models = {"spines": SPINES[self.spine], "leaves": LEAVES[self.leaf]}
        return GrowthRequest(
            self.spines,
            self.leaves,
            self.servers if self.leaves else 0,
            {group: model for group, model in models.items() if model},
            {"leaves": self.racks} if self.racks else {},
            like=[
                max(members, key=lambda switch: switch.id).name
                for number, members in ((self.spines, fabric.spines), (self.leaves, fabric.leaves))
                if number
            ],
        )


@dataclass(frozen=True)
class Removal:
    """Step that removes the switch at an index of a list, with its servers."""

    group: str
    place: int


growths = st.builds(
    Growth,
    st.integers(0, 1),
    st.integers(0, 3),
    st.integers(0, 2),
    st.sampled_from(sorted(SPINES)),
    st.sampled_from(sorted(LEAVES)),
    st.sampled_from([(), ("row9",), ("row8", "row9")]),
).filter(lambda step: step.spines + step.leaves > 0)
removals = st.builds(Removal, st.sampled_from(["spines", "leaves", "leaves"]), st.integers(0, 20))


@dataclass
class History:
    """Fabric with all values that its switches ever had."""

    text: str
    owners: dict[object, str] = field(default_factory=dict)
    grown: int = 0
    removed: int = 0

    def __post_init__(self) -> None:
        self.network = self._derived()

    def _loaded(self) -> LoadedFabric:
        document = document_of(self.text, "fabric.yaml")
        return LoadedFabric(validate(Fabric, document), document)

    def _derived(self) -> Network:
        network = derive_loaded(self._loaded(), load_catalogue()).network
        for value, owner in _values(network).items():
            assert self.owners.setdefault(value, owner) == owner, f"{value} was another's"
        return network

    def add(self, step: Growth) -> None:
        """Grow; without enough ports the growth is refused, and nothing changes."""
        try:
            loaded = self._loaded()
            request = step.request(loaded.fabric)
            self.text = grow(self.text, loaded, load_catalogue(), request).text
        except Refused as refused:
            note(str(refused))
            return
        before, self.network = self.network, self._derived()
        texts = render_all(before), render_all(self.network)
        assert prove(before, self.network, *texts)[1] == ()
        _assert_lines_stay(*texts)
        assert len(self.network.nodes) == len(before.nodes) + step.spines + step.leaves
        self.grown += 1

    def remove(self, step: Removal) -> None:
        """Remove a switch as an author would, and list its id as retired."""
        data: dict[str, Any] = json.loads(json.dumps(document_of(self.text, "x").data))
        members = data[step.group]
        if len(members) < 3:
            return
        gone = members.pop(step.place % len(members))
        servers = data.get("servers", [])
        data["servers"] = [one for one in servers if one.get("leaf") != gone["name"]]
        data["capacity"].setdefault(f"retired_{step.group}", []).append(gone["id"])
        data["rollout"]["canary"] = data["leaves"][0]["name"]  # it may have been the switch
        self.text = json.dumps(data, indent=2)
        before, self.network = self.network, self._derived()
        assert {node.name for node in before.nodes} - {n.name for n in self.network.nodes} == {
            gone["name"]
        }
        assert set(self.network.links or ()) < set(before.links or ())
        self.removed += 1


def _values(network: Network) -> Mapping[object, str]:
    """Return values that no second switch may ever have: id, addresses, a leaf's AS number."""
    owners: dict[object, str] = {}
    anycast = {segment.gateway for segment in network.segments or ()}
    for node in network.nodes:
        owners[node.role, node.id] = owners[node.management] = node.name
        bgp = node.device.bgp
        if bgp and node.role == "leaf":
            owners["AS", bgp.asn] = node.name
        for interface in node.device.interfaces:
            for address in interface.addresses:
                if address.ip not in anycast:
                    owners[address.ip] = f"{node.name} {interface.name}"
    return owners


def _assert_lines_stay(old: Mapping[str, str], new: Mapping[str, str]) -> None:
    for name, text in old.items():
        rest = iter(new[name].splitlines())
        assert all(line in rest for line in text.splitlines() if line != "#")


@pytest.mark.soak
@settings(max_examples=tries(25))
@given(
    st.sampled_from(sorted(STARTS)), st.lists(st.one_of(growths, removals), min_size=2, max_size=5)
)
def test_no_history_moves_what_stays_or_gives_again_what_was(
    start: str, steps: list[Growth | Removal]
) -> None:
    history = History(STARTS[start])
    for step in steps:
        if isinstance(step, Growth):
            history.add(step)
        else:
            history.remove(step)


@pytest.mark.parametrize("start", sorted(STARTS))
def test_a_history_of_every_kind_of_step_goes_through(start: str) -> None:
    """Not all steps that the property draws are refused."""
    history = History(STARTS[start])
    history.add(Growth(1, 3, 0, "", "42 MB", ("row8", "row9")))
    history.remove(Removal("leaves", 20))
    history.remove(Removal("spines", 2))
    history.add(Growth(1, 2, 0, "other", "128 MB", ()))
    history.remove(Removal("leaves", 0))
    history.add(Growth(0, 1, 1, "", "", ()))
    assert (history.grown, history.removed) == (3, 3)
