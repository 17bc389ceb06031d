"""annet's rules derive from the command catalogue; `huawei.order` has a position for each line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from annet.annlib.rbparser.ordering import compile_ordering_text
from patch_cases import CASES
from row_lines import samples, undo_samples

from rocefort.dialects.vrp.commands import catalogue, match
from rocefort.dialects.vrp.commands.catalogue import GROUPS, OPAQUE_VIEW, rows_by_view, rows_with
from rocefort.dialects.vrp.commands.command import SYSTEM, Row
from rocefort.dialects.vrp.interpreter import execute
from rocefort.dialects.vrp.patch import patch
from rocefort.dialects.vrp.patch.patch import ORDER, VENDOR, make_patch
from rocefort.dialects.vrp.patch.rulebook.commands import ViewCommands
from rocefort.dialects.vrp.patch.rulebook.rules import HANDLERS, key_format, rulebook, rules_of
from rocefort.dialects.vrp.text.config_tree import parse_tree
from rocefort.dialects.vrp.text.secret_forms import as_saved
from rocefort.models.hardware.hardware import SyntaxFamily

GOLDEN = Path(__file__).parents[3] / "golden"
FAMILIES = list(SyntaxFamily)
Order = list[tuple[str, dict[str, Any]]]
# Commands of templates without a position of their own in the order: any in their view will do.
ANYWHERE = {
    ("diffserv", "8021p-inbound <0-7>"),
    ("diffserv", "ip-dscp-inbound <0-63>"),
    ("drop-profile", "color green"),
    ("drop-profile", "color red"),
    ("drop-profile", "color yellow"),
    ("drop-profile", "ecn"),
    ("interface", "flow-control"),
    ("netconf", "protocol inbound ssh [ ipv4 ] port 830"),
    ("subscription", "local-source-interface"),
    ("subscription", "sensor-group <name>"),
    ("system", "snmp-agent"),
    ("traffic-behavior", "deny"),
    ("traffic-classifier", "if-match acl <name>"),
    ("traffic-policy", "classifier <name>"),
    ("vpn-instance", "ipv4-family [ unicast ]"),
    ("vty", "authentication-mode"),
    ("vty", "idle-timeout"),
    ("vty", "protocol inbound"),
}


def rows_of(family: SyntaxFamily) -> list[Row]:
    return [row for rows in rows_by_view().values() for row in rows if family in row.families]


@pytest.mark.parametrize("family", FAMILIES)
def test_each_row_has_one_rule_and_rows_of_a_rule_share_a_key_or_a_function(
    family: SyntaxFamily,
) -> None:
    rules = [rule for view in rows_by_view() for rule in rules_of(view, family)]
    ruled = Counter((row.view, row.rank) for rule in rules for row in rule.rows)
    assert ruled == Counter((row.view, row.rank) for row in rows_of(family))
    assert set(ruled.values()) == {1}
    for rule in rules:
        assert rule.handler or len({key_format(row.nodes) for row in rule.rows}) == 1, rule.name


def test_the_table_names_rows_and_each_row_once() -> None:
    rows = [row for family in FAMILIES for row in rows_of(family)]
    for entry in HANDLERS:
        for beginning in entry.formats:
            assert any(replace(entry, formats=(beginning,)).covers(row) for row in rows), beginning
    for row in rows:
        assert sum(entry.covers(row) for entry in HANDLERS) < 2, row.format


def lines_of(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield lines of a text, each after its views."""
    for top in parse_tree(as_saved(text)):
        yield from ((path, line.text) for path, line in top.walk())


def golden_lines(family: SyntaxFamily) -> Iterator[tuple[tuple[str, ...], str]]:
    for path in GOLDEN.glob(f"vrp/{family.value}*.cfg"):
        yield from lines_of(path.read_text(encoding="utf-8"))


def case_lines(family: SyntaxFamily) -> Iterator[tuple[tuple[str, ...], str]]:
    for case in CASES:
        if case.family is family:
            yield from (*lines_of(case.before), *lines_of(case.after))


