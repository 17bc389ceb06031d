"""Settings of a site: `rocefort.toml`, with defaults for options of the command line.

A key is an option with an environment variable: `connections` is ROCEFORT_CONNECTIONS. The option
on the command line precedes the variable, the variable precedes the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from rocefort.base.documents.read import read_toml
from rocefort.base.documents.schema import schema_of
from rocefort.base.documents.validate import validate
from rocefort.base.errors import BadInput
from rocefort.base.options import (
    ENVIRONMENT,
    ColorOption,
    EngineOption,
    ProgressOption,
    TraceFormat,
)
from rocefort.base.rule_files import RuleSettings
from rocefort.models.base import Frozen
from rocefort.models.wording import named


def _check_address(value: str) -> str:
    from rocefort.validators.batfish.access import service_at  # noqa: PLC0415 - for this key alone

    try:
        service_at(value)
    except BadInput as error:
        raise ValueError(f"{error.problem.what}; {error.problem.how}") from None
    return value


class SiteSettings(Frozen):
    """Defaults of a site for options; None: the default of the option."""

    connections: Path | None = Field(
        default=None,
        description="Connections file: address and credentials of each switch and server.",
    )
    engine: EngineOption | None = Field(default=None, description="Verification engine.")
    batfish: Annotated[str, AfterValidator(_check_address)] | None = Field(
        default=None, description="Batfish service: HOST:PORT or https://HOST:PORT."
    )
    batfish_limit: float | None = Field(
        default=None,
        gt=0,
        json_schema_extra=named("a time limit in seconds"),
        description="Time limit of each question to Batfish (s).",
    )
    format: TraceFormat | None = Field(default=None, description="Output format: text or json.")
    color: ColorOption | None = Field(
        default=None, description="Colors: auto follows the terminal, NO_COLOR and FORCE_COLOR."
    )
    progress: ProgressOption | None = Field(
        default=None, description="Progress display: auto, plain, json or none."
    )
    log_file: Path | None = Field(
        default=None, description="Log file, to which every command appends what it does."
    )
    allowed_signers: Path | None = Field(
        default=None,
        description="Allowed signers file of a plan, in the format of ssh-keygen(1).",
    )
    page_url: str | None = Field(default=None, description="URL of the published page of a review.")


class SettingsFile(SiteSettings):
    """Content of rocefort.toml: defaults for options, and the rules of the site."""

    rules: RuleSettings | None = Field(
        default=None, description="Rules of the site: the prefix of their ids, and a time limit."
    )


def settings_schema() -> str:
    """Return the JSON Schema of rocefort.toml."""
    return schema_of(SettingsFile, "settings")


def load_settings(path: Path) -> dict[str, str]:
    """Return the values of a settings file by key; raises BadInput with all its problems.

    Relative paths start at the folder of the file.
    """
    settings = validate(SettingsFile, read_toml(path))
    given = settings.model_dump(exclude_none=True, exclude={"rules"})
    return {
        key: str(path.parent / value if isinstance(value, Path) else value)
        for key, value in given.items()
    }


def option_defaults(values: Mapping[str, str], group: Any) -> dict[str, Any]:  # noqa: ANN401 - Typer's
    """Return Click's `default_map`: values of the options of a group, and of each command in it."""
    own = {
        option.name: values[key]
        for option in group.params
        if (key := setting_of(option)) is not None and key in values
    }
    commands = getattr(group, "commands", {})
    return own | {name: option_defaults(values, each) for name, each in commands.items()}


def setting_of(parameter: Any) -> str | None:  # noqa: ANN401 - Click's or Typer's
    """Return the key of an option; None if it has none."""
    variable = parameter.envvar
    if not isinstance(variable, str) or not variable.startswith(ENVIRONMENT):
        return None
    return variable.removeprefix(ENVIRONMENT).lower()
