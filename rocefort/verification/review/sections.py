"""Sections of a review in order, for Markdown and for the page."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rocefort.change.differences_report import (
    SHORT,
    DescribedChange,
    change_groups,
    condition_lines,
    edit_lines,
    headline,
    service_lines,
    unjudged_lines,
)
from rocefort.change.results import (
    IntentChange,
    ManagementPath,
    OneSided,
    ReviewLine,
    SwitchDifference,
    SwitchLines,
)
from rocefort.models.change.plan import ChangeKind
from rocefort.models.finding import Finding, Severity
from rocefort.models.wording import count_of
from rocefort.reports.blocks import (
    Block,
    Code,
    CollapsibleSection,
    Items,
    Note,
    Section,
    Tone,
    code,
    first_words,
)
from rocefort.reports.wording import group_items, name_ranges, port_ranges, unjudged_by_cause
from rocefort.validators.routing_results import RoutingChange
from rocefort.verification.failures import costs
from rocefort.verification.review.advice_section import advice_section
from rocefort.verification.review.results import Review
from rocefort.verification.review.verdict import (
    anchor_of,
    effects_lead,
    not_judged,
    verdict_of,
    verdict_section,
)


def management_section(review: Review) -> Section:
    """Parts of the management path that change; lines that are not judged come first."""
    path = review.management
    title = "Management path"
    if not path.switches:
        lead = "Not compared: there is no base to compare with."
        return Section(title, lead=lead, id="management")
    aspects = ", ".join(path.aspects)
    sides = [f"{len(path.new)} new"] if path.new else []
    sides += [f"{len(path.removed)} removed"] if path.removed else []
    beside = f"; {', '.join(sides)}, on one side only" if sides else ""
    apart = tuple(_one_sided_access(path))
    if not path.changes:
        same = f"on all of {count_of(path.switches, 'switch')}: {aspects}{beside}."
        unknown = effects_lead(review)
        lead = f"{unknown} Judged lines: unchanged {same}" if unknown else f"Unchanged {same}"
        return Section(title, (Items(apart),) if apart else (), lead, "management")
    alike = group_items(path.changes, lambda change: (change.aspect, change.what))
    lines = [
        f"{', '.join(name_ranges(c.device for c in found))}: {aspect}: {code(what)}"
        for (aspect, what), found in alike.items()
    ]
    changing = f"{path.switches - path.untouched} of {count_of(path.switches, 'switch')}"
    lead = effects_lead(review, f"Changes on {changing}; compared: {aspects}{beside}.")
    blocks = (Items(tuple(lines), strong=True), *([Items(apart)] if apart else []))
    return Section(title, blocks, lead, "management")


def _one_sided_access(path: ManagementPath) -> Iterator[str]:
    """Switches that only one side has: what ends, and how what comes is reached."""
    for access in path.removed:
        at = f" ({access.address})" if access.address else ""
        yield (
            f"{access.device}: removed, so access to it{at} ends by intent; it answers until it is "
            "switched off"
        )
    for access in path.new:
        at = f" at {access.address}" if access.address else ", at an address that is not known,"
        on = f" on {access.port}" if access.port else ""
        yield (
            f"{access.device}: new, reached by SSH{at}{on}, once its console has what "
            f"{code(f'rocefort day0 {access.device}')} prints"
        )


MOST_NOTES = 20
NO_BASE = "Not known: there is no base to compare with."
AFFECTS = "affects service"
PLACES = 3
PORT = re.compile(r"interface (\d+GE\S+)")


def review_summary(review: Review) -> Section:
    """The sum of every section."""
    head = f"{review.fabric}: {review.base} -> {review.head}: {verdict_of(review)}"
    leads = (f"{each.title.lower()}: {each.lead}" for each in sections_of(review, {}))
    return Section(head, (Items(tuple(leads)),), tone=Tone.ERROR if review.failed else Tone.GOOD)


def review_comment(review: Review, titles: Mapping[str, str]) -> Section:
    """The whole review as a comment on a pull request: the verdict, then the folded details."""
    title = f"Rocefort: {review.fabric}: {verdict_of(review)}"
    return Section(title, (verdict_section(review), *details_of(review, titles)))


def details_of(review: Review, titles: Mapping[str, str]) -> Iterator[Block]:
    """Notes on both sides, then each section as one fold; one without content as its sentence."""
    yield from (Note(note, Tone.WARNING) for note in notes_of(review)[:MOST_NOTES])
    for section in sections_of(review, titles):
        if section.blocks:
            summary = f"{section.title}: {section.lead}"
            yield CollapsibleSection(summary, section.blocks, section.noun)
        else:
            yield Note(f"{section.title}: {section.lead}")


def sections_of(review: Review, titles: Mapping[str, str]) -> tuple[Section, ...]:
    """Return every section, also the empty ones: they report that nothing was found."""
    return (
        _intent(review),
        advice_section(
            review.advice,
            compared=bool(review.difference.compared),
            unknown=effects_lead(review),
        ),
        _blast(review),
        _servers(review),
        _failures(review),
        _verification(review),
        _switches(review),
        management_section(review),
        _findings(review, titles),
        _growth(review),
        _sources(review),
    )


def notes_of(review: Review) -> tuple[str, ...]:
    """Return the notes on both sides that come first."""
    problems = [f"the base does not parse: {problem}" for problem in review.base_problems]
    if problems:
        problems.append(
            "so the switches, the blast radius and the management path are not compared, and every "
            "finding counts as new"
        )
    return (*review.notes, *problems)


def _intent(review: Review) -> Section:
    lines = list(map(intent_line, review.intent))
    lead = f"{count_of(len(lines), 'value')} of the intent changed."
    if not lines:
        new = review.difference.only_after and not review.difference.compared
        lead = "All of the fabric is new." if new else "No value of the intent differs."
        if review.base_problems:
            lead = "Not compared: the base does not parse."
    return Section("Intent", (Items(tuple(lines)),) if lines else (), lead, "intent")


def intent_line(change: IntentChange) -> str:
    """`path`: before -> after, at its line."""
    before, after = (
        code("none" if value is None else value) for value in (change.before, change.after)
    )
    if change.path.endswith("].name") and None not in (change.before, change.after):
        return f"{before} is renamed {after}, at {change.at}"
    return f"{code(change.path)}: {before} -> {after} at {change.at}"


def _switches(review: Review) -> Section:
    """Changed switches; those with equal changes but for their own values are shown together."""
    blocks = change_groups(map(_described, review.difference.changed))
    return Section("Switches", blocks, _switcheseffects_lead(review), "switches", noun="switch")


def _switcheseffects_lead(review: Review) -> str:
    change = review.difference
    if review.base_problems:
        return "Not compared: the base does not parse."
    if not change.differs:
        return "No switch changes."
    kinds = Counter(switch.change.kind for switch in change.changed if switch.change.has_lines)
    felt = sum(bool(s.change.service_affecting or s.facts) for s in change.changed)
    felt += len(change.only_before)  # a removed switch carries no traffic
    words = [f"{kinds[kind]} {kind.value}" for kind in ChangeKind if kinds[kind]]
    words += [f"{len(change.only_after)} new"] if change.only_after else []
    words += [f"{len(change.only_before)} removed"] if change.only_before else []
    said = ", ".join(words) or "no configuration differs"
    service = f"{count_of(felt, 'switch')} affected in service" if felt else "none affects service"
    still = change.compared - len(change.changed)
    return f"{said}; {service}; {still} unchanged."


def _described(switch: SwitchDifference) -> DescribedChange:
    change = switch.change
    head = headline(change) if change.patch else change.kind.value if change.edits else "as it was"
    facts = (*switch.facts, *([f"no patch: {switch.no_patch}"] if switch.no_patch else []))
    lines = (*facts, *edit_lines(change.edits), *unjudged_lines(change), *condition_lines(change))
    effects = tuple(service_lines(change))
    return DescribedChange(
        device=switch.device,
        head=head,
        lines=lines,
        effects=effects,
        commands=(("patch", change.patch), ("the way back", change.reverse)),
        badge=AFFECTS if effects or switch.facts else "",
    )


def _sources(review: Review) -> Section:
    """Changed lines of all switches, each once with the YAML that it comes from."""
    lines = tuple(_provenance(review.lines))
    lead = f"{count_of(len(lines), 'changed line')}, each with the line of YAML that causes it."
    if not lines:
        lead = NO_BASE if review.base_problems else "No line of a configuration changes."
    blocks = (Code(lines),) if lines else ()
    return Section("Where each line comes from", blocks, lead, "sources")


def _growth(review: Review) -> Section:
    """Switches and server pairs that only one side has."""
    change, done = review.difference, review.verification
    blocks = (*_one_sided(change.only_after, "new"), *_one_sided(change.only_before, "removed"))
    sizes = ((len(change.only_after), "new switch"), (len(change.only_before), "removed switch"))
    words = [count_of(number, noun) for number, noun in sizes if number]
    if done and done.new_pairs:
        words.append(count_of(done.new_pairs, "new server pair"))
    lead = f"{', '.join(words) or 'No switch and no server pair is new'}."
    return Section("Growth and removal", blocks, lead, "growth", noun="switch")


def _provenance(found: Sequence[SwitchLines]) -> Iterator[str]:
    """Each changed line once with the views that it is in and the YAML lines that it is from."""
    views: dict[tuple[bool, str], dict[str, None]] = defaultdict(dict)
    places: dict[tuple[bool, str], dict[str, None]] = defaultdict(dict)
    for line in (line for switch in found for line in switch.lines):
        views[_line(line)][line.view] = None
        places[_line(line)][line.place] = None
    for key, own in views.items():
        sign = "+" if key[0] else "-"
        where = first_words(filter(None, places[key]), PLACES) or "no line of the intent"
        view = _views(own)
        yield f"{sign} {key[1]}  <- {where}" + (f"  (in {view})" if view else "")


def _line(line: ReviewLine) -> tuple[bool, str]:
    return line.added, line.text


def _views(views: Iterable[str]) -> str:
    ports: list[str] = []
    others: list[str] = []
    for view in views:
        match = PORT.fullmatch(view)
        (ports if match else others).append(match[1] if match else view)
    return first_words([*port_ranges(ports), *filter(None, others)], PLACES)


def _one_sided(found: Sequence[OneSided], what: str) -> Iterator[Section]:
    for lines, alike in group_items(found, lambda switch: switch.lines).items():
        names = ", ".join(name_ranges(switch.device for switch in alike))
        places = f"from {first_words(dict.fromkeys(s.where for s in alike), PLACES)}"
        badge = AFFECTS if what == "removed" else ""
        title = f"{names}: {what}, {count_of(lines, 'line')}"
        yield Section(title, (Items((places,)),), badge=badge, size=len(alike))


def _blast(review: Review) -> Section:
    blast = review.blast
    if not review.verification or not review.difference.compared:
        return Section("Blast radius", lead=NO_BASE, id="blast")
    parts = (
        ("BGP session", blast.sessions),
        ("link", blast.links),
        ("server", blast.servers),
        ("segment", blast.segments),
    )
    counts = [count_of(len(found), what) for what, found in parts if found]
    if not counts and not blast.redundancy:
        lead = effects_lead(review, nothing="Traffic feels nothing of this change.")
        return Section("Blast radius", lead=lead, id="blast")
    lead = f"Touched: {', '.join(counts)}; {blast.pairs:,} of {blast.pairs_in_all:,} RDMA pairs."
    blocks: list[Block] = [Items(tuple(_redundancy(review)))]
    blocks += [
        CollapsibleSection(count_of(len(found), what), (Items((first_words(found),)),))
        for what, found in parts
        if found
    ]
    return Section("Blast radius", tuple(blocks), effects_lead(review, lead), "blast")


def _redundancy(review: Review) -> Iterator[str]:
    if not review.blast.redundancy:
        down = "no cable and no session goes down, so every leaf keeps its uplinks"
        yield "no judged line takes a cable or a session down" if not_judged(review) else down
    groups: dict[tuple[bool, int, int], list[tuple[str, str]]] = defaultdict(list)
    for row in review.blast.redundancy:
        own = row.changing == row.leaf
        groups[own, row.uplinks, row.left].append((row.changing, row.leaf))
    for (own, uplinks, left), rows in groups.items():
        changing = first_words(name_ranges(dict.fromkeys(name for name, _ in rows)), SHORT)
        leaves = first_words(name_ranges(dict.fromkeys(leaf for _, leaf in rows)), SHORT)
        if own:
            any_of = "any of " if len(rows) > 1 else ""
            yield f"while {any_of}{leaves} changes: it keeps {left} of {uplinks} uplinks itself"
        else:
            verb = "keeps" if len({leaf for _, leaf in rows}) == 1 else "keep"
            one_of = "any of " if len({name for name, _ in rows}) > 1 else ""
            yield f"while {one_of}{changing} changes: {leaves} {verb} {left} of {uplinks} uplinks"


def _servers(review: Review) -> Section:
    lost, title = review.blast.lost, "Servers that lose service"
    if not review.difference.compared:
        return Section(title, lead=NO_BASE, id="servers")
    if not lost:
        return Section(title, lead=effects_lead(review, nothing="None."), id="servers")
    lines = [
        f"{server.server} on {server.leaf}: {server.why}; owner {server.owner or 'not known'}, "
        f"maintenance {server.maintenance or 'not known'}"
        for server in lost
    ]
    lead = f"{count_of(len(lost), 'server')}, {'each ' if lost[1:] else ''}on one leaf only."
    listed = Items(tuple(lines))
    blocks = (CollapsibleSection("all of them", (listed,)),) if lines[MOST_NOTES:] else (listed,)
    return Section(title, blocks, effects_lead(review, lead), "servers")


def _findings(review: Review, titles: Mapping[str, str]) -> Section:
    found = review.findings
    lead = (
        f"{len(found.new):,} new, {len(found.fixed):,} fixed, "
        f"{len(found.changed):,} with other figures, {len(found.unchanged):,} unchanged; "
        f"{len(review.report.waived):,} waived, "
        f"{unjudged_by_cause(review.report)}."
    )
    blocks: list[Block] = []
    for severity in Severity:
        own = [finding for finding in found.new if finding.severity is severity]
        if own:
            info = severity is Severity.INFO
            size = f"{len(own)} info" if info else count_of(len(own), severity.value)
            rules = group_items(own, lambda finding: finding.rule)
            lists = (
                Section("", (Items(tuple(_sentences(same, titles))),), id=anchor_of(same[0]))
                for same in rules.values()
            )
            blocks.append(Section(f"new: {size}", tuple(lists)))
    others = (
        ("fixed", found.fixed),
        ("with other figures", tuple(pair.after for pair in found.changed)),
        ("unchanged", found.unchanged),
    )
    for what, findings in others:
        if findings:
            own_lines = tuple(_sentences(findings, titles))
            blocks.append(CollapsibleSection(f"{len(findings):,} {what}", (Items(own_lines),)))
    return Section("Findings", tuple(blocks), lead, "findings")


def _sentences(findings: Iterable[Finding], titles: Mapping[str, str]) -> Iterator[str]:
    """One line for findings of one rule that say the same."""
    alike = group_items(findings, lambda f: (f.rule, f.severity, f.message, f.hint))
    for (rule, severity, message, hint), same in alike.items():
        places = dict.fromkeys(str(finding.where) for finding in same)
        at = first_words(filter(None, places), PLACES)
        fix = f"; fix: {hint}" if hint else ""
        title = f" ({titles[rule]})" if rule in titles else ""
        yield f"{rule} {severity.value}{title}: {message}" + (f", at {at}" if at else "") + fix


def _verification(review: Review) -> Section:
    done = review.verification
    if done is None:
        return Section("Verification", lead="Not done.", id="verification")
    head = done.head
    lead = (
        f"By {' and '.join(done.engines)}: {head.established:,} of {head.sessions:,} sessions, "
        f"{head.routes:,} routes ({_widths(head.widths)}), {head.delivered:,} of {head.pairs:,} "
        "server pairs by every path."
    )
    lines = [done.note] if done.note else []
    if done.same:
        lines.append("as at the base: nothing that routing reads differs")
    elif done.base is None:
        lines.append("no base to compare with")
    else:
        base = done.base
        lines.append(
            f"base: {base.established:,} of {base.sessions:,} sessions, {base.routes:,} routes "
            f"({_widths(base.widths)}), {base.delivered:,} of {base.pairs:,} server pairs"
        )
    for change in done.changes:
        lines += _routing(change)
    if done.new_pairs:
        lines.append(f"{done.new_pairs:,} server pairs are new")
    return Section("Verification", (Items(tuple(lines)),) if lines else (), lead, "verification")


def _widths(widths: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"{count:,} of width {width}" for width, count in widths) or "none"


def _routing(change: RoutingChange) -> Iterator[str]:
    """ECMP widths that change, then who is gained and lost."""
    moves: dict[tuple[int, int], dict[str, None]] = defaultdict(dict)
    counts: Counter[tuple[int, int]] = Counter()
    for route in change.routes:
        moves[route.was, route.now][route.device] = None
        counts[route.was, route.now] += 1
    for (was, now), devices in moves.items():
        what = f"ECMP width {was} -> {now}" if was != now else f"other next hops, width {now},"
        names = first_words(name_ranges(devices), SHORT)
        yield f"{what} for {counts[was, now]:,} routes of {names}"
    for word, pairs in (("lost", change.lost), ("gained", change.gained)):
        named = first_words((f"{a} to {b}" for a, b in pairs[:SHORT]), SHORT)
        first = f": {named}" if pairs else ""
        more = f" and {len(pairs) - SHORT:,} more" if len(pairs) > SHORT else ""
        yield f"{len(pairs):,} server pairs {word}{first}{more}"


def _failures(review: Review) -> Section:
    done = review.verification
    found = done.failures if done else None
    title = "Failure tolerance"
    if found is None or not found.studied_after:
        why = found.note if found and found.note else "Not studied."
        return Section(title, lead=why[:1].upper() + why[1:], id="failures")
    lead = (
        f"{found.studied_after:,} failures studied: {found.parting_after:,} lose pairs of standing "
        f"leaves or cut one off, {found.losing_after:,} of them where cabling still joins the pair"
    )
    if found.studied_before:
        parting, losing = found.parting_before, found.losing_before
        lead += f"; at the base {found.studied_before:,}: {parting:,}, {losing:,} of them"
    alike = group_items(
        found.changes,
        lambda c: (
            costs(c.before) if c.before else "could not happen",
            costs(c.after) if c.after else "cannot happen",
        ),
    )
    lines = [
        f"{first_words((change.failure for change in same), PLACES)}: {was} -> {now}"
        if was != now
        else f"{first_words((change.failure for change in same), PLACES)}: {now}, in other places"
        for (was, now), same in alike.items()
    ]
    blocks = (
        CollapsibleSection(
            f"{len(found.changes):,} failures cost something else", (Items(tuple(lines)),)
        ),
    )
    return Section(title, blocks if lines else (), lead + ".", "failures")
