"""Stand-in for perftest, iperf3, fio and mpirun on an emulated server: a separate program, no RDMA.

    python -I -S perftest_stub.py DIRECTORY NAME ARGUMENT ..

DIRECTORY is the server's; its `server.json` has its properties and faults. Two ends connect at a
socket named by address and port in the directory that all servers share. Their output has the form
of recorded runs; its figures come from the speeds of the ports and the number of switches between
them. It imports nothing of Rocefort, so that it starts quickly.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

PORT = "18515"
CONVERGENCE_S = 1.0  # until no packet is sent to a cable that is gone
MOST_SLEEP_S = 60.0
CPU_PERCENT = 2.0  # of a host that sends at line rate
NS_PER_KB = 80  # of a message at 100 Gb/s
FLAGS = ("--cpu_util", "-F", "--report_gbits", "--run_infinitely", "-s1", "-1", "-J", "-f")
COMMON = """ Dual-port       : OFF		Device         : {device}
 Number of qps   : {qps}		Transport type : IB
 Connection type : RC		Using SRQ      : OFF
 PCIe relax order: {order}
 ibv_wr* API     : OFF
{depth} CQ Moderation   : 1
 Mtu             : 4096[B]
 Link type       : Ethernet
 GID index       : {gid}
 Max inline data : 0[B]
 rdma_cm QPs	 : OFF
 Data ex. method : Ethernet
"""
NO_PEAK = " WARNING: BW peak won't be measured in this run.\n"  # first line since 24.01
MOST_PEAK = 20_000  # messages of a bandwidth test whose peak is measured
LINE = "-" * 87 + "\n"
WAITING = f"\n{'*' * 36}\n* Waiting for client to connect... *\n{'*' * 36}\n"
BW_HEADER = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n"
LAT_HEADER = (
    " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
    "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
)
LOST = (
    "ethernet_read_keys: Couldn't read remote address\n"
    " Unable to read from socket/rdma_cm\n Failed to exchange data between server and clients\n"
)


class PerftestArguments:
    """Arguments of perftest: values by option, flags, and plain words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.values: dict[str, str] = {}
        self.flags: set[str] = set()
        self.plain: list[str] = []
        rest = list(words)
        while rest:
            word = rest.pop(0)
            if word.startswith("--") and "=" in word:
                name, _, value = word.partition("=")
                self.values[name] = value
            elif word in FLAGS or (word == "-s" and not (rest and rest[0].isdecimal())):
                self.flags.add(word)
            elif word.startswith("-") and rest:
                self.values[word] = rest.pop(0)
            else:
                self.plain.append(word)

    def get(self, name: str, default: str = "") -> str:
        """Return the value of an option."""
        return self.values.get(name, default)


def print_text(text: str) -> None:
    """Print."""
    sys.stdout.write(text)


def fail(text: str, code: int = 1) -> NoReturn:
    """Print the error to stderr, and exit."""
    sys.stdout.flush()
    sys.stderr.write(text)
    raise SystemExit(code)


class EmulatedServer:
    """The server that this program runs on, and the shared data of the others."""

    def __init__(self, directory: Path) -> None:
        self.own: dict[str, Any] = json.loads((directory / "server.json").read_text())
        self.wire = Path(self.own["wire"])
        cables = self.wire / "cables.json"  # when leaves lost a cable, s of the clock, by name
        self.cables: Path | None = cables if cables.exists() else None
        self.all: dict[str, dict[str, Any]] = json.loads((self.wire / "servers.json").read_text())

    def fault(self, name: str) -> bool:
        """Whether the server has a fault, or this run of a program."""
        return name in self.own["faults"] or name == os.environ.get("ROCEFORT_FAULT")

    def pause(self, seconds: float) -> None:
        """Sleep for a scaled number of seconds."""
        time.sleep(seconds * self.own["pace"])

    def rate(self, client: str, server: str, limit: float | None) -> float:
        """Return Gb/s of RDMA between two addresses, shared with other senders to that server."""
        near, far = self.all[client], self.all[server]
        beside = max(1, len(list(self.wire.glob(f"{server}:*"))))
        line = min(near["gbps"], far["gbps"] / beside)
        return float(min(line * 0.94, limit or line) * min(near["share"], far["share"]))

    def is_converging(self, *leaves: str) -> bool:
        """Whether a leaf has lost a cable within the last second: traffic on it is lost."""
        lost = {} if self.cables is None else json.loads(self.cables.read_text())
        return any(time.time() - lost[leaf] < CONVERGENCE_S for leaf in leaves if leaf in lost)

    def latency_us(self, client: str, server: str, size: int) -> float:
        """Return half a round trip, in microseconds."""
        near, far = self.all[client], self.all[server]
        switches = 1 if near["leaf"] == far["leaf"] else 3
        sending = size / 1024 * NS_PER_KB / 1000 * (1 + switches * 0.1) * 100 / near["gbps"]
        return float((1.13 + 0.86 * switches + sending) / min(near["share"], far["share"]))


