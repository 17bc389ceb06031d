"""Start the command lines of many emulated switches in one process, each on its own port."""

from __future__ import annotations

import asyncio
import errno
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from napalm_cloudengine.connect import place_of
from rocefort.base.documents.suggest import nearest
from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.emulator.cli.dialogue import CliReply
from rocefort.emulator.cli.session import CliSession
from rocefort.emulator.state.model import EmulatedState
from rocefort.emulator.switch.audit_log import GONE, POWER_LOST, AuditLog
from rocefort.emulator.switch.logins import ssh_admits, ssh_listens
from rocefort.emulator.switch.state_source import StateSource
from rocefort.emulator.switch.store import Store, lose_power
from rocefort.emulator.switch.switch import EmulatedSwitch
from rocefort.models.base import natural

if TYPE_CHECKING:
    import asyncssh

    from rocefort.emulator.cli.transport import Files, Login, Serve, SshListener

LAST_PORT = 65535
L = TypeVar("L", bound=AbstractAsyncContextManager[Any, Any])


class DurableSession(CliSession):
    """A session that writes each act to disk before it answers."""

    def __init__(
        self,
        switch: EmulatedSwitch,
        user: str,
        store: Store | None,
        audit_log: AuditLog | None = None,
    ) -> None:
        super().__init__(switch, user)
        self.store = store
        self.audit_log = audit_log

    def handle(self, line: str) -> CliReply:
        """Answer one line, and store its effect."""
        self._before()
        reply = super().handle(line)
        self._keep(line)
        return reply

    def escape(self) -> CliReply:
        """Handle Ctrl-Z, and store its effect."""
        self._before()
        reply = super().escape()
        self._keep("^Z")
        return reply

    def close(self) -> None:
        """End, and store the effect: a trial may end with its session."""
        self._before()
        super().close()
        self._keep(GONE)

    def _before(self) -> None:
        """Record what the switch did before this line, such as the end of a trial."""
        if self.audit_log:
            self.switch.tick()
            self.audit_log.record_spontaneous(self.switch)

    def _keep(self, line: str) -> None:
        if self.store:
            self.store.keep(self.switch)
        if self.audit_log:
            self.audit_log.note(self.switch, self.number, self.user, line)


