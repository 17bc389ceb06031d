"""Execution of one typed line on a configuration, by the command table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rocefort.base.errors import BadInput
from rocefort.dialects.vrp.commands.catalogue import OPAQUE_VIEW, PORT, SYSTEM, Row, Syntax
from rocefort.dialects.vrp.commands.command import begins_with, filled
from rocefort.dialects.vrp.commands.format import (
    INCOMPLETE,
    UNRECOGNIZED,
    WRONG,
    FormatMatch,
    MatchFailure,
    read_all,
    sizes_of,
    starts_of,
    words_of,
)
from rocefort.dialects.vrp.commands.match import begins, identify, readings, rows_of
from rocefort.dialects.vrp.commands.parameters import Tokens, asn_of, list_numbers
from rocefort.dialects.vrp.interpreter import port_split
from rocefort.dialects.vrp.interpreter.interface_view import PortView, objection, why_kept
from rocefort.dialects.vrp.interpreter.tree_edit import (
    Lines,
    View,
    children_at,
    drop_in_views,
    drop_lines,
    having,
    put_line,
    remove,
)
from rocefort.dialects.vrp.text.config_tree import ConfigLine
from rocefort.dialects.vrp.text.names import ranges, snmp_version_text, snmp_version_words
from rocefort.models.device.interface import xon_at_most_xoff
from rocefort.models.device.lossless_queue import low_at_most_high

BUILT_IN = ("drop-profile default ", "diffserv domain default ")  # exist without a line
# Built-in objects cannot be deleted.
KEPT_VIEWS = ("dcb pfc default", "drop-profile default", "diffserv domain default")
DISABLE = "disable"
BEHIND = 10**6  # a caret after the last word
LISTS = ("list", "ports", "each", "versions")  # a line names some elements of a set


class VrpRefusal(BadInput):
    """The switch refuses a line: line and view, position of the caret, and the message."""

    def __init__(self, line: str, position: int, message: str, view: View = ()) -> None:
        super().__init__(message, where=repr(line.strip()), how="nothing was changed by this line")
        self.line = line
        self.position = position
        self.message = message
        self.view = view


def view_kind(view: View, family: Syntax) -> str:
    """Return the name of the view in the command table."""
    kind = SYSTEM
    for text in view:
        row = identify(kind, text, family).row
        kind = row.opens if row is not None and row.opens else OPAQUE_VIEW
    return kind


@dataclass(frozen=True, slots=True)
class TypedLine:
    """One typed line and the view it was typed in. Methods raise VrpRefusal."""

    family: Syntax
    line: str
    view: View

    def inside(self, view: View) -> TypedLine:
        """Return the same line for another view."""
        return TypedLine(self.family, self.line, view)

    @property
    def kind(self) -> str:
        """Return the name of the view in the command table."""
        return view_kind(self.view, self.family)

    def refuse(self, index: int, message: str) -> VrpRefusal:
        """Return a refusal with the caret under word `index`, or after the last."""
        starts = starts_of(self.line)
        position = starts[index] if index < len(starts) else len(self.line.rstrip())
        return VrpRefusal(self.line, position, message, self.view)

    def apply_or_climb(self, config: Lines, tokens: Tokens) -> tuple[Lines, View]:
        """Apply in this view, or enter a view of an outer one, as the CLI allows."""
        try:
            return self.apply(config, tokens)
        except VrpRefusal:
            for depth in range(len(self.view) - 1, -1, -1):
                outer = self.inside(self.view[:depth])
                match = outer.find(config, tokens)
                if match and match[0].opens:
                    return outer.apply(config, tokens)
            raise

    def rows(self, config: Lines, first: str) -> Iterator[Row]:
        """Yield rows of the view that this family and this interface have."""
        port = self.port(config)
        rows = rows_of(self.kind, first, self.family)
        yield from (row for row in rows if port is None or port.has(row))

    def port(self, config: Lines) -> PortView | None:
        """Return the interface of the line's view; None in any other view."""
        if self.kind != "interface":
            return None
        return PortView.of(self.view[-1], children_at(config, self.view))

    def find(self, config: Lines, tokens: Tokens) -> tuple[Row, FormatMatch] | None:
        """Return the most specific row that matches the words."""
        port = self.port(config)
        fitting = [
            pair
            for pair in readings(self.kind, tokens, self.family)
            if port is None or port.has(pair[0])
        ]
        return max(fitting, key=lambda pair: pair[1].words, default=None)

    def misfit(self, config: Lines, tokens: Tokens) -> VrpRefusal:
        """Return the documented error for words that match no row."""
        trace = MatchFailure()
        for row in self.rows(config, tokens[0]):
            for _ in read_all(row.nodes, tokens, trace):
                pass
        return self.refuse(*trace.error(len(tokens)))

    def apply(self, config: Lines, tokens: Tokens) -> tuple[Lines, View]:
        """Run a command that is not an `undo`; return the view it leads to."""
        if self.kind == OPAQUE_VIEW:
            return self.put(config, " ".join(tokens)), self.view
        match = self.find(config, tokens)
        if match is None:
            raise self.misfit(config, tokens)
        row, reading = match
        if row.opens == "interface" and not port_split.is_there(config, reading.saved[1]):
            raise self.refuse(1, WRONG)
        self.check_values(row, reading)
        self.check_needs(config, row, reading)
        was = children_at(config, self.view) if self.kind == "interface" else ()
        before, config = config, self.store(config, row, reading)
        if config is not before and row.kind not in LISTS:
            config = self.lose(config, row, reading, undone=False)
        config = self.follow(config, row.on_set, reading)
        self.check_mode(config)
        self.check_bond(was, config)
        return config, (*self.view, reading.text) if row.opens else self.view

    def check_values(self, row: Row, reading: FormatMatch) -> None:
        """Check conditions beyond the format: a size in another unit, xon not above xoff."""
        sizes = self.sizes(reading, offset=0)
        if reading.value[:2] == ("xon", "static"):
            (at, xon, _), (_, xoff, _) = sizes
            if not xon_at_most_xoff(xon, xoff):
                raise self.refuse(at, WRONG)
        if row.view == "drop-profile":
            low, high = (reading.value.index(word) + 1 for word in ("low-limit", "high-limit"))
            if not low_at_most_high(int(reading.value[low]), int(reading.value[high])):
                raise self.refuse(len(reading.key) + high, WRONG)
        if row.kind == "pairs" and not reading.value:
            raise self.refuse(BEHIND, INCOMPLETE)

    def sizes(self, reading: FormatMatch, offset: int) -> list[tuple[int, int, bool]]:
        """Return sizes of a line from a word on; refuse one out of its range."""
        sizes = list(sizes_of(reading))
        for at, _, fits in sizes:
            if not fits:
                raise self.refuse(at + offset, WRONG)
        return sizes

    def check_needs(self, config: Lines, row: Row, reading: FormatMatch) -> None:
        """Require the line that creates the object of a setting."""
        if not row.needs:
            return
        needs = [filled(text, _params(reading)) for text in row.needs]
        if any(text.startswith(f"{need} ") for need in needs for text in BUILT_IN):
            return
        views = [self.view[:depth] for depth in range(len(self.view), -1, -1)]
        stand = (begins(children_at(config, view), need) for view in views for need in needs)
        if all(line is None for line in stand):
            # Own wording: no source shows the switch's message.
            params = _params(reading)
            missing = params.get("peer") or params.get("name") or needs[0]
            raise self.refuse(1, f"Error: {missing} does not exist.")

    def check_free(self, config: Lines, row: Row, reading: FormatMatch) -> None:
        """Refuse to delete an object in use."""
        holds = [words_of(filled(text, _params(reading))) for text in row.held_by]
        if holds and any(
            begins_with(line.text, prefix)
            for top in config
            for _, line in top.walk()
            for prefix in holds
        ):
            # Own wording: no source shows the switch's message.
            raise self.refuse(len(reading.key), f"Error: {reading.text} is in use.")

    def check_process(self, config: Lines, reading: FormatMatch) -> None:
        """Require the AS number of the running process in an undo."""
        for line in self.present(config, reading.key):
            runs = line.text.split()[-1]
            if asn_of(runs) != asn_of(reading.value[0]):
                # Own wording: one process is from the reference, its message is not.
                raise self.refuse(2, f"Error: BGP runs with AS number {runs}.")

    def check_mode(self, config: Lines) -> None:
        """Refuse a new port mode while lines of the old one remain (V300R023C00, `portswitch`)."""
        port = self.port(config)
        if port is None:
            return
        for line in children_at(config, self.view):
            row = identify(self.kind, line.text, self.family).row
            unknown = row is None and self.line.split()[-1] == "portswitch"
            if (unknown and port.excludes(line.text)) or (row and row.layer and not port.has(row)):
                # Own wording: no source shows the switch's message.
                raise self.refuse(0, f"Error: The interface still has '{line.text}'.")

    def check_bond(self, was: Lines, after: Lines) -> None:
        """Refuse lines that an Eth-Trunk and its members do not accept, by their previous lines."""
        if self.kind == "interface" and (what := objection(was, after, self.view, self.family)):
            raise self.refuse(0, what)

    def store(self, config: Lines, row: Row, reading: FormatMatch) -> Lines:
        """Store the line at the position of its key."""
        if row.kind in LISTS:
            return self.change_some(config, row, reading, adding=True)
        if row.kind == "action":
            return config
        if row.opens and (row.transient or re.fullmatch(rf"interface {PORT}", reading.text)):
            return config  # is in the configuration once it has lines
        text = reading.text
        same = self.present(config, reading.key)
        if row.kind == "pairs" and same:
            text = _merged_pairs(same[0], reading)
        if row.opens == "bgp" and same and same[0].text != text:
            raise self.refuse(1, WRONG)  # one BGP process, one AS number
        if row.default and text == filled(row.default, _params(reading)):
            return self.remove(config, (line.text for line in same))
        return self.put(config, text)

    def change_some(self, config: Lines, row: Row, reading: FormatMatch, *, adding: bool) -> Lines:
        """Add or remove the elements that a line lists: ranges of numbers, numbers, ports."""
        if row.kind == "ports":
            return self.change_splits(config, reading, adding=adding)
        if row.kind == "versions":
            return self.change_versions(config, reading, adding=adding)
        change = self.change_list if row.kind == "list" else self.change_each
        return change(config, row, reading, adding=adding)

    def change_splits(self, config: Lines, reading: FormatMatch, *, adding: bool) -> Lines:
        """Split ports, or make them whole again."""
        params = _params(reading)
        ports, split_type = words_of(params["ports"]), params.get("split-type")
        if what := port_split.why_not(config, ports):
            raise self.refuse(4, what)
        if adding and split_type:
            return port_split.split(config, ports, split_type, self.family)
        return port_split.unsplit(config, ports, split_type)

    def change_versions(self, config: Lines, reading: FormatMatch, *, adding: bool) -> Lines:
        """Enable or disable SNMP versions: the enabled ones are in one line.

        V300 removes versions by `disable` at the end. An undo without versions removes all.
        """
        adding = adding and reading.key[-1] != DISABLE
        key = tuple(word for word in reading.key if word != DISABLE)
        versions = {version for words in reading.value for version in snmp_version_words(words)}
        lines = self.present(config, key)
        held = {
            version
            for line in lines
            for version in snmp_version_words(" ".join(words_of(line.text)[len(key) :]))
        }
        remaining = held | versions if adding else held - (versions or held)
        if remaining:
            return self.put(config, " ".join((*key, snmp_version_text(remaining))))
        return self.remove(config, (line.text for line in lines))

    def put(self, config: Lines, text: str) -> Lines:
        """Write one line into the view."""
        return put_line(config, self.view, ConfigLine(text), self.kind, self.family)

    def remove(self, config: Lines, texts: Iterable[str]) -> Lines:
        """Remove lines of the view."""
        return remove(config, self.view, texts)

    def present(self, config: Lines, key: Tokens) -> tuple[ConfigLine, ...]:
        """Return lines of the view that have this key."""
        lines = children_at(config, self.view)
        return tuple(lines[position] for position in having(lines, key, self.kind, self.family))

    def follow(self, config: Lines, commands: Sequence[str], reading: FormatMatch) -> Lines:
        """Run the commands that the switch adds or removes automatically."""
        if not commands:
            return config
        params = _params(reading) | {"self": reading.text}
        for template in commands:
            path, _, text = template.rpartition(": ")
            if path.endswith(" *"):
                config = self.follow_in_all(config, path, filled(text, params))
                continue
            if "{asn}" in text and "asn" not in params:
                params["asn"] = self.asn_of_member(config, params)
            inner = self.inside((*self.view, filled(path, params)) if path else self.view)
            tokens = words_of(filled(text, params))
            if tokens[0] == "undo":
                config = inner.undo(config, tokens[1:])
            else:
                config, _ = inner.apply(config, tokens)
        return config

    def follow_in_all(self, config: Lines, path: str, text: str) -> Lines:
        """Run an undo in every view below, of one kind, that has the line."""
        tokens = words_of(text)[1:]
        begin = path.removesuffix("*")
        for view in children_at(config, self.view):
            if view.text.startswith(begin) and " ".join(tokens) in {c.text for c in view.children}:
                config = self.inside((*self.view, view.text)).undo(config, tokens)
        return config

    def asn_of_member(self, config: Lines, params: Mapping[str, str]) -> str:
        """Return the AS number of a group member: its own, the group's, or ours if internal."""
        lines = children_at(config, self.view)
        for peer in (params["ip"], params["name"]):
            if text := begins(lines, f"peer {peer} as-number"):
                return text.split()[-1]
        if begins(lines, f"group {params['name']} internal"):
            return self.view[-1].split()[-1]
        # Own wording: no source shows the switch's message.
        raise self.refuse(3, "Error: The peer group has no AS number.")

    def undo(self, config: Lines, tokens: Tokens) -> Lines:
        """Run `undo ...`; a missing line is no error."""
        if not tokens:
            raise self.refuse(BEHIND, INCOMPLETE)
        if self.kind == OPAQUE_VIEW:
            return self.remove(config, (" ".join(tokens),))
        trace = MatchFailure()
        fitting = [
            (reading.words, row, reading, prefix)
            for row in self.rows(config, tokens[0])
            for nodes, prefix in row.undo_nodes
            for reading in read_all(nodes, tokens, trace)
        ]
        if not fitting:
            index, message = trace.error(len(tokens))
            raise self.refuse(1 + index, message)
        _, row, reading, prefix = max(fitting, key=lambda candidate: candidate[0])
        if row.no_undo:
            raise self.refuse(1, UNRECOGNIZED)
        self.sizes(reading, offset=1)
        if row.kind in LISTS:
            return self.change_some(config, row, reading, adding=False)
        if row.kind == "pairs":
            return self.take_pairs(config, row, reading)
        return self.take_away(config, row, reading, prefix=prefix)

    def take_away(self, config: Lines, row: Row, reading: FormatMatch, *, prefix: bool) -> Lines:
        """Remove the lines that an undo names, and their dependent lines."""
        if re.fullmatch(rf"interface {PORT}", reading.text) or reading.text in KEPT_VIEWS:
            last = len(words_of(self.line)) - 1
            raise self.refuse(last, WRONG)  # only logical interfaces; a built-in one stays
        if row.opens == "interface" and (what := why_kept(config, reading.saved[1])):
            raise self.refuse(2, what)
        if row.opens == "bgp":
            self.check_process(config, reading)
        self.check_free(config, row, reading)
        was = children_at(config, self.view)
        gone = tuple(self.identified_lines(config, row, reading, prefix=prefix))
        config = self.remove(config, gone)
        if row.default and row.default == " ".join(reading.key):
            config = self.put(config, f"undo {row.default}")
        if gone or row.transient:
            config = self.follow(config, row.on_undo, reading)
        self.check_mode(config)
        self.check_bond(was, config)
        return self.lose(config, row, reading, undone=True, gone=bool(gone))

    def lose(
        self, config: Lines, row: Row, reading: FormatMatch, *, undone: bool, gone: bool = True
    ) -> Lines:
        """Delete the lines that the switch deletes with a command; an undone list has its own.

        gone: whether the undo removed its own line; without, only lines that name its object go.
        """
        params = _params(reading) | {"view": self.view[-1].split()[-1] if self.view else ""}
        for loss in (each for each in row.losses if each.goes_with(undone=undone)):
            heads = loss.patterns(params, gone=gone)
            if loss.views:
                config = drop_in_views(config, loss.views, filled(loss.beside, params), heads)
            else:
                config = drop_lines(config, self.view, heads, below=loss.below)
        return config

    def identified_lines(
        self, config: Lines, row: Row, reading: FormatMatch, *, prefix: bool
    ) -> Iterator[str]:
        """Yield texts of the lines that match an undo; a value that differs matches none."""
        key = reading.key
        value = () if row.opens else reading.value
        for line in children_at(config, self.view):
            identity = identify(self.kind, line.text, self.family)
            begins = prefix and identity.key[: len(key)] == key  # also a line without a row
            if begins or (identity.key == key and (not value or identity.value == value)):
                yield line.text

    def take_pairs(self, config: Lines, row: Row, reading: FormatMatch) -> Lines:
        """Remove single settings from a line with several."""
        for line in self.present(config, reading.key):
            value = identify(row.view, line.text, self.family).value
            remaining = [
                f"{name} {number}"
                for name, number in zip(value[::2], value[1::2], strict=True)
                if reading.value and name not in reading.value
            ]
            config = self.remove(config, (line.text,))
            if remaining:
                config = self.put(config, " ".join((*reading.key, *remaining)))
        return config

    def change_list(self, config: Lines, row: Row, reading: FormatMatch, *, adding: bool) -> Lines:
        """Add numbers to a line of ranges or remove them; a removed default is written."""
        changed = list_numbers(words_of(reading.value[0]))
        numbers = self.numbers(config, row, reading.key)
        config = self.write_numbers(
            config, row, reading.key, numbers | changed if adding else numbers - changed
        )
        if adding:  # `qos pq` on a queue removes it from `qos drr`
            for other in self.keys_of(config, row) - {reading.key}:
                remaining = self.numbers(config, row, other) - changed
                config = self.write_numbers(config, row, other, remaining)
            return config
        names = [{"number": str(number)} for number in sorted(changed)]
        heads = [head for loss in row.losses for each in names for head in loss.patterns(each)]
        return drop_lines(config, self.view, heads)

    def keys_of(self, config: Lines, row: Row) -> set[Tokens]:
        """Return keys of the row's lines in the view."""
        own = (identify(self.kind, x.text, self.family) for x in children_at(config, self.view))
        return {line.key for line in own if line.row is row and line.key[0] != "undo"}

    def numbers(self, config: Lines, row: Row, key: Tokens) -> frozenset[int]:
        """Return effective numbers of a key: the default, plus those set, minus those undone."""
        held = list_numbers(words_of(row.default))
        for line in self.present(config, key):
            held |= list_numbers(words_of(identify(self.kind, line.text, self.family).value[0]))
        for line in self.present(config, ("undo", *key)):
            held -= list_numbers(words_of(identify(self.kind, line.text, self.family).value[0]))
        return held

    def write_numbers(self, config: Lines, row: Row, key: Tokens, numbers: frozenset[int]) -> Lines:
        """Write the lines that make exactly these numbers effective."""
        default = list_numbers(words_of(row.default))
        for head, some in ((key, numbers - default), (("undo", *key), default - numbers)):
            if some:
                config = self.put(config, " ".join((*head, *ranges(some))))
            else:
                config = self.remove(config, [line.text for line in self.present(config, head)])
        return config

    def change_each(self, config: Lines, row: Row, reading: FormatMatch, *, adding: bool) -> Lines:
        """Switch single numbers on or off; `undo` of a default is saved as a line."""
        head, numbers = reading.saved[0], list_numbers(words_of(reading.saved[-1]))
        for number in sorted(numbers):
            text, is_default = f"{head} {number}", str(number) == row.default
            guard = filled(row.guard, {"number": str(number)})
            if not adding and any(
                line.text.startswith(guard) for line in children_at(config, self.view)
            ):
                # Own wording; the rule itself: V300R023C00, `priority`.
                raise self.refuse(2, f"Error: Queue {number} has settings of its own.")
            config = self.remove(config, (text, f"undo {text}"))
            if adding and not is_default:
                config = self.put(config, text)
            elif is_default and not adding:
                config = self.put(config, f"undo {text}")
        return config


def _merged_pairs(line: ConfigLine, reading: FormatMatch) -> str:
    words = words_of(line.text)[len(reading.key) :]
    pairs = dict(zip(words[::2], words[1::2], strict=True))
    pairs |= dict(zip(reading.value[::2], reading.value[1::2], strict=True))
    order = ("min-tx-interval", "min-rx-interval", "detect-multiplier")
    return " ".join((*reading.key, *(f"{name} {pairs[name]}" for name in order if name in pairs)))


def _params(reading: FormatMatch) -> dict[str, str]:
    return dict(reading.params)