@pytest.mark.parametrize("family", FAMILIES)
def test_one_rule_matches_a_line_that_the_catalogue_knows(family: SyntaxFamily) -> None:
    book = rulebook(family)
    seen = 0
    for path, text in {*golden_lines(family), *case_lines(family)}:
        rules = book["local"]
        for view in path:
            opening = matching(rules, view)
            rules = rules[opening[0]]["children"]["local"]
        if execute.view_kind(path, family) != OPAQUE_VIEW:
            views = [name.split(": ")[0] for name in matching(rules, text)]
            assert len(views) == len(set(views)) > 0, (path, text)
            seen += 1
    assert seen > 50


def matching(rules: dict[str, Any], text: str) -> list[str]:
    """Names of the rules of a line; `acl name` opens two views, and each has one."""
    return [name for name, rule in rules.items() if rule["attrs"]["regexp"].match(text)]


# Lines that no undo of their row removes alone.
NO_UNDO = {
    "local-user NAME password words": "a password is no part of intent",
    "peer 10.0.0.1 as-number 65001": "the peer goes with it (logic.peer)",
    "dcb pfc": "the built-in profile",
}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_line_goes_by_an_undo_that_its_own_row_takes(family: SyntaxFamily) -> None:
    """For rows with one line a key: lists name the removed values, and an action has no line."""
    without = set()
    for row in rows_of(family):
        if row.kind in ("action", "list", "each", "versions") or row.no_undo:
            continue
        for line in samples(row):
            identity = match.identify(row.view, line, family)
            if identity.row is None or identity.row.rank != row.rank:
                continue  # a more specific row takes it
            undo = ViewCommands(row.view, family).undo(line)
            if undo is None:
                without.add(line)
    assert without == set(NO_UNDO)


# -- the catalogue alone decides ----------------------------------------------------------------------


