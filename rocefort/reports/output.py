"""Results on standard output: as a report in text, or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeVar

from rocefort.base.json_output import write_json

if TYPE_CHECKING:
    from pydantic import BaseModel

    from rocefort.reports.blocks import Block

    Result = TypeVar("Result", bound=BaseModel)


def write_blocks(*blocks: Block, err: bool = False) -> None:
    """Write a report to standard output or standard error, in the width and colours of it."""
    from rocefort.reports.writers.terminal import write  # noqa: PLC0415 - rich, for text alone

    write(*blocks, err=err)


def write_result(
    result: Result, report: Callable[[Result], Block | Iterable[Block]], *, text: bool
) -> None:
    """Write a result to standard output: as a report, or as JSON."""
    if text:
        blocks = report(result)
        write_blocks(*(blocks if isinstance(blocks, Iterable) else (blocks,)))
    else:
        write_json(result)
