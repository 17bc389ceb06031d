"""The real driver over recorded answers: its commands are looked up in a table."""

from __future__ import annotations

from collections.abc import Mapping

from napalm_cloudengine import CloudEngineDriver
from napalm_cloudengine.framing import SwitchReply
from napalm_cloudengine.parse import Prompt

UNKNOWN = "Error: Unrecognized command found at '^' position."


class RecordedDriver(CloudEngineDriver):
    """Driver whose switch answers from a table, and refuses other commands."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        super().__init__("192.0.2.1", "user", "password")
        self._recorded = answers

    def _run(self, command: str, *_: object) -> SwitchReply:
        text = self._recorded.get(command, UNKNOWN)
        return SwitchReply(text, Prompt("leaf01", system=False, mark=""))
