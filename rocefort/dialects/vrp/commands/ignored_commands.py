"""Commands of real switches outside Rocefort's scope, with sources.

They are not rows of the command table, because no rule here undoes or overwrites them. A line that
begins with such a command, and all below it, counts as known. Commands that may change forwarding
are not listed.
"""

from __future__ import annotations

from collections.abc import Mapping

# First words by view, and by their section of the V300R023C00 command reference.
SECTIONS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "system": {
        "System_Time": ("clock timezone", "clock daylight-saving-time"),
        "SSH": (
            *("ssh server cipher", "ssh server hmac", "ssh server key-exchange"),
            *("ssh server dh-exchange min-len", "ssh server publickey", "ssh server rsa-key"),
            *("ssh client cipher", "ssh client hmac", "ssh client key-exchange"),
            *("ssh client first-time", "ssh client publickey", "ssh authorization-type default"),
            "ssh ipv6 server-source",
        ),
        "Telnet": ("telnet server-source", "telnet ipv6 server-source"),
        "FTP": ("ftp server source", "ftp ipv6 server source"),
        "PKI": ("pki realm", "ssl policy"),
        "Information_Management": ("info-center logfile compression",),
        "DNS": ("dns resolve", "dns server", "dns domain"),
        "CLI-based_Device_Login": ("user-interface maximum-vty", "user-interface con"),
        "First_Login_to_a_Device": ("header",),
        "License": ("license",),
        "STP_and_RSTP_and_MSTP": ("stp mode", "stp bridge-address", "stp v-stp", "stp flush"),
        "SNMP": ("snmp-agent local-engineid", "snmp-agent trap", "snmp-agent proxy protocol"),
        "NTP": ("ntp unicast-peer", "ntp server source-interface", "ntp ipv6 server"),
        "Ethernet_Interface": ("error-down auto-recovery",),
    },
    "aaa": {
        "AAA": (
            *("authentication-scheme", "authorization-scheme", "accounting-scheme"),
            *("recording-scheme", "domain"),
        ),
    },
    "interface": {
        "Ethernet_Interface": ("device transceiver",),
        "Eth-Trunk": ("lacp priority",),
        "STP_and_RSTP_and_MSTP": ("stp root-protection", "stp bpdu-filter"),
    },
}
# From published configurations of a CE6880 and a CE12800 with V200R005C10; no vendor page.
FIELD: Mapping[str, tuple[str, ...]] = {
    "system": ("hwtacacs", "stack", "device board"),
    "aaa": ("default-domain admin", "undo local-user policy security-enhance"),
    "interface": ("stp instance", "stp disable", "port-security"),
}


def _prefixes(view: str) -> tuple[str, ...]:
    prefixes = (words for section in SECTIONS.get(view, {}).values() for words in section)
    return tuple(sorted((*prefixes, *FIELD.get(view, ())), key=len, reverse=True))


BESIDE: Mapping[str, tuple[str, ...]] = {view: _prefixes(view) for view in {*SECTIONS, *FIELD}}


def ignored_command(view: str, text: str) -> str:
    """Return the first words of a known command out of scope; empty for any other line."""
    bare = text.removeprefix("undo ")
    for words in BESIDE.get(view, ()):
        for line in (text, bare):
            if line.startswith(words) and line[len(words) : len(words) + 1] in ("", " "):
                return words
    return ""
