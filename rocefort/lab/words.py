"""Hold typed words to command formats as VRP does: abbreviations, ambiguity, what may come next.

A format is written as in the vendor's reference (`dialects/vrp/command.py` reads the notation;
`[ x | y ] *` is read here: each alternative once, in any order).
A keyword may be shortened as long as the whole line has one meaning: `dis cur`, `c c c`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from rocefort.dialects.vrp import parameters
from rocefort.dialects.vrp.command import Node, Trace, parse_format
from rocefort.dialects.vrp.execute import INCOMPLETE, TOO_MANY, UNRECOGNIZED, WRONG
from rocefort.dialects.vrp.parameters import Taken, Tokens

AMBIGUOUS = "Error: Ambiguous command found at '^' position."
END = "<cr>"  # what help shows where a line may end
T = TypeVar("T")


class Refused(Exception):  # noqa: N818 - reads as a sentence where it is raised
    """The words fit no command: the word under which the caret stands, and the message."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index
        self.message = message


@dataclass(frozen=True, slots=True)
class Fit(Generic[T]):
    """One way in which all typed words begin a command, and what may come next."""

    command: T
    words: Tokens = ()  # as typed, keywords in full
    keyword: tuple[bool, ...] = ()  # by word
    params: tuple[tuple[str, str], ...] = ()
    after: Node | None = None  # what the command goes on with; None when it is whole

    def take(self, text: str) -> Fit[T]:
        """One more word, a keyword."""
        return replace(self, words=(*self.words, text), keyword=(*self.keyword, True))

    def fill(self, name: str, typed: Tokens, saved: str) -> Fit[T]:
        """Some more words, a parameter."""
        keyword = (*self.keyword, *(False for _ in typed))
        params = (*self.params, (name, saved))
        return replace(self, words=(*self.words, *typed), keyword=keyword, params=params)


def _quoted(tokens: Tokens) -> Taken:
    """One word, or several in double quotation marks."""
    if not tokens:
        return
    if not tokens[0].startswith('"'):
        yield 1, tokens[0]
        return
    for used in range(1, len(tokens) + 1):
        text = " ".join(tokens[:used])
        if len(text) > 2 and text.endswith('"'):
            yield used, text[1:-1]
            return


def _mark(tokens: Tokens, _name: str) -> Taken:
    """A label or persist ID: 1..256 visible characters (V300R023C00, `commit`)."""
    for used, text in _quoted(tokens):
        if len(text) <= 256 and text.isascii():
            yield used, text


def _label(tokens: Tokens, name: str) -> Taken:
    """A label does not start with a digit and is no hyphen (V300R023C00, `commit`)."""
    for used, text in _mark(tokens, name):
        if not text[0].isdigit() and text != "-":
            yield used, text


def _rest(tokens: Tokens, name: str) -> Taken:
    text = " ".join(tokens)
    if tokens and len(text) <= int(name.partition(":")[2]) and text.isascii():
        yield len(tokens), text


def _word(tokens: Tokens, _name: str) -> Taken:
    if tokens:
        yield 1, tokens[0]


def _file(tokens: Tokens, _name: str) -> Taken:
    """A configuration file of the root folder: 5..64 characters, .cfg, .zip or .dat (`save`)."""
    if tokens and 5 <= len(tokens[0]) <= 64:
        found = re.fullmatch(
            r"(?:flash:/)?(\w[\w.-]*\.(?:cfg|zip|dat))", tokens[0], re.ASCII | re.IGNORECASE
        )
        if found:
            yield 1, found[1]


OWN_PARAMS: dict[str, Callable[[Tokens, str], Taken]] = {
    "label": _label,
    "persist": _mark,
    "rest:60": _rest,
    "file": _file,
    "word": _word,
    "source": parameters.PARAMS["ip"],
    "host": parameters.PARAMS["ip"],
}


def read_format(text: str) -> tuple[Node, ...]:
    """Read a format into nodes."""
    head, star, tail = text.partition(" ] * ")
    if not star:
        return parse_format(text)
    *nodes, choice = parse_format(f"{head} ]")
    return (*nodes, replace(choice, kind="several"), *read_format(tail))


def _takes(name: str, tokens: Tokens) -> Taken:
    """The ways in which the first words are a parameter of this name."""
    own = OWN_PARAMS.get(name)
    return own(tokens, name) if own else parameters.takes(name, tokens)


