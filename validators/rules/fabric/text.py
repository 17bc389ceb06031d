"""Rules on the text: lines not understood, unconfirmed command forms, a text that is cut off."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rocefort.dialects.choose import dialect_of
from rocefort.models.finding import Finding, Severity
from rocefort.models.network.network import Node, TextLine
from rocefort.models.wording import count_of
from rocefort.validators.routing.running_lines import as_it_runs
from rocefort.validators.rules.missing import Missing, Need
from rocefort.validators.rules.registry import Subject, Verdict, rule

TRY = "try it on one switch before a rollout"
PROBE = f"{TRY}: `rocefort facts probe`"
PROBE_AGAIN = "do without it on this model and release, or probe again after an upgrade"
UNKNOWN_USE = "whether the switch uses it is not in its model"
LINE = Missing("whether the switch has the line", "what runs")
LONGEST_SHOWN = 120  # characters of a line in a message


@rule(
    "TXT001",
    severity=Severity.INFO,
    source="notes in the hardware data on gaps of «the vendor's documents»",
    needs=(Need.FAMILY,),
)
def unconfirmed_commands(subject: Subject) -> Iterator[Verdict]:
    """Command forms in use that no vendor source confirms.

    Rocefort writes the nearest documented form, with the ports that the hardware data name.

    Example: «a headroom pool» is not confirmed on v300-g1: no word on it
    Fix: Try such a line on one switch before a rollout: `rocefort facts probe SWITCH` does it, and
    keeps the answer for switches of the same model and release.
    """
    for node in subject.network.nodes:
        hardware = node.hardware
        if hardware is not None and not hardware.confirmed and hardware.note:
            yield subject.finding(
                node,
                f"the data of {hardware.model} are not confirmed: {hardware.note}",
                "compare them with the switch before a rollout",
            )
        for entry in node.family.unconfirmed if node.family else ():
            used = dialect_of(node).in_use(entry.command, node.device)
            if used is False:
                continue
            form = f"`{entry.command}` is not confirmed on {node.syntax}"
            if used is None:
                yield subject.not_judged(node, f"{form}; {UNKNOWN_USE}", LINE)
            else:
                yield subject.finding(node, f"{form}: {entry.note}", PROBE)
        yield from _unconfirmed_of_site(subject, node)


@rule(
    "TXT009",
    severity=Severity.ERROR,
    source="answers of switches of the site to `rocefort facts probe` (inventory/facts)",
    needs=(Need.FAMILY,),
)
def refuted_forms(subject: Subject) -> Iterator[Verdict]:
    """Command forms in use that the switches of the site do not have.

    `rocefort facts probe` typed the form into the candidate configuration of a switch of the same
    model and release. The switch refused it, or saves other lines than it was given. A rollout of
    the form fails, or each plan finds a difference again.

    Example: «a headroom pool» is wrong on leaf01 (CE8851-32CQ8DQ-P, V300R023C00), probed on
    2026-11-27: the switch refuses it: Error: Unrecognized command
    Fix: Do without the setting on this model, or change its form with a template of the site. After
    an upgrade, probe again.
    """
    for node in subject.network.nodes:
        for entry in node.family.refuted if node.family else ():
            used = dialect_of(node).in_use(entry.command, node.device)
            if used is None:
                yield subject.not_judged(node, f"{entry.sentence}; {UNKNOWN_USE}", LINE)
            elif used:
                yield subject.finding(node, entry.sentence, PROBE_AGAIN)


def _unconfirmed_of_site(subject: Subject, node: Node) -> Iterator[Finding]:
    """Yield unconfirmed commands that the site adds, once for a switch."""
    sources: dict[str, tuple[str, int]] = {}
    for line in node.unmodelled:
        path = (*line.path, line.text)
        command = node.family and dialect_of(node).site_command(path, node.family)
        if command and not command.confirmed:
            sources.setdefault(line.command, (command.source, line.line))
    for name, (source, number) in sources.items():
        what = f"`{name}` is not confirmed on {node.syntax}: {source}"
        yield subject.finding(node, what, TRY, path=f"unmodelled[{number}]")


@rule(
    "TXT002",
    severity=Severity.WARNING,
    source="the models: a line that they do not cover is kept, never dropped",
)
def unknown_lines(subject: Subject) -> Iterator[Verdict]:
    """Every line of the text is understood.

    No rule judges a line that Rocefort does not understand. It stays on the switch: a plan neither
    changes nor removes it. All lines of another design, such as OSPF, EVPN or M-LAG, are one
    finding, with the number of their switches.

    Fix: Check the line by hand.
    """
    for node in _switches(subject, templates=False):
        dialect = dialect_of(node)
        for line in node.unmodelled:
            if dialect.foreign_design(line) is not None or line.command:
                continue
            if dialect.weak_access(line) is None:  # else SEC014 to SEC016
                yield subject.finding(
                    node,
                    f"{_line_text(line)} is not understood",
                    "no rule judges it; check it by hand",
                    path=f"unmodelled[{line.line}]",
                )
    for each in subject.overview.designs:
        name, line = each.lines[0]
        found = subject.finding(
            subject.network.by_name[name],
            str(each),
            "no rule judges these lines; check them by hand",
            path=f"unmodelled[{line.line}]",
        )
        yield found if len(each.switches) == 1 else _without_device(found)


@rule(
    "TXT006",
    severity=Severity.WARNING,
    source="the command table: a line that it does not have is written, and nothing more",
)
def lines_of_templates(subject: Subject) -> Iterator[Verdict]:
    """Every line that a template of the site adds is a known command.

    A site's template can write a line that the command table does not have. The line is planned
    and written like any other: a plan removes it by its negation, and no source confirms that this
    works. No rule judges it, and no routing engine models its effect. A site can add the command
    to the table, with its negation and its effect: a file in inventory/catalogue.

    Example: `frobnicate` is not in the command table: not judged; 2 lines on 2 switches
    Fix: State the value in the fabric if it has one; else add the command to inventory/catalogue.
    """
    for node, line, count in _template_lines(subject, known=False):
        yield _without_device(
            subject.finding(
                node,
                f"{_line_text(line)} is not in the command table: not judged; {count}",
                "state it in the fabric if it has a field for it; else add its command to "
                "inventory/catalogue",
                path=f"unmodelled[{line.line}]",
            )
        )


def _template_lines(subject: Subject, *, known: bool) -> Iterator[tuple[Node, TextLine, str]]:
    """Yield the first line that each line of a site's templates adds, and the number of all."""
    by_source: dict[tuple[object, ...], list[tuple[Node, TextLine]]] = defaultdict(list)
    for node in _switches(subject, templates=True):
        for line in node.unmodelled:
            if bool(line.command) is known:
                where = subject.where(node, f"unmodelled[{line.line}]")
                by_source[where.file, where.line].append((node, line))
    for lines in by_source.values():
        switches = len({node.name for node, _ in lines})
        count = f"{count_of(len(lines), 'line')} on {count_of(switches, 'switch')}"
        yield (*lines[0], count)


