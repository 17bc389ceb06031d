"""Changes, plans and rollouts as text for a terminal of 80 columns."""

from __future__ import annotations

import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

from rocefort.models.change import Change, Edit, Gate, Plan
from rocefort.models.rollout import Applied, Event, Phase
from rocefort.models.wording import counted
from rocefort.reports.terminal import WIDTH
from rocefort.reports.wording import port_ranges

PORT_PATH = re.compile(r"interfaces\[(?P<port>[^\]]+)\]\.?(?P<rest>.*)")


def changes_text(changes: Iterable[Change], *, patches: bool = False) -> str:
    """What changes, device by device; devices that change alike are told together."""
    groups: dict[tuple[str, ...], list[Change]] = defaultdict(list)
    for change in changes:
        if not change.empty:
            groups[_told(change)].append(change)
    if not groups:
        return "nothing changes\n"
    return "\n".join(_group(told, alike, patches) for told, alike in groups.items())


def _told(change: Change) -> tuple[str, ...]:
    lines = [headline(change)]
    lines += [f"  {line}" for line in (*edit_lines(change.edits), *condition_lines(change))]
    if change.kept:
        lines.append(f"  {counted(len(change.kept), 'line')} that nobody owns stay")
    return tuple(lines)


def edit_lines(edits: Iterable[Edit]) -> dict[str, list[int]]:
    """One line for all edits that are alike on several ports, with which edits they are."""
    alike: dict[tuple[str, str | None, str | None], list[tuple[int, str]]] = defaultdict(list)
    for number, edit in enumerate(edits):
        port, path = _split(edit)
        alike[path, edit.before, edit.after].append((number, port))
    lines: dict[str, list[int]] = defaultdict(list)
    for (path, before, after), found in alike.items():
        named = [port for _, port in found if port]
        where = f" on {counted(len(named), 'interface')}" if named else ""
        line = f"{path or 'interface'}: {_arrow(before, after)}{where}"
        lines[line] += [number for number, _ in found]
    return lines


def condition_lines(change: Change) -> Iterator[str]:
    """Each condition once, with how many ports it holds on."""
    found = Counter(str(line) for line in change.conditions)
    within = {str(line) for line in change.conditions if line.view}
    for text, count in found.items():
        yield text + (f" ({counted(count, 'line')})" if text in within else "")


def _group(told: tuple[str, ...], alike: Sequence[Change], patches: bool) -> str:
    head = f"{', '.join(change.device for change in alike)}: {told[0]}"
    lines = textwrap.wrap(head, WIDTH, subsequent_indent="    ")
    for line in told[1:]:
        lines += textwrap.wrap(line, WIDTH, initial_indent="  ", subsequent_indent="      ")
    for text in service_lines(alike[0]):
        lines += textwrap.wrap(text, WIDTH, initial_indent="    ", subsequent_indent="      ")
    if patches:
        for change in alike:
            lines.append(f"    patch of {change.device}:")
            lines += [f"      {command}" for command in change.patch]
    return "\n".join(lines) + "\n"


def service_lines(change: Change) -> Iterator[str]:
    """What traffic feels, with ports taken out and counted, so that forty ports are one line."""
    found: dict[str, list[str]] = defaultdict(list)
    for reason in change.service_affecting:
        ports = re.findall(r"\b\d+GE\d+/\d+/\d+(?::\d+)?", reason)
        text = re.sub(r"\b\d+GE\d+/\d+/\d+(?::\d+)?", "a port", reason)
        found[text] += ports
    for text, ports in found.items():
        named = f" ({', '.join(port_ranges(ports))})" if ports else ""
        yield f"affects service: {text}{named}"


def headline(change: Change) -> str:
    """`modifying, 16 commands`."""
    commands = [line for line in change.patch if line.strip() != "quit"]
    return f"{change.kind.value}, {counted(len(commands), 'command')}"


def _split(edit: Edit) -> tuple[str, str]:
    match = PORT_PATH.fullmatch(edit.path)
    return (match["port"], match["rest"]) if match else ("", edit.path)


def _arrow(before: str | None, after: str | None) -> str:
    if before is None:
        return f"new {after}"
    return f"{before} -> {after}" if after is not None else f"{before} removed"


