"""Text: lines that are not understood, and command forms that no vendor source confirms."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from rocefort.models.device import Device
from rocefort.models.finding import Severity
from rocefort.validators.rules import Need, Subject, Verdict, rule

# Which Device makes the command stand in its text, by the command's first words as the hardware
# data write it.
USES: dict[str, Callable[[Device], bool]] = {
    "ai-service": lambda d: d.ai_ecn.enabled or bool(d.ai_ecn.queues),
    "dcb pfc buffer": lambda d: any(i.thresholds for i in d.interfaces),
    "dcb pfc enable": lambda d: any(i.pfc for i in d.interfaces),
    "idle-timeout": lambda d: any(v.idle_timeout_s is not None for v in d.vty),
    "info-center loghost source": lambda d: d.syslog.source_interface is not None,
    "netconf": lambda d: d.netconf.port_830,
    "snmp-agent": lambda d: d.snmp.enabled,
    "diffserv domain": lambda d: bool(d.domains),
    "ip address with a 31-bit mask": lambda d: any(
        a.network.prefixlen == 31 for i in d.interfaces for a in i.addresses
    ),
    "priority Q deadlock-detect": lambda d: any(p.timers for p in d.pfc.profiles),
    "qos drr": lambda d: any(i.drr for i in d.interfaces),
    "qos buffer headroom-pool": lambda d: d.pfc.headroom_pool_kbytes is not None,
    "undo priority": lambda d: any(3 not in p.queues for p in d.pfc.profiles),
}


@rule(
    "TXT001",
    severity=Severity.INFO,
    source="the hardware data's own notes on what V300R023C00 and V200 documents do not say",
    needs=(Need.FAMILY,),
)
def unconfirmed_commands(subject: Subject) -> Iterator[Verdict]:
    """Command forms in use that no vendor source confirms.

    The text is written by the nearest form that is documented. Try such a line on one switch
    before a rollout; when it is confirmed, take it off the family's list in the hardware data.
    """
    for node in subject.network.nodes:
        for entry in node.family.unconfirmed if node.family else ():
            used = next((u for words, u in USES.items() if entry.command.startswith(words)), None)
            form = f"`{entry.command}` is not confirmed on {node.syntax}"
            if used is None:
                yield subject.not_judged(
                    node, f"{form}; whether the switch uses it cannot be told from its model"
                )
            elif used(node.device):
                yield subject.finding(
                    node, f"{form}: {entry.note}", "try it on one switch before a rollout"
                )


@rule(
    "TXT002",
    severity=Severity.WARNING,
    source="the models: a line that they do not know is kept, never dropped",
)
def unknown_lines(subject: Subject) -> Iterator[Verdict]:
    """Every line of the text is understood.

    What a line says that is not understood is judged by no rule. It stays on the switch: a plan
    neither changes nor removes it. Passwords and keys are among these lines on purpose.
    """
    for node in subject.network.nodes:
        for line in node.unmodelled:
            view = f" in {' / '.join(line.path)}" if line.path else ""
            yield subject.finding(
                node,
                f"`{line.text}`{view} is not understood",
                "no rule judges it; look at it yourself",
                path=f"unmodelled[{line.line}]",
            )
