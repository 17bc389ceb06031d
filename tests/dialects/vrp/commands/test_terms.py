"""Terms of rules and reports: the VRP commands for them, and the modules that use them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest
from vendor_words import ROOT, is_read, strings_of, vendor_commands

from rocefort.base.errors import Refused
from rocefort.dialects.choose import dialect_of
from rocefort.dialects.data import DialectWords
from rocefort.dialects.open_facts import NEEDED_BY
from rocefort.dialects.syntax_families import load_families
from rocefort.dialects.vrp import terms
from rocefort.dialects.vrp.commands.catalogue import rows_by_view
from rocefort.dialects.vrp.commands.format import MatchFailure, parse_format, read_all, words_of
from rocefort.dialects.vrp.dialect import Vrp
from rocefort.dialects.words import TERM, in_words
from rocefort.emulator.cli.commands import commands
from rocefort.emulator.cli.dialogue import Stage
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import TextLine

NEUTRAL = (
    "models",
    "validators",
    "rocefort/reports",
    "rocefort/change",
    "rocefort/verification",
    "rocefort/rollout",
    "rocefort/fleet",
)
STAGES: tuple[Stage, ...] = ("user", "two-stage")
# Modules that hold a command, and why.
EXCEPTIONS = {
    "rocefort/verification/page/findings_section.py": "finds the view of an interface in the text that it shows",
    "rocefort/verification/review/sections.py": "finds the port of a view in the lines that it counts",
    "validators/rules/verification/batfish_subject.py": "finds a line of the EOS text that Batfish was given",
}


def _modules(*packages: str) -> Iterator[Path]:
    return chain.from_iterable(sorted((ROOT / package).rglob("*.py")) for package in packages)


def test_no_string_holds_a_command_of_the_vendor() -> None:
    commands = [each for module in _modules(*NEUTRAL) for each in vendor_commands(module)]
    assert [each for each in commands if each.module not in EXCEPTIONS] == []
    assert {each.module for each in commands} == set(EXCEPTIONS)
    assert len(EXCEPTIONS) <= 3


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("'''Take it off, by `undo dcb pfc enable`.'''", "1: undo dcb pfc enable"),
        ("f'set `mtu {size}` or more'", "1: mtu {}"),
        ("f'`local-user {name} privilege level`'", "1: local-user {} privilege level"),
        ("'display version'", "1: display version"),
        ("f'undo peer {address} ignore'", "1: undo peer {} ignore"),
        ("'remove `flow-control` there'", "1: flow-control"),
        ("'name a server, or its address'", ""),
        ("'peer with the address of the far end'", ""),
        ("'the `mtu` of a port, and `interfaces[].mtu`'", ""),
    ],
)
def test_a_command_in_a_string_is_found(tmp_path: Path, text: str, found: str) -> None:
    module = tmp_path / "module.py"
    module.write_text(text)
    assert "".join(f"{each.line}: {each.text}" for each in vendor_commands(module)) == found


@pytest.mark.parametrize("term", terms.COMMANDS)
def test_the_catalogue_reads_the_command_of_a_term(term: str) -> None:
    assert is_read(terms.COMMANDS[term])


@pytest.mark.parametrize(
    "line", ["dcb pfc enabled", "qos queue {} weder", "peer {} route-polices", "mtu-size {}"]
)
def test_the_catalogue_reads_no_stale_command(line: str) -> None:
    assert not is_read(line)


def _typed(line: str) -> bool:
    bare = line.partition(" | ")[0]
    lines = [words_of(bare.replace("{}", value)) for value in ("10.0.0.1", "1", "kept.cfg")]
    formats = [nodes for stage in STAGES for _, nodes in commands(stage)]
    return any(
        reading.keywords[0] == tokens[0]
        for tokens in lines
        for nodes in formats
        for reading in read_all(nodes, tokens, MatchFailure(), shortened=True)
    )


def test_the_emulated_switch_answers_what_is_shown() -> None:
    assert [line for line in terms.DIALOGUE.values() if not _typed(line)] == []
    others = {**terms.TYPED, **terms.UNCONFIRMED}
    assert [line for line in others.values() if _typed(line)] == []


# In the form of the command reference V300R023C00.
REFERENCE = (
    "delete /unreserved <word>",
    "dir /all",
    "display ai-service model [ model-file <word> ]",
    "display bgp routing-table peer <word> received-routes",
    "display dcb pfc deadlock trigger status [ interface <word> ]",
    "display diffserv domain [ <word> | brief ]",
    "display drop-profile [ <word> | brief ]",
    "display interface transceiver [ non-certified ] [ verbose ]",
    "display ip routing-table <word> [ <word> ] [ longer-match ] [ verbose ]",
    "display ntp status",
    "display qos configuration interface [ <word> ]",
    "ftp server enable",
    "peer <word> ignore",
    "reboot",
    "refresh bgp { all | <word> | external | internal | group <word> } { export | import }",
    "reset dcb pfc [ interface <word> ]",
    "reset qos queue statistics { interface <word> | slot <word> }",
    "snmp-agent community { read | write } <word>",
    "ssh server cipher [ <word> ]",
    "undo peer <word> ignore",
)


def test_the_reference_has_what_is_typed_and_not_emulated() -> None:
    formats = [parse_format(each) for each in REFERENCE]

    def is_there(line: str) -> bool:
        words = words_of(line.replace("{}", "10.0.0.1"))
        return any(
            list(read_all(nodes, words, MatchFailure(), shortened=True))
            for nodes in formats
            if nodes[0].text == words[0]
        )

    assert [line for line in terms.TYPED.values() if not is_there(line)] == []
    assert [line for line in terms.UNCONFIRMED.values() if is_there(line)] == []


def test_keywords_are_words_of_commands() -> None:
    literals = {word for rows in rows_by_view().values() for row in rows for word in _literals(row)}
    assert set(terms.KEYWORDS.values()) <= literals


def _literals(row: object) -> set[str]:
    return set(str(getattr(row, "format", "")).split())


def _terms(*packages: str) -> set[str]:
    """Return the texts in brackets in strings of packages."""
    texts = (text for module in _modules(*packages) for _, text in strings_of(module))
    return {" ".join(match[1].split()) for text in texts for match in TERM.finditer(text)}


def _bare(*packages: str) -> set[str]:
    """Strings of packages, among them terms of commands that are typed."""
    return {text for module in _modules(*packages) for _, text in strings_of(module)}


def test_every_term_is_used_and_every_term_of_a_rule_is_known() -> None:
    defined = {*terms.WORDS.quoted, *terms.WORDS.names}
    assert defined - _terms(*NEUTRAL) - _bare(*NEUTRAL) - NEEDED_BY.keys() == set()
    assert _terms(*NEUTRAL) - defined == set()


def test_a_text_is_in_the_words_of_the_dialect(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "set «headroom of queue: 4, 60» or\n«a PFC\nprofile» of «the vendor's system», "
    text += "[BFD] a[BFD] `description [BFD: 4]`"
    family = load_families()[SyntaxFamily.V200]
    assert in_words(text) == in_words(text, family)
    assert in_words(text, family) == (
        "set `dcb pfc buffer 4 hdrm 60 kbytes` or\n`dcb pfc` of VRP, "
        "[BFD] a[BFD] `description [BFD: 4]`"
    )
    monkeypatch.setattr(Vrp, "words", DialectWords({"BFD": "bfd all"}, {}))
    text = "«BFD», «a PFC profile: p», «the vendor's system»"
    assert in_words(text, family) == "`bfd all`, a PFC profile p, the vendor's system"


def test_a_dialect_without_words_shows_the_terms() -> None:
    """A dialect without queries on unmodelled lines is not called for them, either."""
    vrp = load_families()[SyntaxFamily.V200]
    other = vrp.model_copy(update={"dialect": "eos"})
    text = "«BFD», «a PFC profile: p», «the vendor's system»"
    assert in_words(text, vrp) == "`bfd`, `dcb pfc p`, VRP"
    assert in_words(text, other) == "BFD, a PFC profile p, the vendor's system"
    line = TextLine(path=(), text="ip route-static 10.0.0.0 8 NULL0", line=1)
    assert dialect_of(vrp).forwarding_effect(line)
    with pytest.raises(Refused, match="EOS: its configuration is not read by Rocefort"):
        dialect_of(other).forwarding_effect(line)
