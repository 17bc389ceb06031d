"""Unowned lines that the commands of a patch take with them: set again, lost, or in the way.

The effects of a command are in the catalogue: `losses`, `undo`, `opens`, the key of its line. The
interpreter is not used here, so that it can verify the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from napalm_cloudengine.masking import MASK
from rocefort.base.errors import BadInput
from rocefort.dialects.data import TakenLine
from rocefort.dialects.vrp.commands.catalogue import OPAQUE_VIEW, Syntax
from rocefort.dialects.vrp.commands.command import (
    OTHER_TABLE,
    ROUTED,
    SWITCHED,
    LostLines,
    Row,
    begins_with,
    begins_with_any,
    filled,
)
from rocefort.dialects.vrp.commands.format import FormatMatch, MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.match import identify, readings, rows_of
from rocefort.dialects.vrp.commands.parameters import Tokens, list_numbers
from rocefort.dialects.vrp.commands.unmodelled import FAMILY_VIEW, view_of
from rocefort.dialects.vrp.patch.changed_rows import INTERFACE, ConfigRows
from rocefort.dialects.vrp.patch.rulebook.commands import UNDO
from rocefort.models.hardware.media import parts_of

Path = tuple[str, ...]  # the lines that open the views of a line, and the line itself
Maker = Callable[[Path, str], bool]  # whether a command in a view makes an object again
NEVER: Maker = lambda _view, _text: False  # noqa: E731 - a value of the type
# Settings of a routed port, and of a switched one: none may be left when the mode changes.
OTHER_MODE: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "undo portswitch": (2, SWITCHED),
    "portswitch": (3, ROUTED),
}


@dataclass(slots=True)
class _Unowned:
    """One unowned line: its views, the command that took it, and whether it may be set again."""

    start: Path
    path: Path  # with the views that the patch gives a new line
    command: str = ""
    lasting: bool = True
    made_again: Maker = NEVER

    def taken(self, command: str, *, lasting: bool, made_again: Maker = NEVER) -> None:
        """Note that a command takes the line; once it is invalid, it is not valid by another."""
        if not self.command or (self.lasting and not lasting):
            self.command, self.lasting, self.made_again = command, lasting, made_again


@dataclass(frozen=True)
class UnownedLines:
    """The unowned lines of a configuration while the commands of a patch run on it.

    was: the owned lines before the patch.
    """

    was: ConfigRows
    lines: tuple[_Unowned, ...]
    family: Syntax
    _undone: set[tuple[Path, Tokens]] = field(default_factory=set)

    @classmethod
    def of(cls, was: ConfigRows, paths: Iterable[Path], family: Syntax) -> UnownedLines:
        """Return lines by their paths."""
        return cls(was, tuple(_Unowned(path, path) for path in paths), family)

    def after(self, commands: Iterable[str]) -> tuple[TakenLine, ...]:
        """Return the lines that the commands take, or whose view they rename.

        Raises BadInput for a line that the switch refuses a command for, and for a secret that
        would have to be set again.
        """
        for view, text in typed(commands):
            kind = view_of(view, self.family)
            self._refuse_in_the_way(view, text)
            if text.startswith(UNDO):
                self._undo(view, kind, text)
            else:
                self._set(view, kind, text)
        return tuple(self._results())

    def _results(self) -> Iterator[TakenLine]:
        for line in self.lines:
            gone = bool(line.command) and not line.lasting
            if line.command and line.lasting and MASK in " ".join(line.path):
                raise BadInput(
                    f"`{line.command}` takes `{line.path[-1]}` with it, a secret that no patch has",
                    where=" / ".join(line.path[:-1]),
                    how="remove this line by hand, and set it again after the change",
                )
            if line.command or line.path != line.start:
                yield TakenLine(line.start, None if gone else line.path, line.command)

    def _below(self, view: Path) -> Iterator[tuple[_Unowned, str]]:
        """Yield the lines of a view and below it, each with its part that is in the view."""
        for line in self.lines:
            if len(line.path) > len(view) and line.path[: len(view)] == view:
                yield line, line.path[len(view)]

    def _undo(self, view: Path, kind: str, command: str) -> None:
        tokens = words_of(command.removeprefix(UNDO))
        fitting = [
            (reading.words, row, reading, prefix)
            for row in rows_of(kind, tokens[0], self.family)
            for nodes, prefix in row.undo_nodes
            for reading in read_all(nodes, tokens, MatchFailure())
        ]
        if not fitting:
            return  # no command of the table: the undo of one line, which has an owner
        _, row, reading, prefix = max(fitting, key=lambda candidate: candidate[0])
        self._refuse_in_use(view, row, reading, command)
        if row.kind == "ports":
            self._split(reading, command)
        elif row.kind == "list":
            for number in list_numbers(words_of(reading.value[0])):
                self._lose(row.losses, view, {"number": str(number)}, command)
        else:
            self._undone.add((view, reading.key))
            self._remove(view, kind, row, reading, prefix=prefix, command=command)
            losses = [loss for loss in row.losses if loss.goes_with(undone=True)]
            self._lose(losses, view, dict(reading.params), command)

    def _remove(  # noqa: PLR0913 - a command and its reading
        self, view: Path, kind: str, row: Row, reading: FormatMatch, *, prefix: bool, command: str
    ) -> None:
        """Take the lines that an undo removes, and all lines below them."""
        key, size = reading.key, len(reading.key)

        def makes(where: Path, text: str) -> bool:
            return where == view and identify(kind, text, self.family).key[:size] == key

        for line, text in self._below(view):
            own = identify(kind, text, self.family)
            same = own.key == key and (row.opens or reading.value in ((), own.value))
            if same or (prefix and own.key[:size] == key):
                itself = line.path == (*view, text) and own.key == key
                line.taken(command, lasting=False, made_again=NEVER if itself else makes)

    def _set(self, view: Path, kind: str, text: str) -> None:
        matches = readings(kind, words_of(text), self.family)
        row, reading = max(matches, key=lambda pair: pair[1].words, default=(None, FormatMatch()))
        for line in self.lines:
            if line.command and not line.lasting and line.made_again(view, text):
                line.lasting, line.made_again = True, NEVER
        if row is None:
            return
        if row.kind == "set":
            for line, other in self._below(view):
                if other == text or identify(kind, other, self.family).key != reading.key:
                    continue
                if line.path != (*view, other):
                    line.path = (*view, text, *line.path[len(view) + 1 :])
                else:
                    line.taken(text, lasting=False)
        elif row.kind == "ports":
            self._split(reading, text)
        if (view, reading.key) in self._undone or text not in _rows_at(self.was, view):
            losses = [loss for loss in row.losses if loss.goes_with(undone=False)]
            self._lose(losses, view, dict(reading.params), text)

    def _lose(
        self, losses: Iterable[LostLines], view: Path, params: dict[str, str], command: str
    ) -> None:
        if view:
            params = params | {"view": view[-1].split()[-1]}
        for loss in losses:
            heads = loss.patterns(params)
            for line in self.lines:
                if head := self._lost(line.path, view, loss, heads, params):
                    line.taken(
                        command, lasting=loss.lasting, made_again=_maker(view, head, loss.below)
                    )

    def _lost(
        self,
        path: Path,
        view: Path,
        loss: LostLines,
        heads: Sequence[Tokens],
        params: Mapping[str, str],
    ) -> Tokens | None:
        """Return the beginning by which a loss takes a line, or a view around it."""
        if loss.views:
            beside = filled(loss.beside, params)
            if not begins_with(path[0], words_of(loss.views)) or (
                beside and beside not in _rows_at(self.was, path[:1])
            ):
                return None
            inside = path[1:2]
        elif path[: len(view)] != view:
            return None
        else:
            inside = path[len(view) :] if loss.below else path[len(view) : len(view) + 1]
        for text in inside:
            if head := next((head for head in heads if begins_with(text, head)), None):
                return head
            if OTHER_TABLE in words_of(text):
                return None
        return None

    def _split(self, reading: FormatMatch, command: str) -> None:
        """Take the lines of ports that a split removes, or the end of one."""
        for port in words_of(dict(reading.params)["ports"]):
            head = f"port split dimension interface {port} split-type "
            old = next((row for row in self.was if row.startswith(head)), None)
            names = parts_of(port, old.removeprefix(head)) if old else (port,)
            for line in self.lines:
                if line.path[0].removeprefix(INTERFACE) in names:
                    line.taken(command, lasting=False)

    def _refuse_in_use(self, view: Path, row: Row, reading: FormatMatch, command: str) -> None:
        """Refuse to remove what an unowned line uses, or a queue with unowned settings."""
        params = dict(reading.params)
        heads = [words_of(filled(text, params)) for text in row.held_by]
        guards = [
            words_of(filled(row.guard, {"number": str(number)}))
            for number in (list_numbers(words_of(reading.saved[-1])) if row.guard else ())
        ]
        for line in self.lines:
            inside = line.path[:-1] == view and guards
            if any(begins_with(line.path[-1], head) for head in (*heads, *(inside or ()))):
                _refuse(command, line.path)

    def _refuse_in_the_way(self, view: Path, command: str) -> None:
        """Refuse a mode of a port, or an Eth-Trunk, that the port's unowned lines exclude."""
        if not view or not view[-1].startswith(INTERFACE):
            return
        trunk = command.startswith("eth-trunk ")
        if not trunk and command not in OTHER_MODE:
            return
        layer, beginnings = (0, (*ROUTED, *SWITCHED)) if trunk else OTHER_MODE[command]
        for line in self.lines:
            if line.path[:-1] != view:
                continue
            row = identify("interface", line.path[-1], self.family).row
            excluded = row is not None and (
                bool(row.layer or row.service) if trunk else row.layer == layer
            )
            if excluded or begins_with_any(line.path[-1], beginnings):
                _refuse(command, line.path)


