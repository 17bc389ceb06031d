"""Commands that a site adds: they are read, patched and accepted like rows, and refused if wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from efforts import tries
from hypothesis import given, settings
from hypothesis import strategies as st
from row_lines import samples

from rocefort.base.errors import BadInput
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp.commands.catalogue import SiteSyntax
from rocefort.dialects.vrp.commands.site_commands import syntax_of
from rocefort.dialects.vrp.commands.unmodelled import command_of, leaves_view
from rocefort.dialects.vrp.dialect import DIALECT
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.dialects.vrp.patch.patch import make_patch
from rocefort.dialects.vrp.text.config_tree import parse_tree, tree_text
from rocefort.models.hardware.hardware import Family, SyntaxFamily
from rocefort.models.hardware.site_data import PlacedCommand, SiteCommand, SiteFamily
from rocefort.models.network.network import TextLine

G1, V200 = SyntaxFamily.V300_G1, SyntaxFamily.V200
FACTS: dict[str, Any] = {"effect": "frobs", "affects_service": False, "source": "a note"}
FROB: list[dict[str, Any]] = [
    {"view": "system", "format": "frobnicate ( <name> )"},
    {"view": "system", "format": "frob-class <name>", "opens": "frob-class", "order": "first"},
    {"view": "frob-class", "format": "rate <1-100> ( burst <1-9> )", "undo": ["rate <1-100>"]},
    {"view": "frob-class", "format": "colour { red | green }"},
    {"view": "interface", "format": "frob-class apply ( <name> )"},
    {"view": "interface", "format": "frob limit { in | out } ( <1-100> )"},
    {"view": "bgp", "format": "frob timer ( <1-9> )"},
    {"view": "bgp", "format": "peer <peer> frob ( <1-9> )"},
    {"view": "bgp-af", "format": "frob-paths ( <1-9> )", "families": ["v200"]},
]


def family(commands: Iterable[Mapping[str, Any]], name: SyntaxFamily = G1) -> Family:
    """Return a family with the commands of a site."""
    placed = []
    for number, keys in enumerate(commands):
        command = SiteCommand.model_validate({**FACTS, **keys})
        places = [(key, f"site.yaml:{number}:1: {key}") for key in SiteCommand.model_fields]
        placed.append(PlacedCommand(command, tuple(places)))
    shipped = load_families()[name]
    return SiteFamily.model_validate({**dict(shipped), "commands": tuple(placed)})


def problems(*commands: Mapping[str, Any]) -> list[str]:
    try:
        syntax_of(family(commands))
    except BadInput as error:
        return [str(problem) for problem in error.problems]
    return []


WORDS = (
    "use <name>, <text>, <ip>, <mask>, <interface>, <peer>, <group> and <asn>, or a range: <1-10>"
)
SMALL = "use small letters, digits and hyphens; a value is a parameter: <name>, <1-10>"
SAVED = "add only lines that a switch saves"
MINE = "remove this command, or make it narrower"
STATIC = (
    "ip route-static <ip> <mask> <other> [ <ip> ] ( [ preference <1-255> ] "
    "[ description <text:150> ] )"
)
STORM = "storm suppression { broadcast | multicast | unknown-unicast } ( <text> )"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"view": "sytem", "format": "frob"}, "view: no view 'sytem'; did you mean 'system'?"),
    (
        {"view": "system", "format": "frob ( <name>"},
        "format: brackets do not pair in `frob ( <name>`; close each of { [ ( in its order",
    ),
    (
        {"view": "system", "format": "<name> frob"},
        "format: `<name> frob` does not begin with a word; begin with the command's first word",
    ),
    ({"view": "system", "format": "frob Name"}, f"format: `Name` is no word of a command; {SMALL}"),
    ({"view": "system", "format": "#"}, f"format: `#` is no word of a command; {SMALL}"),
    ({"view": "system", "format": "frob <nmae>"}, f"format: no parameter `<nmae>`; {WORDS}"),
    (
        {"view": "system", "format": "frob <9-1>"},
        "format: the range `<9-1>` is empty; write the smaller number first",
    ),
    (
        {"view": "system", "format": "frob <numbers>"},
        "format: `<numbers>` has no range; write <numbers:1-64>",
    ),
    (
        {"view": "system", "format": "frob <text:many>"},
        "format: `<text:many>` has a wrong limit; write <text>",
    ),
    (
        {"view": "system", "format": "frob key cipher <cipher>"},
        "format: `<cipher>` takes a secret; a secret is a reference in the fabric",
    ),
    *(
        (
            {"view": "system", "format": line},
            f"format: `{line}`: '{word}' acts on the switch and is not configuration; {SAVED}",
        )
        for line, word in (
            ("commit", "commit"),
            ("com trial <1-9>", "commit"),
            ("reset <name>", "reset"),
            ("reboot fast", "reboot"),
            ("save <file>", "save"),
            ("system-view immediately", "system-view"),
            ("return", "return"),
            ("clear <name>", "clear"),
        )
    ),
    (
        {"view": "system", "format": "quit"},
        f"format: `quit`: 'quit' leaves a view and is not configuration; {SAVED}",
    ),
    (
        {"view": "system", "format": "undo frob <name>"},
        "format: `undo frob <name>` begins with `undo`; leave out `undo`: give the line itself",
    ),
    (
        {"view": "system", "format": "frob <name>", "undo": ["undo frob <name>"]},
        "undo: `undo frob <name>` begins with `undo`; leave out the word `undo`",
    ),
    (
        {"view": "system", "format": "frob <name>", "undo": [" "]},
        "undo: `` does not begin with a word; begin with the command's first word",
    ),
    (
        {"view": "system", "format": "frob <name> rate <1-9>", "undo": ["frob <name>"]},
        "undo: `undo frob <name>` removes no line of `frob <name> rate <1-9>`; give the words of "
        "the format up to its ( ), or all of them",
    ),
    (
        {"view": "system", "format": "frob <name>", "opens": "interface"},
        "opens: Rocefort has a view 'interface'; use another name",
    ),
    (
        {"view": "system", "format": "frob <name>", "opens": "Frob View"},
        "opens: 'Frob View' is no name of a view; use small letters, digits and hyphens",
    ),
    (
        {"view": "interface", "format": "frob", "order": "first"},
        "order: `first` in the view interface; leave it out: it is for lines of the view system",
    ),
    (
        {"view": "interface", "format": "mtu ( <9601-9700> )"},
        f"format: `mtu ( <9601-9700> )` has lines of Rocefort's own command `mtu ( <46-9600> )`; {MINE}",
    ),
    (
        {"view": "interface", "format": "storm suppression broadcast <1-9>"},
        "format: `storm suppression broadcast <1-9>` has lines of Rocefort's own command `storm "
        f"suppression {{ broadcast | multicast | unknown-unicast }} ( <text> )`; {MINE}",
    ),
    (
        {"view": "interface", "format": "vlan <1-4094>", "families": ["v300-g1"]},
        f"format: `vlan <1-4094>` has lines of Rocefort's own command `vlan <1-4094>`; {MINE}",
    ),
    (
        {"view": "system", "format": "lldp", "undo": ["lldp"]},
        "",
    ),
    *(
        (
            {"view": view, "format": line},
            f"format: `{line}` has lines of Rocefort's own command `{own}`; {MINE}",
        )
        for view, line, own in (
            ("interface", "shut", "shutdown"),
            ("interface", "shutd", "shutdown"),
            ("interface", "mt <1-9>", "mtu ( <46-9600> )"),
            ("interface", "storm sup { uni | broad } <1-9>", STORM),
            ("system", "inter <interface>", "interface <eth-trunk>"),
            ("bgp", "inter <interface>", "interface <eth-trunk>"),
            ("system", "ip rout <text>", STATIC),
            ("bgp-af", "peer <peer> en", "peer <peer> enable"),
        )
    ),
    ({"view": "interface", "format": "shutdownx"}, ""),
    ({"view": "interface", "format": "shut <1-9>"}, ""),
    (
        {"view": "system", "format": "und frob <name>"},
        "format: `und frob <name>` begins with `und`; leave out `undo`: give the line itself",
    ),
    (
        {"view": "system", "format": "frob <name>", "undo": ["un frob <name>"]},
        "undo: `un frob <name>` begins with `un`; leave out the word `undo`",
    ),
    (
        {"view": "system", "format": "qu"},
        f"format: `qu`: 'quit' leaves a view and is not configuration; {SAVED}",
    ),
    (
        {"view": "system", "format": "disp <name>"},
        f"format: `disp <name>`: 'display' acts on the switch and is not configuration; {SAVED}",
    ),
]


@pytest.mark.parametrize(("command", "sentence"), REFUSED, ids=lambda value: str(value)[:60])
def test_a_wrong_command_is_refused_with_its_line(command: dict[str, Any], sentence: str) -> None:
    said = problems(FROB[0], command)
    if not sentence:
        assert said == []
        return
    assert len(said) == 1
    assert said[0].startswith(f"site.yaml:1:1: {sentence}")


def test_all_problems_are_reported_at_once() -> None:
    said = problems({"view": "x", "format": "commit"}, {"view": "system", "format": "frob <x>"})
    assert [line.split(";")[0] for line in said] == [
        "site.yaml:0:1: view: no view 'x'",
        "site.yaml:0:1: format: `commit`: 'commit' acts on the switch and is not configuration",
        "site.yaml:1:1: format: no parameter `<x>`",
    ]


def test_two_commands_with_common_lines_are_refused() -> None:
    first = {"view": "system", "format": "frob <name>"}
    other = {"view": "system", "format": "frob fast"}
    assert problems(first, other) == [
        "site.yaml:1:1: format: `frob fast` has lines of `frob <name>` at site.yaml:0:1; keep one "
        "of them"
    ]
    assert problems({**first, "families": ["v200"]}, {**other, "families": ["v300-g1"]}) == []
    assert problems(first, {**other, "view": "interface"}) == []
    short = {"view": "system", "format": "fr fast"}
    for pair in ((other, short), (short, other)):
        one, two = (command["format"] for command in pair)
        assert problems(*pair) == [
            f"site.yaml:1:1: format: `{two}` has lines of `{one}` at site.yaml:0:1; keep one of them"
        ]


def test_a_family_without_commands_has_its_own_syntax() -> None:
    assert syntax_of(load_families()[G1]) is G1


# -- laws ----------------------------------------------------------------------------------------

HEAD = "sysname leaf01\n"
LINES = {
    "system": ["frobnicate {}", "frob-class {}"],
    "frob-class": ["rate {n} burst 2", "rate {n} burst 3", "colour red", "colour green"],
    "interface": ["frob-class apply {}", "frob limit in {n}", "frob limit out {n}", "mtu 9000"],
    "bgp": ["frob timer 3", "frob timer 4"],
}
NAMES, NUMBERS = st.sampled_from(["a", "b", "core"]), st.integers(1, 100)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A text with lines of the site, as a switch saves it."""
    typed = [HEAD]
    for name in draw(st.sets(NAMES)):
        typed += ["#", f"frob-class {name}"]
        typed += [f" {line.format(name, n=draw(NUMBERS))}" for line in draw(_some("frob-class"))]
    for port in range(1, 3):
        typed += ["#", f"interface 100GE1/0/{port}"]
        typed += [
            f" {line.format(draw(NAMES), n=draw(NUMBERS))}" for line in draw(_some("interface"))
        ]
    if draw(st.booleans()):
        typed += ["#", "bgp 65001", *(f" {line}" for line in draw(_some("bgp")))]
        typed += [
            " peer 10.0.0.1 as-number 65002",
            *draw(st.sampled_from([[], [" peer 10.0.0.1 frob 3"]])),
        ]
    typed += ["#", *(f"frobnicate {name}" for name in draw(st.sets(NAMES, max_size=1)))]
    return tree_text(apply_lines((), typed, SYNTAX))


