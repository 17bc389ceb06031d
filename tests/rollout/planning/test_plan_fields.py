"""Every field of a plan: a wrong value is one sentence, and a forged value is a difference.

The models are walked, so a new field is tried without a line here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from planned import unreached
from pydantic import ValidationError

from rocefort.base.errors import Refused
from rocefort.design.derive.derive import DerivedNetwork
from rocefort.dialects.network_text import render_all
from rocefort.fleet.connections import Connections
from rocefort.models.base import Frozen
from rocefort.models.change.edits import Edit
from rocefort.models.change.plan import (
    Change,
    DrainedChange,
    Gate,
    GatePair,
    Plan,
    PlanLimit,
    SealedFile,
    Soak,
    StatedEffect,
    Wave,
    digest_of,
)
from rocefort.models.hardware.hardware import ConditionedLine
from rocefort.rollout.journal.events import (
    ActPhase,
    RunEnded,
    RunningConfig,
    RunStarted,
    SwitchState,
)
from rocefort.rollout.journal.journal import open_journal
from rocefort.rollout.plan.make_plan import make_plan
from rocefort.rollout.plan.rederive import NOT_COMPARED, differences
from rocefort.rollout.planning.sealed_files import read_plan, write_plan

Command = Callable[..., Any]
MODELS = (
    *(Plan, Wave, Gate, GatePair, DrainedChange, Change, Soak, StatedEffect),
    *(ConditionedLine, Edit, SealedFile, PlanLimit),
)
# A forged value of these fields is no difference; NOT_COMPARED has the reasons.
SILENT = {("Plan", "digest"), ("Plan", "source"), ("Plan", "author"), ("PlanLimit", "left_out")}
OF_MODELS = ("drained", "edits", "pairs")  # where one is empty, another of the plan is not


@pytest.fixture
def access(hall: DerivedNetwork) -> Connections:
    return unreached(hall.network)


@pytest.fixture
def plan(
    hall: DerivedNetwork, access: Connections, edit_hall: Callable[..., Path], made: dict[Any, Plan]
) -> Plan:
    """Plan of four switches, two of them drained, with a value in every field."""
    fabric = edit_hall(("xoff_kbytes: 600", "xoff_kbytes: 640"))
    if "fields" not in made:
        made["fields"] = make_plan(fabric, access, render_all(hall.network))
    honest = made["fields"]
    line = StatedEffect(line="+ a", effect="none", affects_service=False, confirmed=True)
    conditioned = ConditionedLine(line="a", command="a", needs=("save",), note="n")
    first, *changes = (
        change.model_copy(
            update={"soak": Soak(seconds=5, why="a timer"), "unjudged": ("+ a",)}
            | {"stated": (line,), "conditions": (conditioned,)}
        )
        for change in honest.changes
    )
    limit = PlanLimit(switches=("leaf*",), left_out=("leaf09",), warnings=("narrow",))
    update = {"changes": (first, *changes), "limit": limit, "source": str(fabric.resolve())}
    files = tuple(
        file.model_copy(update={"name": str(fabric.resolve())})
        if file.name.endswith("fabric.yaml")
        else file
        for file in honest.files
    )
    waves = tuple(wave.model_copy(update={"warnings": ("busy",)}) for wave in honest.waves)
    return honest.model_copy(update=update | {"files": files, "waves": waves}).seal()


# --- a forged value is a difference ---------------------------------------------------------------


def forged(model: Frozen) -> Iterator[tuple[str, str, Frozen]]:
    """Class, field and model with another value, for each field of a model and those in it."""
    for name in type(model).model_fields:
        for kind, field, value in other_values(type(model).__name__, name, getattr(model, name)):
            yield kind, field, model.model_copy(update={name: value})


def other_values(kind: str, field: str, value: object) -> Iterator[tuple[str, str, object]]:
    match value:
        case Frozen():
            yield from forged(value)
        case tuple() if value and isinstance(value[0], Frozen):
            for at, each in enumerate(value):
                for inner, name, other in forged(each):
                    yield inner, name, (*value[:at], other, *value[at + 1 :])
            yield kind, field, value[1:]
        case () if field in OF_MODELS:
            return
        case tuple():
            yield kind, field, (*value, "forged")
        case _:
            yield kind, field, other_scalar(value)


def other_scalar(value: object) -> object:
    match value:
        case bool():
            return not value
        case Enum():
            return next(each for each in type(value) if each is not value)
        case int() | float():
            return value + 1
    return f"{value}x"


def test_a_forged_value_of_any_field_is_a_difference(plan: Plan) -> None:
    old = {name for wave in plan.waves for name in wave.devices}
    seen = {name: SwitchState(runs=RunningConfig.BASELINE) for name in old}
    assert list(differences(plan, plan, seen, old)) == []
    tried: set[tuple[str, str]] = set()
    for kind, field, other in forged(plan):
        assert isinstance(other, Plan)
        found = list(differences(other, plan, seen, old))
        assert bool(found) is ((kind, field) not in SILENT), (kind, field, found)
        tried.add((kind, field))
    assert tried >= {(m.__name__, f) for m in MODELS for f in m.model_fields} - {
        ("Plan", "changes"), ("Plan", "waves"), ("Plan", "limit"), ("Plan", "files"),
        ("Wave", "gate"), ("DrainedChange", "drain"), ("DrainedChange", "change"),
        ("DrainedChange", "lift"), ("Change", "soak"),
    }  # fmt: skip


def test_a_switch_outside_of_the_waves_has_no_forged_field_either(plan: Plan) -> None:
    """Its text is not read again, so its digests and the lines that stay are not compared."""
    idle, empty = plan.changes[0], {"patch": (), "reverse": (), "edits": ()}
    honest = plan.model_copy(update={"changes": (idle.model_copy(update=empty), *plan.changes[1:])})
    waves = tuple(wave for wave in plan.waves if idle.device not in wave.devices)
    honest = honest.model_copy(update={"waves": waves})
    old = {name for wave in waves for name in wave.devices}
    seen = {name: SwitchState(runs=RunningConfig.BASELINE) for name in old}
    assert list(differences(honest, honest, seen, old)) == []
    for kind, field, other in forged(honest.changes[0]):
        changes = (other, *honest.changes[1:])
        found = list(differences(honest.model_copy(update={"changes": changes}), honest, seen, old))
        silent = (kind, field) in {
            ("Change", f) for f in ("running_digest", "intended_digest", "kept")
        }
        assert bool(found) is not silent, (kind, field)


def test_each_exception_is_a_field_with_a_reason() -> None:
    fields = {model.__name__: set(model.model_fields) for model in MODELS}
    for kind, reasons in NOT_COMPARED.items():
        assert fields[kind] >= set(reasons)
        assert all(len(reason) > 10 for reason in reasons.values())


# --- a wrong value is one sentence ----------------------------------------------------------------

WRONG: tuple[object, ...] = ("", "nowhere", "\0", 0, -1, 10**30, [], {}, None, ["nowhere"], True)


def wrong_plans(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths of all values of a plan's JSON; of a list, those of the first member."""
    match content:
        case dict():
            for key, value in content.items():
                yield (*path, key)
                yield from wrong_plans(value, (*path, key))
        case [first, *_]:
            yield (*path, 0)
            yield from wrong_plans(first, (*path, 0))


