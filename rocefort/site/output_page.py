"""JSON output and exit codes as a page of Markdown: docs/reference/output.md, kept by a test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, get_args

from rocefort.base.errors import ExitCode
from rocefort.base.json_output import OUTPUT_VERSION
from rocefort.site.outputs import OUTPUTS

HEAD = f"""\
# JSON output and exit codes

`make golden` writes this page from the code.

`--format json` prints the result of a command as one JSON object on standard output. Notes,
progress and errors as text are on standard error. ROCEFORT_FORMAT and `format` in `rocefort.toml`
select the format for all commands ([settings.md](settings.md)).

```console
$ rocefort check heps --select pfc,buf001 --format json > check.json
$ rocefort check bad.yaml --format sarif > check.sarif
```

Each object begins with two keys:

- `schema_version`: {OUTPUT_VERSION}. A change that breaks a reader raises it. New keys do not.
- `command`: the command, such as `rdma run`.

[output.schema.json](output.schema.json) is the schema of all outputs, and
`rocefort schema --of output` prints it. `$defs/COMMAND` describes one command, with `-` in place
of a space: `$defs/rdma-run`.

## Problems

A command that ends without a result prints an object with `problems` (`$defs/problems`). This holds
for bad input, unknown options, failed devices and services, refusals, and internal errors. Each
problem has `file`, `line`, `column`, `subject` (a key of the file, a switch or an option), `what`
and `how`; a value that is not known is empty or 0. `exit_code` is that of the command.

```json
{{
  "schema_version": {OUTPUT_VERSION},
  "command": "check",
  "failed": true,
  "exit_code": 2,
  "problems": [
    {{
      "file": "bad.yaml",
      "line": 33,
      "column": 6,
      "subject": "",
      "what": "the `[` that opens here is not closed",
      "how": "close it with `]`"
    }}
  ]
}}
```

`check`, `verify` and `health` write problems also as SARIF (a result at the line of the file),
JUnit (an error) and Markdown.

## Rollouts

With `--format json`, `apply`, `resume` and `rollback --apply` print one object with the outcome;
progress is on standard error. `--progress json` alone is for programs that follow a rollout: each
event is one line on standard output, and the outcome is the last line.

## Exit codes
"""
OUTPUT = """\
## Objects

[Keys of JSON output](json.md) lists the keys of each object. Commands without `--format json`:
`demo`, `schema`, `lab exec` and `completion`. The output of `lab snapshot` is always JSON.
"""


def output_page() -> str:
    """Return the page."""
    codes = _table(("code", "meaning"), ((code, code.meaning) for code in ExitCode))
    rows = ((f"`{name}`", "<br>".join(_models(kind))) for name, kind in sorted(OUTPUTS.items()))
    objects = _table(("command", "object"), rows)
    lab = "`lab exec` and `lab load` end with the code of the command that they run."
    return "\n".join((HEAD, codes, f"\n{lab}\n", OUTPUT, objects)) + "\n"


def _models(kind: Any) -> Iterator[str]:  # noqa: ANN401 - a model or several
    for model in get_args(kind) if isinstance(kind, UnionType) else (kind,):
        yield (model.__doc__ or "").splitlines()[0]


def _table(heads: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = (heads, ("---",) * len(heads), *rows)
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)