def _some(view: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(LINES[view]), max_size=4)


SYNTAX = syntax_of(family(FROB))


@settings(max_examples=tries(400))
@given(texts(), texts())
def test_a_patch_leads_to_the_other_text_and_back(one: str, other: str) -> None:
    patch = make_patch(one, other, SYNTAX)
    assert moved(one, patch.commands) == moved(other, ())
    assert moved(other, patch.reverse) == moved(one, ())


def moved(text: str, commands: Iterable[str]) -> set[tuple[str, ...]]:
    """Return the lines of a text after commands, each with its views; raises VrpRefusal."""
    config = apply_lines(parse_tree(text), [line.strip() for line in commands], SYNTAX)
    return {(*path, line.text) for top in config for path, line in top.walk() if not empty(line)}


def empty(line: Any) -> bool:
    return line.text.startswith("interface ") and not line.children


@given(texts())
def test_no_line_of_the_site_is_lost_or_read_into_a_field(text: str) -> None:
    parsed = DIALECT.parse(text, "leaf01.cfg")
    own = {line.text for line in parsed.unmodelled if command_of(line, SYNTAX)}
    assert own == {line.text for line in parsed.unmodelled}
    assert len(own) == len(
        {text for _, text in DIALECT.lines(text) if "frob" in text or text[:4] in ("rate", "colo")}
    )


