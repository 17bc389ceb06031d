"""Live rules on a single switch: reachability, identity, clock, flash and startup configuration."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.models.network.observed import DeviceSeen, FactsSeen, StateTopic
from rocefort.models.wording import count_of
from rocefort.validators.rules.live.switch_readings import LiveSubject, of_topic, reading
from rocefort.validators.rules.registry import Verdict, rule

CHECK = "check that it is up and reachable; run a command of this message by hand"


@rule(
    "LIV001",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="the switch's own answers, read strictly",
)
def answers(subject: LiveSubject) -> Iterator[Verdict]:
    """Every switch answers, and its output is in the documented form.

    No other rule judges a switch that is unreachable, refuses a login, or shows a table that is not
    in the documented form. A line that is no row of its table is a warning: other rules do not
    judge the row that it may be. It is an error where an earlier reading read the whole table.

    Example: no session to 10.255.0.11:22 as netops: refused
    Fix: Check that the switch is up and that its entry in the connections file is right; for a
    table, run the command by hand and compare the output with the command reference.
    """
    for node, seen in subject.queried_switches:
        for what in seen.failed:
            yield subject.finding(node, what, seen.cures.get(what, CHECK))
        yield from _unread(subject, node, seen)


def _unread(subject: LiveSubject, node: Node, seen: DeviceSeen) -> Iterator[Verdict]:
    """One finding for each output with lines that were not read.

    An error where an earlier reading did read all of it: evidence was lost since.
    """
    earlier = subject.before.by_name.get(node.name) if subject.before else None
    for topic, lines in seen.unread.items():
        was_read = earlier and topic not in earlier.missing and topic not in earlier.unread
        first, verb = lines[0], "was" if len(lines) == 1 else "were"
        message = (
            f"output: {count_of(len(lines), 'line')} of '{first.command}' {verb} not read: "
            f"line {first.line}: {first.why}"
        )
        hint = "run the command by hand; rules do not judge a row that this line may be"
        severity = Severity.ERROR if was_read else Severity.WARNING
        yield subject.finding(node, message, hint, severity=severity)


@rule(
    "LIV002",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «model and release»; «serial number» is known from "
    "public clients only",
    reads=reading(StateTopic.FACTS),
)
def identity(subject: LiveSubject) -> Iterator[Verdict]:
    """Name, hardware and release are those of the fabric.

    Another name means another switch at this address: correct the connections file before any
    change. Another model or release accepts other commands than the verified ones: install the
    release of the fabric, or correct `hardware` or `software` and check again. Another serial
    number than in the earlier reading means that the switch was replaced.

    Example: sysname: it is 'leaf02'
    Fix: Correct the address in the connections file, the entry of the switch in the fabric, or the
    switch.
    """
    for node, seen in subject.answering_switches:
        if seen.facts is None:
            continue
        yield from _differences(subject, node, seen.facts)
        earlier = subject.before.by_name.get(node.name) if subject.before else None
        was = earlier.facts.serial if earlier and earlier.facts else ""
        if was and seen.facts.serial and was != seen.facts.serial:
            yield subject.finding(
                node,
                f"serial number: {seen.facts.serial}, and {was} in the earlier reading",
                "the switch was replaced; check its host key and its configuration",
                severity=Severity.WARNING,
            )


def _differences(subject: LiveSubject, node: Node, facts: FactsSeen) -> Iterator[Verdict]:
    if facts.hostname != node.name:
        hint = "correct its address in the connections file, or its sysname"
        yield subject.finding(node, f"sysname: it is {facts.hostname!r}", hint)
    model = node.hardware.model if node.hardware else None
    if not facts.hardware:
        missing = of_topic(StateTopic.FACTS)
        yield subject.not_judged(node, "«model and release» names no model", missing)
    elif model and facts.hardware != model:
        hint = "correct `hardware` in the fabric, or the cable of its management port"
        yield subject.finding(node, f"hardware: it is a {facts.hardware}, intended {model}", hint)
    if node.software and not any(w.startswith(node.software) for w in facts.software.split()):
        hint = "install the release that was verified, or correct `software` in the fabric"
        message = f"release: it runs {facts.software}, intended {node.software}"
        yield subject.finding(node, message, hint)


@rule(
    "LIV018",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «the clock»; the limit is a choice",
    reads=reading(StateTopic.CLOCK),
)
def clocks(subject: LiveSubject) -> Iterator[Verdict]:
    """Every clock agrees with this machine's and with the others'.

    With wrong clocks, the logs of several switches cannot be put in order, and certificates and
    keys expire at the wrong time. Check «state of NTP», the servers in `services.ntp`, and the path
    to them. Where all switches agree and differ from this machine, this machine is wrong.

    Example: clock: it is 37 s behind this machine's, limit 5 s
    Fix: Check «state of NTP»; where all switches have the same difference, set this machine's
    clock.
    """
    limit = subject.limits.clock_s
    ahead = {node.name: seen.clock_ahead_s or 0.0 for node, seen in subject.answering_switches}
    wrong = {name for name, seconds in ahead.items() if abs(seconds) > limit}
    if len(ahead) > 1 and len(wrong) == len(ahead):
        common = median(ahead.values())
        if max(ahead.values()) - min(ahead.values()) <= limit:
            message = (
                f"this machine's clock: all {count_of(len(ahead), 'switch')} are "
                f"{_deviation_text(common)} it"
            )
            hint = "set the clock of this machine"
            yield subject.finding(None, message, hint, severity=Severity.WARNING)
            return
    for node, _ in subject.answering_switches:
        if node.name in wrong:
            message = (
                f"clock: it is {_deviation_text(ahead[node.name])} this machine's, limit "
                f"{limit:g} s"
            )
            yield subject.finding(node, message, "check «state of NTP»", path="ntp_servers")


def _deviation_text(seconds: float) -> str:
    return f"{abs(seconds):.0f} s {'ahead of' if seconds > 0 else 'behind'}"


@rule(
    "LIV019",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «list of files»; the limit is a choice",
    reads=reading(StateTopic.DISK),
)
def disk(subject: LiveSubject) -> Iterator[Verdict]:
    """The flash has space for configurations and logs.

    Without space, «save» keeps the old startup configuration, and the next restart returns the
    switch to it.

    Example: flash: 99 MB are free, limit 100 MB
    Fix: Delete old software and log files («delete for good»), after «list of all files».
    """
    for node, seen in subject.answering_switches:
        mbytes = (seen.disk_free_kbytes or 0) // 1024
        if mbytes < subject.limits.disk_mbytes:
            message = f"flash: {mbytes} MB are free, limit {subject.limits.disk_mbytes} MB"
            yield subject.finding(node, message, "delete old software and log files")


@rule(
    "LIV020",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="«the vendor's reference», «save», «what a restart loads»",
    reads=reading(StateTopic.SAVED),
)
def saved(subject: LiveSubject) -> Iterator[Verdict]:
    """The running configuration is the startup configuration.

    If they differ, a restart changes the fabric. During a trial commit they differ by that trial,
    so that a rollout does not judge this rule then.

    Example: startup: the running configuration is not saved
    Fix: Compare «what runs» with «what a restart loads», then «save», or find out who made the
    change.
    """
    for node, seen in subject.answering_switches:
        if not seen.saved:
            message = "startup: the running configuration is not saved"
            yield subject.finding(node, message, "find out who made the change, then «save»")
