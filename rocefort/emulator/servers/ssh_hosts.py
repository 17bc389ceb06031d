"""SSH hosts for a lab that replay measured perftest output.

They accept perftest's commands, `kill` of their processes, and the guard that Rocefort puts around
a command; anything else ends with 127. No RDMA happens: the output of a client and its server
comes, byte for byte, from samples of real runs.
"""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput
from rocefort.emulator.cli.server import SshEndpoint, hang_up, open_listeners, run_in_thread

if TYPE_CHECKING:
    import asyncssh

    from rocefort.emulator.cli.transport import SshListener

PERFTEST_PORT = 18515
PERFTEST_RUNS = Path(__file__).with_name("perftest_runs")  # recorded, by version: see README.txt
NEWEST_RUNS, NEWEST_VERSION = "26.04", "6.29"  # folder of the newest recorded runs, `--version`
VERSION_EXIT = 1  # exit code of every version after `--version`
TOOLS = frozenset(
    f"ib_{verb}_{kind}" for verb in ("write", "read", "send") for kind in ("bw", "lat")
)
VALUED = frozenset(("-d", "-x", "-D", "-n", "-p", "-u", "-q", "-s", "-m", "-S", "-T", "--tclass"))
GUARD = re.compile(
    r"echo (?P<mark>\S+) \$\$ >&2; exec timeout -k \d+ (?P<limit>\d+) (?P<rest>.+)", re.DOTALL
)
WATCHED = re.compile(  # a guard that also ends its command with the SSH channel
    r"exec 3<&0; \S+ timeout -k \d+ (?P<limit>\d+) (?P<rest>.+) </dev/null 3<&- & job=\$!; "
    r"echo (?P<mark>\S+) \$job >&2; .+"
)
KILL = re.compile(r"kill -(?P<signal>TERM|KILL) -(?P<pid>\d+) \|\| kill -(?P=signal) (?P=pid)")
NO_COMMAND, TIMED_OUT = 127, 124  # exit codes of a shell and of GNU timeout
SIGNALLED = {137: "KILL", 143: "TERM"}
# The recorded runs ended a hung end by signal (255) or `timeout` (124), and a server without
# client by TERM (143).
HUNG = {"client": (255, TIMED_OUT), "server": (143, TIMED_OUT)}


class HostBackend(Protocol):
    """Commands that a host runs for real, such as its settings or its RDMA programs."""

    def allows(self, command: str | None) -> bool:
        """Whether a command over SSH may run."""

    async def serve(self, command: str, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run an allowed command, and return its output."""


@dataclass(frozen=True)
class ProcessOutput:
    """Output of one end, and its exit code; None: it hangs until a signal or its limit."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int | None = None


@dataclass(frozen=True)
class Sample:
    """Both ends of one recorded run."""

    name: str
    client: ProcessOutput
    server: ProcessOutput


Choose = Callable[[str, Sequence[str]], Sample | None]  # by the client, and its command line


def read_sample(name: str) -> Sample:
    """Read NAME.client.txt, NAME.server.txt, their .err.txt and the exit codes in NAME.meta.txt.

    A name begins with the version of perftest: `4.5/fail.no_server`.
    """
    try:
        meta = (PERFTEST_RUNS / f"{name}.meta.txt").read_text(encoding="utf-8")
    except FileNotFoundError:
        names = sorted(
            str(path.relative_to(PERFTEST_RUNS)).removesuffix(".meta.txt")
            for path in PERFTEST_RUNS.glob("*/*.meta.txt")
        )
        raise BadInput(
            f"no sample {name!r}", where=str(PERFTEST_RUNS), how=nearest(name, names)
        ) from None

    def end(side: str) -> ProcessOutput:
        code = re.search(rf"^{side}_rc: (\d+)$", meta, re.MULTILINE)
        exit_code = int(code[1]) if code and int(code[1]) not in HUNG[side] else None
        out, err = (PERFTEST_RUNS / f"{name}.{side}{suffix}" for suffix in (".txt", ".err.txt"))
        return ProcessOutput(_bytes(out), _bytes(err) if exit_code is not None else b"", exit_code)

    return Sample(name, end("client"), end("server"))


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


@dataclass(eq=False)
class HostProcess:
    """One running command of one host."""

    host: str
    words: tuple[str, ...]
    limit_s: float | None = None
    watched: bool = False  # it ends with its SSH channel
    signal: asyncio.Future[str] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )
    sample: asyncio.Future[Sample] = field(  # for a server: set when its client has run
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )

    def end(self, signal: str) -> None:
        """Deliver a signal."""
        if not self.signal.done():
            self.signal.set_result(signal)


