"""Lines that open a VRP switch to readable passwords: servers, algorithms, SNMP without keys.

CR is the command reference V300R023C00; it names each command. Which algorithms are weak: RFC 8758
(RC4), RFC 9142 (key exchange with SHA-1 or group 1), RFC 6151 (MD5), and for DES, 3DES and CBC in
SSH and SNMP NIST SP 800-131A and CVE-2008-5161.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from rocefort.dialects.data import AccessWeakness, WeakAccess
from rocefort.models.network.network import TextLine
from rocefort.models.wording import listing

WEAK_ALGORITHMS = frozenset(
    (
        *("des_cbc", "3des_cbc", "aes128_cbc", "aes192_cbc", "aes256_cbc", "blowfish_cbc"),
        *("arcfour128", "arcfour256", "md5", "md5_96", "sha1_96"),
        *("dh_group1_sha1", "dh_group14_sha1", "dh_group_exchange_sha1"),
    )
)
ALGORITHMS = re.compile(r"ssh (?:server|client) (cipher|hmac|key-exchange) (.+)")
SHORTEST_RSA, SHORTEST_DH = 2048, 2048  # NIST SP 800-131A; RFC 9142 for the exchange of groups
# A plain service, and the command that stops it. CR: `ftp server enable`, `tftp server enable`;
# `telnet server enable` and `http` of other releases: FIELD.
SERVERS = (
    (r"telnet (?:ipv6 )?server enable", "Telnet"),
    (r"ftp (?:ipv6 )?server enable", "FTP"),
    (r"tftp (?:ipv6 )?server enable", "TFTP"),
    (r"http server enable|web-manager http .*enable", "HTTP"),
)
GROUP = re.compile(r"snmp-agent group v3 (\S+)(?: (.*))?")
USER = re.compile(r"snmp-agent usm-user v3 (\S+) (authentication|privacy)-mode (\S+)")
WEAK_SNMP = {"md5": "MD5", "des56": "DES", "3des168": "3DES"}


def weak_access(line: TextLine) -> WeakAccess | None:
    """Return the weakness of a line of the system view; None for any other line."""
    if line.path:
        return None
    return next((found for judge in JUDGES for found in judge(line.text)), None)


def _server(text: str) -> Iterator[WeakAccess]:
    for pattern, name in SERVERS:
        if re.fullmatch(pattern, text):
            what = f"the {name} server runs: passwords and files cross the network as text"
            version = "ipv6" if " ipv6 " in text else "ipv4"
            telnet = version if name == "Telnet" else ""
            yield WeakAccess(AccessWeakness.SERVER, what, f"remove `{text}`", telnet)


def _algorithm(text: str) -> Iterator[WeakAccess]:
    if match := ALGORITHMS.fullmatch(text):
        weak = [word for word in match[2].split() if word in WEAK_ALGORITHMS]
        if weak:
            what = f"SSH offers weak algorithms ({match[1]}): {listing(weak)}"
            yield WeakAccess(AccessWeakness.ALGORITHM, what, "leave them out of the list")
    if text == "ssh server compatible-ssh1x enable":
        what = "the SSH server accepts version 1, which can be read and changed on its way"
        yield WeakAccess(AccessWeakness.ALGORITHM, what, f"remove `{text}`")
    for words, least in (
        ("rsa-key min-length", SHORTEST_RSA),
        ("dh-exchange min-len", SHORTEST_DH),
    ):
        match = re.fullmatch(rf"ssh server {words} (\d+)", text)
        if match and int(match[1]) < least:
            what = f"the SSH server accepts {words.split('-', maxsplit=1)[0].upper()} keys of "
            yield WeakAccess(
                AccessWeakness.ALGORITHM, f"{what}{match[1]} bits", f"require {least} bits or more"
            )


def _snmp(text: str) -> Iterator[WeakAccess]:
    if match := GROUP.fullmatch(text):
        level = (match[2] or "").split(" ", 1)[0]
        if level != "privacy":
            lacks = "encryption" if level == "authentication" else "authentication and encryption"
            what = f"SNMP group {match[1]} reads and writes without {lacks}"
            yield WeakAccess(AccessWeakness.SNMP, what, "give the group `privacy`")
    if (match := USER.match(text)) and match[3] in WEAK_SNMP:
        what = f"SNMP user {match[1]} uses {WEAK_SNMP[match[3]]} for {match[2]}"
        yield WeakAccess(AccessWeakness.ALGORITHM, what, "use SHA-2 and AES")


JUDGES: tuple[Callable[[str], Iterator[WeakAccess]], ...] = (_server, _algorithm, _snmp)
