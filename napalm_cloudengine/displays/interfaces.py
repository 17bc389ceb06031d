"""`display interface`: the state and the counters of ports, as printed.

Fields are read by name: a switch prints about 40 lines a port, and reading every value takes ten
times as long as the few that a check needs.
"""

import re

from napalm_cloudengine.displays.block import LabelledDisplay
from napalm_cloudengine.displays.lines import DisplayAnswer, Rows, is_interface
from napalm_cloudengine.displays.table import DisplayTable, Form

COMMAND = "display interface"


def _pair(*cells: tuple[str, str]) -> str:
    """Format a line of one or two counters: title and field."""
    widths = (31, 34)
    texts = (
        f"{title}:{{{name}:>{width - len(title) - 1}?}}"
        for (title, name), width in zip(cells, widths, strict=False)
    )
    return "      " + ",   ".join(texts)


_NAME = """\
{name} current state : {state} (ifindex: {ifindex})
Line protocol current state : {protocol}
Last line protocol up time : {protocol_up_at}
Description: {description:*}
"""
_SWITCHED = """\
Switch Port, PVID : {pvid:>4d}, TPID : 8100(Hex), The Maximum Frame Length is {frame_bytes:d}
"""
_ROUTED = "Route Port,The Maximum Transmit Unit is {mtu:d}"
_ADDRESSES = """\
Internet protocol processing : {processing}
Internet Address is {address}
IP Sending Frames' Format is PKTFMT_ETHNT_2, Hardware address is {mac}
"""
_SPEED = """\
Speed:{speed:>21},     Loopback:{loopback:>28}
Duplex:{duplex:>20},     Negotiation:{negotiation:>25}
Input Flow-control:{flow_control_in:>8},     Output Flow-control:{flow_control_out:>17}
"""
_TIMES = """\
Last physical up time   : {physical_up_at}
Last physical down time : {physical_down_at}
Current system time: {system_time}
Statistics last cleared:{cleared_at}
    Last 300 seconds input rate: {rx_bps:d} bits/sec, {rx_pps:d} packets/sec
    Last 300 seconds output rate: {tx_bps:d} bits/sec, {tx_pps:d} packets/sec
    Input peak rate {rx_peak_bps:d} bits/sec, Record time: {rx_peak_at}
    Output peak rate {tx_peak_bps:d} bits/sec, Record time: {tx_peak_at}
    Input :{rx_octets:>19d} bytes,{rx_packets:>19d} packets
    Output:{tx_octets:>19d} bytes,{tx_packets:>19d} packets
"""
_UTILITY = """\
    Last 300 seconds input utility rate:  {rx_utility}
    Last 300 seconds output utility rate: {tx_utility}"""


def _counters(*, v200: bool) -> str:
    """Format the counters; V200 lists other MAC control frames (`Ignoreds`) last of the errors."""
    ignored = ("Ignoreds", "rx_ignored")
    lines = (
        "    Input:",
        _pair(("Unicast", "rx_unicast"), ("Multicast", "rx_multicast")),
        _pair(("Broadcast", "rx_broadcast"), ("Jumbo", "rx_jumbo")),
        _pair(("Discard", "rx_discards"), ("Frames", "rx_frames")),
        _pair(("Pause", "rx_pauses"), *([] if v200 else [ignored])),
        "",
        _pair(("Total Error", "rx_errors")),
        _pair(("CRC", "crc"), ("Giants", "rx_giants")),
        _pair(("Jabbers", "rx_jabbers"), ("Fragments", "rx_fragments")),
        _pair(("Runts", "rx_runts"), ("DropEvents", "rx_drop_events")),
        _pair(("Alignments", "rx_alignments"), ("Symbols", "rx_symbols")),
        *([_pair(ignored)] if v200 else []),
        "",
        "    Output:",
        _pair(("Unicast", "tx_unicast"), ("Multicast", "tx_multicast")),
        _pair(("Broadcast", "tx_broadcast"), ("Jumbo", "tx_jumbo")),
        _pair(("Discard", "tx_discards"), ("Buffers Purged", "tx_purged")),
        _pair(("Pause", "tx_pauses")),
        "",
        "    Input bandwidth utilization threshold : {rx_threshold}",
        "    Output bandwidth utilization threshold: {tx_threshold}",
        _UTILITY,
    )
    return "\n".join(lines)