def _switches(subject: Subject, *, templates: bool) -> Iterator[Node]:
    """Yield switches whose unmodelled lines come from a site's templates, or the others."""
    for node in subject.network.nodes:
        own = subject.network.origin == "fabric" and node.hardware and node.hardware.site_templates
        if bool(own) is templates:
            yield node


def _without_device(finding: Finding) -> Finding:
    """Return a finding of a template's line, if that is known: it is about several switches."""
    if finding.where.file is None:
        return finding
    where = finding.where.model_copy(update={"device": None})
    return finding.model_copy(update={"where": where})


def _line_text(line: TextLine) -> str:
    view = f" in {_short(' / '.join(line.shown_path))}" if line.path else ""
    return f"`{_short(line.shown_text)}`{view}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]} .."


@rule(
    "TXT004",
    severity=Severity.INFO,
    source="the command table, each row with the vendor's section; the models",
)
def known_lines(subject: Subject) -> Iterator[Verdict]:
    """Known commands that no rule judges.

    The command is known. Its setting is outside the scope of Rocefort, or the line is in a view
    where it has no effect. Passwords and keys are among these on purpose. A line of a running
    configuration stays on the switch: a plan neither changes nor removes it. A line that may change
    routes, sessions or paths is a warning: most rules judge as if it were not there. Paths and
    sessions are judged with it where its effect is certain, as that of a closed session. A line
    that removes a setting and that no switch saves is a warning, too: rules judge the setting as if
    it stayed.

    Example: «timeout of LACP» is known, but nothing judges what it sets
    """
    for node, line, count in _template_lines(subject, known=True):
        yield _without_device(
            subject.finding(
                node,
                f"`{line.command}` is known, but nothing judges what it sets; {count}",
                "",
                path=f"unmodelled[{line.line}]",
            )
        )
    running = as_it_runs(subject.network, subject.sources)
    for node in _switches(subject, templates=False):
        dialect = dialect_of(node)
        effective = running.effective.get(node.name, ())
        inert = running.inert.get(node.name, ())
        for line in node.unmodelled:
            if not line.command or dialect.foreign_design(line) is not None:
                continue
            path, effect = f"unmodelled[{line.line}]", dialect.forwarding_effect(line)
            if line.line in effective:
                yield subject.finding(
                    node,
                    f"{_line_text(line)} changes {effect}; `rocefort verify` takes it into account",
                    "check that it is intended",
                    path=path,
                    severity=Severity.WARNING,
                )
            elif effect and line.line not in inert:
                yield subject.finding(
                    node,
                    f"{_line_text(line)} may change {effect}, and nothing judges it",
                    "check its effect by hand",
                    path=path,
                    severity=Severity.WARNING,
                )
            elif dialect.removes_setting(line):
                yield subject.finding(
                    node,
                    f"{_line_text(line)} removes a setting; no switch saves such a line, and "
                    "nothing judges it",
                    "leave the line out, and the one that it removes",
                    path=path,
                    severity=Severity.WARNING,
                )
            else:
                what = f"`{line.command}` is known, but nothing judges what it sets"
                yield subject.finding(node, what, "", path=path)


@rule(
    "TXT005",
    severity=Severity.WARNING,
    source="«the vendor's guide», Configuration Scripts: each ends with «end of a text»",
)
def whole_text(subject: Subject) -> Iterator[Verdict]:
    """A saved configuration is complete.

    Its last line is «end of a text». A text without it may be cut off, by a full disk or a session
    that ended too early. Rules judge the missing lines as not configured.

    Example: the text ends without «end of a text»; it may be cut off here
    Fix: Save the whole text again.
    """
    for node in subject.network.nodes:
        if node.cut_off_at is not None:
            yield subject.finding(
                node,
                "the text ends without «end of a text»; it may be cut off here",
                "save the whole output of «what runs» again",
                path="cut_off",
            )