@pytest.fixture
def changed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Replace fields of the row with a format."""

    def forget() -> None:
        for remembered in (
            rows_by_view,
            rows_with,
            match._by_first_word,
            match.identify,
            match.readings,
            patch._build_engine,
        ):
            remembered.cache_clear()

    def change(text: str, **fields: object) -> None:
        groups = tuple(
            tuple(replace(row, **fields) if row.format == text else row for row in rows)  # type: ignore[arg-type]  # fields of Row
            for rows in GROUPS
        )
        assert groups != GROUPS
        monkeypatch.setattr(catalogue, "GROUPS", groups)
        forget()

    yield change
    monkeypatch.undo()
    forget()


PORT = "interface 100GE1/0/1\n mtu {}\n"


def mtu_patch(before: str, after: str) -> list[str]:
    commands = make_patch(before, after, SyntaxFamily.V200).commands
    return [line.strip() for line in commands if "mtu" in line]


def test_a_value_is_overwritten_and_a_key_is_undone(changed: Callable[..., None]) -> None:
    texts = PORT.format(9000), PORT.format(9100)
    assert mtu_patch(*texts) == ["mtu 9100"]
    changed("mtu ( <46-9600> )", format="mtu <46-9600>", undo=())
    assert mtu_patch(*texts) == ["undo mtu 9000", "mtu 9100"]


def test_the_undo_format_of_a_row_is_the_undo_of_a_patch(changed: Callable[..., None]) -> None:
    texts = PORT.format(9000), "interface 100GE1/0/1\n"
    assert mtu_patch(*texts) == ["undo mtu"]
    changed("mtu ( <46-9600> )", undo=("mtu ( <46-9600> )",))
    assert mtu_patch(*texts) == ["undo mtu 9000"]


# -- the order ----------------------------------------------------------------------------------------


def order() -> Order:
    compiled: Order = compile_ordering_text(ORDER.read_text(encoding="utf-8"), VENDOR)
    return compiled


def is_catch_all(rule: str) -> bool:
    return rule.split(" %", maxsplit=1)[0] in ("~", "undo ~")


def fits(attrs: dict[str, Any], line: str) -> bool:
    matched = attrs["direct_regexp"].match(line) or attrs["reverse_regexp"].match(line)
    return bool(matched) and not attrs["order_reverse"]


def has_place(rules: Order, path: Iterable[str], line: str) -> bool:
    """Whether a rule, in the views of the line, is of this line and not of any."""
    for view in path:
        rules = [
            below for _, rule in rules if fits(rule["attrs"], view) for below in rule["children"]
        ]
    return any(fits(rule["attrs"], line) and not is_catch_all(name) for name, rule in rules)


def test_a_line_that_a_template_writes_has_a_place_in_the_order() -> None:
    """Golden texts have each line of each template (`test_golden_vrp_coverage.py`)."""
    rules = order()
    without = {
        key(path, text, family)
        for family in FAMILIES
        for path, text in golden_lines(family)
        if not has_place(rules, path, text)
    }
    assert without == ANYWHERE


def key(path: tuple[str, ...], text: str, family: SyntaxFamily) -> tuple[str, str]:
    view = execute.view_kind(path, family)
    row = match.identify(view, text, family).row
    return view, key_format(row.nodes) if row else text


def commands_of(view: str) -> list[tuple[Row, str]]:
    return [
        (row, line)
        for row in rows_by_view().get(view, ())
        for line in (*samples(row), *undo_samples(row), *(f"undo {line}" for line in samples(row)))
    ]


def test_each_rule_of_the_order_names_a_command_of_the_catalogue() -> None:
    assert list(without_command(order(), {SYSTEM})) == []


def without_command(rules: Order, views: Iterable[str]) -> Iterator[tuple[str, ...]]:
    """Yield rules that match no line of a view, each after the rules of the views around it."""
    commands = [pair for view in views for pair in commands_of(view)]
    for name, rule in rules:
        rows = [row for row, line in commands if rule["attrs"]["direct_regexp"].match(line)]
        if not rows and not is_catch_all(name):
            yield (name,)
        below = without_command(rule["children"], {row.opens for row in rows if row.opens})
        yield from ((name, *rest) for rest in below)


G1, G2 = SyntaxFamily.V300_G1, SyntaxFamily.V300_G2


@pytest.mark.parametrize(
    ("family", "views", "was", "will", "told"),
    [
        (
            G1,
            [],
            "qos buffer headroom-pool size 4096 kbytes slot 1",
            "qos buffer headroom-pool size 2048 kbytes slot 1",
            ["qos buffer headroom-pool size 2048 kbytes slot 1"],
        ),
        (
            G1,
            ["interface 100GE1/0/1"],
            "dcb pfc buffer 6 xon static 550 kbytes xoff static 600 kbytes",
            "dcb pfc buffer 6 xon static 650 kbytes xoff static 700 kbytes",
            ["dcb pfc buffer 6 xon static 650 kbytes xoff static 700 kbytes"],
        ),
        (
            G2,
            ["ai-service", "ai-ecn"],
            "assign queue 9 model a",
            "assign queue 9 model b",
            ["assign queue 9 model b"],
        ),
        (
            G2,
            ["bgp 65001"],
            "peer SPINE bfd min-tx-interval 2000",
            "peer SPINE bfd min-tx-interval 300",
            ["peer SPINE bfd min-tx-interval 300"],
        ),
        (
            G1,
            ["bgp 65001"],
            "group SPINE external",
            "group SPINE internal",
            ["group SPINE internal"],
        ),
    ],
)
def test_what_no_switch_takes_is_overwritten_as_any_value(
    family: SyntaxFamily, views: list[str], was: str, will: str, told: list[str]
) -> None:
    def text(line: str) -> str:
        return "".join(f"{' ' * n}{x}\n" for n, x in enumerate([*views, line]))

    def sent(patch: list[str]) -> list[str]:
        lines = (line.strip() for line in patch)
        return [line for line in lines if line not in {*views, "quit"}]

    patch = make_patch(f"sysname a\n{text(was)}", f"sysname a\n{text(will)}", family)
    assert sent(list(patch.commands)) == told
    assert sent(list(patch.reverse)) == [was]
