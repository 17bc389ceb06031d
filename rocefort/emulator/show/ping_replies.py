"""`ping`: the forms are the samples of the V300R023C00 configuration guide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import IPv4Address

from rocefort.base.errors import BadInput
from rocefort.emulator.show.context import state_source_of
from rocefort.emulator.switch.state_source import EchoReply, EchoRequest
from rocefort.emulator.switch.switch import EmulatedSwitch

# Alternatives of the reference; each may be given once. -m is the wait of the switch between two
# requests, which passes no time here. Ranges are those of other VRP8 devices.
FORMAT = (
    "ping [ ip ] [ -vpn-instance <word> | -a <source> | -i <interface> | -c <1-4294967295> | "
    "-h <1-255> | -m <1-10000> | -s <20-9600> | -t <0-65535> ] * <host>"
)
MOST_SENT = 1000  # own limit: all are answered at once, in one reply


def ping(switch: EmulatedSwitch, params: Mapping[str, str]) -> str:
    """Return the output of a ping; one error line if the model has no answer."""
    try:
        echo = _echo(params)
        return printed(echo, state_source_of(switch).ping(switch.name, echo))
    except BadInput as error:
        return f"Error: This emulator cannot ping it: {error.problem}."


def _echo(params: Mapping[str, str]) -> EchoRequest:
    """Return the request of a ping. Raises BadInput for options that are not modelled."""
    if "word" in params:
        raise BadInput("VPN instances have no routes here")
    count = int(params.get("1-4294967295", 5))
    if count > MOST_SENT:
        raise BadInput(f"it sends {MOST_SENT} packets at most")
    source = params.get("source")
    return EchoRequest(
        IPv4Address(params["host"]),
        IPv4Address(source) if source else None,
        params.get("interface", ""),
        count,
        int(params.get("20-9600", 56)),
        int(params.get("1-255", 255)),
        int(params.get("0-65535", 2000)),
    )


def printed(echo: EchoRequest, replies: Sequence[EchoReply | None]) -> str:
    """Return a row for each request, and the statistics."""
    rows = [f"  PING {echo.host}: {echo.size}  data bytes, press CTRL_C to break"]
    for number, reply in enumerate(replies, 1):
        rows.append(
            "    Request time out"
            if reply is None
            else f"    Reply from {echo.host}: bytes={echo.size} Sequence={number} "
            f"ttl={reply.ttl} time={reply.ms} ms"
        )
    times = [reply.ms for reply in replies if reply is not None]
    rows += [
        "",
        f"  --- {echo.host} ping statistics ---",
        f"    {len(replies)} packet(s) transmitted",
        f"    {len(times)} packet(s) received",
        f"    {100 * (len(replies) - len(times)) / len(replies):.2f}% packet loss",
    ]
    if times:
        average = sum(times) // len(times)
        rows.append(f"    round-trip min/avg/max = {min(times)}/{average}/{max(times)} ms")
    return "\n".join(rows)
