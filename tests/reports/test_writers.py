"""Writers of blocks: widths of a terminal, no folding in a pipe, and data that is never markup."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rocefort.reports.blocks import (
    Block,
    Cell,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Picture,
    Section,
    Table,
    TableColumn,
    Tone,
    columns,
)
from rocefort.reports.writers.markdown import markdown_of
from rocefort.reports.writers.pages import html_of
from rocefort.reports.writers.terminal import text_of

TABLE = Table(
    (TableColumn("name"), TableColumn("Gb/s"), TableColumn("note", wraps=True)),
    (("spine01 100GE1/1/1", 100, "a note of some words"), ("leaf01", None, "")),
)
DOCUMENT: tuple[Block, ...] = (
    Note("two sentences"),
    Note("stand together"),
    TABLE,
    Section(
        "leaf01: changes",
        (
            Items(("first", "second"), ("at: 100GE1/0/1", "fix: none")),
            CollapsibleSection("patch", (Code(("system-view", " vlan 7")),)),
        ),
        badge="affects service",
    ),
    Picture("<svg></svg>", "Two spines and eight leaves."),
)


def test_a_document_for_a_terminal() -> None:
    assert text_of(*DOCUMENT, width=80) == (
        "two sentences\n"
        "stand together\n"
        "\n"
        "name                Gb/s  note\n"
        "spine01 100GE1/1/1   100  a note of some words\n"
        "leaf01                 -\n"
        "\n"
        "leaf01: changes (affects service)\n"
        "  - first\n"
        "  - second\n"
        "        at: 100GE1/0/1\n"
        "        fix: none\n"
        "    patch:\n"
        "      system-view\n"
        "       vlan 7\n"
        "\n"
        "Two spines and eight leaves.\n"
    )


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        pytest.param(
            40,
            [
                "name                Gb/s  note",
                "spine01 100GE1/1/1   100  a note of some",
                "                          words",
                "leaf01                 -",
            ],
            id="a column that may wrap gives way",
        ),
        pytest.param(
            30,
            [
                "name                Gb/s",
                "    note",
                "spine01 100GE1/1/1   100",
                "    a note of",
                "    some words",
                "leaf01                 -",
            ],
            id="columns that do not fit continue below",
        ),
        pytest.param(
            None,
            [
                "name                Gb/s  note",
                "spine01 100GE1/1/1   100  a note of some words",
                "leaf01                 -",
            ],
            id="a pipe",
        ),
    ],
)
def test_a_table_fits_the_terminal(width: int | None, lines: list[str]) -> None:
    assert [line for line in text_of(TABLE, width=width).splitlines() if line] == lines


def test_a_sentence_breaks_at_no_hyphen_and_in_no_command() -> None:
    text = "see `display qos buffer` of ce-8850-64CQ-EI in /srv/very-long/path/to/a/file.yaml:7."
    assert text_of(Note(text), width=24).splitlines() == [
        "see `display qos buffer`",
        "  of ce-8850-64CQ-EI in",
        "  /srv/very-long/path/to/a/file.yaml:7.",
    ]
    assert text_of(Note(text)) == f"{text}\n"


WORDS = st.lists(st.text("ab[]*`", min_size=1, max_size=9), min_size=1, max_size=20).map(" ".join)
CELLS = st.one_of(st.none(), st.integers(0, 10**6), st.text("abc-/", min_size=1, max_size=20))


@given(text=WORDS, width=st.integers(1, 60))
def test_wrapping_loses_no_word(text: str, width: int) -> None:
    written = text_of(Note(text), Items((text,)), Section("title", (Note(text),)), width=width)
    assert written.split() == [*text.split() * 2, "title", *text.split()]


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1), width=st.integers(1, 90))
def test_a_table_keeps_every_cell_in_its_order(rows: list[tuple[Cell, ...]], width: int) -> None:
    table = Table(columns("a", "b", "c", wraps=["b"]), tuple(rows))
    cells = ["-" if cell is None else str(cell) for row in rows for cell in row]
    assert text_of(table, width=width).split()[3:] == cells


def test_colour_is_for_tones_and_never_for_data() -> None:
    text = text_of(Note("[bold]x[/] :smile: 'a' 12", Tone.WARNING), Note("[red] 7"), colour=True)
    assert text == "\x1b[33m[bold]x[/] :smile: 'a' 12\x1b[0m\n[red] 7\n"


def test_markdown_of_a_document() -> None:
    assert markdown_of(*DOCUMENT) == (
        "two sentences\n\nstand together\n\n"
        "| name               | Gb/s | note                 |\n"
        "| ------------------ | ---: | -------------------- |\n"
        "| spine01 100GE1/1/1 |  100 | a note of some words |\n"
        "| leaf01             |      |                      |\n"
        "\n### leaf01: changes (affects service)\n"
        "\n- first\n- second\n\n* at: 100GE1/0/1\n* fix: none\n"
        "\n<details><summary>patch</summary>\n\n```\nsystem-view\n vlan 7\n```\n\n</details>\n"
        "\nTwo spines and eight leaves.\n"
    )


def test_data_is_markup_in_no_form() -> None:
    evil = "<b>|`x`</b> [a](b)"
    blocks = (
        Table((TableColumn(evil),), ((evil,),)),
        Items((evil,), (evil,)),
        Items((evil,), code=True),
        Note(evil),
        Code((evil,)),
    )
    html = html_of(Section(evil, blocks, evil, badge=evil))
    assert "<b>" not in html
    assert html.count("&lt;b&gt;") == 10
    assert "<code>x</code>" in html
    markdown = markdown_of(*blocks[:-1])
    tokens = MarkdownIt("commonmark").enable("table").parse(markdown)
    kinds = {token.type for block in tokens for token in (block, *(block.children or ()))}
    assert "td_open" in kinds
    assert not kinds & {"html_inline", "html_block", "link_open", "strong_open"}
