"""Lines that a switch writes automatically: defaults, which need no owner."""

from __future__ import annotations

from functools import lru_cache

from rocefort.dialects.vrp.commands.match import identify
from rocefort.dialects.vrp.commands.syntax import Syntax
from rocefort.dialects.vrp.interpreter.execute import view_kind
from rocefort.dialects.vrp.interpreter.interpreter import VrpRefusal, apply_lines
from rocefort.models.hardware.hardware import SyntaxFamily
from rocefort.models.network.network import TextLine

# Views and line, as in a text, with the statement of the command reference of V300R023C00, or the
# switches that save it (published texts). A line that an operator adds below such a line is a
# separate line and needs an owner.
PRESENT = {
    "aaa / authentication-scheme default": "`authentication-scheme`: exists, cannot be deleted",
    "aaa / domain default": "`domain`: exists by default, cannot be deleted",
    "aaa / domain default_admin": "`domain`: exists by default, cannot be deleted",
    "user-interface con 0": "`display current-configuration`: there with nothing configured",
    "stp mode mstp": "`stp mode`: MSTP by default",
    "aaa / authorization-scheme default": "`authorization-scheme`: cannot be deleted",
    "aaa / accounting-scheme default": "`accounting-scheme`: cannot be deleted",
    "dcb ets-profile default": "`dcb ets-profile`: provided by the system",
    "ntp server disable": "`ntp server disable`: comes with the first line of NTP",
    "ntp ipv6 server disable": "`ntp ipv6 server disable`: comes with the first line of NTP",
    "ntp server source-interface all disable": "`ntp server source-interface all`: listens nowhere",
    "ntp ipv6 server source-interface all disable": "the same for IPv6: an S5735 with V600R023C00",
    "ssh authorization-type default aaa": "`ssh authorization-type default`: AAA by default",
    "ssh server dh-exchange min-len 3072": "`ssh server dh-exchange min-len`: 3072 by default",
    "undo ssh server-source all-interface": "`ssh server-source`: from no interface by default",
    "undo ssh ipv6 server-source all-interface": "`ssh ipv6 server-source`: the same",
    "undo telnet server-source all-interface": "`telnet server-source`: none by default",
    "undo telnet ipv6 server-source all-interface": "`telnet ipv6 server-source`: the same",
    "undo ftp server source all-interface": "an S5735 with V600R023C00, beside SSH's and Telnet's",
    "undo ftp ipv6 server source all-interface": "the same for IPv6",
    **{
        f"undo snmp-agent{proxy} protocol source-status{version} all-interface": (
            "`snmp-agent protocol source-status`: not enabled by default"
        )
        for proxy in ("", " proxy")
        for version in ("", " ipv6")
    },
    "pki realm default": "`pki realm`: there by default, cannot be deleted",
    "user-interface maximum-vty 5": "`user-interface maximum-vty`: 5 by default",
    "stelnet ipv6 server enable": "`stelnet server enable`: of IPv4 and of IPv6",
    "stack": "a CE8850, CE6880s and an S5735 save the section empty",
    "license": "CE6880s with V200R005C10 and an S5735 save the section empty",
}


def written_by_itself(line: TextLine) -> bool:
    """Whether a line states a default, on every syntax family that has the command."""
    return _written_by_itself(line.path, line.text)


@lru_cache(maxsize=4096)  # a line with a default takes 0.3 ms, and switches repeat them
def _written_by_itself(path: tuple[str, ...], text: str) -> bool:
    if " / ".join((*path, text)) in PRESENT:
        return True
    answers = [_says_default(path, text, family) for family in SyntaxFamily]
    verdicts = [each for each in answers if each is not None]
    return bool(verdicts) and all(verdicts)


def _says_default(path: tuple[str, ...], text: str, family: Syntax) -> bool | None:
    """Whether a family drops the line because it states a default; None: no such command."""
    row = identify(view_kind(path, family), text, family).row
    if row is None:
        return None
    if not row.default:
        return False
    try:
        return apply_lines((), path, family) == apply_lines((), (*path, text), family)
    except VrpRefusal:
        return False
