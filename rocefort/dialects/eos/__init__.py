"""Arista EOS as input of Batfish: a switch's routing and forwarding as EOS text."""

from rocefort.dialects.eos.eos_text import (
    EosNames,
    access_name,
    applied_policies,
    render_eos,
    rules_of,
    translated,
)

__all__ = ["EosNames", "access_name", "applied_policies", "render_eos", "rules_of", "translated"]
