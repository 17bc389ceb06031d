"""Rules of a site: read their documentation from their text, and run them in another process.

Nothing here runs their code in this process. The text of a file gives its rules: the arguments of a
decorator are constants. `rocefort.validators.rule_process` runs them; the verdicts that it writes
are checked here.
"""

from __future__ import annotations

import ast
import json
import os
import pickle
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import cleandoc
from pathlib import Path
from typing import Any, Final, NoReturn

from rocefort.base.errors import ServiceFailed
from rocefort.base.repository import PACKAGE
from rocefort.base.rule_files import RuleFiles
from rocefort.models.finding import Finding, NotJudged, Severity, family_of
from rocefort.models.network.network import Network, Sources
from rocefort.validators.rule_process import (
    LONGEST_TEXT,
    MOST_VERDICTS,
    SLOWER,
    WITH_REASON,
    RuleOrder,
    RuleRequest,
    visible,
)
from rocefort.validators.rules.missing import Need
from rocefort.validators.rules.registry import (
    SITE_ID,
    Rule,
    RuleTopics,
    Subject,
    put_in_force,
    sections_of,
)
from rocefort.validators.rules.site_subject import Failing, RuleFailure, without_result

START_S: Final = 120  # of Python, its imports and the fabric, on a loaded machine
GRACE_S: Final = 10  # until this process ends a worker that its own limits do not end
OUT_OF_TIME: Final = frozenset((signal.SIGPROF, signal.SIGALRM))
LONGEST_LINE: Final = 1024 * 1024  # bytes of an event
DECORATOR: Final = "rule"
EXIT_CODES: Final = range(-signal.NSIG, 256)
# What a line raises that only code of the site can have written: of any JSON, of any depth.
FORGED: Final = (
    *(ValueError, TypeError, LookupError, AttributeError, StopIteration),
    *(OverflowError, RecursionError),
)
AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef
NOT_CONSTANT: Final = "a constant, as in docs/how-to/site-rules.md"


@dataclass(frozen=True)
class SiteRules:
    """Rules of a site with their files; failures: what does not load. lines: of rules, by id."""

    files: RuleFiles
    rules: tuple[Rule, ...]
    failures: tuple[RuleFailure, ...]
    lines: Mapping[str, int]


@dataclass
class SiteVerdicts:
    """Verdicts of the rules that ran, by id, and the failures of rules and files."""

    by_rule: dict[str, list[Finding | NotJudged]]
    failures: list[RuleFailure]


_in_force: list[SiteRules] = []


def use_site_rules(site: SiteRules | None) -> None:
    """Judge by the rules of a site, too, in this process from now on; None: by none."""
    _in_force[:] = [] if site is None else [site]
    put_in_force(() if site is None else site.rules)


def site_rules_in_force() -> SiteRules | None:
    """Rules of a site by which this process judges."""
    return _in_force[0] if _in_force else None


def read_site_rules(files: RuleFiles) -> SiteRules:
    """Read the rules of files from their text; what does not load is a failure."""
    found: dict[str, Rule] = {}
    lines: dict[str, int] = {}
    failures: list[RuleFailure] = []
    for file, text in files.texts.items():
        try:
            tree = ast.parse(text, file)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            what = f"is not Python: {getattr(error, 'msg', None) or error}"
            line = getattr(error, "lineno", None)
            failures.append(RuleFailure(Failing.LOADING, file, what, file, line or 1))
            continue
        for function, call in _decorated_functions(tree):
            try:
                rule = _rule_of(function, call, file, files.settings.prefix, found)
            except _NoRuleError as error:
                place = (file, function.lineno)
                failures.append(RuleFailure(Failing.LOADING, error.subject, error.what, *place))
            else:
                found[rule.id], lines[rule.id] = rule, function.lineno
    return SiteRules(files, tuple(found.values()), tuple(failures), lines)


