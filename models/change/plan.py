"""Change and Plan: the content of a rollout, device by device, sealed by a digest.

A Plan is a file that people approve, and a rollout applies what was reviewed. So a Plan contains
everything that decides the commands of a switch, and its digest covers all of it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Final, Literal, Self

from pydantic import (
    Field,
    FieldSerializationInfo,
    StringConstraints,
    field_serializer,
    model_validator,
)

from rocefort.models.base import Frozen
from rocefort.models.change.edits import Edit
from rocefort.models.fabric.approvals import Approvals
from rocefort.models.fabric.trial_time import SETTLE_S, TrialLength, TrialTime, margin_s
from rocefort.models.hardware.hardware import FIRST_DIALECT, ConditionedLine, DialectName
from rocefort.models.wording import count_of

PathText = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]  # no path has a NUL
Seconds = Annotated[int, Field(ge=0, le=10_000_000)]  # more than any timer of a switch
PLAN_FORMAT: Final = 5
ADDED: Final = (
    "rotated",
    "undoes",
    "limit",
    "plain_trial_s",
)  # fields of a plan that came after its format


class ChangeKind(StrEnum):
    """Kind of a change: it adds, modifies or removes configuration."""

    ADDITIVE = "additive"
    MODIFYING = "modifying"
    REMOVING = "removing"


class Soak(Frozen):
    """Time on trial before all checks are made again; why: the timer that it comes from."""

    seconds: Seconds
    why: str


class StatedEffect(Frozen):
    """Effect of a changed line, as the site states it: no model of Rocefort has the line.

    own_file: the file, if only the reviewed change itself states that the line is harmless.
    """

    line: str  # of `unjudged`
    effect: str
    affects_service: bool
    confirmed: bool
    own_file: str = Field(default="", exclude_if=lambda name: not name)

    @property
    def harmless(self) -> bool:
        """Whether a confirmed statement excludes an effect on traffic and sessions.

        A statement of the reviewed change itself does not.
        """
        return self.confirmed and not self.affects_service and not self.own_file

    def __str__(self) -> str:
        if self.own_file:
            return f"{self.effect} (stated by this change's own {self.own_file})"
        return self.effect if self.confirmed else f"{self.effect} (not confirmed)"


class Change(Frozen):
    """Change of one device from running to intended.

    soak: None if every fault that it may cause shows at once.
    """

    device: str
    dialect: DialectName = Field(FIRST_DIALECT, exclude_if=lambda name: name == FIRST_DIALECT)
    kind: ChangeKind
    service_affecting: tuple[str, ...] = ()  # one reason each; empty: not affecting
    edits: tuple[Edit, ...]
    patch: tuple[str, ...]  # commands in apply order, views entered and left
    reverse: tuple[str, ...]  # commands that undo the patch
    running_digest: str  # of the running configuration that the patch was made against
    intended_digest: str
    kept: tuple[str, ...] = ()  # kept lines of the running configuration
    # Lines of the site's templates that no model has, each with `+ ` or `- ` and its views.
    unjudged: tuple[str, ...] = Field(default=(), exclude_if=lambda lines: not lines)
    # Effects of those lines that the site's catalogue states.
    stated: tuple[StatedEffect, ...] = Field(default=(), exclude_if=lambda effects: not effects)
    # Lines of `kept` that go with a command and are not set again, with `- ` and their views; with
    # `+ `, lines whose view gets another line.
    unowned: tuple[str, ...] = Field(default=(), exclude_if=lambda lines: not lines)
    conditions: tuple[ConditionedLine, ...] = ()  # lines of the patch that take more than a commit
    soak: Soak | None = None

    @field_serializer("kept", "unjudged")
    def _lines(self, lines: tuple[str, ...], info: FieldSerializationInfo) -> tuple[str, ...]:
        """Return the lines as they are compared; an output cuts each (`base.json_output`)."""
        return tuple(map(info.context["cut"], lines)) if info.context else lines

    @property
    def kept_after(self) -> tuple[str, ...]:
        """Kept lines of the intended configuration."""
        signed = set(self.unowned)
        stay = (line for line in self.kept if f"- {line}" not in signed)
        return (*stay, *(line[2:] for line in self.unowned if line[0] == "+"))

    @property
    def has_lines(self) -> bool:
        """Whether lines of the configuration differ, with or without a model."""
        return bool(self.edits or self.unjudged)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Lines of `unjudged` that may affect traffic or sessions."""
        harmless = {each.line for each in self.stated if each.harmless}
        return tuple(line for line in self.unjudged if line not in harmless)

    @property
    def only_secrets(self) -> bool:
        """Whether only secrets change, which the switch does not show."""
        return bool(self.patch) and self.running_digest == self.intended_digest

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.patch

    @property
    def undone(self) -> Change:
        """Change that restores the device."""
        back = tuple(Edit(path=e.path, before=e.after, after=e.before) for e in self.edits)
        return self.model_copy(
            update={
                "edits": back,
                "patch": self.reverse,
                "reverse": self.patch,
                "running_digest": self.intended_digest,
                "intended_digest": self.running_digest,
                "conditions": (),
                "kept": self.kept_after,
                "unowned": tuple(map(_back, self.unowned)),
                "unjudged": tuple(map(_back, self.unjudged)),
                "stated": tuple(
                    each.model_copy(update={"line": _back(each.line)}) for each in self.stated
                ),
            }
        )


