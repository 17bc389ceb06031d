"""Start the command lines of many emulated switches in one process, each on its own port."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from rocefort.errors import BadInput, ServiceFailed
from rocefort.lab.session import Session
from rocefort.lab.switch import EmulatedSwitch, Peers, PeerState, idle_peers

if TYPE_CHECKING:
    from rocefort.lab.transport import Listener

L = TypeVar("L", bound=AbstractAsyncContextManager[Any, Any])


@dataclass
class LabServer:
    """The SSH listeners of a lab.

        async with LabServer(switches, state_dir=path) as lab:
            lab.ports["leaf01"], lab.known_hosts

    `listen` is the address and the first port; port 0 takes free ones. `peers` maps the running
    configurations of all switches to the BGP states they show; by default every peer is Idle.
    Raises ServiceFailed where asyncssh is not installed or a port is taken.
    """

    switches: Mapping[str, EmulatedSwitch]
    state_dir: Path
    listen: tuple[str, int] = ("127.0.0.1", 0)
    user: str = "netops"
    password: str = "emulated-only"  # noqa: S105 - opens nothing but an emulator
    peers: Peers = idle_peers
    ports: dict[str, int] = field(default_factory=dict)
    _listeners: list[Listener] = field(default_factory=list)

    @property
    def known_hosts(self) -> Path:
        """File with the host key of every switch."""
        return self.state_dir / "known_hosts"

    async def __aenter__(self) -> Self:
        if find_spec("asyncssh") is None:
            raise ServiceFailed(
                "asyncssh is not installed", where="lab", how="install the extra: rocefort[lab]"
            )
        try:
            await self._start()
        except OSError as error:
            await self._stop()
            raise ServiceFailed(str(error), where="lab", how="choose another port") from error
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stop()

    async def _start(self) -> None:
        from rocefort.lab import transport  # noqa: PLC0415 - asyncssh belongs to an extra

        self.state_dir.mkdir(parents=True, exist_ok=True)
        host, base = self.listen
        lines = []
        for index, (name, switch) in enumerate(self.switches.items()):
            if Path(name).name != name:
                raise BadInput(f"{name!r} cannot be the name of a switch", how="use one word")
            key = transport.host_key(self.state_dir, name)
            port = base + index if base else 0
            serve = transport.dialogues(self._sessions(name, switch))
            listener = await transport.listen((host, port), key, (self.user, self.password), serve)
            self._listeners.append(listener)
            self.ports[name] = listener.port
            lines.append(transport.known_hosts_line(host, self.ports[name], key))
        self.known_hosts.write_text("".join(lines), encoding="ascii")

    async def _stop(self) -> None:
        while self._listeners:
            await self._listeners.pop().close()

    def _sessions(self, name: str, switch: EmulatedSwitch) -> Callable[[str], Session]:
        def states() -> list[PeerState]:
            for other in self.switches.values():
                other.tick()
            running = {key: other.running for key, other in self.switches.items()}
            return list(self.peers(running).get(name, ()))

        return lambda user: Session(switch, user, states)


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
