"""Values that traffic feels without a switch coming or going: lossless ones, and passwords."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rocefort.dialects.vrp.compare import put_into_service
from rocefort.models.advice import Advice, AdviceKind, AdviceStep
from rocefort.models.change import Edit
from rocefort.models.difference import SwitchDifference
from rocefort.models.wording import counted
from rocefort.steps.review.drain import Sight, apply_steps, names_of
from rocefort.steps.review.passwords import passwords

PORT = re.compile(r"interfaces\[([^]]+)\]\.(.+)")
OF_A_PORT = re.compile(
    r"(?:(?:other_)?thresholds|drr|markings|trust_dscp|domain\b|pfc(?:$|\.(?:profile|mode)$))"
)
SHARED = (
    "The queues of these ports share them in the new way at once; a lower share of RoCE fills its "
    "buffer sooner."
)
MIXED = (
    "While some switches have the new map and some the old one, RoCE may cross a hop in a queue "
    "without PFC, and lose packets there: change it with RDMA stopped."
)
REFUSED = (
    "A switch may refuse the line while a port is congested (V300R023C00, `dcb pfc buffer`; taken "
    "to hold for other releases)."
)


@dataclass(frozen=True)
class _Aspect:
    """Some values of lossless traffic: what they are, what follows, what no source says.

    what: {n} are groups of the pattern.
    """

    pattern: str
    title: str
    what: str
    traffic: tuple[str, ...]
    unknown: str
    shows: str  # the command that reads it back


def _loss(what: str) -> str:
    return f"Whether packets are lost or delayed at the moment {what}: no source says."


ASPECTS = (
    _Aspect(
        r"thresholds\[(\d+)\]\.(xoff|xon|headroom)_kbytes",
        "PFC thresholds",
        "{2} of queue {1}, kbytes",
        (REFUSED,),
        _loss("a PFC threshold changes"),
        "display dcb pfc buffer",
    ),
    _Aspect(
        r"(?:thresholds\[(\d+)\]|other_thresholds\[(?:\d+)\].*|pfc(?:\.profile|\.mode)?)",
        "PFC on ports",
        "{0}",
        (REFUSED, "Until it has PFC again, a port drops what it cannot hold."),
        _loss("PFC of a port is switched"),
        "display dcb pfc buffer",
    ),
    _Aspect(
        r"drr\[(\d+)\](?:\.weight)?",
        "Weights of queues",
        "DRR weight of queue {1}",
        (SHARED,),
        _loss("weights change"),
        "display qos configuration interface",
    ),
    _Aspect(
        r"markings\[(\d+)\].*",
        "ECN of queues",
        "marking of queue {1}",
        ("NICs see other marks at once and settle at other rates.",),
        _loss("a drop profile is exchanged"),
        "display qos ecn threshold",
    ),
    _Aspect(
        r"drop_profiles\[([^]]+)\].*",
        "ECN thresholds",
        "{0}",
        ("NICs see other marks at once and settle at other rates.",),
        _loss("a drop profile changes"),
        "display drop-profile",
    ),
    _Aspect(
        r"(?:ai_ecn\b.*|ecn_enabled)",
        "ECN model",
        "{0}",
        ("NICs see other marks, as soon as the switch computes by the other model.",),
        _loss("the model changes"),
        "display ai-ecn calculated state",
    ),
    _Aspect(
        r"(?:domains\[([^]]+)\].*|(?:trust_dscp|domain))",
        "Priority map",
        "{0}",
        (MIXED,),
        _loss("a map changes"),
        "display diffserv domain",
    ),
    _Aspect(
        r"pfc\.(?:detect_ms|recovery_ms|interval_ms|profiles\[[^]]+\]\.(?:timers|turn_off)\[.*)",
        "PFC deadlock timers",
        "{0}",
        ("Traffic feels it in a deadlock only: what is stuck is let go sooner or later.",),
        _loss("a timer changes"),
        "display dcb pfc",
    ),
    _Aspect(
        r"pfc\..*",
        "PFC of whole switches",
        "{0}",
        ("Other queues are paused, or by other rules, on every port that applies it.",),
        _loss("it changes"),
        "display dcb pfc-profile",
    ),
)


@dataclass(frozen=True)
class _Felt:
    """One edit of a lossless value; port is empty for one of the whole switch."""

    device: str
    port: str
    what: str
    edit: Edit
    place: str


def values(sight: Sight) -> Iterator[Advice]:
    """One Advice for each aspect of lossless traffic that changes, then those on passwords."""
    found: dict[int, list[_Felt]] = defaultdict(list)
    for switch in sight.change.changed:
        if not switch.facts:  # another box gets all of it anew
            for number, felt in _felt(switch):
                found[number].append(felt)
    for number in sorted(found):
        yield _advice(sight, ASPECTS[number], found[number])
    yield from passwords(sight)


def _felt(switch: SwitchDifference) -> Iterator[tuple[int, _Felt]]:
    fresh = put_into_service(switch.change.edits)
    for number, edit in enumerate(switch.change.edits):
        match = PORT.fullmatch(edit.path)
        port, path = (match[1], match[2]) if match else ("", edit.path)
        if port in fresh:
            continue
        for aspect_number, aspect in enumerate(ASPECTS):
            own = re.fullmatch(aspect.pattern, path)
            if own and bool(port) is _of_a_port(path):
                what = aspect.what.format(path, *own.groups())
                place = switch.places[number].after
                yield aspect_number, _Felt(switch.device, port, what, edit, place)
                break


def _of_a_port(path: str) -> bool:
    """Whether a path is one within an interface: `pfc.profile` is, `pfc.detect_ms` is not."""
    return bool(OF_A_PORT.match(path))


def _advice(sight: Sight, aspect: _Aspect, felt: Sequence[_Felt]) -> Advice:
    devices = list(dict.fromkeys(each.device for each in felt))
    canary = sight.canary if sight.canary in devices else ""
    first = f" {canary} takes it first." if canary else ""
    return Advice(
        kind=AdviceKind.LOSSLESS,
        title=f"{aspect.title} of {names_of(devices)}",
        devices=tuple(devices),
        traffic=(*_lines(felt), *_direction(felt), *aspect.traffic),
        steps=(
            apply_steps(sight, f"Apply it at a quiet hour; switches differ meanwhile.{first}"),
            AdviceStep(text="Read it back.", on=canary or devices[0], commands=(aspect.shows,)),
        ),
        unconfirmed=(aspect.unknown,),
        place=next((p for each in felt if (p := each.place) and not p.startswith("/")), ""),
    )


def _lines(felt: Iterable[_Felt]) -> Iterator[str]:
    """`xoff of queue 4, kbytes: 600 -> 640 on 44 ports of leaf01 to leaf08`."""
    alike: dict[tuple[str, str, str], list[_Felt]] = defaultdict(list)
    for each in felt:
        before, after = each.edit.before or "as by default", each.edit.after or "as by default"
        alike[each.what, before, after].append(each)
    for (what, before, after), same in alike.items():
        ports = len({(each.device, each.port) for each in same if each.port})
        of = names_of(dict.fromkeys(each.device for each in same))
        where = f"on {counted(ports, 'port')} of {of}" if ports else f"on {of}"
        yield f"{what}: {before} -> {after} {where}."


def _direction(felt: Iterable[_Felt]) -> Iterator[str]:
    """What a higher or lower xoff means."""
    ways: Counter[bool] = Counter()
    for each in felt:
        if each.edit.path.endswith("xoff_kbytes") and each.edit.before and each.edit.after:
            ways[int(each.edit.after) > int(each.edit.before)] += 1
    if ways[True]:
        yield (
            "A higher xoff pauses the neighbour later and leaves less of the buffer to headroom: "
            "the rules BUF and PFC judge whether enough is left (see Findings)."
        )
    if ways[False]:
        yield "A lower xoff pauses the neighbour sooner: a burst gets less through."
