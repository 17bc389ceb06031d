"""Verdict of a review in ten lines: new errors and their place, the risk, and who is hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocefort.models.finding import Finding, Severity
from rocefort.models.wording import count_of, listing
from rocefort.reports.blocks import Items, Section, Tone, first_words
from rocefort.reports.wording import group_items, name_ranges
from rocefort.verification.review.advice_section import HARMLESS
from rocefort.verification.review.results import Review

LOST_REDUNDANCY = ("CHG104", "CHG105", "CHG106", "CHG107")
MOST_ERRORS = 4  # rules with new errors that the verdict names
MOST_NAMES = 3
LONGEST = 300  # characters of a sentence


def verdict_of(review: Review) -> str:
    """The review in a few words."""
    errors = _new_errors(review)
    if not errors:
        return "passes, no new errors"
    lost = any(error.rule in LOST_REDUNDANCY for error in errors)
    return count_of(len(errors), "new error") + (", redundancy lost" if lost else "")


def anchor_of(finding: Finding) -> str:
    """Id of the section with the new findings of a rule and severity."""
    return f"new-{finding.severity.value}-{finding.rule}"


def not_judged(review: Review) -> str:
    """`1 line of templates on 4 switches is not judged`; empty if every changed line is judged."""
    changes = [s.change for s in review.difference.changed if s.change.unknown]
    lines = {line for change in changes for line in change.unknown}
    if not lines:
        return ""
    verb = "is" if len(lines) == 1 else "are"
    where = count_of(len(changes), "switch")
    sentence = f"{count_of(len(lines), 'line')} of templates on {where} {verb} not judged"
    stated = [each for change in changes for each in change.stated if each.own_file]
    if not stated:
        return sentence
    number = len({each.line for each in stated})
    files = listing(sorted({each.own_file for each in stated}))
    harmless = f"{count_of(number, 'line')} {'has' if number == 1 else 'have'} no effect"
    return f"{sentence} (that {harmless} is stated by this change's own {files})"


def effects_lead(review: Review, effects: str = "", nothing: str = "") -> str:
    """Lead on effects: lines that are not judged come first, and replace `nothing`."""
    unjudged = not_judged(review)
    return " ".join(filter(None, (unjudged and f"Not known: {unjudged}.", effects))) or nothing


def verdict_section(review: Review) -> Section:
    """Each new error in one line, then the risk and who is hit; never cut."""
    errors = errors_by_rule(review)
    ordered = list(errors)
    lines = [_error_line(errors[rule], review) for rule in ordered[:MOST_ERRORS]]
    targets = [anchor_of(errors[rule][0]) for rule in ordered[:MOST_ERRORS]]
    if rest := sum(len(errors[rule]) for rule in ordered[MOST_ERRORS:]):
        lines.append(f"and {count_of(rest, 'more error')}: see the findings")
        targets.append("findings")
    lines += [f"risk: {_short(risk_of(review))}", f"hit: {_short(hit_of(review))}"]
    targets += ["blast", "servers"]
    return Section(
        "",
        (Items(tuple(lines), targets=tuple(targets)),),
        lead=f"From {review.base} to {review.head}, {review.file}: {_other_findings(review)}.",
        id="verdict",
        tone=Tone.ERROR if errors else Tone.GOOD,
        uncut=True,
    )


def errors_by_rule(review: Review) -> dict[str, list[Finding]]:
    """New errors by rule; those that lose redundancy come first."""
    errors = group_items(_new_errors(review), lambda error: error.rule)
    ordered = sorted(errors, key=lambda rule: rule not in LOST_REDUNDANCY)
    return {rule: errors[rule] for rule in ordered}


def _new_errors(review: Review) -> list[Finding]:
    return [finding for finding in review.findings.new if finding.severity is Severity.ERROR]


def _other_findings(review: Review) -> str:
    found = review.findings
    warnings = sum(finding.severity is Severity.WARNING for finding in found.new)
    words = [count_of(warnings, "new warning") if warnings else "no new warnings"]
    if fixed := sum(finding.severity is not Severity.INFO for finding in found.fixed):
        words.append(f"{count_of(fixed, 'finding')} fixed")
    apart = ((review.report.waived, "waived"), (review.report.not_judged, "not judged"))
    words += [f"{len(verdicts)} {what}" for verdicts, what in apart if verdicts]
    return ", ".join(words)


def _error_line(errors: Sequence[Finding], review: Review) -> str:
    first = errors[0]
    more = f", and {count_of(len(errors) - 1, 'more error')} of {first.rule}" if errors[1:] else ""
    return f"{first.rule}: {_short(first.message)}, at {str(first.where) or review.file}{more}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rpartition(' ')[0]} .."


def risk_of(review: Review) -> str:
    """Effect of applying the change: drains, sessions, links, pairs and uplinks left."""
    if review.base_problems:
        return "not known: the base does not parse, so nothing is compared"
    change, blast = review.difference, review.blast
    if not change.compared:
        return "not known: there is no base to compare with"
    if not change.differs:
        return "none, no switch changes"
    unjudged = not_judged(review)
    parts = [f"not known: {unjudged}"] if unjudged else []
    parts += _touched(review)
    titles = [advice.title for advice in review.advice if advice.kind not in HARMLESS]
    if titles:
        more = f" and {count_of(len(titles) - 2, 'more part')}" if titles[2:] else ""
        parts.append("; ".join(titles[:2]) + more)
    if low := min((row for row in blast.redundancy if row.changing != row.leaf), default=None,
                  key=lambda row: row.left / row.uplinks):  # fmt: skip
        alike = [
            row.leaf
            for row in blast.redundancy
            if (row.changing, row.left, row.uplinks) == (low.changing, low.left, low.uplinks)
        ]
        leaves = first_words(name_ranges(alike), MOST_NAMES)
        verb = "keep" if alike[1:] else "keeps"
        left = f"{low.left} of {low.uplinks} uplinks"
        parts.append(f"while {low.changing} changes, {leaves} {verb} {left}")
    management = {change.device for change in review.management.changes}
    if management:
        parts.append(f"the management path changes on {count_of(len(management), 'switch')}")
    sizes = ((len(change.changed), "changed"), (len(change.only_after), "new"))
    switches = ", ".join(f"{count_of(n, 'switch')} {word}" for n, word in sizes if n)
    return "; ".join(parts) if parts else f"none, traffic feels nothing ({switches})"


def _touched(review: Review) -> Iterator[str]:
    blast = review.blast
    sizes = ((len(blast.sessions), "BGP session"), (len(blast.links), "link"))
    words = [count_of(number, noun) for number, noun in sizes if number]
    words += [f"{blast.pairs:,} of {count_of(blast.pairs_in_all, 'RDMA pair')}"] * bool(blast.pairs)
    if words:
        yield f"the change touches {', '.join(words)}"


def hit_of(review: Review) -> str:
    """Servers, racks and segments that the change touches, and servers that lose service."""
    blast = review.blast
    parts = (("server", blast.servers), ("rack", blast.racks), ("segment", blast.segments))
    words = [
        f"{count_of(len(names), noun)} ({first_words(names, MOST_NAMES)})"
        for noun, names in parts
        if names
    ]
    if blast.lost:
        lost = [f"{s.server} of {s.owner}" if s.owner else s.server for s in blast.lost]
        words.append(f"without service: {first_words(lost, MOST_NAMES)}")
    unjudged = bool(not_judged(review))
    if words:
        return ("not known, besides " if unjudged else "") + ", ".join(words)
    if not review.difference.compared or review.base_problems:
        return "not known"
    pairs = f"; {blast.pairs:,} of {count_of(blast.pairs_in_all, 'RDMA pair')} cross what changes"
    return ("not known" if unjudged else "no server") + (pairs if blast.pairs else "")
