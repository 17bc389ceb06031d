"""Notes, logs, permissions and the end of a command: its common options and its exit code.

Modules log to the tree `rocefort`. Every record is masked where it is made
(`rocefort.base.secret_masking`) and again where it is written, as visible text.
"""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from napalm_cloudengine.text import visible
from rocefort.base import output
from rocefort.base.errors import ExitCode

if TYPE_CHECKING:
    import logging


def end(*, failed: bool, stopped: bool = False) -> None:
    """Exit with the code of findings, or of an operator's stop; otherwise return."""
    if failed:
        raise typer.Exit(ExitCode.FINDINGS)
    if stopped:
        raise typer.Exit(ExitCode.STOPPED)


LOGGER = "rocefort"
RULES_IN_FORCE = {  # functions that take back what a command has set
    "rocefort.base.rule_files": "permit",
    "rocefort.validators.site_rules": "use_site_rules",
}


def be_quiet(context: typer.Context, quiet: bool) -> bool:
    """Write errors and results only, until the command ends."""
    if quiet and not context.resilient_parsing:
        root = context.find_root()
        root.params["quiet"] = True
        output.be_quiet(True)
        root.call_on_close(lambda: output.be_quiet(False))
    return quiet


def permit_site_rules(context: typer.Context, allowed: bool | None) -> bool | None:
    """Allow or forbid the rules of a site; None: as before. At its end a command judges by none."""
    if not context.resilient_parsing:
        context.find_root().call_on_close(_forget_site_rules)
        if allowed is not None:
            from rocefort.base.rule_files import permit

            permit(allowed)
    return allowed


def _forget_site_rules() -> None:
    for module, name in RULES_IN_FORCE.items():
        if module in sys.modules:  # `--help` loads neither
            getattr(sys.modules[module], name)(None)


def be_verbose(context: typer.Context, verbose: bool) -> bool:
    """Log to standard error, until the command ends."""
    if verbose and not context.resilient_parsing and not context.find_root().meta.get("verbose"):
        context.find_root().meta["verbose"] = True
        import logging

        _log_to(context, logging.StreamHandler(sys.stderr), "[%(elapsed)6.2f s] %(message)s")
    return verbose


def log_to_file(context: typer.Context, file: Path | None) -> Path | None:
    """Append the log to a file, until the command ends; raises BadInput if it cannot be opened."""
    if file is None or context.resilient_parsing:
        return file
    import logging

    from rocefort.base.errors import BadInput

    try:
        handler = logging.FileHandler(file, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        what = f"the log cannot be written: {error.strerror}"
        raise BadInput(what, where=str(file), how="name a file in a folder that exists") from None
    _log_to(context, handler, "%(moment)s %(levelname)s %(name)s: %(message)s")
    return file


def log_error(error: BaseException) -> None:
    """Log the error that ends a command, if there is a log."""
    logging = sys.modules.get("logging")
    if logging is not None and logging.getLogger(LOGGER).handlers:
        code = getattr(error, "exit_code", None)
        text = str(error) or type(error).__name__
        logging.getLogger(LOGGER).error("%s (exit code %s)", " | ".join(text.splitlines()), code)


def _log_to(context: typer.Context, handler: logging.Handler, form: str) -> None:
    import logging

    from rocefort import __version__

    logger, root = logging.getLogger(LOGGER), context.find_root()
    handler.setFormatter(_formatter(form))
    logger.addHandler(handler)
    before, logger.propagate = logger.level, False  # not to handlers of other programs
    logger.setLevel(logging.INFO)

    def end() -> None:
        logger.removeHandler(handler)
        logger.setLevel(before)
        logger.propagate = True
        handler.close()

    root.call_on_close(end)
    handler.handle(
        logging.makeLogRecord(
            {
                "name": LOGGER,
                "levelno": logging.INFO,
                "levelname": "INFO",
                "msg": f"rocefort {__version__}: {shlex.join(sys.argv[1:])}",
            }
        )
    )


def _formatter(form: str) -> logging.Formatter:
    import logging
    import time
    from datetime import UTC, datetime

    from rocefort.base import internal_errors

    began = time.time()

    class Masking(logging.Formatter):
        """Formatter with the time since the start, a moment in UTC, and no secrets."""

        def format(self, record: Any) -> str:  # noqa: ANN401 - logging's
            record.elapsed = max(record.created - began, 0.0)
            record.moment = datetime.fromtimestamp(record.created, UTC).isoformat(
                "T", "milliseconds"
            )
            return visible(internal_errors.masked(" | ".join(super().format(record).splitlines())))

    return Masking(form)
