"""UDP flows between servers of a lab, like RoCEv2: lost packets, and the length of each gap.

    python -m rocefort.lab.twin.flows     the flows as JSON on stdin, and then a line to end

Every flow has its own source port and sends at a steady rate to UDP 4791. A packet has its number
and its send time, so that a delay of the machine at either end loses nothing. The flows run in a
process of their own, so that other work does not disturb them.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import pairwise
from os import urandom
from threading import Event, Thread

from rocefort.base.errors import ServiceFailed
from rocefort.lab.twin.namespaces import enter, marked
from rocefort.models.device.packet_filters import ENTROPY_PORT, ROCE_PORT

PACKET = struct.Struct("!8sIIQ")  # owner, flow, number, nanoseconds of the sender's clock
PADDING = bytes(64)
BUFFER_BYTES = 1 << 26  # of a receiver: some seconds of all flows
SO_RCVBUFFORCE = 33
DRAIN_S = 0.5  # until packets in flight arrive
PATIENCE_S = 30.0
READY = "ready"
Work = Callable[[str, Event], None]  # runs in a namespace; the event is set when it has begun


@dataclass(frozen=True)
class ProbeFlow:
    """One flow: namespaces of both ends, the destination's address, the source port."""

    source: str
    target: str
    address: str
    port: int


@dataclass(frozen=True)
class PacketGap:
    """Missing packets of a flow, from the last one before them to the first one after.

    begin_s: send time of the last one before, on the machine's monotonic clock; seconds: None: none
    came after.
    """

    begin_s: float
    lost: int
    seconds: float | None


@dataclass(frozen=True)
class FlowResult:
    """Result of one flow."""

    sent: int
    received: int
    gaps: tuple[PacketGap, ...] = ()


@dataclass
class FlowLoad:
    """Running flows; results are there when they have ended."""

    flows: tuple[ProbeFlow, ...]
    rate: int
    results: tuple[FlowResult, ...] = ()

    @property
    def lost(self) -> int:
        """Missing packets of all flows."""
        return sum(result.sent - result.received for result in self.results)

    @property
    def gaps(self) -> list[tuple[int, PacketGap]]:
        """Every gap, with the number of its flow."""
        return [(flow, gap) for flow, result in enumerate(self.results) for gap in result.gaps]


def flows_between(
    pairs: Sequence[tuple[str, str, str]], count: int, first: int = ENTROPY_PORT
) -> tuple[ProbeFlow, ...]:
    """Return `count` flows, over the pairs in turn; pair: both namespaces, and the address."""
    return tuple(ProbeFlow(*pairs[number % len(pairs)], first + number) for number in range(count))


