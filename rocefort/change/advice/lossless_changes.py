"""Impact of changed lossless values and BGP passwords on traffic."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.change.advice.bgp_passwords import passwords
from rocefort.change.advice.drain_steps import DrainStudy, apply_steps, names_of
from rocefort.change.results import Advice, AdviceKind, AdviceStep, SwitchDifference
from rocefort.dialects.words import in_words, line
from rocefort.models.change.compare import effect_of, put_into_service
from rocefort.models.change.edits import Edit
from rocefort.models.effect import LosslessTopic
from rocefort.models.wording import count_of

XOFF = "interfaces[].thresholds[].xoff_kbytes"
SHARED = (
    "The queues of these ports share them in the new way at once; a lower share of RoCE fills its "
    "buffer sooner."
)
MIXED = (
    "While some switches have the new map and some the old one, RoCE may cross a hop in a queue "
    "without PFC, and lose packets there: change it with RDMA stopped."
)
REFUSED = (
    "A switch may refuse the line while a port is congested (V300R023C00, «PFC thresholds»; taken "
    "to hold for other releases)."
)


@dataclass(frozen=True)
class _Aspect:
    """One group of lossless values: description, impact on traffic, unconfirmed behaviour.

    what: {path} within the port or switch, {name} of the field without its unit, {key} of its row.
    """

    what: str
    traffic: tuple[str, ...]
    unknown: str
    shows: str  # term of the command that displays the value


def _loss(what: str) -> str:
    return f"Whether packets are lost or delayed at the moment {what}: no source states it."


ASPECTS = {
    LosslessTopic.THRESHOLDS: _Aspect(
        "{name} of queue {key}, kbytes",
        (REFUSED,),
        _loss("a PFC threshold changes"),
        "thresholds of ports",
    ),
    LosslessTopic.PORT_PFC: _Aspect(
        "{path}",
        (REFUSED, "Until it has PFC again, a port drops what it cannot hold."),
        _loss("PFC of a port is switched"),
        "thresholds of ports",
    ),
    LosslessTopic.WEIGHTS: _Aspect(
        "DRR weight of queue {key}",
        (SHARED,),
        _loss("weights change"),
        "services of ports",
    ),
    LosslessTopic.QUEUE_ECN: _Aspect(
        "marking of queue {key}",
        ("NICs see other marks at once and settle at other rates.",),
        _loss("a drop profile is exchanged"),
        "thresholds of ECN",
    ),
    LosslessTopic.ECN_THRESHOLDS: _Aspect(
        "{path}",
        ("NICs see other marks at once and settle at other rates.",),
        _loss("a drop profile changes"),
        "drop profiles",
    ),
    LosslessTopic.ECN_MODEL: _Aspect(
        "{path}",
        ("NICs see other marks, as soon as the switch computes by the other model.",),
        _loss("the model changes"),
        "state of AI-ECN",
    ),
    LosslessTopic.PRIORITY_MAP: _Aspect(
        "{path}",
        (MIXED,),
        _loss("a map changes"),
        "domains",
    ),
    LosslessTopic.DEADLOCK_TIMERS: _Aspect(
        "{path}",
        ("Traffic feels it in a deadlock only: what is stuck is let go sooner or later.",),
        _loss("a timer changes"),
        "counters of PFC",
    ),
    LosslessTopic.SWITCH_PFC: _Aspect(
        "{path}",
        ("Other queues are paused, or by other rules, on every port that applies it.",),
        _loss("it changes"),
        "queues of PFC profiles",
    ),
}


@dataclass(frozen=True)
class _LosslessEdit:
    """One edit of a lossless value; port is empty for a value of the whole switch."""

    device: str
    port: str
    what: str
    edit: Edit
    place: str


def values(sight: DrainStudy) -> Iterator[Advice]:
    """One Advice for each lossless topic that changes, then those on passwords."""
    edits: dict[LosslessTopic, list[_LosslessEdit]] = defaultdict(list)
    for switch in sight.change.changed:
        if not switch.facts:  # a replacement gets the whole configuration
            for topic, felt in _lossless_edits(switch):
                edits[topic].append(felt)
    for topic in LosslessTopic:
        if topic in edits:
            yield _advice(sight, topic, edits[topic])
    yield from passwords(sight)


def _lossless_edits(switch: SwitchDifference) -> Iterator[tuple[LosslessTopic, _LosslessEdit]]:
    fresh = put_into_service(switch.change.edits)
    for number, edit in enumerate(switch.change.edits):
        port, path = edit.port_and_rest
        topic = effect_of(edit).topic
        if topic is not None and port not in fresh:
            name = path.rpartition(".")[2].removesuffix("_kbytes")
            key = edit.keys[-1] if edit.keys else ""
            what = ASPECTS[topic].what.format(path=path, name=name, key=key)
            yield topic, _LosslessEdit(switch.device, port, what, edit, switch.places[number].after)


def _advice(sight: DrainStudy, topic: LosslessTopic, felt: Sequence[_LosslessEdit]) -> Advice:
    aspect = ASPECTS[topic]
    devices = list(dict.fromkeys(each.device for each in felt))
    canary = sight.canary if sight.canary in devices else ""
    shown = sight.after.by_name[canary or devices[0]]
    first = f" {canary} takes it first." if canary else ""
    return Advice(
        kind=AdviceKind.LOSSLESS,
        title=f"{topic} of {names_of(devices)}",
        devices=tuple(devices),
        traffic=(*_lines(felt), *_direction(felt), *(in_words(t, shown) for t in aspect.traffic)),
        steps=(
            apply_steps(sight, f"Apply it at a quiet hour; switches differ meanwhile.{first}"),
            AdviceStep(text="Read it back.", on=shown.name, commands=(line(shown, aspect.shows),)),
        ),
        unconfirmed=(aspect.unknown,),
        place=next((p for each in felt if (p := each.place) and not p.startswith("/")), ""),
    )


def _lines(felt: Iterable[_LosslessEdit]) -> Iterator[str]:
    """Lines such as `xoff of queue 4, kbytes: 600 -> 640 on 44 ports of leaf01 to leaf08`."""
    alike: dict[tuple[str, str, str], list[_LosslessEdit]] = defaultdict(list)
    for each in felt:
        before, after = (
            text or "as by default" for text in (each.edit.before_text, each.edit.after_text)
        )
        alike[each.what, before, after].append(each)
    for (what, before, after), same in alike.items():
        ports = len({(each.device, each.port) for each in same if each.port})
        of = names_of(dict.fromkeys(each.device for each in same))
        where = f"on {count_of(ports, 'port')} of {of}" if ports else f"on {of}"
        yield f"{what}: {before} -> {after} {where}."


def _direction(felt: Iterable[_LosslessEdit]) -> Iterator[str]:
    """Effect of a higher or lower xoff."""
    ways: Counter[bool] = Counter()
    for each in felt:
        before, after = each.edit.before, each.edit.after
        if each.edit.field == XOFF and isinstance(before, int) and isinstance(after, int):
            ways[after > before] += 1
    if ways[True]:
        yield (
            "A higher xoff pauses the neighbour later and leaves less of the buffer to headroom: "
            "the rules BUF and PFC judge whether enough is left (see Findings)."
        )
    if ways[False]:
        yield "A lower xoff pauses the neighbour sooner: a burst gets less through."