class _NoRuleError(Exception):
    """Function with the decorator that is no rule."""

    def __init__(self, subject: str, what: str) -> None:
        super().__init__(what)
        self.subject, self.what = subject, what


def _decorated_functions(tree: ast.Module) -> Iterator[tuple[AnyFunction, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, AnyFunction):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and _last_name(decorator.func) == DECORATOR:
                    yield node, decorator


def _last_name(node: ast.expr | None) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _rule_of(
    function: AnyFunction, call: ast.Call, file: str, prefix: str, earlier: Mapping[str, Rule]
) -> Rule:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    first = call.args[0] if call.args else given.pop("rule_id", None)
    rule_id = _text_of(first)
    if not rule_id:
        raise _NoRuleError(function.name, f"its id is not {NOT_CONSTANT}")
    if not SITE_ID.fullmatch(rule_id) or family_of(rule_id) != prefix:
        raise _NoRuleError(rule_id, f"has no id such as {prefix}001")
    if rule_id in earlier:
        raise _NoRuleError(rule_id, f"is also in {earlier[rule_id].file}")
    unknown = given.keys() - {"severity", "source", "needs", "wants"}
    if unknown or len(call.args) > 1:
        raise _NoRuleError(rule_id, "has other arguments than severity, source and needs")
    severity = Severity.__members__.get(_last_name(given.get("severity")))
    source = _text_of(given.get("source"))
    if severity is None or not source.strip():
        raise _NoRuleError(rule_id, f"its severity or source is not {NOT_CONSTANT}")
    if isinstance(function, ast.AsyncFunctionDef):
        raise _NoRuleError(rule_id, "is an async function, which yields no findings to a check")
    title, explanation, sections = sections_of(cleandoc(ast.get_docstring(function) or ""))
    if not title:
        raise _NoRuleError(rule_id, "has no docstring")
    return Rule(
        id=rule_id,
        title=title,
        explanation=explanation,
        example=sections.get("Example", ""),
        fix=sections.get("Fix", ""),
        severity=severity,
        source=source,
        needs=_needs(rule_id, given.get("needs")),
        wants=_needs(rule_id, given.get("wants")),
        judge=_elsewhere,
        judges=Subject,
        reads=RuleTopics(),
        file=file,
    )


def _text_of(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _needs(rule_id: str, node: ast.expr | None) -> tuple[Need, ...]:
    parts = node.elts if isinstance(node, ast.Tuple) else () if node is None else (None,)
    needs = [Need.__members__.get(_last_name(part)) for part in parts]
    if None in needs:
        raise _NoRuleError(rule_id, f"its needs are not {NOT_CONSTANT}")
    return tuple(need for need in needs if need)


def _elsewhere(_subject: Subject) -> NoReturn:
    raise TypeError("a rule of a site runs in a process of its own")


def run_site_rules(
    site: SiteRules, network: Network, sources: Sources, ids: Sequence[str]
) -> SiteVerdicts:
    """Run rules of a site on a network; raises ServiceFailed if no process can be started.

    Each rule runs in a worker of its own, on an untouched network: a rule that ends it, or does not
    end, fails alone.
    """
    limit_s = site.files.settings.limit_s
    request = pickle.dumps(RuleRequest(site.files.texts, network, sources, limit_s))
    run = _RuleRun(site, request, list(_orders(site, ids)), SiteVerdicts({i: [] for i in ids}, []))
    for failure in site.failures:
        run.leave_out(failure.file)
    while run.pending:
        run.one_process()
    return run.finished()


def _orders(site: SiteRules, ids: Sequence[str]) -> Iterator[RuleOrder]:
    """Yield a worker for each rule, and one for each file without a rule to run."""
    for file in site.files.texts:
        own = [rule.id for rule in site.rules if rule.file == file]
        for rule_id in [each for each in own if each in ids] or [""]:
            yield RuleOrder(file=file, ids=own, rule=rule_id)


@dataclass
class _RuleRun:
    """Run of some rules, each in a worker of its own."""

    site: SiteRules
    request: bytes
    pending: list[RuleOrder]
    verdicts: SiteVerdicts
    bad_files: set[str] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)  # of the worker that are to begin: file, id
    current: str = ""  # file or id; empty before the first
    ended: bool = False
    code: int | None = None  # of the worker, if it has ended
    spoiled: bool = False  # the worker has written what is no event
    failed: bool = False  # the worker has named a failure

    def one_process(self) -> None:
        """Run what is left in one process, until its end, or until a worker must be ended."""
        ours, theirs = os.pipe()
        with os.fdopen(ours, "rb", buffering=0) as events:
            try:
                process = _started(theirs)
            finally:
                os.close(theirs)
            try:
                _send(process, self.request)
                while self.pending and self._one_worker(process, events.fileno()):
                    pass
            finally:
                _end(process)

    def _one_worker(self, process: subprocess.Popen[bytes], events: int) -> bool:
        """Run the next rule in a worker; return whether the process takes another order."""
        order = self.pending.pop(0)
        self.steps = [order["file"], *filter(None, [order["rule"]])]
        self.current, self.code = "", None
        self.ended = self.spoiled = self.failed = False
        _send(process, json.dumps(order).encode() + b"\n")
        in_time = self._read(events)
        if not self.ended or self.spoiled:
            self._broken(in_time=in_time)
        return self.code is not None and not self.spoiled

    def _read(self, descriptor: int) -> bool:
        """Take events until the end of the worker; return whether each step was in its time."""
        deadline, rest = time.monotonic() + START_S, b""
        longest = self.site.files.settings.limit_s * SLOWER + GRACE_S
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while self.code is None and not self.spoiled:
                if not selector.select(max(0.0, deadline - time.monotonic())):
                    return False
                data = os.read(descriptor, LONGEST_LINE)
                if not data:
                    return True
                *lines, rest = (rest + data).split(b"\n")
                before = self.current
                for line in lines:
                    if not self.spoiled:  # what follows is not of the next step
                        self._take(line)
                if self.current != before:
                    deadline = time.monotonic() + longest
                self.spoiled |= len(rest) > LONGEST_LINE
        return True

    def _take(self, line: bytes) -> None:
        """Take an event; one that is malformed ends the process."""
        try:
            event = json.loads(line)
            kind, value = next(iter(event.items()))
            if kind == "worker" and value in EXIT_CODES:
                self.code = int(value)
            elif self.ended:
                self.spoiled = True  # the rule has written the end itself
            else:
                self._taken(kind, value, event)
        except FORGED:
            self.spoiled = True

    def _taken(self, kind: str, value: Any, event: Mapping[str, Any]) -> None:  # noqa: ANN401 - JSON's
        if kind == "end" and not self.steps:
            self.ended = True
        elif kind == "at":
            if [value] != self.steps[:1]:
                raise ValueError(kind)
            self.current = self.steps.pop(0)
        elif kind in ("finding", "not_judged"):
            own = self.verdicts.by_rule[self.current]
            verdict = (Finding if kind == "finding" else NotJudged).model_validate(value)
            if verdict.rule != self.current or len(own) >= MOST_VERDICTS:
                raise ValueError(kind)
            own.append(visible(verdict))
        elif kind == "printed":
            first = str(value).splitlines()[0][:LONGEST_TEXT]
            self._fail(Failing.ACT, f"prints {first!r}")
        elif kind == "act":
            self._fail(Failing.ACT, str(value)[: 2 * LONGEST_TEXT], event)
        elif kind != "error":
            raise ValueError(kind)
        else:
            text = str(value)[: 2 * LONGEST_TEXT]
            of_file = self.current in self.site.files.texts
            what = f"does not load: {text}" if of_file else f"ends with {text}"
            self._fail(Failing.LOADING if of_file else Failing.ENDING, what, event)

    def _broken(self, *, in_time: bool) -> None:
        """Record why a worker has not come to its end; raise ServiceFailed before its begin."""
        if not self.current:
            what = "the process of the site's rules does not start"
            raise ServiceFailed(what, how="`rocefort --no-site-rules` checks without them")
        code = self.code
        if not in_time or (code and -code in OUT_OF_TIME):
            limit = self.site.files.settings.limit_s
            self._fail(Failing.TIME, f"does not end within {limit} s")
        elif self.spoiled:
            self._fail(Failing.ENDING, "writes to the pipe of its process")
        elif code != WITH_REASON or not self.failed:
            self._fail(Failing.ENDING, f"ends its process {_code_text(code)}")
        if self.current in self.site.files.texts:
            self.leave_out(self.current)

    def leave_out(self, file: str) -> None:
        """Leave out a file, whose rules cannot run."""
        self.bad_files.add(file)
        self.pending[:] = [order for order in self.pending if order["file"] != file]

    def _fail(self, kind: Failing, what: str, event: Mapping[str, Any] | None = None) -> None:
        """Record a failure of the current step, at a line of its file or at its beginning."""
        files = {rule.id: rule.file for rule in self.site.rules}
        file = files.get(self.current, self.current)
        line = self.site.lines.get(self.current, 1)
        place = (event or {}).get("file"), (event or {}).get("line")
        if place[0] in self.site.files.texts and isinstance(place[1], int):
            file, line = str(place[0]), place[1]
        failure = RuleFailure(kind, self.current, what, file, line)
        self.failed = True
        if failure not in self.verdicts.failures:
            self.verdicts.failures.append(failure)

    def finished(self) -> SiteVerdicts:
        """Verdicts, in which no rule that failed has passed."""
        every = (*self.site.failures, *self.verdicts.failures)
        failed = {each.subject: each for each in every}
        failed |= {each.file: each for each in every if each.file in self.bad_files}
        files = {rule.id: rule.file for rule in self.site.rules}
        for rule_id, own in self.verdicts.by_rule.items():
            failure = failed.get(rule_id) or failed.get(files[rule_id])
            if failure:
                own.append(without_result(rule_id, failure))
        return self.verdicts


def _code_text(code: int | None) -> str:
    if code is not None and code < 0:
        number = -code
        known = number in {*signal.Signals}  # real-time signals have no name
        return f"by {signal.Signals(number).name}" if known else f"by signal {number}"
    return f"with code {code}"


KEPT: Final = ("LD_LIBRARY_PATH",)  # Python itself may need it; all other variables stay here
BOOT: Final = (
    "import sys; sys.path[:0] = [each for each in sys.argv[2:] if each not in sys.path]; "
    "from rocefort.validators.rule_process import main; main(int(sys.argv[1]))"
)


def _started(descriptor: int) -> subprocess.Popen[bytes]:
    """Start the process of the rules: isolated, with an empty environment, at the root."""
    # -I: no variable, no current directory. -B: it may write no file.
    words = [sys.executable, "-I", "-B", "-X", "utf8", "-c", BOOT, str(descriptor)]
    try:
        return subprocess.Popen(  # noqa: S603 - fixed words
            [*words, *_import_folders()],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(descriptor,),
            env={name: os.environ[name] for name in KEPT if name in os.environ},
            cwd="/",
            start_new_session=True,
        )
    except OSError as error:
        what = f"no process can be started: {error.strerror}"
        raise ServiceFailed(what, where="rules of the site") from None


def _import_folders() -> Iterable[str]:
    """Folders of Rocefort and its dependencies, which `-I` may leave out."""
    own = str(PACKAGE.parent)
    packages = [path for path in sys.path if path.endswith("-packages") and Path(path).is_dir()]
    return dict.fromkeys((own, *packages))


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    if process.stdin is None:
        raise TypeError("a process without a pipe")
    with suppress(BrokenPipeError):  # it has ended; the pipe of events shows how far it came
        process.stdin.write(data)
        process.stdin.flush()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and its worker."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(BrokenPipeError):
        process.communicate()
