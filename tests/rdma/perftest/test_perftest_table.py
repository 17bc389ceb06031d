"""Law of perftest's table: lines outside it change no figure, damage inside it voids the run.

The random laws try 400 and 200 outputs; damages are complete, and counted in the report (`tries`).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rocefort.emulator.servers.ssh_hosts import PERFTEST_RUNS
from rocefort.fleet.ssh_exec import CommandResult
from rocefort.models.wording import MOST_NOTES, NOTE_LETTERS
from rocefort.rdma.parse.outcome import Outcome, TableError
from rocefort.rdma.parse.perftest import PerftestOutcome, judge, read_series
from rocefort.rdma.parse.perftest_tables import title_and_notes
from rocefort.rdma.rdma_plan import Program

RUNS = {
    "ib_write_bw.gbits": Program.WRITE_BW,
    "ib_write_bw.all": Program.WRITE_BW,
    "ib_write_bw.bidir": Program.WRITE_BW,
    "ib_write_bw.mib": Program.WRITE_BW,
    "ib_write_bw.counters": Program.WRITE_BW,
    "ib_read_bw.gbits": Program.READ_BW,
    "ib_send_bw.gbits": Program.SEND_BW,
    "ib_write_lat.iters": Program.WRITE_LAT,
    "ib_write_lat.duration": Program.WRITE_LAT,
    "ib_send_lat.iters": Program.SEND_LAT,
    "ib_read_lat.iters": Program.READ_LAT,
}
RULE = "-" * 87
# Wordings of perftest's sources and of the libraries below it, of several versions.
SPOKEN = (
    " WARNING: BW peak won't be measured in this run.",
    " WARNING: CPU is not PCIe relaxed ordering compliant.",
    "Warning: Blueflame is not supported in the system",
    "ERROR: something failed: errno 14",
    "Error: BW result is below bw limit",
    " Failed status 12: wr_id 0 syndrom 0x81",
    "initializing CUDA",
    "cuMemAlloc() of a 131072 bytes GPU buffer",
    "CUDA device integrated: 0",
    "[HOST_MEMORY] Allocated 131072 bytes using 2MB pages",
    "Conflicting CPU frequency values detected: 800.0 != 2600.1. CPU Frequency is not max.",
    " 65536 messages of #bytes and 92.31 Gb/sec",
    " 65536      3950             0.00               0.69          0.001315",
    "Größe: 4 µs — слово 日本語 \u200b\u202e",
    "a\tb:\x07\x1b[31mred\x1b[0m\x85c\u2028d",
    RULE,
)
TITLE = re.compile(r"\s+(RDMA_Write|RDMA_Read|Send) (Bidirectional )?(BW|Latency) Test\s*")
letters = st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]), max_size=120)
outside_lines = st.one_of(st.sampled_from(SPOKEN), letters).filter(
    lambda line: not (line.strip().startswith("#bytes") or TITLE.fullmatch(line))
)


@dataclass(frozen=True)
class Sample:
    """Recorded output of both ends, as lines, with the positions of its table."""

    tool: Program
    ends: dict[str, list[str]]

    def table(self, side: str) -> tuple[int, int] | None:
        """Return the positions of header and closing rule; None without a table."""
        lines = self.ends[side]
        header = next((n for n, line in enumerate(lines) if "#bytes" in line), None)
        if header is None:
            return None
        return header, next(n for n in range(header, len(lines)) if lines[n].startswith("---"))

    def judged(self, side: str = "client", lines: list[str] | None = None) -> PerftestOutcome:
        """Judge the run, with other lines at one end."""
        ends = self.ends if lines is None else {**self.ends, side: lines}
        client, server = (
            CommandResult("\n".join(ends[each]) + "\n", "", 0) for each in ("client", "server")
        )
        return judge(self.tool, client, server)


def sample(name: str) -> Sample:
    texts = {
        side: (PERFTEST_RUNS / "4.5" / f"{name}.{side}.txt").read_text(encoding="utf-8").split("\n")
        for side in ("client", "server")
    }
    return Sample(RUNS[name], texts)


SAMPLES = {name: sample(name) for name in RUNS}


@given(
    st.sampled_from(sorted(RUNS)),
    st.sampled_from(["client", "server"]),
    st.lists(st.tuples(outside_lines, st.integers(0, 99)), min_size=1, max_size=6),
)
@settings(max_examples=400)
def test_lines_outside_the_table_change_no_figure_and_are_notes(
    name: str, side: str, added: list[tuple[str, int]]
) -> None:
    run = SAMPLES[name]
    lines, table = list(run.ends[side]), run.table(side)
    for line, at in added:
        header, rule = table or (len(lines), len(lines))
        places = [*range(header + 1), *range(rule + 1, len(lines) + 1)]
        place = places[at % len(places)]
        lines.insert(place, line)
        if table and place <= header:
            table = header + 1, rule + 1
    judgement, recorded = run.judged(side, lines), run.judged()
    assert judgement.outcome is Outcome.MEASURED, judgement.sentence
    assert judgement.rows == recorded.rows
    shown = " ".join(judgement.notes)
    for line in {" ".join(line.split())[:NOTE_LETTERS] for line, _ in added if is_noted(line)}:
        assert line in shown


def is_noted(line: str) -> bool:
    """Whether a line certainly is no routine line: only these are short, or begin with a blank."""
    return bool(line.strip(" \t*-\r")) and not line.startswith((" ", "\t", "\r", "\x0b", "*"))


def damages(lines: list[str], header: int, rule: int) -> Iterator[tuple[str, list[str]]]:
    """Yield every damage of one table: a name, and the lines with it."""
    rows = [n for n in range(header + 1, rule) if lines[n].strip() and "=" not in lines[n]]

    def changed(at: int, line: str | None) -> list[str]:
        return [*lines[:at], *([] if line is None else [line]), *lines[at + 1 :]]

    for at in (header, rows[0], rows[-1]):
        cells = re.split(r"(\s{2,}|(?<=\]) |(?<=\d)\s)", lines[at].strip())[::2]
        for n in range(len(cells)):
            rest = [*cells[:n], *cells[n + 1 :]]
            yield f"cell {n} gone", changed(at, f" {'   '.join(rest)}")
        line = lines[at].rstrip()
        for cut in range(1, len(line)):
            yield f"cut after {cut}", changed(at, line[:cut])
    yield "no header", changed(header, None)
    yield "no closing rule", lines[:rule]
    yield "two headers", [*lines[: header + 1], lines[header], *lines[header + 1 :]]
    yield "two tables", [*lines, *lines[header:]]
    yield "the run twice", [*lines, *lines]
    yield "row twice", [*lines[: rows[0]], lines[rows[0]], *lines[rows[0] :]]
    yield "a line within", [*lines[: header + 1], " WARNING: slow", *lines[header + 1 :]]
    yield "a line before the rule", [*lines[:rule], "mlx5: warning: 1", *lines[rule:]]
    yield "no rows", [*lines[: header + 1], *lines[rule:]]
    yield "a negative average", changed(rows[-1], re.sub(r"(\d+\.\d\d)", r"-\1", lines[rows[-1]]))
    title = next(n for n in range(header) if TITLE.fullmatch(lines[n]))
    yield "no title", changed(title, None)
    yield "cut title", changed(title, lines[title].rstrip()[:-1])
    yield "two titles", [*lines[:title], lines[title], *lines[title:]]
    other = {"RDMA_Write": "RDMA_Read", "RDMA_Read": "Send", "Send": "RDMA_Write"}
    yield (
        "title of another test",
        changed(
            title, re.sub("RDMA_Write|RDMA_Read|Send", lambda verb: other[verb[0]], lines[title])
        ),
    )


@pytest.mark.parametrize("side", ["client", "server"])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_every_damage_of_the_table_voids_the_run(
    name: str, side: str, record_property: Callable[[str, object], None]
) -> None:
    run = SAMPLES[name]
    table = run.table(side)
    if table is None:
        pytest.skip("this server prints no table")
    measured, tries = [], 0
    for tries, (damage, lines) in enumerate(damages(run.ends[side], *table), 1):  # noqa: B007
        judgement = run.judged(side, lines)
        if judgement.outcome is Outcome.MEASURED:
            measured.append(damage)
        else:
            assert not judgement.rows
            assert "known version" not in judgement.sentence
    record_property("tries", tries)
    assert measured == []
    assert tries > 100


@given(
    st.sampled_from(sorted(RUNS)),
    st.sampled_from(["client", "server"]),
    st.integers(0, 30),
    letters.filter(str.strip),
)
@settings(max_examples=200)
def test_a_random_line_within_the_table_voids_the_run(
    name: str, side: str, at: int, line: str
) -> None:
    run = SAMPLES[name]
    table = run.table(side)
    assume(table is not None)
    assume(not re.fullmatch(r"-{20,}\s*|\t[\w/.-]+=\d+\s*", line))
    assert table is not None
    header, rule = table
    place = header + 1 + at % (rule - header)
    lines = [*run.ends[side][:place], line, *run.ends[side][place:]]
    assert run.judged(side, lines).outcome is not Outcome.MEASURED


FREQUENCY = (
    "Conflicting CPU frequency values detected: 1200.000000 != 3000.000000."
    " CPU Frequency is not max."
)


@pytest.mark.parametrize("name", sorted(RUNS))
def test_a_line_of_stderr_within_the_table_is_a_note(name: str) -> None:
    run = SAMPLES[name]
    table = run.table("client")
    assert table is not None
    for at in range(table[0] + 1, table[1] + 1):
        lines = [*run.ends["client"][:at], FREQUENCY, *run.ends["client"][at:]]
        if lines[at + 1].strip():  # with `-W`, a blank line belongs to the counter above it
            judgement = run.judged("client", lines)
            assert judgement.rows == run.judged().rows
            assert judgement.notes == (f"client: {FREQUENCY}",)
            damaged = [*lines[:at], FREQUENCY[:-1], *lines[at + 1 :]]
            assert run.judged("client", damaged).outcome is Outcome.DAMAGED_ROW


@pytest.mark.parametrize("blanks", ["", " ", "    ", "\t"])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_an_indented_paste_is_the_same(name: str, blanks: str) -> None:
    run = SAMPLES[name]
    judgement = run.judged("client", [f"{blanks}{line}" for line in run.ends["client"]])
    assert (judgement.outcome, judgement.rows) == (Outcome.MEASURED, run.judged().rows)


TITLE_WORDS = ("_imm", "Bidirectional ", "Post List ", "forwarding ", "Multicast ")
TITLES = list(itertools.product(*(("", word) for word in TITLE_WORDS)))


@pytest.mark.parametrize("words", TITLES)
def test_every_title_of_the_sources_is_one(words: tuple[str, ...]) -> None:
    immediate, both, posted, forwarding, multicast = words
    title = f"{immediate} {both}{posted}BW {forwarding}{multicast}Test"
    run = SAMPLES["ib_send_bw.gbits"]
    ends = {
        side: [line.replace("Send BW Test", f"Send{title}") for line in lines]
        for side, lines in run.ends.items()
    }
    titled = Sample(run.tool, ends)
    assert titled.judged().rows == run.judged().rows
    other = titled.judged("server", run.ends["server"])
    assert (other.outcome is Outcome.MEASURED) == (title == " BW Test")


def test_a_break_names_the_last_line_of_the_output() -> None:
    run = SAMPLES["ib_write_bw.gbits"]
    table = run.table("client")
    assert table is not None
    for lines in (run.ends["client"][: table[1]], [*run.ends["client"][: table[1]], "", "# "]):
        judgement = run.judged("client", lines)
        last = " ".join([line for line in lines if line.strip()][-1].split())
        assert (judgement.outcome, judgement.line) == (Outcome.UNTERMINATED_TABLE, last)


@pytest.mark.parametrize("unit", ["MB/sec", "MiB/sec"])
@pytest.mark.parametrize("column", ["BW peak", "BW average"])
def test_two_units_in_one_header_void_the_run(column: str, unit: str) -> None:
    run = SAMPLES["ib_write_bw.gbits"]
    lines = [line.replace(f"{column}[Gb/sec]", f"{column}[{unit}]") for line in run.ends["client"]]
    assert run.judged("client", lines).outcome is Outcome.DAMAGED_HEADER


def test_the_first_row_of_all_sizes_is_of_two_bytes() -> None:
    run = SAMPLES["ib_write_bw.all"]
    table = run.table("client")
    assert table is not None
    lines = run.ends["client"]
    for at in range(table[0] + 1, table[1]):
        judgement = run.judged("client", [*lines[:at], *lines[at + 1 :]])
        assert judgement.outcome in (Outcome.MISSING_ROW, Outcome.OPTION_MISMATCH), lines[at]


def test_notes_are_few_and_short_and_name_their_end() -> None:
    run = SAMPLES["ib_write_bw.gbits"]
    lines = [*(f"mlx5: warning {n}: {'x' * 300}" for n in range(99)), *run.ends["server"]]
    notes = run.judged("server", lines).notes
    assert len(notes) == MOST_NOTES + 1
    assert notes[0].startswith("server: mlx5: warning 0: xxx")
    assert len(notes[0]) == len("server: ") + NOTE_LETTERS
    assert notes[-1] == "server: and 79 more lines"


def test_stderr_of_a_run_that_ends_well_is_noted_once_for_both_ends() -> None:
    run = SAMPLES["ib_write_bw.gbits"]
    ends = [
        CommandResult("\n".join(run.ends[side]), "Warning: Blueflame is not supported\n", 0)
        for side in ("client", "server")
    ]
    judgement = judge(run.tool, *ends)
    assert judgement.outcome is Outcome.MEASURED
    assert judgement.notes == ("client, server: Warning: Blueflame is not supported",)


def test_recorded_runs_have_no_notes_except_on_deviations() -> None:
    noted = {name: run.judged().notes for name, run in SAMPLES.items() if run.judged().notes}
    assert noted == {}


def test_a_deviation_that_is_no_number_leaves_the_average() -> None:
    run = SAMPLES["ib_write_lat.iters"]
    lines = [
        line.replace("491.03", "-nan").replace("3217.38", "nan") for line in run.ends["client"]
    ]
    judgement = run.judged("client", lines)
    assert (judgement.outcome, judgement.latency_us) == (Outcome.MEASURED, 381.28)
    (row,) = judgement.rows
    assert (row.figures.stdev_us, row.figures.p999_us, row.figures.p99_us) == (None, None, 2449.97)
    assert judgement.notes == (
        "client: t_stdev of 2 bytes is -nan",
        "client: 99.9% percentile of 2 bytes is nan",
    )


def test_a_version_without_a_column_of_deviations() -> None:
    run = SAMPLES["ib_write_lat.iters"]
    lines = [
        line.replace("   99.9% percentile[usec]", "").replace("3217.38", "")
        for line in run.ends["client"]
    ]
    judgement = run.judged("client", lines)
    assert (judgement.outcome, judgement.latency_us) == (Outcome.MEASURED, 381.28)
    assert judgement.notes == ("client: the table has no 99.9% percentile",)


def test_columns_of_two_ports_add_up() -> None:
    header = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
    ports = "   BW Port1[Gb/sec]   MsgRate Port1[Mpps]   BW Port2[Gb/sec]   MsgRate Port2[Mpps]"
    run = SAMPLES["ib_write_bw.gbits"]

    def judged(one: str, two: str) -> PerftestOutcome:
        row = " 65536      3950     0.00            0.69\t\t   0.001315"
        more = f"        {one}            0.000648              {two}            0.000667"
        lines = [
            header + ports if "#bytes" in line else row + more if "3950" in line else line
            for line in run.ends["client"]
        ]
        return run.judged("client", lines)

    assert judged("0.34", "0.35").gbps == 0.69
    assert judged("0.14", "0.35").outcome is Outcome.SUMS


# --- rows over time: no rule ends the table -------------------------------------------------------

HEAD = "\n".join(SAMPLES["ib_write_bw.gbits"].ends["client"]).split(" 65536")[0]
ROWS = tuple(
    f" 65536      {n}             0.00               {gbps:<7.2f}   \t\t   {gbps / 524.288:.6f}"
    for n, gbps in ((92_000, 92.0), (91_000, 91.5), (92_100, 92.1))
)
texts = outside_lines.filter(
    lambda line: (
        sum(bool(re.fullmatch(r"[-+]?[\d.]+|nan|inf", w, re.IGNORECASE)) for w in line.split()) * 2
        <= len(line.split())
        and line.split()[:1] != ["65536"]
    )
)


@given(st.lists(st.tuples(texts, st.integers(0, 3)), min_size=1, max_size=5))
@settings(max_examples=200)
def test_text_between_rows_over_time_changes_none(added: list[tuple[str, int]]) -> None:
    lines = list(ROWS)
    for line, at in added:
        lines.insert(at, line)
    text = HEAD + "\n".join(lines) + "\n"
    assert read_series(text, 1) == read_series(HEAD + "\n".join(ROWS) + "\n", 1)
    title, notes = title_and_notes(text)
    assert title == "RDMA_Write BW Test"
    assert {line for line, _ in added if is_noted(line)} <= set(notes)


@pytest.mark.parametrize("at", range(len(ROWS)))
def test_a_damaged_row_over_time_voids_the_run(at: int) -> None:
    row = ROWS[at]
    cells = row.split()
    damaged = [
        *(row[:cut] for cut in range(1, len(row)) if row[:cut].strip()),
        *(" " + "   ".join([*cells[:n], *cells[n + 1 :]]) for n in range(len(cells))),
        *(" " + "   ".join([*cells[:n], "x", *cells[n + 1 :]]) for n in range(len(cells))),
        row.replace("0.00", "0.00 WARNING: slow"),
        f"mlx5: warning{row}",
    ]
    for line in damaged:
        text = HEAD + "\n".join([*ROWS[:at], line, *ROWS[at + 1 :]]) + "\n"
        with pytest.raises(TableError):
            read_series(text, 1)