@dataclass
class RdmaHosts:
    """SSH hosts in one process, each on its own port.

        with RdmaHosts(addresses, {"ib_write_bw": sample}, state_dir=path).in_thread() as hosts:
            hosts.ports["k8sgn08"], hosts.known_hosts_text

    addresses: host name -> the RDMA address that clients use. samples: tool -> the sample that a
    pair replays; `replay` changes it at any time. Raises what `open_listeners` raises.
    """

    addresses: Mapping[str, str]
    samples: Mapping[str, Sample]
    state_dir: Path
    listen: tuple[str, int] = ("127.0.0.1", 0)
    user: str = "rdma"
    password: str = "emulated-only"  # noqa: S105 - opens nothing but an emulator
    settings: Mapping[str, HostBackend] = field(default_factory=dict)  # other commands of a host
    answers: Mapping[str, str] = field(default_factory=dict)  # by command; `{host}`: its name
    choose: Choose | None = None  # sample of a client's run, if the lab computes it
    versions: Mapping[str, str] = field(default_factory=dict)  # of perftest, by host
    ports: dict[str, int] = field(default_factory=dict)
    known_hosts_text: str = ""
    _chosen: dict[tuple[str, str], Sample] = field(default_factory=dict)
    _running: dict[int, HostProcess] = field(default_factory=dict)
    _last_pid: int = 1000
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    _listeners: dict[str, SshListener] = field(default_factory=dict)
    _loop: asyncio.AbstractEventLoop | None = None

    @property
    def running(self) -> tuple[tuple[str, str], ...]:
        """Host and command line of every running command."""
        return tuple(
            (command.host, " ".join(command.words)) for command in list(self._running.values())
        )

    def hang_up(self) -> None:
        """End every session and its commands. Call it from another thread than the lab's."""
        if self._loop is not None:
            hang_up(self._loop, self._listeners)

    def replay(self, sample: Sample, tool: str, clients: Sequence[str] = ()) -> None:
        """Replay this sample from now on for runs of a tool by these clients (empty: by all)."""
        for client in clients or tuple(self.addresses):
            self._chosen[client, tool] = sample

    def in_thread(self) -> AbstractContextManager[Self]:
        """Run beside synchronous code."""
        return run_in_thread(self)

    async def __aenter__(self) -> Self:
        endpoints = {name: SshEndpoint(partial(self._serve, name)) for name in self.addresses}
        async with AsyncExitStack() as opened:
            self._listeners, self.known_hosts_text = await open_listeners(
                opened, endpoints, self.state_dir, self.listen, (self.user, self.password)
            )
            self.ports = {name: listener.port for name, listener in self._listeners.items()}
            self._open = opened.pop_all()
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(self, *_: object) -> None:
        for command in self._running.values():
            command.end("KILL")
        await self._open.aclose()
        await asyncio.sleep(0)  # the loop closes the sockets in its next turn

    async def _serve(self, host: str, process: asyncssh.SSHServerProcess[bytes]) -> None:
        own = self.settings.get(host)
        if own is not None and own.allows(process.command):
            await own.serve(process.command or "", process)
            return
        if kill := KILL.fullmatch(process.command or ""):
            process.exit(self._kill(host, int(kill["pid"]), kill["signal"]))
            return
        mark, limit_s, words, watched = _unwrap(process.command or "")
        if words and words[0] in TOOLS:
            await self._measure(HostProcess(host, words, limit_s, watched), mark, process)
        elif (answer := self.answers.get(shlex.join(words))) is not None:
            self._last_pid += 1
            process.stderr.write(f"{mark} {self._last_pid}\n".encode() if mark else b"")
            process.stdout.write(answer.format(host=host).encode())
            process.exit(0)
        else:
            process.stderr.write(f"{words[0] if words else 'sh'}: command not found\n".encode())
            process.exit(NO_COMMAND)

    def _kill(self, host: str, pid: int, signal: str) -> int:
        """Signal one of this host's own commands; returns the exit code of `kill`."""
        command = self._running.get(pid)
        if command is None or command.host != host:
            return 1
        command.end(signal)
        return 0

    async def _measure(
        self, command: HostProcess, mark: str, process: asyncssh.SSHServerProcess[bytes]
    ) -> None:
        self._last_pid += 1
        pid = self._last_pid
        self._running[pid] = command
        if mark:
            process.stderr.write(f"{mark} {pid}\n".encode())
        watch = asyncio.ensure_future(_watch(command, process))
        try:
            end = await self._outcome(command)
        finally:
            watch.cancel()
            del self._running[pid]
        process.stdout.write(end.stdout)
        process.stderr.write(end.stderr)
        if end.exit_code in SIGNALLED:
            process.exit_with_signal(SIGNALLED[end.exit_code])
        else:
            process.exit(end.exit_code or 0)

    async def _outcome(self, command: HostProcess) -> ProcessOutput:
        """Return the output of a command that ends normally, by a signal, or at its limit."""
        work = asyncio.ensure_future(self._perftest(command))
        done, _ = await asyncio.wait(
            (work, command.signal), timeout=command.limit_s, return_when=asyncio.FIRST_COMPLETED
        )
        if work in done:
            return work.result()
        work.cancel()  # its output was buffered, and is lost
        if command.signal in done:
            codes = {name: code for code, name in SIGNALLED.items()}
            return ProcessOutput(exit_code=codes[command.signal.result()])
        return ProcessOutput(exit_code=TIMED_OUT)

    async def _perftest(self, command: HostProcess) -> ProcessOutput:
        if "--version" in command.words:
            version = self.versions.get(command.host, NEWEST_VERSION)
            return ProcessOutput(f"Version: {version}\n".encode(), exit_code=VERSION_EXIT)
        address = _address(command.words)
        if address is None:
            return await _complete_output((await command.sample).server)
        server = self._waiting(address, _port(command.words))
        if server is None:
            message = (
                f"Couldn't connect to {address}:{_port(command.words)}\n"
                "Unable to open file descriptor for socket connection"
                " Unable to init the socket connection\n"
            )
            return ProcessOutput(stderr=message.encode(), exit_code=1)
        tool = command.words[0]
        sample = self._chosen.get((command.host, tool)) or self.samples[tool]
        if self.choose is not None:
            chosen = await asyncio.to_thread(self.choose, command.host, command.words)
            sample = sample if chosen is None else chosen
        if sample.server.exit_code in SIGNALLED:  # the server dies during the run
            server.sample.set_result(sample)
        end = await _complete_output(sample.client)
        if not server.sample.done():
            server.sample.set_result(sample)
        return end

    def _waiting(self, address: str, port: int) -> HostProcess | None:
        """Return the server that listens at an address and port, if no client has connected yet."""
        for command in self._running.values():
            here = self.addresses[command.host] == address and _port(command.words) == port
            if here and _address(command.words) is None and not command.sample.done():
                return command
        return None


