"""Steps of `review`: assess what a change in git does to a fabric."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rocefort import __version__
from rocefort.base.atomic_files import put_together
from rocefort.base.clock import utc_now
from rocefort.base.documents.read import Document
from rocefort.base.errors import BadInput, Problem, RocefortError
from rocefort.base.json_output import json_text
from rocefort.base.progress import Step, tracked
from rocefort.change.advice.advice import advice_on, without_live_patches
from rocefort.change.advice.causes import document_changes, origins, switch_lines
from rocefort.change.advice.drain_steps import DrainStudy
from rocefort.change.advice.renames import Renames, under_new_names, with_old_sysnames
from rocefort.change.difference import ComparedSide, ComparedSwitch, difference, switches_of
from rocefort.change.effects.blast_radius import blast_radius, management_path
from rocefort.change.results import (
    BlastRadius,
    FabricDifference,
    IntentChange,
    ManagementPath,
    SwitchLines,
)
from rocefort.change.sides import ReviewSide, ReviewSides, read_sides, top_of_review
from rocefort.dialects.choose import dialect_of
from rocefort.models.fabric.underlay import Capacity
from rocefort.models.finding import Finding, Report
from rocefort.models.network.network import Network, Node, Sources, SwitchRole
from rocefort.validators.checks import check, titles
from rocefort.validators.engine_choice import Engine
from rocefort.verification.findings import rule_texts
from rocefort.verification.review.fabrics import ChangedFabrics, changed_fabrics
from rocefort.verification.review.results import (
    FindingsChange,
    Review,
    Reviews,
    RewordedFinding,
    UnreviewedFabric,
)
from rocefort.verification.review.review_files import (
    reviews_markdown,
    reviews_output,
    reviews_sarif,
)
from rocefort.verification.review.review_page import review_page, reviews_page
from rocefort.verification.review.verified_sides import (
    ReviewVerification,
    VerificationOptions,
    VerifiedSide,
    verify_both,
)
from rocefort.verification.rules_in_force import judge_by_base
from rocefort.verification.verify import service_of

MARKDOWN, PAGE, JSON, SARIF = "review.md", "review.html", "review.json", "review.sarif"


@dataclass(frozen=True)
class ReviewRequest:
    """Options of `review` on the command line."""

    fabric: Path | None
    base: str
    head: str
    engine: Engine
    batfish: str | None
    failures: str | None = None


def make_reviews(asked: ReviewRequest) -> Reviews:
    """Review the named fabric, or each that changes; raises as `make_review` if none can be."""
    rule_notes = judge_by_base(top_of_review(asked.fabric), asked.base, asked.head)
    named = ChangedFabrics({str(asked.fabric): asked.fabric}) if asked.fabric else None
    changed = named or changed_fabrics(asked.base, asked.head)
    reviews: list[Review] = []
    errors: dict[str, RocefortError] = {}
    count = len(changed.present)
    for number, (file, path) in enumerate(changed.present.items(), 1):
        try:
            with Step(f"{file} ({number} of {count})" if count > 1 else file):
                reviews.append(make_review(path, asked, rule_notes))
        except RocefortError as error:
            errors[file] = error
    if errors and not reviews:
        worst = max(errors.values(), key=lambda error: error.exit_code)
        raise type(worst)(problems=[p for error in errors.values() for p in error.problems])
    return Reviews(
        base=reviews[0].base if reviews else asked.base,
        head=reviews[0].head if reviews else asked.head,
        reviews=tuple(reviews),
        removed=changed.removed,
        unreviewed=tuple(
            UnreviewedFabric(
                file=file, problems=tuple(map(str, error.problems)), exit_code=error.exit_code
            )
            for file, error in errors.items()
        ),
    )


def make_review(fabric: Path, asked: ReviewRequest, notes: Sequence[str] = ()) -> Review:
    """Review one fabric; raises BadInput, ServiceFailed or Refused instead of a partial review.

    notes: further remarks for the reader.
    """
    service = service_of(asked.batfish)
    sides, names, servers = under_new_names(read_sides(fabric, asked.base, asked.head))
    base, head = sides.base, sides.head
    before = base.derived if base else None
    after = head.derived
    if after is None:  # `read_sides` refuses a head that does not parse
        raise LookupError(head.path)
    was, will = _switches(sides, names)
    changed = without_live_patches(_difference(sides, was, will))
    touched = [switch.device for switch in changed.changed if switch.change.has_lines]
    fresh = [switch.device for switch in changed.only_after]
    asked_for = list(will.switches) if base and not before else [*touched, *fresh]
    network = after.network
    _read_back(network, will, asked_for)
    version = VerifiedSide(before.network, base.sources) if base and before else None
    asking = VerificationOptions(asked.engine, service, asked.failures)
    verified = verify_both(version, VerifiedSide(network, head.sources), changed, asking)
    report = check(network, head.sources)
    findings = _findings(version, network, report, verified)
    intent = tuple(_intent(sides, names, servers))
    sight = _drain_study(sides, (names, servers), changed, network, verified)
    lines: tuple[SwitchLines, ...] = ()
    blast, management = BlastRadius(), ManagementPath()
    if sight is not None:
        lines = tuple(_lines(sight, (was, will), touched, intent, sides.hardware_files))
        blast = blast_radius(sight.before, network, changed, sight.intents)
        management = management_path(sight.before, network, changed)
    return Review(
        fabric=after.fabric.fabric,
        file=head.path,
        base=sides.base_title,
        head=head.title,
        notes=(*sides.notes, *notes),
        base_problems=base.problems if base else (),
        intent=intent,
        difference=changed,
        lines=lines,
        advice=advice_on(sight, intent) if sight else (),
        blast=blast,
        management=management,
        findings=findings,
        report=report.joined(verified.head),
        verification=verified.told,
    )


def write_reviews(found: Reviews, directory: Path, page_url: str = PAGE) -> list[Path]:
    """Write all four forms into the directory; of several fabrics each has a folder besides.

    Folders of an earlier review are removed. page_url: future address of the page. Returns the
    files of the directory itself. Raises BadInput if a file cannot be written; of one fabric all
    are then as before.
    """
    folders = {} if found.only else _folders(found.reviews)
    for review in found.reviews if folders else ():
        alone = Reviews(base=review.base, head=review.head, reviews=(review,))
        write_reviews(alone, directory / folders[review.file])
    with Step("pages"):
        only, made = found.only, f"{utc_now():%Y-%m-%d %H:%M} UTC by Rocefort {__version__}"
        files = {
            MARKDOWN: reviews_markdown(found, titles(), page=page_url),
            PAGE: review_page(only, titles(), made)
            if only
            else reviews_page(found, folders, titles(), made),
            JSON: json_text(reviews_output(found)) + "\n",
            SARIF: reviews_sarif(found.reviews, rule_texts()),
        }
        written = put_together(files, directory)
    _remove_earlier(directory, folders.values(), files)
    return written


def _remove_earlier(directory: Path, present: Collection[str], names: Collection[str]) -> None:
    """Remove folders that have the files of a review, and nothing else.

    present: names of the folders of this review. One that cannot be removed stays.
    """
    with suppress(OSError):
        for folder in [each for each in directory.iterdir() if each.is_dir()]:
            files = {each.name for each in folder.iterdir()}
            if folder.name not in present and files == {*names} and not folder.is_symlink():
                for name in names:
                    (folder / name).unlink()
                folder.rmdir()


def _folders(reviews: Sequence[Review]) -> dict[str, str]:
    """Folder of each review by its fabric's file: named as the fabric's, by its path if two are."""
    parents = {review.file: Path(review.file).parent for review in reviews}
    names = Counter(parent.name for parent in parents.values())
    return {
        file: parent.name if parent.name and names[parent.name] == 1 else "-".join(parent.parts)
        for file, parent in parents.items()
    }


def _drain_study(
    sides: ReviewSides,
    renames: tuple[Renames, Renames],
    changed: FabricDifference,
    network: Network,
    verified: ReviewVerification,
) -> DrainStudy | None:
    """Data that the effects of a change are judged by; None without a base to compare with."""
    before, after = sides.base.derived if sides.base else None, sides.head.derived
    if before is None or after is None:
        return None
    return DrainStudy(
        before=before.network,
        after=network,
        change=changed,
        intents={s.name: s for fabric in (before.fabric, after.fabric) for s in fabric.servers},
        renames=renames[0],
        server_renames=renames[1],
        file=sides.head.path,
        canary=after.fabric.rollout.canary,
        solved=verified.start,
        retired=tuple(retired_ids(after.fabric.capacity)),
    )


def _lines(
    sight: DrainStudy,
    compared: tuple[ComparedSide, ComparedSide],
    names: Sequence[str],
    intent: Sequence[IntentChange],
    files: Mapping[str, str],
) -> Iterator[SwitchLines]:
    """Changed lines of switches with both texts, each with the YAML that causes it.

    files: hardware files, by model.
    """
    was, will = compared
    old = origins(was.sources, sight.before, intent, files, head=False)
    new = origins(will.sources, sight.after, intent, files, head=True)
    for name in tracked(names, "lines"):
        now = will.switches[name]
        if now.dialect != was.switches[name].dialect:
            continue  # texts of two systems cannot be compared
        changed = dialect_of(now).changed_lines(was.switches[name].rendered, now.rendered)
        yield switch_lines(name, changed, old, new)


def retired_ids(capacity: Capacity) -> Iterator[tuple[SwitchRole, int]]:
    """Ids of switches that are gone, which are never reused."""
    yield from ((SwitchRole.SPINE, id_) for id_ in capacity.retired_spines)
    yield from ((SwitchRole.LEAF, id_) for id_ in capacity.retired_leaves)


def _switches(sides: ReviewSides, names: Renames) -> tuple[ComparedSide, ComparedSide]:
    """The switches of both sides; each is rendered once, when its text is first read."""
    if sides.base is None:
        return ComparedSide(sides.base_title, {}, Sources()), _side(sides.head)
    return with_old_sysnames(_side(sides.base), names), _side(sides.head)


def _difference(sides: ReviewSides, was: ComparedSide, will: ComparedSide) -> FabricDifference:
    """Difference of every switch; empty if the base could not be derived."""
    if sides.base is not None and sides.base.derived is None:
        return FabricDifference(before=sides.base_title, after=will.name, compared=0, switches=())
    return difference(was, will, sides.head.families)


def _side(side: ReviewSide) -> ComparedSide:
    derived = side.derived
    network = derived.network if derived else None
    switches = dict(switches_of(network, side.sources, {})) if network else {}
    return ComparedSide(side.title, switches, side.sources, families=side.families)


def _read_back(network: Network, will: ComparedSide, names: Collection[str]) -> None:
    """Read the texts of some switches; raises BadInput for one that differs from the derived.

    The texts then describe the same network. A switch that the base has, too, was read back when
    the base was reviewed.
    """
    required = set(names)
    problems = [
        Problem(node.name, "its text differs from the derived configuration")
        for node in tracked([each for each in network.nodes if each.name in required], "read back")
        if not _text_matches(node, will.switches[node.name])
    ]
    if problems:
        raise BadInput(problems=problems)


def _text_matches(node: Node, now: ComparedSwitch) -> bool:
    """Whether the text of a switch parses to the derived Device."""
    parsed = dialect_of(now).parse(now.rendered, f"{node.name}.cfg")
    lines = [[(line.path, line.text) for line in each.unmodelled] for each in (parsed, node)]
    return parsed.device == node.device and lines[0] == lines[1]


def _findings(
    base: VerifiedSide | None, network: Network, report: Report, verified: ReviewVerification
) -> FindingsChange:
    """Compare the findings of head and base; without a base all are new."""
    now = report.joined(verified.head).findings
    if base is None:
        return findings_change((), now)
    same = base.network == network
    was = report if same else check(base.network, base.sources)
    before = was.joined(verified.base) if verified.base else was
    return findings_change(before.findings, now)


def _intent(sides: ReviewSides, names: Renames, servers: Renames) -> Iterator[IntentChange]:
    """Changes of the fabric's YAML, then of the repository's hardware and profiles."""
    lists = (("spines", names), ("leaves", names), ("servers", servers))
    renamed = {f"{key}[{old}]": new for key, found in lists for new, old in found.items()}
    base, head = sides.base, sides.head
    if base is None:  # all of it is new: a note reports it
        return
    files = dict.fromkeys((*head.others, *base.others))
    documents: list[tuple[str, Document | None, Document | None]] = [
        (f"{name}: ", base.others.get(name), head.others.get(name)) for name in files
    ]
    if base.document:
        documents.insert(0, ("", base.document, head.document))
    for prefix, old, new in documents:
        for change in document_changes(old, new, renamed):
            yield change.model_copy(
                update={
                    "path": prefix + change.path,
                    "before_at": base.names.file_and_line(change.before_at),
                    "after_at": head.names.file_and_line(change.after_at),
                }
            )


def findings_change(before: Iterable[Finding], after: Iterable[Finding]) -> FindingsChange:
    """Compare findings: two are the same if rule, severity, place and sentence are.

    A finding that differs only in figures is changed, with both sentences. Lines are ignored.
    """
    old, new = list(before), list(after)
    counts = Counter(map(_exact, old))
    unchanged: list[Finding] = []
    unmatched: list[Finding] = []
    for finding in new:
        key = _exact(finding)
        counts[key] -= 1
        (unchanged if counts[key] >= 0 else unmatched).append(finding)
    gone = _rest(old, unchanged)
    by_place: dict[Hashable, list[Finding]] = defaultdict(list)
    for finding in gone:
        by_place[_but_figures(finding)].append(finding)
    changed, fresh = [], []
    for finding in unmatched:
        alike = by_place[_but_figures(finding)]
        if alike:
            changed.append(RewordedFinding(before=alike.pop(0), after=finding))
        else:
            fresh.append(finding)
    fixed = _rest(gone, [pair.before for pair in changed])
    return FindingsChange(
        new=tuple(fresh), fixed=tuple(fixed), changed=tuple(changed), unchanged=tuple(unchanged)
    )


def _rest(findings: Sequence[Finding], taken: Sequence[Finding]) -> list[Finding]:
    """Findings without the taken ones, by count."""
    count = Counter(map(_exact, taken))
    rest = []
    for finding in findings:
        key = _exact(finding)
        if count[key]:
            count[key] -= 1
        else:
            rest.append(finding)
    return rest


def _exact(finding: Finding) -> Hashable:
    where = finding.where
    return finding.rule, finding.severity, where.device, where.interface, finding.message


def _but_figures(finding: Finding) -> Hashable:
    where = finding.where
    sentence = re.sub(r"\d+", "#", finding.message)
    return finding.rule, finding.severity, where.device, where.interface, sentence