# --- perftest -------------------------------------------------------------------------------------


def perftest(name: str, words: Sequence[str], server: EmulatedServer) -> None:
    """Run one end of ib_write_bw and its siblings."""
    given = PerftestArguments(words)
    if name.endswith("_bw") and ("-D" in given.values or int(given.get("-n", "0")) > MOST_PEAK):
        print_text(NO_PEAK)
    if given.get("-d") != server.own["device"]:
        fail(f"IB device {given.get('-d')} not found\n Unable to find the Infiniband/RoCE device\n")
    if int(given.get("-x", "0")) != server.own["gid"]:
        fail(" Gid index should be between 0 and 1\n")
    os.chdir(server.wire)
    if given.plain:
        perftest_client(name, given, server, given.plain[0])
    else:
        perftest_server(name, given, server)


def perftest_server(name: str, given: PerftestArguments, server: EmulatedServer) -> None:
    """Wait for a client, and print its result."""
    print_text(WAITING)
    path = f"{server.own['address']}:{given.get('-p', PORT)}"
    with client_at(path) as met, met.makefile("rw") as talk:
        head(name, given, server, "")
        if server.fault("killed-midrun"):
            server.pause(1)
            os.kill(os.getpid(), signal.SIGKILL)
        rows = talk.readline()
        if not rows:
            fail(LOST)
        if name != "ib_read_lat":
            print_text(json.loads(rows))
        talk.write("done\n")
        talk.flush()


@contextlib.contextmanager
def client_at(path: str) -> Iterator[socket.socket]:
    """Yield the first client of a socket; the socket exists until the block ends."""
    with socket.socket(socket.AF_UNIX) as door:
        Path(path).unlink(missing_ok=True)
        door.bind(path)
        try:
            door.listen(1)
            met, _ = door.accept()
            with met:
                yield met
        finally:
            Path(path).unlink(missing_ok=True)


def perftest_client(
    name: str, given: PerftestArguments, server: EmulatedServer, address: str
) -> None:
    """Connect to the server, wait for the test duration, and print."""
    port = given.get("-p", PORT)
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(f"{address}:{port}")
        except OSError:
            fail(
                f"Couldn't connect to {address}:{port}\n"
                "Unable to open file descriptor for socket connection"
                " Unable to init the socket connection\n"
            )
        with line.makefile("rw") as talk:
            head(name, given, server, " TX depth        : 128\n")
            if "--run_infinitely" in given.flags:
                infinitely(given, server, address)
            server.pause(float(given.get("-D", "1")))
            rows = (latency_rows if name.endswith("_lat") else rate_rows)(given, server, address)
            with contextlib.suppress(OSError):
                talk.write(json.dumps(rows) + "\n")
                talk.flush()
            print_text(rows)
            try:
                ended = talk.readline()
            except OSError:
                ended = ""
            if not ended:
                fail(LOST)


def head(name: str, given: PerftestArguments, server: EmulatedServer, depth: str) -> None:
    """Print the head of perftest's table."""
    verb = {"write": "RDMA_Write", "read": "RDMA_Read", "send": "Send"}[name.split("_")[1]]
    kind = "Latency" if name.endswith("_lat") else "BW"
    text = COMMON.format(
        device=server.own["device"],
        gid=server.own["gid"],
        qps=given.get("-q", "1"),
        order="OFF" if kind == "Latency" else "ON",
        depth=depth,
    )
    if kind == "Latency":
        text = text.replace(" CQ Moderation   : 1\n", "")
    print_text(f"{LINE}                    {verb} {kind} Test\n{text}{LINE}")
    for number, side in enumerate(("local", "remote"), 1):
        for _ in range(int(given.get("-q", "1"))):
            print_text(
                f" {side} address: LID 0000 QPN 0x00{number}7 PSN 0x8d5fde RKey 0x000456"
                " VAddr 0x007fa6a7bcb000\n GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:91:01:10\n"
            )
    print_text(LINE)