_LAYERS = f"{_NAME}{_SWITCHED}{_ROUTED},The Maximum Frame Length is {{frame_bytes:d}}\n{_ADDRESSES}"
PORT_V300 = LabelledDisplay(
    f"""\
{_LAYERS}\
Port Mode:     COMMON FIBER,     Port Split/Aggregate:{{split:>16}}
{_SPEED}\
Mdi:{{mdi:>23}},     Fec:{{fec:>33}}
{_TIMES}{_counters(v200=False)}""",
    source='command reference V300R023C00, "display interface", of 10GE1/0/1',
)
PORT_V200 = LabelledDisplay(
    f"""\
{_LAYERS}\
Port Mode:     COMMON FIBER,     Port Split:{{split:>26}}
{_SPEED}\
Mdi:{{mdi:>23}}
{_TIMES}{_counters(v200=True)}""",
    source="outputs of V100 and V200 switches that public drivers are tested with",
    confirmed=False,  # by the vendor
)
MANAGEMENT = LabelledDisplay(
    f"""\
{_NAME}{_ROUTED}
{_ADDRESSES}\
Media type: COMMON COPPER, Link type: auto negotiation
Loopback: {{loopback}}, Maximal BW: {{maximal_bandwidth}}, Current BW: {{bandwidth}}, \
Full-duplex mode
{_TIMES}    Input:
{_pair(("Unicast", "rx_unicast"), ("Multicast", "rx_multicast"))}
{_pair(("Broadcast", "rx_broadcast"), ("Overrun", "rx_overrun"))}
{_pair(("Over-car-pps", "rx_over_car"))}

{_pair(("Total Error", "rx_errors"), ("CRC", "crc"))}
{_pair(("Giants", "rx_giants"), ("Jabbers", "rx_jabbers"))}
{_pair(("Runts", "rx_runts"), ("Fragments", "rx_fragments"))}

    Output:
{_pair(("Unicast", "tx_unicast"), ("Multicast", "tx_multicast"))}
{_pair(("Broadcast", "tx_broadcast"), ("Underrun", "tx_underrun"))}
{_UTILITY}""",
    source='command reference V300R023C00, "display this interface", second example',
)
LOGICAL = LabelledDisplay(
    f"""\
{_NAME}{_SWITCHED}{_ROUTED}
{_ADDRESSES}\
Current system time: {{system_time}}
    Input: {{rx_packets:d}} packets,{{rx_octets:d}} bytes
           {{rx_unicast:d}} unicast,{{rx_broadcast:d}} broadcast,{{rx_multicast:d}} multicast
           {{rx_errors:d}} errors,{{rx_discards:d}} drops
    Output:{{tx_packets:d}} packets,{{tx_octets:d}} bytes
           {{tx_unicast:d}} unicast,{{tx_broadcast:d}} broadcast,{{tx_multicast:d}} multicast
           {{tx_errors:d}} errors,{{tx_discards:d}} drops""",
    source='command reference V300R023C00, "display interface", of Eth-Trunk 11',
    confirmed=False,  # its counters are; the layer-2 line of an Eth-Trunk has more words
)
BLOCKS = (PORT_V300, PORT_V200, MANAGEMENT, LOGICAL)
MEMBERS = Form(
    source='command reference V300R023C00, "display interface", of Eth-Trunk 11',
    head="""\
----------------------------------------------------------
PortName                      Status              Weight
----------------------------------------------------------""",
    row="{name:<29} {status:<19} {weight}",
    foot="-" * 58,
)


def _brief(own: str) -> str:
    return f"""\
PHY: Physical
*down: administratively down
^down: standby
(l): loopback
(s): spoofing
(b): BFD down
(e): ETHOAM down
(d): Dampening Suppressed
(p): port alarm down
(dl): DLDP down
(c): CFM down
{own}(ed): error down
InUti/OutUti: input utility rate/output utility rate
Interface                  PHY      Protocol  InUti OutUti   inErrors  outErrors"""


_BRIEF_ROW = (
    "{interface:<25}{physical:<9}{protocol:<10}{rx_utility:>5}{tx_utility:>7}{rx_errors:>11}"
    "{tx_errors:>11}"
)
# Members of an Eth-Trunk are below it, indented by two blanks. A name may be followed by the port's
# speed or mode, `25GE1/0/3(10G)`. Some switches print two more blanks after names.
BRIEF = DisplayTable(
    "display interface brief",
    {
        "v300-g1": Form(
            source='command reference V300R023C00, "display interface brief"',
            head=_brief("(sd): STP instance discarding\n(ms): MACsec down\n"),
            row=_BRIEF_ROW,
            titles=1,
        ),
        "v200": Form(
            source="outputs of V200 switches that public parsers are tested with",
            confirmed=False,  # by the vendor
            head=_brief(""),
            row=_BRIEF_ROW,
            titles=1,
        ),
    },
)


def read_names(shown: DisplayAnswer) -> Rows[str]:
    """Read the interfaces of `display interface brief`, in its order; raises UnreadableError.

    Only the first column is read. A last line with fewer columns than the table is cut off.
    """
    lines = BRIEF.below(shown)
    pairs = [(line, re.sub(r"^([^(]*)\(.*\)$", r"\1", line.words[0])) for line in lines]
    columns = len(BRIEF.forms["v200"].lines[0].cells)
    if lines and len(lines[-1].words) < columns:
        raise shown.wrong(lines[-1].number, f"{lines[-1].text.strip()!r} has not {columns} cells")
    unread = (
        shown.unread(line, f"{line.text.strip()!r} begins with no interface")
        for line, word in pairs
        if not is_interface(word)
    )
    return Rows((word for _, word in pairs if is_interface(word)), unread)