def _refuse(command: str, path: Path) -> None:
    raise BadInput(
        f"the switch refuses `{command}` while it has `{path[-1]}`, a line without an owner",
        where=" / ".join(path[:-1]),
        how="remove the line by hand, or leave this part of the intent as it is",
    )


def _maker(view: Path, head: Tokens, below: bool) -> Maker:
    """Return whether a command makes the object of a loss again: a line of the same beginning."""
    if not below:
        return NEVER
    return lambda where, text: where == view and begins_with(text, head)


def _rows_at(rows: ConfigRows, view: Path) -> ConfigRows:
    for text in view:
        rows = rows.get(text, {})
    return rows


def typed(commands: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Yield the commands of a patch, each with the views in which it is typed."""
    views: list[str] = []
    for raw in commands:
        text = raw.strip()
        del views[len(raw) - len(raw.lstrip(" ")) :]
        if text != "quit":
            yield tuple(views), text
            views.append(text)


def set_again(paths: Iterable[Path], family: Syntax) -> Iterator[str]:
    """Yield the commands that set lines, in their order, with their views."""
    tree: dict[str, dict[str, object]] = {}
    for path in paths:
        below = tree
        for text in path:
            below = below.setdefault(text, {})  # type: ignore[assignment]  # a tree of itself
    yield from _commands(tree, (), family)


def _commands(tree: Mapping[str, object], view: Path, family: Syntax) -> Iterator[str]:
    for text, below in tree.items():
        yield f"{' ' * len(view)}{text}"
        row = identify(view_of(view, family) or OPAQUE_VIEW, text, family).row
        opens = (row is not None and row.opens) or FAMILY_VIEW.fullmatch(text)
        if below or (opens and not text.startswith(UNDO)):
            yield from _commands(below, (*view, text), family)  # type: ignore[arg-type]
            yield f"{' ' * (len(view) + 1)}quit"
