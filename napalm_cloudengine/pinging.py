"""The `ping` command of a CloudEngine, and the reader of its output."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from statistics import pstdev
from typing import Any


@dataclass(frozen=True)
class PingRequest:
    """Parameters of a ping: seconds per reply, octets of data; "": switch's default."""

    destination: str
    source: str = ""
    ttl: int = 255
    timeout_s: int = 2
    size: int = 100
    count: int = 5
    vrf: str = ""
    source_interface: str = ""


def command(echo: PingRequest) -> str:
    """Return `ping` with options of the command reference; ValueError for an invalid address."""
    version = ip_address(echo.destination).version
    words = ["ping"] if version == 4 else ["ping", "ipv6"]
    if echo.vrf:
        words += ["-vpn-instance" if version == 4 else "vpn-instance", one_word(echo.vrf)]
    if echo.source:
        words += ["-a", str(ip_address(echo.source))]
    if echo.source_interface:
        words += ["-i", one_word(echo.source_interface)]
    words += ["-c", f"{echo.count:d}", "-h", f"{echo.ttl:d}", "-s", f"{echo.size:d}"]
    return " ".join([*words, "-t", f"{echo.timeout_s * 1000:d}", echo.destination])


def one_word(value: str) -> str:
    """Return the value if it is one word of a command; ValueError otherwise."""
    if not re.fullmatch(r"[\w./:-]+", value, re.ASCII):
        raise ValueError(f"{value!r} is not one word")
    return value


def result(text: str, echo: PingRequest) -> dict[str, Any]:
    """Return NAPALM's result of a ping; times in ms. Without the statistics it is an error."""
    sent = re.search(r"(?<!\d)(\d+) packet\(?s?\)? transmitted", text)
    received = re.search(r"(?<!\d)(\d+) packet\(?s?\)? received", text)
    if sent is None or received is None:
        return {"error": " ".join(text.split()) or "the switch printed nothing"}
    times = [float(ms) for ms in re.findall(r"[Tt]ime[=<](\d+(?:\.\d+)?) ?ms", text)]
    return {
        "success": {
            "probes_sent": int(sent[1]),
            "packet_loss": int(sent[1]) - int(received[1]),
            "rtt_min": min(times, default=0.0),
            "rtt_max": max(times, default=0.0),
            "rtt_avg": round(sum(times) / len(times), 3) if times else 0.0,
            "rtt_stddev": round(pstdev(times), 3) if times else 0.0,
            "results": [{"ip_address": echo.destination, "rtt": ms} for ms in times],
        }
    }