@dataclass
class LabServer:
    """SSH listeners of a lab.

        async with LabServer(switches, state_dir=path) as lab:
            lab.ports["leaf01"], lab.known_hosts

    `listen` is the address and the port of the first name in order; port 0 takes free ones.
    `state_source` has the state that display commands show. Without it a model without cabling is
    used, whose BGP peers are all Idle. `store` keeps the switches on disk; without it they start as
    given each time. `audit_log` records their lines and acts. Raises what `open_listeners` raises.
    """

    switches: MutableMapping[str, EmulatedSwitch]
    state_dir: Path
    listen: tuple[str, int] = ("127.0.0.1", 0)
    user: str = "netops"
    password: str = "emulated-only"  # noqa: S105 - opens nothing but an emulator
    state_source: StateSource | None = None
    store: Store | None = None
    audit_log: AuditLog | None = None
    ports: dict[str, int] = field(default_factory=dict)
    consoles: dict[str, int] = field(default_factory=dict)  # of switches out of their box
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)
    _listeners: dict[str, SshListener] = field(default_factory=dict)
    _loop: asyncio.AbstractEventLoop | None = None

    @property
    def known_hosts(self) -> Path:
        """File with the host key of every switch."""
        return self.state_dir / "known_hosts"

    async def __aenter__(self) -> Self:
        _require_asyncssh()
        self.state_source = self.state_source or EmulatedState(self.switches)
        for switch in self.switches.values():
            self._set_up(switch)
        endpoints = {
            name: self._endpoint(self.switches[name]) for name in sorted(self.switches, key=natural)
        }
        async with AsyncExitStack() as opened:
            self._listeners, known_hosts = await open_listeners(
                opened, endpoints, self.state_dir, self.listen, (self.user, self.password)
            )
            self.ports = {name: self._listeners[name].port for name in self.switches}
            self.known_hosts.write_text(known_hosts, encoding="ascii")
            await self._open_consoles(opened)
            self._open = opened.pop_all()
        self._loop = asyncio.get_running_loop()
        return self

    @property
    def console_hosts(self) -> Path:
        """File with the host key of each console."""
        return self.state_dir / "console_hosts"

    def fingerprint(self, name: str) -> str:
        """Return the fingerprint of a switch's host key, as its console would show it."""
        place = place_of(self.listen[0], self.ports[name])
        lines = map(str.split, self.known_hosts.read_text("ascii").splitlines())
        key = next(words[2] for words in lines if words[0] == place)
        digest = b64encode(sha256(b64decode(key)).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"

    async def _open_consoles(self, opened: AsyncExitStack) -> None:
        """Open a console, as of a console server, for each switch out of its box."""
        endpoints = {
            f"{name}.console": self._endpoint(switch, console=True)
            for name, switch in self.switches.items()
            if switch.day0_address
        }
        if endpoints:
            address, login = (self.listen[0], 0), (self.user, self.password)
            fresh, hosts = await open_listeners(opened, endpoints, self.state_dir, address, login)
            self.console_hosts.write_text(hosts, encoding="ascii")
            self.consoles = {
                name.removesuffix(".console"): each.port for name, each in fresh.items()
            }

    def _set_up(self, switch: EmulatedSwitch) -> None:
        switch.state_source = self.state_source
        switch.flash = self.state_dir / "flash" / switch.name
        if isinstance(self.state_source, EmulatedState):
            switch.ports = self.state_source.ports.get(switch.name, ())
        if self.store:
            self.store.keep(switch)
        if self.audit_log:
            self.audit_log.begin(switch)

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    def lose_power(self, name: str) -> None:
        """Cut a switch's power and restore it: its sessions end, its saved configuration runs.

        Call it from another thread than the lab's. Raises BadInput for an unknown switch.
        """
        if name not in self.switches or self._loop is None:
            how = nearest(name, self.switches)
            raise BadInput(f"no switch is called {name!r}", where="lab", how=how)
        asyncio.run_coroutine_threadsafe(self._power_cycle(name), self._loop).result()

    def call(self, work: Callable[[], None]) -> None:
        """Run a function between two commands; call it from another thread than the lab's."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(_called(work), self._loop).result()

    def hang_up(self) -> None:
        """End every session of every switch. Call it from another thread than the lab's."""
        if self._loop is not None:
            hang_up(self._loop, self._listeners)

    def reopen(self, name: str) -> None:
        """End a switch's sessions and listen again on its port; its host key may change.

        Call it from another thread than the lab's. Raises ServiceFailed if the port is in use.
        """
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._reopen(name), self._loop).result()

    def add(self, switches: Mapping[str, EmulatedSwitch]) -> None:
        """Listen for more switches, on the ports behind the last, or free ones; all or none.

        Call it from another thread than the lab's. Raises what `open_listeners` raises.
        """
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._add(switches), self._loop).result()

    async def _add(self, switches: Mapping[str, EmulatedSwitch]) -> None:
        host, base = self.listen
        address = host, max(self.ports.values()) + 1 if base else 0
        endpoints = {name: self._endpoint(switches[name]) for name in sorted(switches, key=natural)}
        async with AsyncExitStack() as opened:
            login = self.user, self.password
            fresh, hosts = await open_listeners(opened, endpoints, self.state_dir, address, login)
            self._open.push_async_exit(opened.pop_all())
        self.switches.update(switches)
        self._listeners |= fresh
        self.ports |= {name: fresh[name].port for name in switches}
        self.known_hosts.write_text(self.known_hosts.read_text("ascii") + hosts, encoding="ascii")
        for switch in switches.values():
            self._set_up(switch)

    async def _reopen(self, name: str) -> None:
        await self._listeners[name].close()
        endpoints, address = (
            {name: self._endpoint(self.switches[name])},
            (self.listen[0], self.ports[name]),
        )
        login = self.user, self.password
        fresh, _ = await open_listeners(self._open, endpoints, self.state_dir, address, login)
        self._listeners |= fresh

    async def _power_cycle(self, name: str) -> None:
        switch = self.switches[name]
        lose_power(switch)  # at once, so that a session's end finds no trial
        _abort(self._listeners[name])
        if self.store:
            self.store.keep(switch)
        if self.audit_log:
            self.audit_log.note(switch, 0, "", POWER_LOST)

    def _endpoint(self, switch: EmulatedSwitch, *, console: bool = False) -> SshEndpoint:
        from rocefort.emulator.cli import transport  # noqa: PLC0415 - asyncssh belongs to an extra

        def open_session(user: str) -> CliSession:
            if switch.fault("refuse-login"):
                # The transport ends the session without a message.
                raise ConnectionRefusedError(switch.name)
            return self._session(switch, user)

        serve = transport.dialogues(open_session)
        if console:
            return SshEndpoint(serve)
        impostor = switch.fault("wrong-host-key") is not None
        login = None
        if switch.day0_address:
            login = transport.Login(
                admits=lambda user, password: ssh_admits(switch.running, user, password),
                listens=lambda: ssh_listens(switch.running, switch.day0_address),
            )
        return SshEndpoint(serve, transport.files_of(switch), impostor, login)

    def _session(self, switch: EmulatedSwitch, user: str) -> CliSession:
        if self.store or self.audit_log:
            return DurableSession(switch, user, self.store, self.audit_log)
        return CliSession(switch, user)


