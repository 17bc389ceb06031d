"""Process in which the rules of a site run: one request in, one line of JSON for each event out.

It has no environment and no file of the command except the two pipes. It runs each rule in a worker
of its own, so that no rule changes what another one sees, and one that fails costs a fork. An audit
hook ends a worker before an act that is not computing: a file, the network, a process, a thread.
That stops mistakes and curious code. It is no sandbox for an attacker's code, which is never loaded
in the first place (`rocefort/base/rule_files.py`).
"""

from __future__ import annotations

import json
import os
import pickle
import resource
import signal
import sys
import sysconfig
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any, Final, NoReturn, TypedDict

from rocefort.base.repository import INVENTORY, PACKAGE, ROOT, TEMPLATES
from rocefort.models.finding import Finding, NotJudged
from rocefort.models.network.network import Network, Sources
from rocefort.validators.facts.overview import Overview
from rocefort.validators.rules.registry import Rule, Subject, decorated

MOST_VERDICTS: Final = 10_000  # of one rule
LONGEST_TEXT: Final = 300  # characters of an exception or of printed text
LONGEST_MESSAGE: Final = 1000  # characters of a text of a finding
MOST_MEMORY: Final = 8 * 1024**3  # bytes of addresses
WITH_REASON: Final = 70  # exit code of a worker after an event with the reason
SLOWER: Final = 3  # a step that waits has so many times its limit by the clock
Event = dict[str, Any]
# Events of Python's own work: imports, compiled code, introspection.
HARMLESS: Final = frozenset(
    (
        *("import", "compile", "exec", "marshal.load", "marshal.loads", "code.__new__"),
        *("object.__getattr__", "object.__setattr__", "object.__delattr__", "function.__new__"),
        *("sys._getframe", "sys._getframemodulename", "builtins.id", "array.__new__"),
        *("sys.excepthook", "sys.unraisablehook"),
    )
)
FILES: Final = frozenset(("open", "os.listdir", "os.scandir"))
ACTS: Final = (  # beginnings of events, with what a person calls the act
    ("socket.", "uses the network"),
    ("subprocess.", "starts a process"),
    *((f"os.{name}", "starts a process") for name in ("exec", "fork", "posix_spawn", "spawn")),
    ("os.system", "starts a process"),
    ("_thread.", "starts a thread"),
    ("time.sleep", "waits"),
    ("ctypes.", "loads a library"),
    ("builtins.input", "reads the terminal"),
)


@dataclass(frozen=True)
class RuleRequest:
    """Files of rules in their order, what they judge, and the limit of each file and rule."""

    files: Mapping[str, str]
    network: Network
    sources: Sources
    limit_s: int


class RuleOrder(TypedDict):
    """Work of one worker: load a file, then run one of its rules, or none.

    ids: of all its rules, as its text shows them.
    """

    file: str
    ids: Sequence[str]
    rule: str  # empty: only load the file


@dataclass
class PrintedText:
    """Standard output and error of the rules: it keeps the first characters."""

    text: str = ""
    encoding: str = "utf-8"

    def write(self, text: str) -> int:
        """Keep the text, as far as it is shown."""
        self.text += text[: LONGEST_TEXT - len(self.text)]
        return len(text)

    def flush(self) -> None:
        """Do nothing."""

    def isatty(self) -> bool:
        """Return that no person reads it."""
        return False

    def take(self) -> str:
        """Return the text so far, and forget it."""
        text, self.text = self.text.strip(), ""
        return text


def main(descriptor: int) -> None:
    """Read the request from standard input, and run each order that follows in a worker.

    Each event is a line on the descriptor; the end of a worker is one, with its exit code.
    """
    request: RuleRequest = pickle.load(sys.stdin.buffer)  # noqa: S301 - of the parent process
    overview = Overview(request.network, request.sources)
    emit = _writer(descriptor)
    for line in sys.stdin.buffer:
        order: RuleOrder = json.loads(line)
        worker = os.fork()
        if worker == 0:
            _work(request, order, overview, emit)
        _, status = os.waitpid(worker, 0)
        emit({"worker": os.waitstatus_to_exitcode(status)})


def _writer(descriptor: int) -> Callable[[Event], None]:
    write, dumps = os.write, json.dumps  # a rule may replace those of the modules

    def emit(event: Event) -> None:
        line = dumps(event).encode() + b"\n"
        while line:
            line = line[write(descriptor, line) :]

    return emit


def _work(
    request: RuleRequest, order: RuleOrder, overview: Overview, emit: Callable[[Event], None]
) -> NoReturn:
    """Load files and run rules, then end this process; no code of a rule runs at its exit."""
    end = os._exit
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    printed = PrintedText()
    sys.stdout = sys.stderr = printed
    _limit_resources()
    limit = partial(_limit_time, request.limit_s, signal.setitimer)
    sys.addaudithook(_hook(tuple(request.files), emit, end))
    file, rule_id = order["file"], order["rule"]
    steps = [(file, partial(_load, file, request.files[file], order["ids"]))]
    steps += [(rule_id, partial(_judge, rule_id, overview, emit))] if rule_id else []
    for name, run in steps:
        emit({"at": name})
        limit()
        loaded = _guarded(request.files, emit, printed, run)
        if not loaded and name == file:
            end(WITH_REASON)  # its rules cannot run
    emit({"end": True})
    end(0)


def _limit_resources() -> None:
    """Limit memory, and forbid to write files whatever the hook misses."""
    limits = ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_FSIZE, 0))
    for kind, most in (*limits, (resource.RLIMIT_CORE, 0)):
        _, hard = resource.getrlimit(kind)
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (value, hard))