def with_value(content: Any, path: tuple[Any, ...], value: object) -> Any:
    if not path:
        return value
    head, *rest = path
    other = dict(content) if isinstance(content, dict) else list(content)
    other[head] = with_value(content[head], tuple(rest), value)
    return other


def sealed_again(content: Mapping[str, Any], file: Path) -> None:
    """Write a plan, sealed by the project's function where the model allows it."""
    try:
        write_plan(Plan.model_validate(content).seal(), file)
    except (ValidationError, ValueError, TypeError):
        body = {key: value for key, value in content.items() if key != "digest"}
        file.write_text(json.dumps({**body, "digest": digest_of(body)}), encoding="utf-8")


def test_a_wrong_value_of_any_field_is_a_sentence_and_never_an_internal_error(
    plan: Plan, access: Connections, command: Command, tmp_path: Path, effort: str
) -> None:
    file, at = tmp_path / "plan.json", tmp_path / "connections.yaml"
    at.write_text(json.dumps(access.model_dump(mode="json", exclude_defaults=True)), "utf-8")
    content, codes = plan.model_dump(mode="json"), set[int]()
    cases = [(path, value) for path in wrong_plans(content) for value in WRONG]
    accepted, sentences = [], set[str]()
    for path, value in cases:
        sealed_again(with_value(content, path, value), file)
        try:
            accepted.append((path, value, read_plan(file)))
        except Refused as refused:
            sentences.add(refused.problem.how)
    assert (len(accepted) > 50, sentences) == (True, {"plan again"})
    page = tmp_path / "page.html"
    for number, (path, value, other) in enumerate(accepted):
        file = tmp_path / f"plan{number}.json"
        write_plan(other, file)
        with open_journal(tmp_path / f"{file.name}.journal", other.digest) as journal:
            journal.append(RunStarted(phase=ActPhase.INTENT, run="7f"))
            if number % 2:
                journal.append(RunEnded(phase=ActPhase.DONE, ended="finished"))
        commands: list[tuple[object, ...]] = [
            ("status", file), ("status", file, "--html", page), ("history", file),
            ("approve", file, "--wave", "canary"), ("plan-console", file), ("abort", file),
            ("rollback", file, "--html", page),
            ("resume", file, "--connections", at), ("apply", file, "--connections", at),
        ]  # fmt: skip
        if effort == "quick":  # each command gets a part of the cases
            commands = [commands[number % len(commands)]]
        for words in commands:
            ran = command(*words)
            codes.add(ran.code)
            assert ran.code != 70, (path, value, words, ran.err)
    assert codes <= {0, 1, 2, 3, 4, 5}
