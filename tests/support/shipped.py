"""Policy of the shipped HEPS, for tests that put their own in its place."""

from __future__ import annotations

from rocefort.base.repository import INVENTORY

HEPS = (INVENTORY / "heps" / "fabric.yaml").read_text(encoding="utf-8")
POLICY = HEPS[HEPS.index("  policy:\n") : HEPS.index("\nservices:\n")]


def own_policy(security: str = "") -> tuple[str, str]:
    """Return the edit of HEPS that replaces its policy by that of a `security` block, or by none."""
    return POLICY, security.removeprefix("\nsecurity:\n")