def test_the_interpreter_takes_every_line_of_a_row_and_its_undo() -> None:
    assert isinstance(SYNTAX, SiteSyntax)
    views = {"system": (), "interface": ("interface 100GE1/0/1",), "bgp": ("bgp 65001",)}
    views["frob-class"] = ("frob-class a",)
    for row in SYNTAX.rows:
        for line in samples(row):
            before = (*views[row.view], "peer 10.0.0.1 as-number 65002")[
                : len(views[row.view]) + (row.view == "bgp")
            ]
            config = apply_lines((), (*before, line), SYNTAX)
            assert line in tree_text(config)
            back = make_patch(
                HEAD + tree_text(config), HEAD + tree_text(apply_lines((), before, SYNTAX)), SYNTAX
            )
            assert line not in tree_text(apply_lines(config, back.commands, SYNTAX))


# -- order, views, families ----------------------------------------------------------------------

PORT = "#\ninterface 100GE1/0/1\n mtu 9000\n"
APPLIED = f"{HEAD}#\nfrob-class a\n rate 5 burst 1\n{PORT} frob-class apply a\n"


def test_a_first_line_is_set_before_lines_that_name_it_and_removed_after_them() -> None:
    patch = make_patch(f"{HEAD}{PORT}", APPLIED, SYNTAX)
    heads = [line for line in patch.commands if not line.startswith(" ")]
    assert heads == ["frob-class a", "interface 100GE1/0/1"]
    back = [line.strip() for line in patch.reverse if "undo" in line]
    assert back == ["undo frob-class apply", "undo frob-class a"]


