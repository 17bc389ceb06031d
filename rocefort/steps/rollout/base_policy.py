"""Policy of a plan's base: what approvals and signatures are asked for before the change counts.

A change could relax the policy that judges it. So the policy is read from the intent before the
change: the base that the plan names, or what git has of the fabric's file before its last change.
"""

from __future__ import annotations

from pathlib import Path

from rocefort.design.load import load_fabric
from rocefort.models.approval import Approvals
from rocefort.models.change import Plan
from rocefort.steps.fabric.revisions import (
    Revision,
    checked_out,
    git,
    looks_like_revision,
    revision_of,
)


def policy_of_base(plan: Plan, base: str = "") -> Approvals | None:
    """Policy of the intent before a plan's; None: none is known, and the plan's own counts.

    base: `REV:` of the intent that was rolled out last, before what the plan names. A plan back
    stands on the fabric that its run has kept, and on the policy in it. Raises BadInput.
    """
    if plan.kept and not base:
        return None
    source, named = Path(plan.source), base or plan.base
    if not named:
        revision = last_but_one(source)
    elif looks_like_revision(named):
        revision = revision_of(named, str(source))
    else:
        return load_fabric(Path(named)).fabric.rollout.approvals
    if revision is None:
        return None
    with checked_out(revision) as checkout:
        if not checkout.is_fabric:
            return None
        return load_fabric(checkout.source).fabric.rollout.approvals


def last_but_one(source: Path) -> Revision | None:
    """The fabric's file before its last change, along first parents: what is merged counts whole.

    A change that is not committed yet is one. None: it is in no repository, or has no earlier form.
    """
    folder = source.parent
    if not any((place / ".git").exists() for place in (folder, *folder.parents)):
        return None
    top = Path(git(folder, "rev-parse", "--show-toplevel"))
    path = str(source.resolve().relative_to(top.resolve()))
    commits = git(top, "log", "-2", "--first-parent", "--format=%H", "--", path).split()
    if commits and not git(top, "status", "--porcelain", "--", path):
        commits = commits[1:]  # the newest one has the change
    return Revision(top, commits[0][:12], commits[0], path) if commits else None


def pinned(base: str, source: Path) -> str:
    """A base by the commit that it names now: `HEAD~1:` would be another one later."""
    if not looks_like_revision(base):
        return base
    revision = revision_of(base, str(source))
    return f"{revision.commit}:{revision.path}"