def rate_row(size: int, seconds: float, gbps: float) -> str:
    """Format one row; under 0.1 Gb/s perftest prints six decimals."""
    mpps = gbps * 1000 / size / 8
    iterations = round(mpps * 1e6 * seconds)
    if gbps < 0.1:
        start = f" {size:<10d} {iterations:<10d}  0.000000            "
        return f"{start}{gbps:.6f}            {mpps:.6f}\n"
    return f" {size:<10d} {iterations:<10d}     0.00               {gbps:.2f}   \t\t   {mpps:.6f}\n"


def with_cpu(text: str, given: PerftestArguments) -> str:
    """Return a table of rates with the column of `--cpu_util`, a constant, if it is requested."""
    if "--cpu_util" not in given.flags:
        return text
    head, row = text.split("\n")[:2]
    return f"{head}    CPU_Util[%]\n{row}\t    {CPU_PERCENT:.2f}\n"


def rate_rows(given: PerftestArguments, server: EmulatedServer, address: str) -> str:
    """Return the table of a bandwidth test over a duration."""
    size, seconds = int(given.get("-s", "65536")), float(given.get("-D", "5"))
    if server.fault("firewall-4791"):
        row = f" {size:<10d} 0           0.000000            0.000000            0.000000\n"
        return with_cpu(BW_HEADER + row, given) + LINE
    limit = given.get("--rate_limit")
    rate = server.rate(server.own["address"], address, float(limit) if limit else None)
    rate *= min(1.0, (size + 64) / 4096)
    if "-n" in given.values:
        count = int(given.get("-n")) * int(given.get("-q", "1"))
        seconds = count / (rate * 1e9 / size / 8)
    return with_cpu(BW_HEADER + rate_row(size, seconds, rate), given) + LINE


def infinitely(given: PerftestArguments, server: EmulatedServer, address: str) -> NoReturn:
    """Print a row in each interval until a signal.

    A row after a leaf has lost a cable is lower; without a lab that has cables, the fourth.
    """
    print_text(BW_HEADER)
    every, number = float(given.get("-D", "1")), 0
    while True:
        time.sleep(every * server.own["tick"])
        number += 1
        rate = server.rate(server.own["address"], address, None)
        ends = [server.all[each]["leaf"] for each in (server.own["address"], address)]
        low = number == 4 if server.cables is None else server.is_converging(*ends)
        print_text(rate_row(int(given.get("-s", "65536")), every, rate * (0.3 if low else 1)))
        sys.stdout.flush()


def latency_rows(given: PerftestArguments, server: EmulatedServer, address: str) -> str:
    """Return the table of a latency test over a number of messages."""
    size, count = int(given.get("-s", "2")), int(given.get("-n", "1000"))
    if server.fault("firewall-4791"):
        while True:  # with a message count perftest waits for ever
            time.sleep(60)
    typical = server.latency_us(server.own["address"], address, size)
    figures = [typical * factor for factor in (0.96, 1.9, 1.0, 1.01)]
    low, high, usual, average = figures
    tail = [typical * factor for factor in (0.05, 1.12, 1.31)]
    row = (
        f" {size:<7d} {count:<10d}     {low:<7.2f}        {high:<7.2f}      {usual:<7.2f}  \t"
        f"       {average:<7.2f}     \t{tail[0]:<7.2f}\t\t{tail[1]:<7.2f} \t\t{tail[2]:<7.2f}\n"
    )
    return LAT_HEADER + row + LINE


# --- the others -----------------------------------------------------------------------------------