def test_another_value_replaces_the_line() -> None:
    patch = make_patch(f"{HEAD}frobnicate a\n", f"{HEAD}frobnicate b\n", SYNTAX)
    assert (patch.commands, patch.reverse) == (("frobnicate b",), ("frobnicate a",))


def test_a_command_of_another_family_is_unknown() -> None:
    line = TextLine(("bgp 65001", "ipv4-family unicast"), "frob-paths 3", 1)
    assert command_of(line, syntax_of(family(FROB, V200))) == "frob-paths"
    assert command_of(line, SYNTAX) == ""
    with pytest.raises(VrpRefusal):
        apply_lines((), (*line.path, line.text), SYNTAX)


def test_a_line_in_a_view_of_the_site_that_opens_another_view_leaves_it() -> None:
    line = TextLine(("frob-class a",), "acl 2000", 1)
    assert leaves_view(line, SYNTAX)
    assert not leaves_view(TextLine(("frob-class a",), "rate 5 burst 1", 1), SYNTAX)


# -- two sites in one process --------------------------------------------------------------------


def test_the_rows_of_two_sites_do_not_mix() -> None:
    value = syntax_of(family([{"view": "system", "format": "frobnicate ( <name> )"}]))
    key = syntax_of(family([{"view": "system", "format": "frobnicate <name>"}]))
    none: SyntaxFamily = G1
    texts = (f"{HEAD}frobnicate a\n", f"{HEAD}frobnicate b\n")
    for _ in range(2):
        assert make_patch(*texts, value).commands == ("frobnicate b",)
        assert make_patch(*texts, key).commands == ("undo frobnicate a", "frobnicate b")
        assert make_patch(*texts, none).commands == ("undo frobnicate a", "frobnicate b")
        assert apply_lines((), ("frobnicate a", "frobnicate b"), value) != apply_lines(
            (), ("frobnicate a", "frobnicate b"), key
        )
        with pytest.raises(VrpRefusal):
            apply_lines((), ("frobnicate a",), none)
        line = TextLine((), "frobnicate a", 1)
        assert [command_of(line, each) for each in (value, key, none)] == [
            "frobnicate",
            "frobnicate ..",
            "",
        ]
