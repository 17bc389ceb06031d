"""Policy of a plan's base: the approvals and signatures required before the change is valid.

A change could relax the policy that applies to it. So the policy comes from the intent before the
change: the fabric's file in git before its last change. The author chooses the base that a plan
names. The policy of that base only adds requirements.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rocefort.design.load.load import load_fabric
from rocefort.errors import BadInput, Refused, RocefortError
from rocefort.models.rollout.plan import Plan
from rocefort.models.rollout.plan_policy import PlanPolicy
from rocefort.steps.fabric.git_revisions import (
    NotInGit,
    Revision,
    checked_out,
    git,
    looks_like_revision,
    revision_of,
)


def policy_of_base(plan: Plan, base: str = "") -> PlanPolicy | None:
    """Policy of the intent before the plan; None if unknown, and then the plan's own policy counts.

    base: `REV:` of the intent whose policy alone counts, chosen by the user who applies the plan.
    For a rollback plan it is the committed intent, from which the plan leads away. If that cannot
    be read, the rollback does not wait: the policy stored by its run counts. Raises BadInput, and
    Refused if no signer satisfies two policies.
    """
    source = Path(plan.source)
    if base:
        return _policy_at(base, source, "named by --base")
    if plan.kept:
        with suppress(RocefortError):
            return _policy_of(newest(source), "the newest of the fabric")
        return None
    before = _policy_of(version_before_last_change(source), "before this change")
    named = _policy_at(plan.base, source, "the plan's base") if plan.base else None
    if before is None or named is None:
        return before or named
    if before.approvals is None or named.approvals is None or before.approvals == named.approvals:
        return before
    try:
        joined = before.approvals.joined(named.approvals)
    except ValueError as error:
        raise Refused(
            f"{error}: that before its last change, and that of the plan's base {plan.base}",
            where=f"{source}: rollout.approvals",
            how="choose one of them: --base REV:",
        ) from None
    return PlanPolicy(approvals=joined, origin=f"{before.origin}, and {named.origin}")


def _policy_at(base: str, source: Path, role: str) -> PlanPolicy | None:
    """Policy of an intent that the user names, as a revision or a path."""
    if looks_like_revision(base):
        return _policy_of(revision_of(base, str(source)), role)
    approvals = load_fabric(Path(base)).fabric.rollout.approvals
    return PlanPolicy(approvals=approvals, origin=f"policy of {base}, {role}")


def _policy_of(revision: Revision | None, role: str) -> PlanPolicy | None:
    if revision is None:
        return None
    with checked_out(revision) as checkout:
        if not checkout.is_fabric:
            return None
        approvals = load_fabric(checkout.source).fabric.rollout.approvals
    at = f"policy of {revision.path} at {revision.commit[:12]}"
    return PlanPolicy(approvals=approvals, origin=f"{at}, {role}")


def version_before_last_change(source: Path) -> Revision | None:
    """Return the fabric's file before its last change, along first parents: a merge is one change.

    An uncommitted change counts. None if the file is in no repository, or has no earlier version.
    Raises BadInput for a shallow clone that may lack that version.
    """
    revisions = _commits(source)
    if not revisions:
        return None
    top = revisions[0].repository
    if git(top, "status", "--porcelain", "--", revisions[0].path):
        return revisions[0]
    if revisions[1:]:
        return revisions[1]  # the newest one has the change
    if git(top, "rev-parse", "--is-shallow-repository") == "true":
        what = "this clone is shallow and lacks the version before its last change"
        how = "git fetch --unshallow, or name that version: --base REV:"
        raise BadInput(f"{what}, whose policy counts", where=str(source), how=how)
    return None


def newest(source: Path) -> Revision | None:
    """Committed version of the fabric's file; None without one."""
    return next(iter(_commits(source)), None)


def _commits(source: Path) -> list[Revision]:
    """Last two committed versions of a file, the newest first."""
    folder = source.parent
    if not any((directory / ".git").exists() for directory in (folder, *folder.parents)):
        return []
    try:
        top = Path(git(folder, "rev-parse", "--show-toplevel"))
    except NotInGit:
        return []
    if not git(top, "rev-list", "--all", "--max-count=1"):
        return []  # no commit yet
    path = str(source.resolve().relative_to(top.resolve()))
    commits = git(top, "log", "-2", "--first-parent", "--format=%H", "--", path).split()
    return [Revision(top, commit[:12], commit, path) for commit in commits]


def pinned(base: str, source: Path) -> str:
    """Replace a base by its current commit: `HEAD~1:` may mean another commit later."""
    if not looks_like_revision(base):
        return base
    revision = revision_of(base, str(source))
    return f"{revision.commit}:{revision.path}"
