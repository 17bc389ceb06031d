"""Policy of a plan's base: what approvals and signatures are asked for before the change counts.

A change could relax the policy that judges it. So the policy is read from the intent before the
change: what git has of the fabric's file before its last change. The base that a plan names is its
author's choice: its policy counts beside that, and only adds to it.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from rocefort.design.load.load import load_fabric
from rocefort.errors import BadInput, Refused, RocefortError
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.rollout.plan import Plan
from rocefort.steps.fabric.git_revisions import (
    NotInGit,
    Revision,
    checked_out,
    git,
    looks_like_revision,
    revision_of,
)


def policy_of_base(plan: Plan, base: str = "") -> Approvals | None:
    """Policy of the intent before a plan's; None: none is known, and the plan's own counts.

    base: `REV:` of the intent whose policy counts alone, as who applies the plan says. For a plan
    back it is what is committed, which is what it leads back from; where that cannot be read, the
    way back does not wait for it, and the policy counts that its run has kept. Raises BadInput,
    and Refused where no signer satisfies two policies.
    """
    source = Path(plan.source)
    if base:
        return _policy_at(base, source)
    if plan.kept:
        with suppress(RocefortError):
            return _policy_of(newest(source))
        return None
    before = _policy_of(last_but_one(source))
    named = _policy_at(plan.base, source) if plan.base else None
    if before is None or named is None:
        return before or named
    try:
        return before.joined(named)
    except ValueError as error:
        raise Refused(
            f"{error}: that before its last change, and that of the plan's base {plan.base}",
            where=f"{source}: rollout.approvals",
            how="say which one counts: --base REV:",
        ) from None


def _policy_at(base: str, source: Path) -> Approvals | None:
    """Policy of an intent that somebody names, as a revision or a place."""
    if looks_like_revision(base):
        return _policy_of(revision_of(base, str(source)))
    return load_fabric(Path(base)).fabric.rollout.approvals


def _policy_of(revision: Revision | None) -> Approvals | None:
    if revision is None:
        return None
    with checked_out(revision) as checkout:
        if not checkout.is_fabric:
            return None
        return load_fabric(checkout.source).fabric.rollout.approvals


def last_but_one(source: Path) -> Revision | None:
    """The fabric's file before its last change, along first parents: what is merged counts whole.

    A change that is not committed yet is one. None: it is in no repository, or has no earlier form.
    Raises BadInput for a shallow clone that may lack that.
    """
    known = _commits(source)
    if not known:
        return None
    top = known[0].repository
    if git(top, "status", "--porcelain", "--", known[0].path):
        return known[0]
    if known[1:]:
        return known[1]  # the newest one has the change
    if git(top, "rev-parse", "--is-shallow-repository") == "true":
        what = "this clone is shallow and lacks it as it was before its last change"
        how = "git fetch --unshallow, or name that: --base REV:"
        raise BadInput(f"{what}, whose policy counts", where=str(source), how=how)
    return None


def newest(source: Path) -> Revision | None:
    """The fabric's file as it is committed; None: it is not."""
    return next(iter(_commits(source)), None)


def _commits(source: Path) -> list[Revision]:
    """The last two forms of a file that were committed, the newest first."""
    folder = source.parent
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        return []
    try:
        top = Path(git(folder, "rev-parse", "--show-toplevel"))
    except NotInGit:
        return []
    if not git(top, "rev-list", "--all", "--max-count=1"):
        return []  # nothing is committed yet
    path = str(source.resolve().relative_to(top.resolve()))
    commits = git(top, "log", "-2", "--first-parent", "--format=%H", "--", path).split()
    return [Revision(top, commit[:12], commit, path) for commit in commits]


def pinned(base: str, source: Path) -> str:
    """A base by the commit that it names now: `HEAD~1:` would be another one later."""
    if not looks_like_revision(base):
        return base
    revision = revision_of(base, str(source))
    return f"{revision.commit}:{revision.path}"
