"""Make a sealed Plan from the intended and the running configuration."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from napalm_cloudengine import regular_file
from rocefort.base.errors import BadInput, Refused
from rocefort.models.change.plan import Plan
from rocefort.rollout.journal.text_store import write_whole


def write_plan(plan: Plan, path: Path) -> None:
    """Write a sealed plan atomically, readable by its owner only."""
    try:
        write_whole(path, plan.model_dump_json(indent=1) + "\n")
    except OSError as error:
        raise BadInput(f"cannot be written: {error.strerror}", file=str(path)) from None


def read_plan(path: Path) -> Plan:
    """Read a plan and check its seal; raises Refused if it was changed after sealing."""
    try:
        plan = Plan.model_validate_json(regular_file.read_text(path))
    except FileNotFoundError:
        raise BadInput("no such file", file=str(path), how="make it by `rocefort plan`") from None
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", file=str(path)) from None
    except ValidationError as error:
        what = _broken(error) or "is not a plan of this version"
        raise Refused(what, file=str(path), how="plan again") from None
    except UnicodeDecodeError:
        raise Refused("is not a plan of this version", file=str(path), how="plan again") from None
    if plan.digest != plan.computed_digest():
        raise Refused("was changed after it was sealed", file=str(path), how="plan again")
    return plan


def _broken(error: ValidationError) -> str:
    """First sentence on names of a plan that do not agree; "" if the file has another form."""
    texts = (each["msg"] for each in error.errors() if each["type"] == "value_error")
    return "".join([*texts][:1]).removeprefix("Value error, ")
