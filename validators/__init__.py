"""Is it right? Rules over a Network, one module an area, one function a rule."""

from __future__ import annotations

from rocefort.models.device import natural
from rocefort.models.finding import Finding, NotJudged, Report, Severity
from rocefort.models.network import Network, Sources
from rocefort.validators import addressing, bgp, buffers, ecn, pfc, qos, text, topology
from rocefort.validators.rules import Rule, ordered
from rocefort.validators.verification import TITLES as VERIFICATION_TITLES

AREAS = (topology, addressing, bgp, pfc, buffers, qos, ecn, text)  # importing them registers


def rules() -> tuple[Rule, ...]:
    """All rules in the order of reports."""
    return ordered()


def titles() -> dict[str, str]:
    """Title of every rule by id, those of verification among them."""
    return {rule.id: rule.title for rule in rules()} | VERIFICATION_TITLES


def check(network: Network, sources: Sources | None = None) -> Report:
    """Run every rule on a network; what cannot be judged is in the report too."""
    findings: list[Finding] = []
    not_judged: list[NotJudged] = []
    for rule in rules():
        for verdict in rule.run(network, sources or Sources()):
            if isinstance(verdict, Finding):
                findings.append(verdict)
            else:
                not_judged.append(verdict)
    order = {rule.id: index for index, rule in enumerate(rules())}
    return Report(
        network=network.name,
        rules=tuple(order),
        findings=tuple(sorted(findings, key=lambda f: (order[f.rule], *_severity_place(f)))),
        not_judged=tuple(sorted(not_judged, key=lambda n: (order[n.rule], *_place(n), n.reason))),
    )


def _severity_place(finding: Finding) -> tuple[object, ...]:
    line = finding.where.line or 0
    return list(Severity).index(finding.severity), *_place(finding), line, finding.message


def _place(verdict: Finding | NotJudged) -> tuple[object, ...]:
    return natural(verdict.where.device or ""), natural(verdict.where.interface or "")
