"""Policy of a plan's base: approvals, signatures and calendar required before the change is valid.

A change could relax the policy that applies to it. So the policy comes from the intent before the
change: the fabric's file in git before its last change. A file without an earlier version may be a
renamed fabric or a copy, so the policy of the fabrics before the change counts. The author chooses
the base that a plan names. The policy of that base only adds requirements.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from rocefort.base.errors import BadInput, Refused, RocefortError
from rocefort.design.git_revisions import (
    NotInGit,
    Revision,
    checked_out,
    commit_of,
    files_with,
    git,
    looks_like_revision,
    revision_of,
)
from rocefort.design.load.documents import load_fabric
from rocefort.models.change.plan import Plan
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.fabric.fabric import Rollout
from rocefort.rollout.planning.plan_policy import PlanPolicy, calendars_of

FABRICS = ("*.yaml", "*.yml")  # names of files that may be fabrics
FABRIC_KEY = r"""^[{ ]*["']?fabric["']? *:"""
APPROVALS = r"""approvals["']? *:"""
NAME_IT = "name the fabric that it was, or itself if it is new: --base REV:PATH"


def policy_of_base(plan: Plan, base: str = "") -> PlanPolicy | None:
    """Policy of the intent before the plan; None if unknown, and then the plan's own policy counts.

    base: `REV:` of the intent whose policy alone counts, chosen by the user who applies the plan.
    For a rollback plan it is the committed intent, from which the plan leads away. If that cannot
    be read, the rollback does not wait: the policy stored by its run counts. Raises BadInput, and
    Refused if no signer satisfies two policies, or if several may be that of a new file.
    """
    source = Path(plan.source)
    if base:
        return _policy_at(base, source, "named by --base")
    if plan.kept:
        with suppress(RocefortError):
            return _policy_of(newest(source), source, "the newest of the fabric")
        return None
    before = _before_last_change(source)
    named = _policy_at(plan.base, source, "the plan's base") if plan.base else None
    if before is None or named is None:
        return before or named
    return _of_both(before, named, plan)


def _of_both(before: PlanPolicy, named: PlanPolicy, plan: Plan) -> PlanPolicy:
    """Policy that requires all that a policy and that of the plan's base require."""
    calendars = tuple(dict.fromkeys((*before.calendars, *named.calendars)))
    before = before.model_copy(update={"calendars": calendars})
    if named.approvals is None or before.approvals in (None, named.approvals):
        return before
    try:
        joined = before.approvals.joined(named.approvals)
    except ValueError as error:
        raise Refused(
            f"{error}: that before its last change, and that of the plan's base {plan.base}",
            where=f"{plan.source}: rollout.approvals",
            how="choose one of them: --base REV:",
        ) from None
    origin = f"{before.origin}, and {named.origin}"
    return PlanPolicy(approvals=joined, origin=origin, calendars=calendars)


def _policy_at(base: str, source: Path, role: str) -> PlanPolicy | None:
    """Policy of an intent that the user names, as a revision or a path."""
    if looks_like_revision(base):
        return _policy_of(revision_of(base, str(source)), source, role)
    rollout = load_fabric(Path(base)).fabric.rollout
    return _policy(rollout, source, f"policy of {base}, {role}")


def _policy(rollout: Rollout, source: Path, origin: str) -> PlanPolicy:
    calendars = calendars_of(rollout, source)
    return PlanPolicy(approvals=rollout.approvals, origin=origin, calendars=calendars)


def _policy_of(revision: Revision | None, source: Path, role: str) -> PlanPolicy | None:
    """Policy of a revision; source: the fabric's file now, whose folder has the calendar."""
    if revision is None:
        return None
    with checked_out(revision) as checkout:
        if not checkout.is_fabric:
            return None
        rollout = load_fabric(checkout.source).fabric.rollout
    at = f"policy of {revision.path} at {revision.commit[:12]}"
    return _policy(rollout, source, f"{at}, {role}")


def _before_last_change(source: Path) -> PlanPolicy | None:
    """Policy of a fabric's file before its last change, along first parents: a merge is one change.

    An uncommitted change counts. None if the file is in no repository, or if neither it nor another
    fabric has a policy before the change. Raises BadInput for a shallow clone that may lack it.
    """
    file = file_in_git(source)
    if file is None:
        return None
    top, path = file
    versions = list(islice(_versions(top, path), 2))
    # `git status` does not list a change of an ignored or `assume-unchanged` file.
    committed = git(top, "hash-object", "--", path) in git(top, "ls-tree", "HEAD", "--", path)
    if before := versions[int(committed) :]:  # the newest one has the change
        return _policy_of(before[0], source, "before this change")
    change = versions[0].commit if committed else "HEAD"
    words = ("--first-parent", "--max-count=1", f"--skip={int(committed)}", change)
    base = git(top, "rev-list", *words)
    if base and (policy := _policy_of_others(top, path, base)):
        return policy
    if git(top, "rev-parse", "--is-shallow-repository") == "true":
        what = "this clone is shallow and lacks the version before its last change"
        how = "git fetch --unshallow, or name that version: --base REV:"
        raise BadInput(f"{what}, whose policy counts", where=str(source), how=how)
    return None


def _policy_of_others(top: Path, path: str, base: str) -> PlanPolicy | None:
    """Approvals of the fabrics before a change that brings a new file; None if none has any.

    Calendars stay behind: those of several fabrics differ, and their files are in other folders.
    Raises Refused if they have different policies, because any of them may be that of the new file,
    or if one cannot be read.
    """
    what, where = "git has no earlier version of it", f"{top / path}: rollout.approvals"
    role = f"as git has no earlier version of {path}"
    policies: dict[str, PlanPolicy] = {}
    for revision in _fabrics_with_approvals(top, base):
        try:
            policy = _policy_of(revision, top / path, role)
        except BadInput as error:
            unread = f"{what}, and the policy of another fabric cannot be read: {error.problem}"
            raise Refused(unread, where=where, how=NAME_IT) from None
        if policy and policy.approvals and policy.approvals.in_force != Approvals():
            approvals = policy.model_copy(update={"calendars": ()})
            policies.setdefault(policy.approvals.in_force.model_dump_json(), approvals)
    if len(policies) > 1:
        origins = " and ".join(policy.origin.partition(",")[0] for policy in policies.values())
        raise Refused(
            f"{what}, and other fabrics differ in theirs: {origins}", where=where, how=NAME_IT
        )
    return next(iter(policies.values()), None)


def _fabrics_with_approvals(top: Path, commit: str) -> Iterator[Revision]:
    """Fabrics with approvals at a commit, then the last versions of those removed before it."""
    yielded = set()
    for path in _declaring(top, commit):
        yielded.add(path)
        yield Revision(top, commit[:12], commit, path)
    words = ("--first-parent", "-m", "--no-renames", "--diff-filter=D", "-G", APPROVALS)
    form = ("--no-show-signature", "--format=%H")
    for removal in git(top, "log", *words, *form, commit, "--", *FABRICS).split():
        before = commit_of(top, f"{removal}~1")
        for path in _declaring(top, before):
            kept = any(git(top, "ls-tree", each, "--", path) for each in (removal, commit))
            if path not in yielded and not kept:
                yielded.add(path)
                yield Revision(top, before[:12], before, path)


def _declaring(top: Path, commit: str) -> list[str]:
    return files_with(top, commit, (FABRIC_KEY, APPROVALS), FABRICS)


def newest(source: Path) -> Revision | None:
    """Committed version of the fabric's file; None without one."""
    file = file_in_git(source)
    return next(_versions(*file), None) if file else None


def policy_in_force(source: Path) -> Approvals | None:
    """Approvals of a fabric before its last change, and of its committed file; None without git.

    Where no signer is in both, those before the change count. Raises BadInput for a shallow clone.
    """
    policy = _policy_of(newest(source), source, "the newest of the fabric")
    committed = policy.approvals if policy else None
    with suppress(Refused):  # a new file beside others that differ: then its own
        before = _before_last_change(source)
        if before is not None and before.approvals is not None:
            with suppress(ValueError):
                return before.approvals.joined(committed or Approvals())
            return before.approvals
    return committed


def file_in_git(source: Path) -> tuple[Path, str] | None:
    """Top of the repository of a file, and its path; None without a repository with commits."""
    file = source.resolve()
    folder = file.parent
    if not any((directory / ".git").exists() for directory in (folder, *folder.parents)):
        return None
    try:
        top = Path(git(folder, "rev-parse", "--show-toplevel"))
    except NotInGit:
        return None
    if not git(top, "rev-list", "--all", "--max-count=1"):
        return None  # no commit yet
    return top, str(file.relative_to(top.resolve()))


def _versions(top: Path, path: str) -> Iterator[Revision]:
    """Committed versions of a file, the newest first; commits that removed it have none."""
    for commit in git(top, "rev-list", "--first-parent", "HEAD", "--", path).split():
        if git(top, "ls-tree", commit, "--", path):
            yield Revision(top, commit[:12], commit, path)


def pinned(base: str, source: Path) -> str:
    """Replace a base by its current commit: `HEAD~1:` may mean another commit later."""
    if not looks_like_revision(base):
        return base
    revision = revision_of(base, str(source))
    return f"{revision.commit}:{revision.path}"
