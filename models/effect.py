"""Effect of a change of a Device's field: objects, traffic and studies that it affects.

Every field of a Device, and of its rows, is annotated with an Effect. A Device with a field
without an Effect does not load. Effects belong to the model and are the same for every vendor.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Union, get_args, get_origin

from rocefort.models.base import Frozen


class TouchedObject(Enum):
    """Kind of object that an edit affects; the first key of its path identifies the object."""

    NOTHING = auto()
    PORT = auto()
    SPLIT = auto()  # all parts of a port
    VLAN = auto()
    EVERY_VLAN = auto()
    PEER = auto()
    EVERY_SESSION = auto()
    PREFIX = auto()
    LOSSLESS = auto()  # all lossless ports


class FaultDelay(Enum):
    """Timer after which a fault of an edit shows, if it does not show at once."""

    NONE = auto()
    HOLD = auto()  # BGP's hold time: the far end gets no message
    ADVERTISE = auto()  # BGP announces and withdraws routes by an interval
    LACP = auto()
    DEADLOCK = auto()  # of a lossless queue


class StudyKind(Enum):
    """Studies of a fabric that read a field."""

    ALL = auto()
    BUFFERS = auto()  # those of lossless queues, and no routing engine
    NONE = auto()


class AccessTopic(StrEnum):
    """Part of a configuration that a person, or a rollout, needs for access."""

    PORT = "management port and address"
    SSH = "SSH server and its source"
    NETCONF = "NETCONF"
    VTY = "VTY lines"
    ACLS = "access ACLs"
    USERS = "users"
    VRF = "management VRF"
    ROUTES = "static routes"
    NAME = "sysname"


class LosslessTopic(StrEnum):
    """Part of lossless configuration that a review advises on, in the order of the advice."""

    THRESHOLDS = "PFC thresholds"
    PORT_PFC = "PFC on ports"
    WEIGHTS = "Weights of queues"
    QUEUE_ECN = "ECN of queues"
    ECN_THRESHOLDS = "ECN thresholds"
    ECN_MODEL = "ECN model"
    PRIORITY_MAP = "Priority map"
    DEADLOCK_TIMERS = "PFC deadlock timers"
    SWITCH_PFC = "PFC of whole switches"


class EditCondition(Enum):
    """Edits of a field that have an effect."""

    NEVER = auto()
    COMES = auto()  # a value that was not there
    GONE = auto()  # a value that goes or changes
    GONE_OR_DENIES = auto()  # that too, and one that comes and denies
    ALWAYS = auto()


@dataclass(frozen=True)
class OfKey:
    """Another reason for rows with some keys, such as built-in rows that have no line."""

    key: str  # a regular expression
    when: EditCondition
    reason: str


@dataclass(frozen=True)
class Effect:
    """Effect of a change of a field; None: inherited from the field that encloses it.

    reason: effect on traffic or sessions of the edits that `when` selects; `{}` is the first key
    of the path. down: edits that take the affected object down for a while.
    """

    touches: TouchedObject | None = None
    timer: FaultDelay | None = None
    readers: StudyKind | None = None
    access: AccessTopic | None = None
    topic: LosslessTopic | None = None
    reason: str | None = None
    when: EditCondition | None = None
    down: EditCondition | None = None
    of_key: OfKey | None = None
    resets: str = ""  # of peers and groups: the reason of a field with the reason `{resets}`
    order: str = ""  # of a collection: the reason if rows that stay change their order
    stated: bool = False  # the default has a line, too, or overrides a value without a line
    carries: bool = False  # a port that gets it begins to carry traffic
    is_key: bool = False  # identifies a row: another value is another row, so it never changes
    grows: str = ""  # object that a fabric that only grows may add

    def but(self, **fields: Any) -> Effect:  # noqa: ANN401 - those of an Effect
        """Return the effect with other fields."""
        return dataclasses.replace(self, **fields)

    def affecting(
        self,
        reason: str,
        when: EditCondition = EditCondition.ALWAYS,
        *,
        down: EditCondition = EditCondition.NEVER,
        **fields: Any,  # noqa: ANN401 - same
    ) -> Effect:
        """Return the effect of a field whose selected edits affect traffic or sessions."""
        return self.but(reason=reason, when=when, down=down, **fields)


HARMLESS = Effect(reason="", when=EditCondition.NEVER, down=EditCondition.NEVER)


SAME = Effect()  # inherited from the field that encloses it
KEY = Effect(is_key=True)
STATED = SAME.but(stated=True)
UNREAD = HARMLESS.but(readers=StudyKind.NONE)
PORT = HARMLESS.but(touches=TouchedObject.PORT, timer=FaultDelay.HOLD)
BOND = HARMLESS.but(touches=TouchedObject.PORT, timer=FaultDelay.LACP)
QUEUES = HARMLESS.but(
    touches=TouchedObject.PORT, timer=FaultDelay.DEADLOCK, readers=StudyKind.BUFFERS
)
LOSSLESS = HARMLESS.but(
    touches=TouchedObject.LOSSLESS, timer=FaultDelay.DEADLOCK, readers=StudyKind.BUFFERS
)
SPLIT = HARMLESS.but(touches=TouchedObject.SPLIT, timer=FaultDelay.HOLD)
VLAN = HARMLESS.but(touches=TouchedObject.VLAN)
PEER = HARMLESS.but(touches=TouchedObject.PEER, timer=FaultDelay.HOLD)
PREFIX = HARMLESS.but(touches=TouchedObject.PREFIX, timer=FaultDelay.ADVERTISE)
BGP = HARMLESS.but(touches=TouchedObject.EVERY_SESSION, timer=FaultDelay.HOLD)
PATHS = HARMLESS.but(touches=TouchedObject.EVERY_SESSION, timer=FaultDelay.NONE)
POLICY = HARMLESS.but(touches=TouchedObject.EVERY_SESSION, timer=FaultDelay.ADVERTISE)
FILTERS = HARMLESS.but(touches=TouchedObject.EVERY_VLAN, timer=FaultDelay.HOLD)
RESETS = HARMLESS.affecting(
    "{resets}", down=EditCondition.ALWAYS
)  # the session of the peer, or those of the group


def effects_of(model: type[Frozen]) -> dict[str, Effect]:
    """Return the effect of every field of a model and its rows but keys, by `interfaces[].mtu`.

    Raises TypeError for a field without an Effect.
    """
    outside = HARMLESS.but(
        touches=TouchedObject.NOTHING, timer=FaultDelay.NONE, readers=StudyKind.ALL
    )
    return dict(_effects(model, "", outside))


def _effects(model: type[Frozen], prefix: str, enclosing: Effect) -> Iterator[tuple[str, Effect]]:
    for name, info in model.model_fields.items():
        own = next((each for each in info.metadata if isinstance(each, Effect)), None)
        if own is None:
            raise TypeError(f"{model.__name__}.{name} has no Effect; see rocefort/models/effect.py")
        if own.is_key:
            continue
        effect = _inherited(own, enclosing)
        inner, is_collection = content_of(info.annotation)
        path = f"{prefix}{name}" + ("[]" if is_collection else "")
        yield path, effect
        if effect.order:
            yield f"{prefix}{name}.order", effect.affecting(effect.order)
        if isinstance(inner, type) and issubclass(inner, Frozen):
            yield from _effects(inner, f"{path}.", effect)


def _inherited(own: Effect, enclosing: Effect) -> Effect:
    """Complete an effect with values of the field that encloses it."""
    taken = {
        name: getattr(enclosing, name)
        for name in ("touches", "timer", "readers", "access", "topic", "reason", "when", "down")
        if getattr(own, name) is None
    }
    if own.reason == RESETS.reason:
        taken["reason"] = enclosing.resets
    return own.but(**taken)


def key_field_of(model: type[Frozen]) -> str:
    """Return the field that identifies rows of a model. Raises TypeError for several or none."""
    keys = [
        name
        for name, info in model.model_fields.items()
        if any(isinstance(each, Effect) and each.is_key for each in info.metadata)
    ]
    if len(keys) != 1:
        raise TypeError(f"{model.__name__} has no one key: {keys}")
    return keys[0]


class KeyedRow(Frozen):
    """Row of a collection of a Device; its field with KEY identifies it."""

    key: ClassVar[Any]  # value of that field of an instance

    @classmethod
    def __pydantic_init_subclass__(cls, **_kwargs: object) -> None:
        """Give the model its key; a C function, because thousands of rows are read."""
        cls.key = property(attrgetter(key_field_of(cls)))


def content_of(annotation: object) -> tuple[object, bool]:
    """Return the type of a field's value or rows, and whether it has rows."""
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(arg for arg in get_args(annotation) if arg is not types.NoneType)
        return content_of(annotation)
    if get_origin(annotation) is tuple:
        return content_of(get_args(annotation)[0])[0], True
    if get_origin(annotation) in (list, dict, set, frozenset):
        raise TypeError(f"{annotation} in a Device; use a tuple of rows")
    return annotation, False


@cache
def stated_fields(model: type[Frozen]) -> frozenset[str]:
    """Return fields whose default is reported as any other value."""
    return frozenset(
        name
        for name, info in model.model_fields.items()
        if any(isinstance(each, Effect) and each.stated for each in info.metadata)
    )
