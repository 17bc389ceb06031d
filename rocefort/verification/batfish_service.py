"""The Batfish service that a command uses."""

from __future__ import annotations

from rocefort.base import options, output


def announce_service(
    engine: options.EngineOption, batfish: str | None, limit_s: float = options.QUESTION_LIMIT_S
) -> None:
    """Report which service the engine `auto` uses, before a wait that may take minutes."""
    from rocefort.verification.verify import service_of

    service = service_of(batfish, limit_s)
    if engine is options.EngineOption.AUTO and service is not None:
        note = f"engine auto: embedded, and Batfish at {service} (limit {limit_s:g} s a question)"
        output.write_note(note)