def iperf3(_name: str, words: Sequence[str], server: EmulatedServer) -> None:
    """Run iperf3: TCP reaches the stated rate, without one a fifth of the RDMA rate."""
    given = PerftestArguments(words)
    os.chdir(server.wire)
    if "-c" not in given.values:
        with client_at(f"tcp-{given.get('-B')}:{given.get('-p')}") as met:
            met.recv(1)
        return
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(f"tcp-{given.get('-c')}:{given.get('-p')}")
        except OSError:
            error = "unable to connect to server: Connection refused"
            print_text(json.dumps({"start": {}, "intervals": [], "end": {}, "error": error}))
            raise SystemExit(1) from None
        seconds, streams = int(given.get("-t", "10")), int(given.get("-P", "1"))
        server.pause(seconds)
    gbps = server.rate(given.get("-B"), given.get("-c"), None)
    stated = given.get("-b")  # of each stream, as `5000M`
    gbps = min(gbps, float(stated[:-1]) / 1000 * streams) if stated else gbps * 0.2
    interval = {
        "seconds": seconds,
        "bits_per_second": gbps * 1e9,
        "bytes": gbps * 1e9 / 8 * seconds,
    }
    report = {
        "start": {"test_start": {"tos": int(given.get("-S", "0"))}},
        "intervals": [{"sum": {"start": 0, "end": seconds, **interval}}],
        "end": {
            "streams": [{} for _ in range(streams)],
            "sum_sent": {**interval, "retransmits": 0},
            "sum_received": interval,
        },
    }
    print_text(json.dumps(report))


def fio(_name: str, words: Sequence[str], server: EmulatedServer) -> None:
    """Run fio: random writes to the mounted storage."""
    given = PerftestArguments(words)
    name = given.get("--name")
    seconds, block = int(given.get("--runtime", "1")), int(given.get("--bs", "4096"))
    if server.fault("disk-full"):
        fail("fio: pid=1, err=28/file:filesetup.c:240, func=write, error=No space left on device\n")
    server.pause(seconds)
    targets = int(given.get("--numjobs", "1"))
    operations = int(seconds * min(50_000, server.own["gbps"] * 1e9 / 8 / block / targets))
    mean = 1e9 * seconds * int(given.get("--iodepth", "1")) / operations
    written = {
        "total_ios": operations,
        "runtime": seconds * 1000,
        "io_bytes": operations * block,
        "short_ios": 0,
        "drop_ios": 0,
        "iops": operations / seconds,
        "bw_bytes": operations * block / seconds,
        "clat_ns": {
            "min": mean / 2,
            "max": mean * 9,
            "mean": mean,
            "percentile": {"99.000000": mean * 3, "99.900000": mean * 5},
        },
    }
    job = {"jobname": name, "error": 0, "write": written}
    print_text(json.dumps({"jobs": [job] * targets}))


def mpirun(_name: str, words: Sequence[str], server: EmulatedServer) -> None:
    """Run mpirun: a collective of IMB over all ranks."""
    ranks = int(words[words.index("-np") + 1])
    name, (first, last) = words[-1], map(int, words[words.index("-msglog") + 1].split(":"))
    hosts = words[words.index("--host") + 1].split(",")
    by_name = {each["name"]: each["leaf"] for each in server.all.values()}
    leaves = {by_name[host.partition(":")[0]] for host in hosts}
    repetitions = int(words[words.index("-iter") + 1])
    print_text(f"# Benchmarking {name}\n# #processes = {ranks}\n")
    print_text("       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n")
    for size in (0, *(2**power for power in range(first, last + 1))):
        usual = 2.0 * ranks + size / 1024 * NS_PER_KB / 1000 * ranks
        time.sleep(min(MOST_SLEEP_S, usual * repetitions / 1e6))
        usual *= 3 if server.is_converging(*leaves) else 1
        times = f"{usual * 0.9:>12.2f} {usual * 1.1:>12.2f} {usual:>12.2f}"
        print_text(f"{size:>13} {repetitions:>12} {times}\n")
    print_text("\n\n# All processes entering MPI_Finalize\n\n")


PROGRAMS: dict[str, Callable[[str, Sequence[str], EmulatedServer], None]] = {
    **{f"ib_{verb}_{k}": perftest for verb in ("write", "read", "send") for k in ("bw", "lat")},
    "iperf3": iperf3,
    "fio": fio,
    "mpirun": mpirun,
}


def main() -> None:
    """Run the program named by the second word."""
    directory, name, *words = sys.argv[1:]
    # A signal ends it as any program: buffered output is lost.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    PROGRAMS[name](name, words, EmulatedServer(Path(directory)))
    sys.stdout.flush()


if __name__ == "__main__":
    main()