def _limit_time(limit_s: int, set_timer: Callable[[int, float], object]) -> None:
    """Give the next step its time, of the processor and by the clock; a signal ends the worker."""
    set_timer(signal.ITIMER_PROF, limit_s)
    set_timer(signal.ITIMER_REAL, limit_s * SLOWER)


def _load(file: str, text: str, ids: Sequence[str]) -> None:
    """Run a file of rules; its decorators register them. TypeError for one that is not among ids.

    Such a rule is in no list of rules, and would never run.
    """
    module = ModuleType(file.removesuffix(".py").replace("/", "."))
    module.__file__ = file
    sys.modules[module.__name__] = module  # dataclasses look their module up
    exec(compile(text, file, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - the site's
    own = (rule for rule in decorated().values() if rule.judge.__module__ == module.__name__)
    if unlisted := [rule.id for rule in own if rule.id not in ids]:
        raise TypeError(f"{unlisted[0]}: write `@rule(..)` by this name, above a `def`")


def _judge(rule_id: str, overview: Overview, emit: Callable[[Event], None]) -> None:
    """Run one rule, and write each verdict as it comes."""
    rule = decorated().get(rule_id)
    if rule is None:
        raise LookupError("its file registers no such rule")
    for number, verdict in enumerate(Subject(overview, rule).verdicts(), 1):
        if number > MOST_VERDICTS:
            raise OverflowError(f"more than {MOST_VERDICTS:,} findings")
        emit(_event_of(verdict, rule))


def _event_of(verdict: object, rule: Rule) -> Event:
    if not isinstance(verdict, Finding | NotJudged):
        raise TypeError(f"yields {type(verdict).__name__} instead of subject.finding(..)")
    if verdict.rule != rule.id:
        raise TypeError(f"yields a finding of rule {verdict.rule}")
    kind = "finding" if isinstance(verdict, Finding) else "not_judged"
    return {kind: visible(verdict).model_dump(mode="json")}


def visible(verdict: Finding | NotJudged) -> Finding | NotJudged:
    """Return a verdict whose texts are one line each, of a length that a person reads."""
    fields = ("message", "hint") if isinstance(verdict, Finding) else ("reason",)
    texts = {name: " ".join(getattr(verdict, name).split()) for name in fields}
    return verdict.model_copy(update={n: t[:LONGEST_MESSAGE] for n, t in texts.items()})


def _guarded(
    files: Iterable[str],
    emit: Callable[[Event], None],
    printed: PrintedText,
    run: Callable[[], None],
) -> bool:
    """Run a file or a rule, and return whether it succeeds.

    Whatever it raises is an event with the innermost line of its file.
    """
    succeeds = True
    try:
        run()
    except BaseException as error:  # noqa: BLE001 - also SystemExit and KeyboardInterrupt
        succeeds = False
        emit({"error": _error_text(error), **_innermost(error.__traceback__, frozenset(files))})
    if text := printed.take():
        emit({"printed": text})
    return succeeds


def _error_text(error: BaseException) -> str:
    try:
        text = " ".join(str(error).split())[:LONGEST_TEXT]
    except BaseException:  # noqa: BLE001 - an exception of the rule's own class
        text = ""
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def _innermost(trace: TracebackType | None, files: frozenset[str]) -> Event:
    """File and line of the innermost frame in a file of rules; of a syntax error see its text."""
    place: Event = {}
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            place = {"file": trace.tb_frame.f_code.co_filename, "line": trace.tb_lineno}
        trace = trace.tb_next
    return place


def _hook(
    files: Sequence[str], emit: Callable[[Event], None], end: Callable[[int], Any]
) -> Callable[[str, tuple[Any, ...]], None]:
    """Return an audit hook that reports an act and ends the process before it happens."""
    frame_of = sys._getframe  # noqa: SLF001 - the only way to the line that acts
    readable = tuple(f"{folder}/" for folder in _library_folders())
    real = os.path.realpath
    own = frozenset(files)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in HARMLESS:
            return
        if event in FILES and _reads_library(arguments, readable, real):
            return
        emit({"act": _act(event, arguments), **_line_of(frame_of(1), own)})
        end(WITH_REASON)

    return hook


def _library_folders() -> Iterator[str]:
    """Folders of Python's and Rocefort's own files, which an import may read."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    own = (PACKAGE, INVENTORY, TEMPLATES, ROOT / "models", ROOT / "validators")
    packages = [Path(path) for path in sys.path if path.endswith("-packages")]
    driver = PACKAGE.parent / "napalm_cloudengine"
    for path in (*(Path(sysconfig.get_path(name)) for name in names), *own, *packages, driver):
        yield os.path.realpath(path)


def _reads_library(
    arguments: tuple[Any, ...], readable: tuple[str, ...], real: Callable[[Any], Any]
) -> bool:
    """Whether a file of a library is read, and not written."""
    path, *how = arguments
    if not isinstance(path, str | bytes):
        return False
    written = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    if how and (how[0] not in (None, "r", "rb") or (len(how) > 1 and how[1] & written)):
        return False
    return f"{real(os.fsdecode(path))}/".startswith(readable)


def _act(event: str, arguments: tuple[Any, ...]) -> str:
    if event == "open":
        return f"opens {str(arguments[0])[:LONGEST_TEXT]!r}"
    words = next((words for start, words in ACTS if event.startswith(start)), "acts on the system")
    return f"{words} ({event})"


def _line_of(frame: FrameType | None, files: frozenset[str]) -> Event:
    while frame is not None:
        if frame.f_code.co_filename in files:
            return {"file": frame.f_code.co_filename, "line": frame.f_lineno}
        frame = frame.f_back
    return {}
