"""Tables of `display` commands as data: a form is the printed table with a row's cells named.

A line of a form is a Python format with a kind of cell after its width: `{interface:<17i}` is an
interface, `{queue:>5d}` a count, `{low:>15?}` a count or a hyphen for None, `{since:*}` takes the
words that no other cell of its line takes, and `{model:>27}` is a word.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

from napalm_cloudengine.displays.lines import (
    DisplayAnswer,
    DisplayLine,
    PrintedLine,
    Rows,
    TableCell,
    UnreadableError,
    UnreadLine,
    is_interface,
)

Row = dict[str, Any]
REFERENCE = 'command reference V300R023C00, "{}"'  # source of most forms

_COUNT = re.compile(r"\d[\d,]*", re.ASCII)
_TITLE = re.compile(r"(?<!\S)(?<!\S[ ])(\S+(?:[ ]\S+)*)")  # titles are two blanks apart


@dataclass(frozen=True)
class Form:
    """A table in one printed form. The last lines of `head` that are not rulers name columns.

    titles: the number of those lines, where a legend is directly above them. source: where it is
    printed in this form. confirmed: False where the source shows only a part of it.
    """

    head: str
    row: str
    foot: str = ""
    source: str = ""
    confirmed: bool = True
    titles: int = 0

    @cached_property
    def lines(self) -> tuple[PrintedLine, ...]:
        """Return the lines of a row, without rulers."""
        return tuple(PrintedLine.of(line) for line in self.row.split("\n") if "{" in line)

    @cached_property
    def heading(self) -> tuple[tuple[str, ...], ...]:
        """Return the words of the lines that name columns; units, in brackets, are optional."""
        titles: list[tuple[str, ...]] = []
        for line in reversed(self.head.split("\n")):
            words = tuple(line.strip("- \n").split())
            if titles and not words:
                break
            titles += [tuple(line.split())] if words else []
        return tuple(reversed(titles[: self.titles or None]))

    def below(self, titles: str) -> "Form":
        """Copy the form with the line of titles that an answer has: widths differ by release."""
        lines = self.head.split("\n")
        words = titles.split()
        head = "\n".join(titles if line.split() == words else line for line in lines)
        return self if titles in lines else replace(self, head=head)

    @cached_property
    def totals(self) -> tuple[TableCell, ...]:
        """Return the cells above the columns."""
        lines = (PrintedLine.of(line) for line in self.head.split("\n") if "{" in line)
        return tuple(cell for line in lines for cell in line.cells)

    @cached_property
    def closed(self) -> bool:
        """Whether a ruler below the last row shows that the table is whole."""
        last = self.foot or self.row.rsplit("\n", 1)[-1]
        return bool(last) and not last.strip("- ")

    @cached_property
    def ruled(self) -> bool:
        """Whether a ruler is between the names of columns and the first row."""
        return not self.head.rsplit("\n", 1)[-1].strip("- ")

    @cached_property
    def _formats(self) -> tuple[str, str]:
        """Return head and row as Python formats."""
        texts = (self.head.split("\n"), self.row.split("\n"))
        head, row = (
            "\n".join(PrintedLine.of(line).format_of() for line in lines) for lines in texts
        )
        return head, row

    def write(self, rows: Iterable[Mapping[str, Any]], **totals: object) -> str:
        """Write the table of rows, with the values above the columns; a hyphen for None."""
        head, row = self._formats
        body = (
            row.format_map({name: "-" if value is None else value for name, value in each.items()})
            for each in rows
        )
        lines = [line.rstrip() for text in body for line in text.split("\n")]
        return "\n".join([head.format_map(totals), *lines, *([self.foot] if self.foot else [])])


@dataclass(frozen=True)
class DisplayTable:
    """A `display` that prints a table, with all its forms.

    forms: by syntax family, "" is that of all others. key: the fields that identify a row. carried:
    a later row of an interface may omit its name. blank: cells that may be empty. spaced: the cell
    that may contain blanks where it is not an interface, as one of kind `*` may. optional:
    values above the columns that may be missing. cells: patterns of cells that do not take every
    word. titles: columns by their titles, for releases with other columns or another order; least:
    required ones.
    """

    command: str
    forms: Mapping[str, Form]
    key: tuple[str, ...] = ()
    carried: bool = False
    blank: tuple[str, ...] = ()
    spaced: str = ""
    optional: tuple[str, ...] = ()
    cells: Mapping[str, re.Pattern[str]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    least: frozenset[str] = frozenset()

    def write(self, rows: Iterable[Mapping[str, Any]], form: str = "", **totals: object) -> str:
        """Write the display of rows in the form of a family."""
        return self.forms.get(form, next(iter(self.forms.values()))).write(rows, **totals)

    def read(self, shown: DisplayAnswer) -> Rows[Row]:
        """Read every row; a line that is no row is in `unread`, and changes no other row.

        Raises UnreadableError without the heading, without any row among the lines below it, for a
        row that is shown twice, and for an answer that is cut off.
        """
        rows = self.numbered(shown)
        return Rows((row for row, _ in rows), rows.unread)

    def numbered(self, shown: DisplayAnswer) -> Rows[tuple[Row, int]]:
        """Read every row with the number of its first line; otherwise as `read`."""
        form, lines = self._below(shown)
        return _RowReader(self, shown, form, lines).read()

    def form_of(self, line: DisplayLine) -> Form | None:
        """Return the form whose columns a line names, with the columns where that line has them."""
        form = self._headings.get(line.words)
        return form.below(line.text) if form else self._titled(line)

    @cached_property
    def _headings(self) -> Mapping[tuple[str, ...], Form]:
        return {form.heading[0]: form for form in self.forms.values()}

    @cached_property
    def _title(self) -> re.Pattern[str]:
        longest = sorted(self.titles, key=len, reverse=True)
        return re.compile(rf"(?<!\S)({'|'.join(map(re.escape, longest))})(?=\s|$)")

    def _titled(self, line: DisplayLine) -> Form | None:
        """Return the form of a line of titles: no other words, no duplicates, all required ones."""
        if not self.titles or not self._title.match(line.text.lstrip()):
            return None
        titles = self._title.findall(line.text)
        cells = [self.titles[title] for title in titles]
        names = [cell.partition(":")[0] for cell in cells]
        whole = " ".join(titles).split() == list(line.words)
        if not whole or len(set(names)) < len(names) or not self.least.issubset(names):
            return None
        foot = next(iter(self.forms.values())).foot
        return Form(line.text, " ".join(f"{{{cell}}}" for cell in cells), foot)

    def row(self, shown: DisplayAnswer, line: DisplayLine, form: Form) -> Row:
        """Read the row in one line; raises UnreadableError where there is none."""
        return self.cells_of(shown, line, form, form.lines[0])

    def below(self, shown: DisplayAnswer) -> Sequence[DisplayLine]:
        """Return the lines below the names of columns; raises UnreadableError."""
        return self._below(shown)[1]

    def totals(self, shown: DisplayAnswer) -> tuple[Row, int]:
        """Read the values above the columns, and the line of the last; raises UnreadableError."""
        values: Row = {}
        number = 1
        for cell in next(iter(self.forms.values())).totals:
            label = r"\s+".join(map(re.escape, cell.before.strip(" :").split()))
            pattern = re.compile(rf"(?:^|\s){label}\s*:\s*(\S+)")
            matches = [(line, m) for line in shown.lines if (m := pattern.search(line.text))]
            if len(matches) == 1:
                [(line, match)] = matches
                values[cell.name] = self.value(shown, line, cell, match[1])
                number = max(number, line.number)
            elif matches or cell.name not in self.optional:
                what = f"{len(matches)} values of {cell.before.strip(' :')!r} instead of one"
                raise shown.wrong(1, what)
        return values, number

    def _below(self, shown: DisplayAnswer) -> tuple[Form, Sequence[DisplayLine]]:
        """Return the form of an answer, and its lines below the names of columns."""
        forms = [(index, x) for index, line in enumerate(shown.lines) if (x := self.form_of(line))]
        if len(forms) != 1:
            begins = {words[:2] for words in self._headings}
            odd = next((line for line in shown.lines if line.words[:2] in begins), None)
            if odd is not None and not forms:
                raise shown.wrong(odd.number, f"{odd.text.strip()!r} is not the documented heading")
            raise shown.wrong(1, f"{len(forms)} headings of its table instead of one")
        [(index, form)] = forms
        lines = shown.lines[index + 1 :]
        for number, words in enumerate(form.heading[1:], 2):
            units = words[0].startswith("(")
            if lines and ((units and lines[0].words[0].startswith("(")) or lines[0].words == words):
                lines = lines[1:]
            elif not units:
                raise shown.wrong(1, f"line {number} of its heading is missing")
        return form, lines

    def cells_of(
        self,
        shown: DisplayAnswer,
        line: DisplayLine,
        form: Form,
        layout: PrintedLine,
        name: str | None = None,
    ) -> Row:
        """Read the cells of a line; name: of the row above, for rows that may omit it."""
        carried = self.carried and name is not None and not is_interface(line.words[0])
        if carried and not name:
            raise shown.wrong(line.number, f"{line.text.strip()!r} is of no interface")
        texts = layout.split(line.words, carried=carried)
        if self.blank:
            texts = self._certain(line, form, layout, texts)
        if texts is None or ("" in texts and not self.blank):
            what = f"{line.text.strip()!r} has not {len(layout.cells)} cells"
            raise shown.wrong(line.number, what)
        row: Row = {layout.cells[0].name: name} if carried else {}
        for cell, text in zip(layout.cells[carried:], texts, strict=True):
            row[cell.name] = self.value(shown, line, cell, text)
        return row

    def _certain(
        self, line: DisplayLine, form: Form, layout: PrintedLine, texts: list[str] | None
    ) -> list[str] | None:
        """Return the texts of a row whose cells may be empty or have blanks; None if not certain.

        They are those below the titles. A row outside its columns has two blanks between all cells,
        or none of them has a blank, or the cell that may have blanks is an interface.
        """
        parts = re.split(r"[ \t]{2,}", line.text.strip(" \t"))
        columns = self._columns(line, form, layout)
        whole = len(parts) == len(layout.cells)
        if columns:
            return columns if not whole or parts == columns else None
        if whole:
            return parts
        if texts is None or not all(texts):
            return None
        names = [cell.name for cell in layout.cells]
        clear = len(parts) == 1 and len(line.words) == len(names)
        port = texts[names.index(self.spaced)] if self.spaced else ""
        return texts if clear or is_interface(port) else None

    def _columns(self, line: DisplayLine, form: Form, layout: PrintedLine) -> list[str] | None:
        """Return the texts of a line below the titles of its columns; None if it is not in them."""
        titles = next(x for x in reversed(form.head.split("\n")) if x.strip("- "))
        found = (self._title if self.titles else _TITLE).finditer(titles)
        starts = [match.start(1) for match in found]
        if len(starts) != len(layout.cells):
            return None
        pairs = pairwise([0, *starts[1:], max(len(line.text), starts[-1])])
        texts = [line.text[begin:end].strip(" \t") for begin, end in pairs]
        cells = zip(layout.cells, texts, strict=True)
        fits = [self._in_column(cell, text) for cell, text in cells]
        for start, sides in zip(starts[1:], pairwise(texts), strict=True):
            gap = line.text[max(start - 2, 0) : start]
            typed = any(is_interface(text) or _COUNT.fullmatch(text) for text in sides)
            if gap.strip() and (gap[-1] != " " or (all(sides) and not typed)):
                return None  # a text of the column on the left may continue here
        return texts if all(fits) else None

    def _in_column(self, cell: TableCell, text: str) -> bool:
        """Whether a text may be all of a cell."""
        if not text:
            return cell.name in self.blank
        spaced = cell.kind == "*" or cell.name == self.spaced
        fits = spaced or " " not in text
        if cell.kind == "i":
            return fits and is_interface(text)
        return fits and (cell.kind != "d" or _COUNT.fullmatch(text) is not None)

    def value(
        self, shown: DisplayAnswer, line: DisplayLine, cell: TableCell, text: str
    ) -> int | str | None:
        """Return the value of a cell; raises UnreadableError."""
        if cell.kind == "?" and text == "-":
            return None
        number = cell.kind in ("d", "?")
        if number and not _COUNT.fullmatch(text):
            raise shown.wrong(line.number, f"{text!r} is not a count")
        if cell.kind == "i" and not is_interface(text):
            raise shown.wrong(line.number, f"{text!r} is no interface")
        pattern = self.cells.get(cell.name)
        if pattern is not None and not pattern.fullmatch(text):
            raise shown.wrong(line.number, f"{text!r} is no {cell.name.replace('_', ' ')}")
        return int(text.replace(",", "")) if number else text


class _RowReader:
    """Rows of one answer, and the lines below its heading that are none."""

    def __init__(
        self,
        table: DisplayTable,
        shown: DisplayAnswer,
        form: Form,
        lines: Sequence[DisplayLine],
    ) -> None:
        self.table, self.shown, self.form, self.lines = table, shown, form, lines
        self.name: str = ""  # interface of the row above; "" where it is not known
        self.rows: list[tuple[Row, int]] = []
        self.unread: list[UnreadLine] = []
        self.titles = shown.lines[len(shown.lines) - len(lines) - 1].number
        self.last = self.titles  # line of the last row that was read
        self.index = 0

    def read(self) -> Rows[tuple[Row, int]]:
        """Read all lines; raises UnreadableError."""
        keys = set()
        while self.index < len(self.lines):
            first = self.lines[self.index]
            row = self._row(first)
            if row is None:
                continue
            key = tuple(row[part] for part in self.table.key)
            if key and key in keys:
                row_key = " ".join(f"{part} {row[part]}" for part in self.table.key)
                raise self.shown.wrong(first.number, f"{row_key} is shown twice")
            keys.add(key)
            self.rows.append((row, first.number))
            self.last = self.lines[self.index - 1].number
        if self.unread and not self.rows:
            raise self.shown.wrong(self.unread[0].line, self.unread[0].why)
        self._require_end()
        return Rows(self.rows, self.unread)

    def _row(self, first: DisplayLine) -> Row | None:
        """Read the row that begins in a line; None where the line is noted as unread."""
        self.index += 1
        first_layout, *layouts = self.form.lines
        try:
            row = self._cells(first, first_layout)
        except UnreadableError as error:
            self._note(first, error)
            self.name = self._name_below(first)
            return None
        name = row[first_layout.cells[0].name]
        self.name = name if self.table.carried else ""
        for layout in layouts:
            below = self._further_line(first, layout, str(name))
            if below is None:
                return None
            row |= below
        return row

    def _further_line(self, first: DisplayLine, layout: PrintedLine, key: str) -> Row | None:
        """Read a further line of a row; None where the next row begins without it."""
        noted = len(self.unread)
        while self.index < len(self.lines):
            line = self.lines[self.index]
            try:
                below = self.table.cells_of(self.shown, line, self.form, layout)
            except UnreadableError as error:
                if self._begins_row(line):
                    break
                self._note(line, error, key)
                self.index += 1
            else:
                self.index += 1
                return below
        what = f"no second line below {first.text.strip()!r}"
        if self.index == len(self.lines) and len(self.unread) == noted:
            raise self.shown.wrong(first.number, what)
        self._note(first, self.shown.wrong(first.number, what), key)
        return None

    def _cells(self, line: DisplayLine, layout: PrintedLine) -> Row:
        return self.table.cells_of(self.shown, line, self.form, layout, self.name)

    def _begins_row(self, line: DisplayLine) -> bool:
        try:
            self._cells(line, self.form.lines[0])
        except UnreadableError:
            return False
        return True

    def _note(self, line: DisplayLine, error: UnreadableError, key: str = "") -> None:
        word, cell = line.words[0], self.form.lines[0].cells[0]
        certain = cell.kind == "i" or cell.name in self.table.cells
        key = key or (word if certain and self._fits(line, cell, word) else "")
        self.unread.append(self.shown.unread(line, error.what, key))

    def _name_below(self, line: DisplayLine) -> str:
        """Return the interface of rows that omit it, below a line that was not read.

        A damaged row may have begun another interface: then it is not known.
        """
        if is_interface(line.words[0]):
            return line.words[0]
        layout = self.form.lines[0]
        texts = layout.split(line.words, carried=False)
        pairs = zip(layout.cells[1:], (texts or [""])[1:], strict=False)
        like_a_row = any(cell.kind == "d" and self._fits(line, cell, text) for cell, text in pairs)
        return "" if like_a_row else self.name

    def _fits(self, line: DisplayLine, cell: TableCell, text: str) -> bool:
        try:
            self.table.value(self.shown, line, cell, text)
        except UnreadableError:
            return False
        return True

    def _require_end(self) -> None:
        """Raise UnreadableError for an answer that is cut off, as far as its form shows that."""
        for unread in self.unread:
            line = self.lines[-1]
            ended = self.shown.rulers_after(line.number) or not self._may_be_cut(line)
            if unread.line == line.number and not ended:
                raise self.shown.wrong(line.number, unread.why)
        rulers = self.shown.rulers_after(self.titles)
        if self.rows and not (self.form.confirmed and rulers):
            return  # a release without these rulers does not show its end
        least = 1 if self.rows else (1 + self.form.ruled) * bool(self.form.foot)
        if self.form.closed and self.shown.rulers_after(self.last) < least:
            last = len(self.shown.rows)
            raise self.shown.wrong(last, "the line below the last row is missing: it is cut off")

    def _may_be_cut(self, line: DisplayLine) -> bool:
        """Whether a line may be the beginning of a row."""
        for layout in self.form.lines:
            for cells in (layout.cells, layout.cells[self.table.carried :]):
                whole = line.words[:-1]
                wide = next((i for i, cell in enumerate(cells) if cell.kind == "*"), len(cells))
                fits = map(self._fits, [line] * wide, cells[:wide], whole)
                if (wide < len(cells) or len(whole) < len(cells)) and all(fits):
                    return True
        return False