def plan_text(plan: Plan) -> str:
    """A plan as a table that a person can approve."""
    lines = [
        f"plan {plan.digest[:12]}  fabric {plan.fabric}  commit trial {plan.trial_s} s",
        f"{'wave':<14} {'switches':<18} gate",
    ]
    for wave in plan.waves:
        gate = textwrap.wrap(_gate(wave.gate), WIDTH - 34) or [""]
        lines.append(f"{wave.name:<14} {', '.join(wave.devices):<18} {gate[0]}")
        lines += [" " * 34 + line for line in gate[1:]]
    unchanged = sum(change.empty for change in plan.changes)
    lines.append(f"{len(plan.changes) - unchanged} of {len(plan.changes)} switches change")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _gate(gate: Gate) -> str:
    pairs = [f"{pair.client} > {pair.server}" for pair in gate.pairs]
    return ", ".join([*pairs, *(f"not measured: {reason}" for reason in gate.unmeasured)])


class WaveLines:
    """Listener of a rollout that says one line for each act of a wave when it has ended."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._open: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._failed: set[tuple[str, str]] = set()

    def __call__(self, event: Event, /) -> None:
        """Take one event; a failure is said at once, success when the wave's last device has it."""
        key = (event.wave, event.act)
        if event.phase is Phase.INTENT:
            self._open[key].add(event.device)
            return
        self._open[key].discard(event.device)
        if event.phase is Phase.FAILED:
            self._failed.add(key)
            self._tell(event, f"FAILED {event.detail}")
        elif not self._open[key] and key not in self._failed:
            self._tell(event, event.detail or "ok")

    def _tell(self, event: Event, text: str) -> None:
        head = f"{event.wave:<14} {event.act:<8} "
        for line in textwrap.wrap(text, WIDTH - len(head), break_long_words=False) or [""]:
            self._say((head + line).rstrip())
            head = " " * len(head)


class WaveSummary:
    """Listener of a rollout that says one thing for each wave when it has ended.

    `say` takes the kind of wave (canary, leaves, spine) and the sentence.
    """

    def __init__(self, say: Callable[[str, str], None]) -> None:
        self._say = say
        self._open: dict[str, set[str]] = defaultdict(set)
        self._ended: dict[str, list[str]] = defaultdict(list)  # by what became of them
        self._gate = ""
        self._failures: list[str] = []

    def __call__(self, event: Event, /) -> None:
        """Take one event; speaks when the last switch of a wave is confirmed or rolled back."""
        if event.phase is Phase.FAILED:
            self._failures.append(f"{event.act}: {event.detail}")
        if event.act == "gate" and event.phase is Phase.DONE:
            self._gate = event.detail
        if event.act not in ("confirm", "abort"):
            return
        if event.phase is Phase.INTENT:
            self._open[event.act].add(event.device)
            if event.act == "abort":  # it asks every switch of the wave where it stands
                self._ended.clear()
            return
        self._open[event.act].discard(event.device)
        self._ended[_end_of(event)].append(event.device)
        if not self._open[event.act] and (event.act == "abort" or not self._failures):
            self._tell(event)

    def _tell(self, event: Event) -> None:
        kind = event.wave.split()[0]
        if event.act == "confirm":
            names = ", ".join(self._ended["confirmed"])
            self._say(kind, f"{names}: trial, read back, {self._gate}, confirmed")
        else:
            parts = [f"{', '.join(names)} {end}" for end, names in self._ended.items()]
            self._say(kind, "; ".join([*parts, *self._failures]))
        self._ended.clear()


def _end_of(event: Event) -> str:
    """What became of a switch: the detail of an abort says that it had taken its confirmation."""
    if event.phase is Phase.FAILED:
        return "in an unknown state"
    return "rolled back" if event.act == "abort" and not event.detail else "confirmed"


def applied_text(applied: Applied) -> Iterator[str]:
    """How a rollout ended, in sentences."""
    if applied.failure:
        yield from textwrap.wrap(f"stopped: {applied.failure}", WIDTH, subsequent_indent="  ")
    for devices, words in (
        (applied.confirmed, "confirmed, read back and saved"),
        (applied.already, "ran as intended before"),
        (applied.rolled_back, "rolled back to what ran before"),
        (applied.unknown, "IN AN UNKNOWN STATE, look at them"),
    ):
        if devices:
            text = f"{counted(len(devices), 'switch')} {words}"
            yield from textwrap.wrap(f"{text}: {', '.join(devices)}", WIDTH, subsequent_indent="  ")
