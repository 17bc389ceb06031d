"""Start the command lines of many emulated switches in one process, each on its own port."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rocefort.errors import BadInput, ServiceFailed
from rocefort.lab.session import Session
from rocefort.lab.switch import EmulatedSwitch, Peers, PeerState, idle_peers

if TYPE_CHECKING:
    import asyncssh

    from rocefort.lab.transport import Serve

L = TypeVar("L", bound=AbstractAsyncContextManager[Any, Any])


@dataclass
class LabServer:
    """The SSH listeners of a lab.

        async with LabServer(switches, state_dir=path) as lab:
            lab.ports["leaf01"], lab.known_hosts

    `listen` is the address and the first port; port 0 takes free ones. `peers` maps the running
    configurations of all switches to the BGP states they show; by default every peer is Idle.
    Raises what `open_listeners` raises.
    """

    switches: Mapping[str, EmulatedSwitch]
    state_dir: Path
    listen: tuple[str, int] = ("127.0.0.1", 0)
    user: str = "netops"
    password: str = "emulated-only"  # noqa: S105 - opens nothing but an emulator
    peers: Peers = idle_peers
    ports: dict[str, int] = field(default_factory=dict)
    _open: AsyncExitStack = field(default_factory=AsyncExitStack)

    @property
    def known_hosts(self) -> Path:
        """File with the host key of every switch."""
        return self.state_dir / "known_hosts"

    async def __aenter__(self) -> Self:
        _require_asyncssh()
        from rocefort.lab import transport  # noqa: PLC0415 - asyncssh belongs to an extra

        serves = {
            name: transport.dialogues(self._sessions(name, switch))
            for name, switch in self.switches.items()
        }
        async with AsyncExitStack() as opened:
            self.ports, known_hosts = await open_listeners(
                opened, serves, self.state_dir, self.listen, (self.user, self.password)
            )
            self.known_hosts.write_text(known_hosts, encoding="ascii")
            self._open = opened.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._open.aclose()

    def _sessions(self, name: str, switch: EmulatedSwitch) -> Callable[[str], Session]:
        def states() -> list[PeerState]:
            for other in self.switches.values():
                other.tick()
            running = {key: other.running for key, other in self.switches.items()}
            return list(self.peers(running).get(name, ()))

        def open_session(user: str) -> Session:
            if switch.fault("refuse-login"):
                raise ConnectionRefusedError(name)  # the transport ends the session without a word
            return Session(switch, user, states)

        return open_session


async def open_listeners(
    opened: AsyncExitStack,
    serves: Mapping[str, Serve],
    state_dir: Path,
    listen: tuple[str, int],
    login: tuple[str, str],
) -> tuple[dict[str, int], str]:
    """Open an SSH listener for each name; returns the ports by name and the known_hosts text.

    opened: closes each of them when it is closed, also when a later one cannot be opened.
    state_dir: keeps the host keys. listen: address and first port; 0 takes free ones.
    Raises ServiceFailed (no asyncssh, no state_dir, a port is taken), BadInput (a name, a key).
    """
    _require_asyncssh()
    from rocefort.lab import transport  # noqa: PLC0415 - asyncssh belongs to an extra

    host, base = listen
    ports, known_hosts = {}, ""
    for index, (name, serve) in enumerate(serves.items()):
        if not name or Path(name).name != name:
            raise BadInput(f"{name!r} cannot be the name of a host", how="use one word")
        key = _host_key(state_dir, name)
        at = (host, base + index if base else 0)
        try:
            listener = await transport.listen(at, key, login, serve)
        except OSError as error:
            raise ServiceFailed(str(error), where="lab", how="choose another port") from error
        opened.push_async_callback(listener.close)
        ports[name] = listener.port
        known_hosts += transport.known_hosts_line(host, listener.port, key)
    return ports, known_hosts


def _host_key(state_dir: Path, name: str) -> asyncssh.SSHKey:
    from rocefort.lab import transport  # noqa: PLC0415 - asyncssh belongs to an extra

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


async def _cancel_others() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