async def _called(work: Callable[[], None]) -> None:
    work()


@dataclass(frozen=True)
class SshEndpoint:
    """Services of one listener; impostor: it shows another host key than known_hosts has.

    login: who may log in; by default the lab's user.
    """

    serve: Serve
    files: Files | None = None
    impostor: bool = False
    login: Login | None = None


async def open_listeners(
    opened: AsyncExitStack,
    endpoints: Mapping[str, SshEndpoint],
    state_dir: Path,
    listen: tuple[str, int],
    login: tuple[str, str],
) -> tuple[dict[str, SshListener], str]:
    """Open an SSH listener for each name, in order; returns them and the known_hosts text.

    opened: closes each of them when it is closed, also when a later one cannot be opened.
    state_dir: keeps the host keys. listen: address and first port; 0 takes free ones. Raises
    ServiceFailed (no asyncssh, no state_dir, a port is taken), BadInput (a name, a key).
    """
    _require_asyncssh()
    from rocefort.emulator.cli import transport  # noqa: PLC0415 - asyncssh belongs to an extra

    host, base = listen
    listeners, known_hosts = {}, ""
    for index, (name, endpoint) in enumerate(endpoints.items()):
        if not name or Path(name).name != name:
            raise BadInput(f"{name!r} cannot be the name of a host", how="use one word")
        key = _host_key(state_dir, name)
        port = base + index if base else 0
        if port > LAST_PORT:
            how = f"choose a first port up to {LAST_PORT + 1 - len(endpoints)}"
            raise BadInput(f"no port is left for {name}", where="lab", how=how)
        try:
            shown = transport.another_key(name) if endpoint.impostor else key
            labs = transport.Login(lambda *given: given == login)
            listener = await transport.listen(
                (host, port), shown, endpoint.login or labs, endpoint.serve, endpoint.files
            )
        except OSError as error:
            raise _not_open(error, name, host, port) from error
        opened.push_async_callback(listener.close)
        listeners[name] = listener
        known_hosts += transport.known_hosts_line(host, listener.port, key)
    return listeners, known_hosts


def _not_open(error: OSError, name: str, host: str, port: int) -> ServiceFailed:
    if error.errno == errno.EADDRINUSE:
        what, how = f"port {port} of {host} is in use, and {name} needs it", "choose another port"
        return ServiceFailed(what, where="lab", how=how)
    what = f"cannot listen on {host} port {port} for {name}: {error.strerror or error}"
    return ServiceFailed(what, where="lab", how="choose another address or port")


def _host_key(state_dir: Path, name: str) -> asyncssh.SSHKey:
    from rocefort.emulator.cli import transport  # noqa: PLC0415 - asyncssh belongs to an extra

    try:
        state_dir.mkdir(parents=True, exist_ok=True)
        return transport.host_key(state_dir, name)
    except OSError as error:
        raise ServiceFailed(str(error), where="lab", how="choose another folder") from error


def _require_asyncssh() -> None:
    if find_spec("asyncssh") is None:
        raise ServiceFailed(
            "asyncssh is not installed", where="lab", how="install the extra: rocefort[lab]"
        )


@contextmanager
def run_in_thread(lab: L) -> Iterator[L]:
    """Run a lab beside synchronous code: an event loop in a thread, until the block ends."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="rocefort-lab", daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(lab.__aenter__(), loop).result()
        try:
            yield lab
        finally:
            asyncio.run_coroutine_threadsafe(lab.__aexit__(None, None, None), loop).result()
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def hang_up(loop: asyncio.AbstractEventLoop, listeners: Mapping[str, SshListener]) -> None:
    """End every connection of these listeners, and wait until nothing serves them.

    loop: the event loop of the listeners, without other users; it runs in another thread.
    """

    async def end() -> None:
        ending = [opened for listener in listeners.values() for opened in _abort(listener)]
        await _cancel_others()
        for connection in ending:
            await connection.wait_closed()

    asyncio.run_coroutine_threadsafe(end(), loop).result()


def _abort(listener: SshListener) -> list[asyncssh.SSHServerConnection]:
    """Close every connection of a listener at once, and return them."""
    ending = list(listener.connections)
    for connection in ending:
        connection.abort()
    return ending


async def _cancel_others() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
