"""Unmodelled lines: commands of real switches outside of the scope, as kept and as shown.

They are not rows of the command table, because no rule here undoes or overwrites them. A line that
begins with such a command, and all below it, counts as known. `..` is any one word. Commands that
may change forwarding are not listed, so no routing engine refuses a text because of these.

A kept line is compared and written again, so only the forms of secrets that VRP has are masked in
it. A line of no known command may contain a secret in any form: a message shows it in part.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

from napalm_cloudengine.masking import ENDS_IN_FORM, REST, cut_at_secret_word, ends_before_secret
from rocefort.dialects.vrp.commands.catalogue import OPAQUE_VIEW, SYSTEM, Row, Syntax, site_rows
from rocefort.dialects.vrp.commands.format import MatchFailure, read_all, words_of
from rocefort.dialects.vrp.commands.match import rows_of
from rocefort.dialects.vrp.text.secret_forms import masked_text
from rocefort.models.device.secret import PLACEHOLDER
from rocefort.models.network.network import TextLine

# First words by view, and by their section of the V300R023C00 command reference.
SECTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "system": {
        "System_Time": ("clock timezone", "clock daylight-saving-time"),
        "SSH": (
            *("ssh server cipher", "ssh server hmac", "ssh server key-exchange"),
            *("ssh server dh-exchange min-len", "ssh server publickey", "ssh server rsa-key"),
            *("ssh client cipher", "ssh client hmac", "ssh client key-exchange"),
            *("ssh client first-time", "ssh client publickey", "ssh authorization-type default"),
            *("ssh ipv6 server-source", "ssh user .. sftp-directory", "ssh authentication-type"),
        ),
        "Telnet": ("telnet server-source", "telnet ipv6 server-source"),
        "FTP": ("ftp server source", "ftp ipv6 server source"),
        "PKI": ("pki realm", "ssl policy"),
        "Information_Management": ("info-center logfile compression",),
        "DNS": ("dns resolve", "dns server", "dns domain"),
        "CLI-based_Device_Login": ("user-interface maximum-vty", "user-interface con"),
        "First_Login_to_a_Device": ("header",),
        "License": ("license",),
        "STP_and_RSTP_and_MSTP": (
            *("stp mode", "stp bridge-address", "stp v-stp", "stp flush", "stp instance"),
            *("stp bpdu-protection", "stp tc-protection", "stp pathcost-standard", "stp enable"),
        ),
        "Routing_Management": ("router id",),  # the rules have BGP's own id
        "NetStream": ("netstream",),
        "SNMP": ("snmp-agent local-engineid", "snmp-agent trap", "snmp-agent proxy protocol"),
        "NTP": ("ntp unicast-peer", "ntp server source-interface", "ntp ipv6 server"),
        "Ethernet_Interface": ("error-down auto-recovery",),
    },
    "aaa": {
        "AAA": (
            *("authentication-scheme", "authorization-scheme", "accounting-scheme"),
            *("recording-scheme", "domain", "local-user .. ftp-directory"),
        ),
    },
    # No change of a route or of a session that comes up: CR `timer connect-retry`, `undo
    # synchronization` (the default), `peer bfd block` (how soon a failure is seen), communities
    # (only route-policies with them, which are refused), and `default ipv4-unicast` (a text has
    # `peer X enable` either way).
    "bgp": {
        "BGP": (
            *("timer connect-retry", "peer .. timer connect-retry", "undo synchronization"),
            *("peer .. bfd block", "peer .. log-change"),
            "undo default ipv4-unicast",
        ),
    },
    "bgp-af": {
        "BGP": (
            *("undo synchronization", "peer .. advertise-community"),
            *("peer .. advertise-ext-community",),
        ),
    },
    "interface": {
        "Ethernet_Interface": ("device transceiver",),
        "Eth-Trunk": ("lacp priority",),
        "STP_and_RSTP_and_MSTP": ("stp root-protection", "stp bpdu-filter"),
        "NetStream": ("netstream",),
        "Interface_Basic": ("port crc-statistics",),
    },
}
# From published configurations of a CE6880, a CE12800, a CE8850, a CE5810 and an S5735 of the V600
# releases, whose commands V300 shares in part; no vendor page.
FIELD: Mapping[str, tuple[str, ...]] = {
    "system": (
        *("hwtacacs", "stack", "device board", "vm-manager", "stp root", "stp disable"),
        *("language character-set", "authentication-profile", "access-user", "warranty"),
        *("mac-address update arp", "qos schedule-profile", "free-rule-template", "http"),
        *("dot1x-access-profile", "mac-access-profile", "web-manager", "dot1x enable"),
    ),
    "aaa": (
        *("default-domain admin", "undo local-user policy security-enhance"),
        *("local-aaa-user", "local-user authentication lock"),
    ),
    "interface": ("stp instance", "stp disable", "port-security", "qos lr", "stack-port"),
}


def _prefixes(view: str) -> Iterator[str]:
    for section in SECTIONS.get(view, {}).values():
        yield from section
    yield from FIELD.get(view, ())


@cache
def _patterns(view: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """First words of the commands of a view, the longest first, with a pattern of lines."""
    ordered = sorted(_prefixes(view), key=len, reverse=True)
    words = ((each, re.escape(each).replace(r"\.\.", r"\S+")) for each in ordered)
    return tuple((each, re.compile(rf"{pattern}(?!\S)")) for each, pattern in words)


def ignored_command(view: str, text: str) -> str:
    """Return the first words of a known command out of scope; empty for any other line."""
    bare = text.removeprefix("undo ")
    for words, pattern in _patterns(view):
        if pattern.match(text) or pattern.match(bare):
            return words
    return ""


UNDO = "undo"
UNKNOWN_VIEW = ""
FAMILY_VIEW = re.compile(r"\S+-family\b.*", re.ASCII)  # a view that the catalogue may not have


def command_of(line: TextLine, syntax: Syntax | None = None) -> str:
    """Return literal words of a known command, `..` for its arguments; empty for an unknown one.

    syntax: of the switch, for commands of its site.
    """
    view = view_of(line.path, syntax)
    if view == OPAQUE_VIEW:
        return line.text.split(" ", 1)[0] + " .."
    row = _row(view, line.text, syntax)
    return row.name if row else ignored_command(view, line.text)


def row_of(path: tuple[str, ...], syntax: Syntax | None = None) -> Row | None:
    """Return the row of a line, given as its views and itself; None for an unknown line."""
    return _row(view_of(path[:-1], syntax), path[-1], syntax)


def leaves_view(line: TextLine, syntax: Syntax | None = None) -> bool:
    """Whether a line is no command of its view, and opens a view of one around it."""
    view = view_of(line.path, syntax)
    if view in (OPAQUE_VIEW, UNKNOWN_VIEW) or _row(view, line.text, syntax):
        return False
    outer = (
        _row(view_of(line.path[:depth], syntax), line.text, syntax)
        for depth in range(len(line.path))
    )
    return any(row is not None and row.opens for row in outer)


@lru_cache(maxsize=4096)
def view_of(path: tuple[str, ...], syntax: Syntax | None = None) -> str:
    """Return the view of a path of lines; empty where the table lacks one of them."""
    view = SYSTEM
    for text in path:
        if view != OPAQUE_VIEW:
            row = _row(view, text, syntax)
            if row is None:
                view = OPAQUE_VIEW if ignored_command(view, text) else UNKNOWN_VIEW
            else:
                view = row.opens
    return view


def _row(view: str, text: str, syntax: Syntax | None) -> Row | None:
    """Return the row of a view that matches a line, as a setting or as its undo."""
    words = words_of(text)
    undone = words[0] == UNDO and len(words) > 1
    words = words[1:] if undone else words
    own = (row for row in site_rows(syntax) if row.view == view and words[0] in row.first_words)
    for row in (*rows_of(view, words[0]), *own):
        forms = (row.nodes, *(nodes for nodes, _ in row.undo_nodes if undone))
        if any(True for form in forms for _ in read_all(form, words, MatchFailure())):
            return row
    return None


Path = tuple[str, ...]


def kept_lines(seen: Mapping[int, tuple[Path, str]], numbers: Iterable[int]) -> Iterator[TextLine]:
    """Yield lines by their numbers; seen: every line of the text with the views around it."""
    rests: set[Path] = set()  # of wrapped lines
    for number in sorted(numbers):
        whole = _whole(*seen[number])
        kept = tuple(map(masked_text, whole))
        if number - 1 in seen and _is_wrapped(_whole(*seen[number - 1])):
            rests.add(whole)
        heads = [whole[: depth + 1] for depth in range(len(whole))]
        shown = tuple(REST if head in rests else _shown(head) for head in heads)
        yield TextLine(kept[:-1], kept[-1], number, shown=() if shown == kept else shown)


def _whole(path: Path, line: str) -> Path:
    return (*path, line)


def _shown(whole: Path) -> str:
    """Return a line, given as its views and itself, without what may be a secret."""
    if len(whole) > 1 and _is_wrapped(whole[:-1]):
        return REST
    kept = masked_text(whole[-1])
    cut = kept if PLACEHOLDER.search(kept) else cut_at_secret_word(kept)
    return cut if cut != kept and _is_unknown(whole) else kept


def _is_wrapped(whole: Path) -> bool:
    """Whether a line ends before its secret, so that the next line may be that."""
    if ENDS_IN_FORM.search(whole[-1]):  # `password simple` alone has the password `simple`
        return True
    return ends_before_secret(whole[-1]) and _is_unknown(whole)


def _is_unknown(whole: Path) -> bool:
    return not command_of(TextLine(whole[:-1], whole[-1], 0))
