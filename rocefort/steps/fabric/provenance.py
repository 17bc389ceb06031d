"""Provenance of a page: time, version, and the git revision of the files that it was made of."""

from __future__ import annotations

from pathlib import Path

from rocefort import __version__
from rocefort.base.clock import utc_now
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.reports.page.content import Provenance
from rocefort.steps.fabric.git_revisions import commit_of, existing, git, top_of
from rocefort.validators.routing.engine import ENGINE


def provenance_of(source: Path) -> Provenance:
    """Provenance of a page made of a fabric or of a directory of configurations.

    Outside of git, without git, and before the first commit there is no revision. Uncommitted are
    changes of any tracked file, because a site's hardware and profiles count too, and a source
    that git does not track.
    """
    path = (existing(source) or source).resolve()
    shown, revision, uncommitted = path, "", None
    try:
        top = top_of(path).resolve()
        shown = path.relative_to(top)
        revision = commit_of(top, "HEAD")
        status = ("status", "--porcelain")
        uncommitted = bool(
            git(top, *status, "--untracked-files=no")
            or git(top, *status, "--ignored", "--", str(path))
        )
    except (BadInput, ServiceFailed):
        pass  # the page shows that there is none
    return Provenance(
        made=utc_now(),
        version=__version__,
        engine=f"{ENGINE} engine of Rocefort {__version__}",
        source=str(shown),
        revision=revision,
        uncommitted=uncommitted,
    )