async def _watch(command: HostProcess, process: asyncssh.SSHServerProcess[bytes]) -> None:
    """End a watched command when its SSH channel, and so its input, ends."""
    import asyncssh  # noqa: PLC0415 - belongs to an extra

    if command.watched:
        with suppress(OSError, EOFError, asyncssh.Error):
            await process.stdin.read()
        command.end("TERM")


async def _complete_output(end: ProcessOutput) -> ProcessOutput:
    if end.exit_code is None:
        await asyncio.Event().wait()  # until a signal or the limit
    return end


def _unwrap(command: str) -> tuple[str, float | None, tuple[str, ...], bool]:
    """Remove the guard: returns its mark, limit in seconds, the words, whether it is watched."""
    try:
        words = shlex.split(command)
        script = words[3] if words[:3] == ["exec", "sh", "-c"] else ""
        watched = WATCHED.fullmatch(script)
        guard = watched or GUARD.fullmatch(script)
        if guard is None:
            return "", None, tuple(words), False
        inner = tuple(shlex.split(guard["rest"]))
        return guard["mark"], float(guard["limit"]), inner, watched is not None
    except (ValueError, IndexError):  # an open quote, `sh -c` without a script
        return "", None, (), False


def _address(words: Sequence[str]) -> str | None:
    """Return the server that a client connects to; None for a server."""
    plain = [w for before, w in pairwise(words) if not w.startswith("-") and before not in VALUED]
    return plain[-1] if plain else None


def _port(words: Sequence[str]) -> int:
    after = [value for option, value in pairwise(words) if option == "-p"]
    return int(after[-1]) if after and after[-1].isdecimal() else PERFTEST_PORT