def _back(line: str) -> str:
    return f"{'-' if line[0] == '+' else '+'}{line[1:]}"


class DrainedChange(Frozen):
    """Change of a switch while it announces nothing: three changes, one after the other.

    Each is loaded, tried, checked and confirmed alone, under its own commit timer. So every state
    between them may last: old, old and drained, new and drained, new. `meanwhile` is the routing
    engine's verdict on the fabric without the switch.
    """

    device: str
    drain: Change  # old -> old and drained
    change: Change  # old and drained -> new and drained
    lift: Change  # new and drained -> new
    meanwhile: str

    @property
    def parts(self) -> tuple[Change, Change, Change]:
        """Three changes in their order."""
        return self.drain, self.change, self.lift

    @property
    def states(self) -> tuple[str, ...]:
        """Digests of the four states in their order; two are equal where only secrets differ."""
        return (self.drain.running_digest, *(part.intended_digest for part in self.parts))


class GatePair(Frozen):
    """RDMA measurement of a gate: both tools run from client to server."""

    client: str
    server: str
    server_address: str
    client_rate_gbps: int
    server_rate_gbps: int


class Gate(Frozen):
    """Tests and expected results of an RDMA gate; rates in Gb/s, latency in microseconds.

    limit_gbps, window: of the fabric's `rdma` keys, which bound every load. uncovered: what these
    keys leave unmeasured, each with the reason.
    """

    pairs: tuple[GatePair, ...]
    unmeasured: tuple[str, ...] = ()  # leaves of the wave that no pair covers, each with the reason
    traffic_class: int
    bandwidth_s: int = 5
    latency_iterations: int = 10_000  # as many as the HEPS paper's Table 2
    line_rate_fraction: float
    latency_us: float
    latency_tolerance: float
    speed_judged: bool
    speed_note: str = ""  # why speed is not judged
    limit_gbps: float | None = Field(default=None, exclude_if=lambda limit: limit is None)
    window: str | None = Field(default=None, exclude_if=lambda window: window is None)
    uncovered: tuple[str, ...] = Field(default=(), exclude_if=lambda reasons: not reasons)

    @property
    def servers(self) -> tuple[str, ...]:
        """Servers that it loads: both ends of each pair."""
        return tuple(dict.fromkeys(n for pair in self.pairs for n in (pair.client, pair.server)))

    @property
    def skipped(self) -> str:
        """Leaves that it does not measure, with the reasons; empty: it measures all."""
        texts = {"not measured": self.unmeasured, "not covered": self.uncovered}
        return "; ".join(f"{what}: {', '.join(each)}" for what, each in texts.items() if each)


class Wave(Frozen):
    """Devices that change together; the next wave waits for all of them.

    drained: devices that are drained first. unavailable: services that are down, or have less
    redundancy, during the wave. warnings: risks that a person should consider.
    """

    name: str
    devices: tuple[str, ...]
    gate: Gate
    drained: tuple[DrainedChange, ...] = ()
    unavailable: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def drained_change(self, device: str) -> DrainedChange | None:
        """Drained change of a device of the wave; None: it changes without a drain."""
        return next((drained for drained in self.drained if drained.device == device), None)


class SealedFile(Frozen):
    """File that decides the content of a plan, and the SHA-256 of its bytes."""

    name: PathText  # `inventory/hardware/ce8850-64cq-ei.yaml`; of the fabric: its path
    sha256: str


class PlanLimit(Frozen):
    """Switches that a plan is limited to, as names and patterns.

    left_out: other switches that differ from the fabric; they stay as they are. warnings: of the
    fabric that results, which were not there before.
    """

    switches: tuple[str, ...]
    left_out: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """Sentence on the switches that are not in the plan."""
        limited = f"limited to {', '.join(self.switches)}"
        if not self.left_out:
            return f"{limited}; no other switch differs from the fabric"
        verb = "differs" if len(self.left_out) == 1 else "differ"
        count = count_of(len(self.left_out), "switch")
        return f"{limited}; not in this plan: {count} that {verb}: {', '.join(self.left_out)}"


