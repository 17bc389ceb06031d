"""Cost of text: 1,000 lines parsed and patched, compared with other tools, and 500 switches.

annet uses its own parser and its own Huawei rulebook on the same two texts. hier_config uses its
tree and its own VRP driver, which has no commands. Both make a patch in one direction only.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module  # for modules that the type checker does not follow
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import flow

from rocefort.design.derive.derive import derive_loaded
from rocefort.design.load.documents import load_fabric
from rocefort.dialects.changes import change_of
from rocefort.dialects.network_text import render_all
from rocefort.dialects.vrp.parse.parser import parse
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import Network, Node

T = TypeVar("T")
SPINE = "spine01"
LEAVES = 54  # a spine with this many leaves has about 1,000 lines
PARSE_BAR, PATCH_BAR, DIFF_BAR = 0.020, 0.15, 15.0  # CPU seconds
SWITCHES = 500


@dataclass(frozen=True)
class AnnetTool:
    """annet with its own rulebook."""

    hardware: Any
    rules: Any
    formatter: Any

    def patch(self, running: str, intended: str) -> list[str]:
        """Parse two texts, compare and patch them, as annet's command does."""
        patching: Any = import_module("annet.patching")
        parser: Any = import_module("annet.vendors.tabparser")
        orderer = patching.Orderer(self.rules["ordering"], self.hardware.vendor)
        orderer.ref_insert(import_module("annet.reference").RefTracker())
        old, new = (parser.parse_to_tree(t, self.formatter.split) for t in (running, intended))
        tree = patching.make_patch(
            pre=patching.make_pre(patching.make_diff(old, new, self.rules, [])),
            rb=self.rules,
            hw=self.hardware,
            add_comments=False,
            orderer=orderer,
            do_commit=False,
        )
        return [str(row) for row in tree.asdict()]


def annet_tool() -> AnnetTool:
    """Return annet for a CloudEngine, without reading the home directory."""
    annet: Any = import_module("annet.hardware")
    annet.hardware_connector.set(annet.AnnetHardwareProvider)
    view: Any = import_module("annet.annlib.netdev.views.hardware")
    book: Any = import_module("annet.rulebook")
    registry: Any = import_module("annet.vendors").registry_connector.get()
    hardware = view.HardwareView("Huawei CE8850", "VRP V200R022C00")
    provider = object.__new__(book.DefaultRulebookProvider)
    vars(provider).update(
        rulebook_module=provider.DEFAULT_RULEBOOK_MODULE,
        _rulebook_cache={},
        _rulebook_text_cache={},
    )
    rules = provider.get_rulebook(hardware)
    return AnnetTool(hardware, rules, registry.match(hardware).make_formatter())


def hier_config_patch(running: str, intended: str) -> list[str]:
    """Parse two texts and make the remediation with hier_config's VRP driver."""
    tool: Any = import_module("hier_config")
    old, new = (tool.get_hconfig(tool.Platform.HUAWEI_VRP, text) for text in (running, intended))
    return [line.text for line in old.config_to_get_to(new).all_children_sorted()]


def hier_config_parse(text: str) -> object:
    """Parse a text to hier_config's tree."""
    tool: Any = import_module("hier_config")
    return tool.get_hconfig(tool.Platform.HUAWEI_VRP, text)


def network_of(switches: int) -> Network:
    """Return the benchmark's fabric of a size."""
    with TemporaryDirectory() as directory:
        file = Path(directory) / "fabric.yaml"
        file.write_text(flow.fabric_text(switches), encoding="utf-8")
        network: Network = derive_loaded(load_fabric(file), flow.catalogue()).network
        return network


def changes(text: str) -> Iterator[str]:
    """Yield the text with another value changed each time, so that no cache helps."""
    for number in count(9001):
        yield text.replace("mtu 9000", f"mtu {number}")


def parse_and_patch() -> None:
    """Print the cost to parse one text of 1,000 lines, and to patch it with its rollback."""
    text = render_all(network_of(flow.SPINES + LEAVES))[SPINE]
    lines, changed = text.count("\n"), changes(text)
    seconds = cpu(lambda: parse(next(changed), "spine.cfg"))
    print(f"\nparse of {lines} lines                {seconds * 1000:8.1f} ms "
          f"{_bar(seconds * 1000 / lines, PARSE_BAR)}; "
          f"hier_config's tree {cpu(lambda: hier_config_parse(text)) * 1000:.1f} ms")  # fmt: skip
    ours = cpu(lambda: make_patch(text, next(changed), SyntaxFamily.V200))
    tool = annet_tool()
    theirs = cpu(lambda: tool.patch(text, next(changed)))
    second = cpu(lambda: hier_config_patch(text, next(changed)))
    print(f"patch of {lines} lines, both ways, warm {ours:6.3f} s  {_bar(ours, PATCH_BAR)}; "
          f"annet's own, one way {theirs:.3f} s, {theirs / ours:.1f}x; "
          f"hier_config, one way {second:.3f} s, {second / ours:.1f}x")  # fmt: skip


def diff_all() -> None:
    """Print the cost to parse, compare and patch a large fabric with one change per switch."""
    network = network_of(SWITCHES)
    texts = render_all(network)
    changed = {n: t.replace("\n description to ", f"\n description to {n} ", 1)
               for n, t in texts.items()}  # fmt: skip
    before = time.process_time()
    edits = sum(_edits(node, texts[node.name], changed[node.name]) for node in network.nodes)
    seconds = time.process_time() - before
    print(f"{len(texts)} switches, {edits} changes, diffed {seconds:8.2f} s  "
          f"{_bar(seconds, DIFF_BAR)}")  # fmt: skip


def _edits(node: Node, running: str, intended: str) -> int:
    if node.family is None:
        raise TypeError(node.name)
    was, will = (parse(text, node.name).device for text in (running, intended))
    return len(change_of(running, was, intended, will, node.family, ()).edits)


def _bar(figure: float, bar: float) -> str:
    return f"(bar {bar:g} s, {'held' if figure <= bar else 'MISSED'})"


def cpu(work: Callable[[], T]) -> float:
    """Return CPU seconds of one call, the best of five after one warm-up."""
    work()
    best = float("inf")
    for _ in range(5):
        before = time.process_time()
        work()
        best = min(best, time.process_time() - before)
    return best


if __name__ == "__main__":
    parse_and_patch()
    diff_all()