def fits(nodes: Sequence[Node], tokens: Tokens, so_far: Fit[T], trace: Trace) -> Iterator[Fit[T]]:
    """Yield every way in which all words begin the format; `trace` learns where others failed."""
    at = len(so_far.words)
    if not nodes:
        if at == len(tokens):
            yield so_far
        else:
            trace.want(at, "end")
        return
    node, rest = nodes[0], nodes[1:]
    if node.branches:
        for way in _ways(node):
            yield from fits((*way, *rest), tokens, so_far, trace)
        return
    if node.kind == "implied":
        yield from fits(rest, tokens, so_far, trace)
    if at == len(tokens):
        trace.want(at, "word")
        yield replace(so_far, after=node)
    elif node.kind == "param":
        yield from _filled(node, rest, tokens, so_far, trace)
    elif node.text.startswith(tokens[at].casefold()):
        yield from fits(rest, tokens, so_far.take(node.text), trace)
    else:
        trace.want(at, "word")


def _ways(node: Node) -> Iterator[tuple[Node, ...]]:
    """What may stand for a choice; of `[ x | y ] *` the other alternatives may follow each."""
    for branch in node.branches:
        if node.kind == "several" and len(node.branches) > 1:
            others = tuple(other for other in node.branches if other is not branch)
            yield (*branch, replace(node, branches=others))
        else:
            yield branch
    if node.kind in ("optional", "several"):
        yield ()


def _filled(
    node: Node, rest: Sequence[Node], tokens: Tokens, so_far: Fit[T], trace: Trace
) -> Iterator[Fit[T]]:
    at, fitted = len(so_far.words), False
    for used, saved in _takes(node.text, tokens[at:]):
        fitted = True
        typed = tokens[at : at + used]
        yield from fits(rest, tokens, so_far.fill(node.text, typed, saved), trace)
    if not fitted:
        trace.want(at, "param")


def _begins(nodes: Sequence[Node], words: Sequence[str], trace: Trace) -> bool:
    """Whether the keywords before a format's first choice are the words: most are sorted out here.

    `fits` comes to the same, at ten times the cost.
    """
    for at, (node, word) in enumerate(zip(nodes, words, strict=False)):
        if node.kind != "word":
            return True
        if not node.text.startswith(word):
            if at:  # that another first word was wanted is no news
                trace.want(at, "word")
            return False
    return True


@dataclass
class Place(Generic[T]):
    """The commands that are known at one place, each with its format."""

    commands: Sequence[tuple[T, tuple[Node, ...]]]
    trace: Trace = field(default_factory=Trace)

    def fitting(self, tokens: Tokens) -> list[Fit[T]]:
        """Every way in which the words begin a command."""
        self.trace, words = Trace(), [token.casefold() for token in tokens]
        return [
            fit
            for command, nodes in self.commands
            if _begins(nodes, words, self.trace)
            for fit in fits(nodes, tokens, Fit(command), self.trace)
        ]

    def resolve(self, tokens: Tokens) -> Fit[T]:
        """The one command that the words are. Raises Refused with the documented message."""
        fitting = self.fitting(tokens)
        if not fitting:
            raise self.failure(len(tokens))
        for index, typed in enumerate(tokens):
            fitting = _narrowed(fitting, index, typed.casefold())
        whole = [fit for fit in fitting if fit.after is None]
        if not whole:
            raise Refused(len(tokens), INCOMPLETE)
        return max(whole, key=lambda fit: sum(fit.keyword))

    def failure(self, count: int) -> Refused:
        """The documented error for the furthest word that still made sense."""
        at, wanted = self.trace.position, self.trace.wanted
        if at <= 0:
            return Refused(0, UNRECOGNIZED)
        if at >= count:
            return Refused(count, INCOMPLETE)
        if "param" in wanted:
            return Refused(at, WRONG)
        return Refused(at, TOO_MANY if wanted == {"end"} else UNRECOGNIZED)

    def following(self, tokens: Tokens, beginning: str) -> list[str]:
        """Words that may follow, sorted; with a beginning those that start so. Raises Refused."""
        fitting = self.fitting(tokens)
        for index, typed in enumerate(tokens):
            fitting = _narrowed(fitting, index, typed.casefold())
        following = {END if fit.after is None else shown(fit.after) for fit in fitting}
        if beginning:
            return sorted(word for word in following if word.startswith(beginning.casefold()))
        return sorted(following, key=lambda word: (word == END, word.startswith("<"), word))


def shown(node: Node) -> str:
    """How help writes an element: a keyword as it is, a parameter in angle brackets."""
    return f"<{node.text.removeprefix('kbytes:')}>" if node.kind == "param" else node.text


def _narrowed(fitting: list[Fit[T]], index: int, typed: str) -> list[Fit[T]]:
    """Keep the fits of one meaning of a word: exact before shortened, shortened only if alone."""
    meant = {fit.words[index] for fit in fitting if fit.keyword[index]}
    if typed in meant:
        return [f for f in fitting if f.keyword[index] and f.words[index] == typed]
    if len(meant) > 1:
        raise Refused(index, AMBIGUOUS)
    return fitting


def places(line: str) -> list[int]:
    """Where each word of a typed line starts."""
    return [found.start() for found in re.finditer(r"\S+", line)]
