"""Section of a review with the effect of each change on traffic, and its steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from rocefort.change.results import Advice, AdviceKind, AdviceStep
from rocefort.models.wording import count_of
from rocefort.reports.blocks import Block, Code, CollapsibleSection, Items, Section, first_words

ID, TITLE = "advice", "What it does to traffic"
MOST_TOLD = 40  # of one kind; a longer list is not read
HARMLESS = frozenset({AdviceKind.RENAME, AdviceKind.SERVER_RENAME, AdviceKind.NOT_A_RENAME})


def advice_section(advice: Sequence[Advice], *, compared: bool, unknown: str = "") -> Section:
    """Advice on every part, those of a kind together; compared: whether there was a base.

    unknown: sentence on lines whose effect is not known.
    """
    if not compared:
        return Section(TITLE, lead="Not known: there is no base to compare with.", id=ID)
    if not advice:
        nothing = (
            "No switch goes or is exchanged, no server moves, no threshold or password changes."
        )
        return Section(TITLE, lead=unknown or nothing, id=ID)
    kinds = Counter(each.kind for each in advice)
    lead = f"{', '.join(count_of(number, _kind_noun(kind)) for kind, number in kinds.items())}."
    lead = " ".join(filter(None, (unknown, lead)))
    return Section(TITLE, tuple(_blocks(advice, kinds)), lead, ID)


def _kind_noun(kind: AdviceKind) -> str:
    words = {
        AdviceKind.REMOVAL: "removal of a switch",
        AdviceKind.RENAME: "switch by another name",
        AdviceKind.SERVER_RENAME: "renamed server",
        AdviceKind.NOT_A_RENAME: "switch by another id",
        AdviceKind.HARDWARE: "exchange for another switch",
        AdviceKind.RELEASE: "other release",
        AdviceKind.MOVE: "move of a server",
        AdviceKind.PASSWORD: "change of a password",
        AdviceKind.LOSSLESS: "change of lossless values",
    }
    return words[kind]


def _blocks(advice: Sequence[Advice], kinds: Counter[AdviceKind]) -> Iterator[Block]:
    seen: Counter[AdviceKind] = Counter()
    for each in advice:
        seen[each.kind] += 1
        if seen[each.kind] <= MOST_TOLD:
            yield _advice_section(each)
    for kind, number in kinds.items():
        if number > MOST_TOLD:
            rest = [each.title for each in advice if each.kind is kind][MOST_TOLD:]
            yield Items((f"{len(rest)} more of this kind: {first_words(rest)}",))


def _advice_section(advice: Advice) -> Section:
    unconfirmed = (f"not confirmed: {text}" for text in advice.unconfirmed)
    blocks: list[Block] = [Items((*advice.traffic, *unconfirmed))]
    if advice.steps:
        steps = tuple(block for n, step in enumerate(advice.steps, 1) for block in _step(n, step))
        blocks.append(
            CollapsibleSection(f"how to make it: {count_of(len(advice.steps), 'step')}", steps)
        )
    badge = "" if advice.kind in HARMLESS else "affects service"
    return Section(advice.title, tuple(blocks), badge=badge)


def _step(number: int, step: AdviceStep) -> Iterator[Items | Code]:
    on = f" On {step.on}:" if step.on else ""
    yield Items((f"step {number}: {step.text}{on if step.commands else ''}",))
    if step.commands:
        yield Code(step.commands)
    if step.back:
        yield Items(("the way back, until the next step is made:",))
        yield Code(step.back)