class Plan(Frozen):
    """Sealed plan. `digest` is SHA-256 over everything else in canonical JSON.

    files: everything that it was made from except Rocefort itself, which is `tool`. base: the
    intent that was rolled out last, if the user named it. adopted: lines of running
    configurations, as `device: path`, that no intent had and that the plan may overwrite.
    author: the user who made it. rotated: references of secrets that are set again. kept: for a
    rollback, the file with the fabric of the run that it undoes, named by its digest. The present
    content of source and files does not count then. undoes: for a rollback, the file of the plan
    that it undoes. limit: None for a plan of all switches that differ.
    """

    format: Literal[5] = PLAN_FORMAT
    fabric: str
    source: PathText  # the fabric's file, absolute: a plan is applied from any directory
    kept: PathText = ""
    undoes: PathText = ""
    tool: str
    author: str = ""
    intent_digest: str
    files: tuple[SealedFile, ...] = ()
    base: PathText = ""
    adopted: tuple[str, ...] = ()
    rotated: tuple[str, ...] = ()
    limit: PlanLimit | None = None
    trial_s: Seconds
    plain_trial_s: Seconds = 0  # of a trial without an id, which only its session ends; 0: trial_s
    settle_s: Seconds = SETTLE_S  # until sessions are back after a commit
    changes: tuple[Change, ...]
    waves: tuple[Wave, ...]
    digest: str = ""

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        """Refuse a wave, a drain or a change that names a switch which the plan does not have."""
        for problem in _broken_names(self.changes, self.waves):
            raise ValueError(problem)
        return self

    def seal(self) -> Plan:
        """Return the plan with its digest."""
        return self.model_copy(update={"digest": self.computed_digest()})

    def computed_digest(self) -> str:
        """Digest of the plan's content; fields that older plans do not have count only if set."""
        unset = {name for name in ADDED if not getattr(self, name)}
        return digest_of(self.model_dump(mode="json", exclude={"digest", *unset}))

    @property
    def trial_length(self) -> TrialLength:
        """Timer of its trials, with and without an id."""
        return TrialLength(self.trial_s, self.plain_trial_s or self.trial_s)

    @property
    def margin_s(self) -> float:
        """Time that must remain of a trial when its confirmation begins, s."""
        return margin_s(self.settle_s)

    def rest_s(self, soak_s: float) -> float:
        """Time that must remain of a trial when its soak begins, s, without the time of a gate."""
        return TrialTime("", self.settle_s, 0, soak_s).rest_s if soak_s else self.margin_s

    def needs_approval(self, policy: Approvals) -> bool:
        """Whether a policy requires approvals of this plan."""
        return policy.asked_of(
            sum(len(wave.devices) for wave in self.waves),
            service_affecting=any(change.service_affecting for change in self.changes),
        )

    def change(self, device: str) -> Change:
        """Change of one device."""
        return next(change for change in self.changes if change.device == device)

    def parts(self, wave: Wave, device: str) -> tuple[Change, ...]:
        """Changes of a device of a wave in their order: the change, or drain, change and lift."""
        drained = wave.drained_change(device)
        return drained.parts if drained else (self.change(device),)

    def soak_s(self, wave: Wave) -> int:
        """Longest soak of a wave, whose switches soak together; each drain step has one."""
        return longest_soak_s(part for d in wave.devices for part in self.parts(wave, d))


def _broken_names(changes: Iterable[Change], waves: Iterable[Wave]) -> Iterator[str]:
    """Sentences on names of a plan that are unknown, missing, or there twice."""
    devices = [change.device for change in changes]
    yield from (f"{name} has two changes" for name in _twice(devices))
    waves = list(waves)
    yield from (f"two waves have the name {name!r}" for name in _twice(w.name for w in waves))
    yield from (f"{n} is in waves twice" for n in _twice(d for w in waves for d in w.devices))
    for wave in waves:
        at = f"wave {wave.name}"
        if not wave.devices:
            yield f"{at} has no switch"
        for name in wave.devices:
            if name not in devices:
                yield f"{at}: {name} has no change in the plan"
        yield from (f"{at}{fault}" for fault in _broken_drains(wave))
        yield from (f"{at} drains {n} twice" for n in _twice(d.device for d in wave.drained))
        for pair in wave.gate.pairs:
            if pair.client == pair.server:
                yield f"{at}: its gate measures from {pair.client} to itself"


def _broken_drains(wave: Wave) -> Iterator[str]:
    """Sentences on drains of a wave that name another switch."""
    for drained in wave.drained:
        if drained.device not in wave.devices:
            yield f" drains {drained.device}, which does not change in it"
        for part in drained.parts:
            if part.device != drained.device:
                yield f": a step of the drain of {drained.device} changes {part.device}"


def _twice(names: Iterable[str]) -> Iterator[str]:
    """Yield names that occur more than once."""
    return (name for name, number in Counter(names).items() if number > 1)


def longest_soak_s(parts: Iterable[Change]) -> int:
    """Longest soak of some changes, s; 0 if none needs a soak."""
    return max((part.soak.seconds for part in parts if part.soak), default=0)


def digest_of(content: object) -> str:
    """SHA-256 of a string, or of a value in canonical JSON."""
    if not isinstance(content, str):
        content = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
