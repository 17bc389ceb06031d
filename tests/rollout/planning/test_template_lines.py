"""Lines of a site's templates in plans, differences and drift."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from planned import make_changes

from rocefort.change.difference import ComparedSide, difference, switches_of
from rocefort.change.effects.drain import drained_change
from rocefort.change.effects.switch_configs import running_digest, sides_of
from rocefort.change.results import SwitchDifference
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.design.subject import ReadNetwork, subject_of_derived
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.network_text import render_all
from rocefort.models.change.plan import Change, ChangeKind
from rocefort.models.network.network import Network, Node

TEMPLATES = (
    (
        "cloudengine.j2",
        '{% extends "shipped/cloudengine.j2" %}\n{% block more %}\n#\nfrobnicate {{ device.name }}\n'
        "#\nfan mode\n speed 7\n{% endblock %}\n",
    ),
    (
        "common/settings.j2",
        '{% extends "shipped/common/settings.j2" %}\n{% block settings %}\n{{ super() }}\n'
        "{% if port.edge %}\n storm suppression broadcast 5\n{% endif %}\n{% endblock %}\n",
    ),
)
PATCH = (
    *("interface 100GE1/0/1", " storm suppression broadcast 5", " quit"),
    *("interface 100GE1/0/2", " storm suppression broadcast 5", " quit"),
    *("frobnicate leaf01", "fan mode", " speed 7", " quit"),
)
BACK = (
    *("undo frobnicate leaf01", "undo fan mode"),
    *("interface 100GE1/0/1", " undo storm suppression broadcast", " quit"),
    *("interface 100GE1/0/2", " undo storm suppression broadcast", " quit"),
)
LINES = (
    "interface 100GE1/0/1 / storm suppression broadcast 5",
    "interface 100GE1/0/2 / storm suppression broadcast 5",
    "frobnicate leaf01",
    "fan mode",
    "fan mode / speed 7",
)


def with_templates(network: Network) -> Network:
    nodes = []
    for node in network.nodes:
        assert node.hardware is not None
        hardware = node.hardware.model_copy(update={"site_templates": TEMPLATES})
        nodes.append(node.model_copy(update={"hardware": hardware}))
    return network.model_copy(update={"nodes": tuple(nodes)})


@pytest.fixture(scope="module")
def site(heps: DerivedNetwork) -> ReadNetwork:
    return subject_of_derived(replace(heps, network=with_templates(heps.network)))


@pytest.fixture(scope="module")
def shipped(heps: DerivedNetwork) -> dict[str, str]:
    """Texts without the site's templates."""
    return render_all(heps.network)


def leaf(site: ReadNetwork, running: Mapping[str, str]) -> Change:
    return next(c for c in make_changes(site.network, running) if c.device == "leaf01")


def digest_of_text(node: Node, text: str) -> str:
    assert node.family is not None
    return running_digest(dialect_of(node).parse(text, "leaf01"), node.family)


def test_a_plan_adds_the_lines_and_its_rollback_removes_them(
    site: ReadNetwork, shipped: dict[str, str]
) -> None:
    change = leaf(site, shipped)
    assert (change.patch, change.reverse) == (PATCH, BACK)
    assert change.unjudged == tuple(f"+ {line}" for line in LINES)
    assert change.undone.unjudged == tuple(f"- {line}" for line in LINES)
    assert change.service_affecting == ("5 lines of templates: not judged",)
    assert change.kind is ChangeKind.MODIFYING
    node = site.network.by_name["leaf01"]
    assert node.family is not None
    lines = [line.split(" / ") for line in LINES]
    dialect = dialect_of(node)
    there = dialect.applied(shipped["leaf01"], change.patch, node.family, lines)
    assert digest_of_text(node, there) == change.intended_digest
    assert digest_of_text(node, there) == digest_of_text(node, site.texts["leaf01"])
    back = dialect.applied(there, change.reverse, node.family, lines)
    assert digest_of_text(node, back) == change.running_digest


def test_a_switch_that_has_the_lines_needs_no_change(site: ReadNetwork) -> None:
    assert all(
        change.empty and not change.kept for change in make_changes(site.network, site.texts)
    )


def test_a_line_of_somebody_else_stays(site: ReadNetwork, shipped: dict[str, str]) -> None:
    running = dict(shipped)
    running["leaf01"] = running["leaf01"].replace("#\nreturn", "#\nfan off\n#\nfan mode\n#\nreturn")
    change = leaf(site, running)
    assert change.kept == ("fan off",)
    assert "+ fan mode" not in change.unjudged
    assert "+ fan mode / speed 7" in change.unjudged


def test_a_line_that_only_the_last_intent_had_is_removed(
    heps: DerivedNetwork, site: ReadNetwork
) -> None:
    """Without the last intent it stays: a plan does not know who owns it."""
    last = {"leaf01": [tuple(line.split(" / ")) for line in LINES]}
    names = [node.name for node in heps.network.nodes]
    index = names.index("leaf01")
    stays = sides_of(heps.network, site.texts)[index].whole
    assert (stays.patch, stays.kept) == ((), LINES)
    goes = sides_of(heps.network, site.texts, last=last)[index].whole
    assert (goes.patch, goes.kept) == (BACK, ())
    assert goes.unjudged == tuple(f"- {line}" for line in LINES)


def test_a_drained_switch_gets_the_lines_with_its_change_alone(
    site: ReadNetwork, shipped: dict[str, str]
) -> None:
    spine = next(s for s in sides_of(site.network, shipped) if s.node.name == "spine01")
    drained = drained_change(spine, "")
    assert [part.unjudged for part in drained.parts] == [(), spine.whole.unjudged, ()]
    assert drained.change.unjudged == ("+ frobnicate spine01", "+ fan mode", "+ fan mode / speed 7")
    assert [part.running_digest for part in drained.parts] == list(drained.states[:3])
    assert drained.states[0] == spine.whole.running_digest
    assert drained.states[3] == spine.whole.intended_digest


def side(
    network: Network, site: ReadNetwork, texts: Mapping[str, str] | None = None
) -> ComparedSide:
    """Return a side of a comparison: a fabric, or texts."""
    if texts is not None:
        nodes = []
        for node in network.nodes:
            parsed = dialect_of(node).parse(texts[node.name], node.name)
            update = {"device": parsed.device, "unmodelled": parsed.unmodelled}
            nodes.append(node.model_copy(update=update))
        network = network.model_copy(update={"nodes": tuple(nodes)})
    switches = dict(switches_of(network, site.sources, texts or {}))
    return ComparedSide("side", switches, site.sources)


def of_leaf(before: ComparedSide, after: ComparedSide) -> SwitchDifference | None:
    switches = difference(before, after, {}).switches
    return next((each for each in switches if each.device == "leaf01"), None)


def test_two_fabrics_differ_by_the_lines_of_one(heps: DerivedNetwork, site: ReadNetwork) -> None:
    without, with_lines = side(heps.network, site), side(site.network, site)
    there, back = of_leaf(without, with_lines), of_leaf(with_lines, without)
    assert there is not None
    assert back is not None
    assert (there.change.patch, back.change.patch) == (PATCH, BACK)
    assert of_leaf(with_lines, with_lines) is None


def test_a_line_of_a_template_that_a_switch_has_is_no_drift(
    heps: DerivedNetwork, site: ReadNetwork, shipped: dict[str, str]
) -> None:
    intended = side(site.network, site)
    assert of_leaf(side(heps.network, site, site.texts), intended) is None
    drift = of_leaf(side(heps.network, site, shipped), intended)
    assert drift is not None
    assert (drift.change.patch, drift.unowned) == (PATCH, ())