@contextmanager
def running(lab: str, flows: Sequence[ProbeFlow], rate: int) -> Iterator[FlowLoad]:
    """Run flows while the block runs; rate: packets a second of each flow.

    lab: its id. Raises ServiceFailed if they do not start.
    """
    load = FlowLoad(tuple(flows), rate)
    spec = json.dumps({"flows": [asdict(flow) for flow in flows], "rate": rate})
    with subprocess.Popen(
        [sys.executable, "-m", "rocefort.lab.twin.flows"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=marked(lab),
        start_new_session=True,  # Ctrl-C is for us, who end it
    ) as process:
        try:
            _send_text(process, spec + "\n")
            _await_ready(process)
            yield load
            load.results = _results(process)
        finally:
            process.kill()


def _send_text(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None  # noqa: S101 - it is a pipe
    process.stdin.write(text)
    process.stdin.flush()


def _await_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018 - pipes
    if process.stdout.readline().strip() != READY:
        errors = process.stderr.read().strip().splitlines() or ["no output"]
        raise ServiceFailed(f"the flows do not start: {errors[-1]}")


def _results(process: subprocess.Popen[str]) -> tuple[FlowResult, ...]:
    """End the flows, and read their results."""
    try:
        text, errors = process.communicate("\n", timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        raise ServiceFailed(f"the flows do not end within {PATIENCE_S:.0f} s") from None
    if process.returncode != 0:
        lines = errors.strip().splitlines() or [f"exit code {process.returncode}"]
        raise ServiceFailed(f"the flows broke off: {lines[-1]}")
    return tuple(
        FlowResult(row["sent"], row["received"], tuple(PacketGap(**gap) for gap in row["gaps"]))
        for row in json.loads(text)
    )


@dataclass
class FlowWorker:
    """The flows, in their own process."""

    flows: tuple[ProbeFlow, ...]
    rate: int
    word: bytes = field(default_factory=partial(urandom, 8))
    stop: Event = field(default_factory=Event)
    deaf: Event = field(default_factory=Event)
    sent: list[int] = field(default_factory=list)
    came: list[list[tuple[int, int]]] = field(default_factory=list)  # number, send time
    failed: list[str] = field(default_factory=list)

    def run(self) -> list[FlowResult]:
        """Send until stdin has another line, or ends."""
        self.sent, self.came = [0] * len(self.flows), [[] for _ in self.flows]
        hearing = self._threads({flow.target for flow in self.flows}, self._listen)
        sending = self._threads({flow.source for flow in self.flows}, self._send)
        sys.stdout.write(f"{READY}\n")
        sys.stdout.flush()
        sys.stdin.readline()
        self.stop.set()
        for thread in sending:
            thread.join()
        time.sleep(DRAIN_S)
        self.deaf.set()
        for thread in hearing:
            thread.join()
        return [gaps_of(n, sorted(came)) for n, came in zip(self.sent, self.came, strict=True)]

    def _threads(self, namespaces: set[str], work: Work) -> list[Thread]:
        ready = [Event() for _ in namespaces]
        threads = [
            Thread(target=self._inside, args=(name, work, event), daemon=True)
            for name, event in zip(sorted(namespaces), ready, strict=True)
        ]
        for thread in threads:
            thread.start()
        for event in ready:
            event.wait()
        if self.failed:
            raise SystemExit(self.failed[0])
        return threads

    def _inside(self, namespace: str, work: Work, ready: Event) -> None:
        try:
            enter(namespace)
            work(namespace, ready)
        except OSError as error:
            self.failed.append(f"{namespace}: {error}")
        finally:
            ready.set()

    def _listen(self, _namespace: str, ready: Event) -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
            server.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER_BYTES)
            server.bind(("", ROCE_PORT))
            server.settimeout(0.1)
            ready.set()
            while not self.deaf.is_set():
                try:
                    packet = server.recv(2048)
                except TimeoutError:
                    continue
                if len(packet) == PACKET.size + len(PADDING):
                    word, flow, number, sent = PACKET.unpack_from(packet)
                    if word == self.word:  # other programs may send to this port
                        self.came[flow].append((number, sent))

    def _send(self, namespace: str, ready: Event) -> None:
        own = [number for number, flow in enumerate(self.flows) if flow.source == namespace]
        sockets = [(number, _sender(self.flows[number])) for number in own]
        ready.set()
        pause, due = 1 / self.rate, time.monotonic()
        while not self.stop.is_set():
            for number, sender in sockets:
                words = number, self.sent[number], time.monotonic_ns()
                self.sent[number] += 1
                # A packet that the kernel refuses (no route, no space) counts as sent and missing.
                with suppress(OSError):
                    packet = PACKET.pack(self.word, *words) + PADDING
                    sender.send(packet, socket.MSG_DONTWAIT)
            due += pause
            late = time.monotonic() - due
            due = due if late < 1 else time.monotonic()  # no burst after a long wait
            time.sleep(max(0.0, -late))
        for _, sender in sockets:
            sender.close()


def _sender(flow: ProbeFlow) -> socket.socket:
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.bind(("", flow.port))
    sender.connect((flow.address, ROCE_PORT))
    return sender


def gaps_of(sent: int, came: Sequence[tuple[int, int]]) -> FlowResult:
    """Return the gaps in the received packets of a flow, by send order; a packet comes once."""
    gaps = []
    for (last, then), (number, now) in pairwise(came):
        if number > last + 1:
            gaps.append(PacketGap(then / 1e9, number - last - 1, (now - then) / 1e9))
    first, final = (came[0], came[-1]) if came else ((sent, 0), (-1, 0))
    if came and first[0] > 0:
        gaps.insert(0, PacketGap(0.0, first[0], None))
    if final[0] < sent - 1:
        gaps.append(PacketGap(final[1] / 1e9, sent - 1 - final[0], None))
    return FlowResult(sent, len(came), tuple(gaps))


def main() -> None:
    """Run the flows of stdin, and print the result of each."""
    spec = json.loads(sys.stdin.readline())
    work = FlowWorker(tuple(ProbeFlow(**flow) for flow in spec["flows"]), spec["rate"])
    sys.stdout.write(json.dumps([asdict(result) for result in work.run()]))


if __name__ == "__main__":
    main()
