"""Live rules on a switch by itself: that it answers, which it is, its time, flash and startup."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from rocefort.models.finding import Severity
from rocefort.models.network.network import Node
from rocefort.models.network.observed import FactsSeen, StateTopic
from rocefort.models.wording import count_of
from rocefort.validators.rules.live.subject import LiveSubject, reading
from rocefort.validators.rules.registry import Verdict, rule


@rule(
    "LIV001",
    judges=LiveSubject,
    severity=Severity.ERROR,
    source="the switch's own answers, read strictly",
)
def answers(subject: LiveSubject) -> Iterator[Verdict]:
    """Every switch answers, and what it shows adds up.

    A switch that cannot be reached, refuses a login, or shows a table that is not in the documented
    form is judged by no other rule.

    Example: no session to 10.255.0.11:22 as netops: refused
    Fix: See that it is up and that its entry in the connections file is right; for a table, run the
    command by hand and compare it with the command reference.
    """
    for node, seen in subject.queried_switches:
        for what in seen.failed:
            hint = "see that it is up and reached; run a command that is named here by hand"
            yield subject.finding(node, what, hint)


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

    A wrong name behind an address is another switch: correct the connections file before anything
    is changed there. Another model or release takes other commands than those that were verified:
    install what the fabric says, or correct `hardware` or `software` and check again. A serial
    number that differs from the earlier reading's says that the switch was replaced.

    Example: sysname: it calls itself 'leaf02'
    Fix: Correct the address in the connections file, or what the fabric says of the switch, or the
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
                "somebody replaced the switch; check its host key and its configuration",
                severity=Severity.WARNING,
            )


def _differences(subject: LiveSubject, node: Node, facts: FactsSeen) -> Iterator[Verdict]:
    if facts.hostname != node.name:
        hint = "correct its address in the connections file, or its sysname"
        yield subject.finding(node, f"sysname: it calls itself {facts.hostname!r}", hint)
    model = node.hardware.model if node.hardware else None
    if not facts.hardware:
        yield subject.not_judged(node, "«model and release» names no model")
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

    Logs of a fault that spans switches cannot be put in order otherwise, and certificates and keys
    expire by the clock. See «state of NTP», the servers in `services.ntp`, and the path to
    them. Where all switches agree and differ from this machine, this machine is the one to mend.

    Example: clock: it is 37 s behind this machine's, limit 5 s
    Fix: See «state of NTP»; where all switches differ alike, set this machine's clock.
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
            yield subject.finding(node, message, "see «state of NTP»", path="ntp_servers")


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
    """The flash has room for configurations and logs.

    A «save» that finds no room leaves the old startup configuration, and the next restart takes the
    switch back.

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
    """What runs is what the switch would start with.

    Otherwise a restart changes the fabric. While a trial is under way they differ by that trial,
    which is why a rollout does not judge this then.

    Example: startup: what runs is not saved
    Fix: Compare «what runs» with «what a restart loads», then «save», or find out who changed what.
    """
    for node, seen in subject.answering_switches:
        if not seen.saved:
            message = "startup: what runs is not saved"
            yield subject.finding(node, message, "«save», once it is known who changed it")
