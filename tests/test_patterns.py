"""Every pattern of the packages needs time that grows with the length of a text, not faster.

Names, configurations and outputs of servers are foreign text. Each pattern meets texts that repeat
what it repeats and end in what it does not accept.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("rocefort", "napalm_cloudengine")
SHORT, LONG = 800, 3200  # characters
FLOOR_S = 0.0015  # of a long text; a linear search takes less than 0.0005
STEEP = 8.0  # ratio of times of texts whose ratio is 4; a square has 16
TRIES = 4  # measurements of a pattern that seems steep
ANY = ("a", "0", " ", "a ", "a-", "- ", ":", "a:", ":/", "%", "[", '"', "'", ".", "1.", ",", "\n")
TAILS = ("", "\x00", " !")
ANCHORED = frozenset({"match", "fullmatch"})
ANYWHERE = frozenset({"search", "fullmatch"})  # of a pattern in a table: its use is not known
FUNCTIONS = frozenset({"search", "match", "fullmatch", "sub", "split", "findall"})


def _names() -> Iterator[str]:
    for package in PACKAGES:
        for folder, _, files in os.walk(ROOT / package, followlinks=True):
            for name in sorted(files):
                parts = (Path(folder) / name).relative_to(ROOT).with_suffix("").parts
                if name.endswith(".py") and name != "__main__.py":
                    yield ".".join(parts).removesuffix(".__init__")


def _in(value: object, depth: int = 0, field: str = "") -> Iterator[tuple[re.Pattern[Any], str]]:
    """Return the patterns in a value of a module: also in tables, classes and their fields.

    Each with the field of an object that holds it.
    """
    if isinstance(value, re.Pattern):
        yield value, field
    elif depth > 4 or isinstance(value, (str, bytes, ModuleType)):
        return
    elif isinstance(value, dict):
        for item in (*value.keys(), *value.values()):
            yield from _in(item, depth + 1)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _in(item, depth + 1)
    elif str(getattr(value, "__module__", "")).startswith(PACKAGES):
        for name, item in (*getattr(value, "__dict__", {}).items(),):
            yield from _in(item, depth + 1, name)
        for name in getattr(type(value), "__slots__", ()):
            yield from _in(getattr(value, name, None), depth + 1, name)


def _in_calls(source: str) -> Iterator[tuple[re.Pattern[Any], str]]:
    """Return the patterns that a call such as `re.sub("..", ..)` has as a constant."""
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in FUNCTIONS
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            yield re.compile(node.args[0].value), node.func.attr


def _patterns(  # noqa: C901 - one loop for each source of patterns and of their uses
    names: Iterable[str],
) -> Iterator[tuple[str, re.Pattern[Any], frozenset[str]]]:
    """Return each pattern of modules once: its name, and the methods by which modules use it."""
    modules = {name: importlib.import_module(name) for name in names}
    sources = {name: Path(one.__file__ or "").read_text("utf-8") for name, one in modules.items()}
    uses: dict[re.Pattern[Any], set[str]] = defaultdict(set)
    of_fields: dict[str, set[str]] = defaultdict(set)
    for name, source in sources.items():
        for word, after in re.findall(r"\b(\w+)\b\.(\w+)[(,)]", source):
            value = vars(modules[name]).get(word)
            if isinstance(value, re.Pattern):
                uses[value].add(after)
            elif after in FUNCTIONS:
                of_fields[word].add(after)
    methods: dict[tuple[str, re.Pattern[Any]], frozenset[str]] = {}
    for name, module in modules.items():
        for variable, value in vars(module).items():
            own = uses.get(value) if isinstance(value, re.Pattern) else None
            for pattern, field in _in(value):
                use = own or of_fields.get(field)
                methods[f"{name}.{variable}", pattern] = _methods(use) if use else ANYWHERE
        for pattern, function in _in_calls(sources[name]):
            methods[name, pattern] = _methods({function})
    seen: set[tuple[str | bytes, int, frozenset[str]]] = set()
    for (name, pattern), its_methods in methods.items():
        if (key := (pattern.pattern, pattern.flags, its_methods)) not in seen:
            seen.add(key)
            yield name, pattern, its_methods


def _methods(uses: set[str]) -> frozenset[str]:
    """Return the methods that stand for the uses of a pattern: all others search."""
    return frozenset(use if use in ANCHORED else "search" for use in uses)


def _character(item: tuple[Any, Any]) -> str:
    """Return a character that an item of a class accepts."""
    op, value = item
    if op is codes.LITERAL:
        return chr(value)
    if op is codes.RANGE:
        return chr(value[0])
    words = {codes.CATEGORY_DIGIT: "0", codes.CATEGORY_SPACE: " ", codes.CATEGORY_WORD: "a"}
    return words.get(value, "!")


def _sample(tree: Iterable[tuple[Any, Any]]) -> str:
    """Return a short text that a parsed pattern accepts, if there is a simple one."""
    return "".join(map(_part, tree))


def _part(item: tuple[Any, Any]) -> str:  # noqa: PLR0911 - one case for each part
    op, value = item
    if op is codes.LITERAL:
        return chr(value)
    if op is codes.NOT_LITERAL:
        return "a" if value != ord("a") else "b"
    if op is codes.ANY:
        return "a"
    if op is codes.IN:
        if value[0][0] is codes.NEGATE:
            refused = {_character(each) for each in value[1:]}
            return next((one for one in "a0 -!:" if one not in refused), "\u4e00")
        return _character(value[0])
    if op is codes.BRANCH:
        return _sample(value[1][0])
    if op is codes.SUBPATTERN:
        return _sample(value[-1])
    if op is codes.ATOMIC_GROUP:
        return _sample(value)
    if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
        return _sample(value[2]) * int(max(1, value[0]))
    return ""  # a position


def _repeats(  # noqa: C901 - one case for each part
    tree: Iterable[tuple[Any, Any]], before: str = ""
) -> Iterator[tuple[str, str]]:
    """Return of each repetition the text before it, and each text that it repeats."""
    for op, value in tree:
        inner: list[Any] = []
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            if value[1] > 8:
                yield before, _sample(value[2])
                if len(value[2]) == 1 and value[2][0][0] is codes.IN:
                    for item in value[2][0][1]:
                        if item[0] is not codes.NEGATE:
                            yield before, _character(item)
            inner = [value[2]]
        elif op is codes.BRANCH:
            inner = value[1]
        elif op is codes.SUBPATTERN:
            inner = [value[-1]]
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            inner = [value[1]]
        elif op is codes.ATOMIC_GROUP:
            inner = [value]
        for each in inner:
            yield from _repeats(each, before)
        before += _part((op, value))


def _texts(pattern: re.Pattern[Any]) -> Iterator[Callable[[int], Any]]:
    """Return makers of texts of about a length, to which the pattern may fall."""
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin1")
    tree = parser.parse(text, pattern.flags & ~re.DEBUG & ~re.UNICODE)
    pumps = dict.fromkeys([("", one) for one in ANY])
    for before, pump in _repeats(tree):
        pumps |= dict.fromkeys([(before, pump), ("", pump), ("", before + pump), ("", before)])
    whole = _sample(tree)
    pumps |= dict.fromkeys([("", whole), ("", whole[:-1]), ("", whole[:1])])
    for before, pump in pumps:
        for tail in TAILS if pump else ():

            def make(length: int, parts: tuple[str, ...] = (before, pump, tail)) -> str | bytes:
                made = parts[0] + parts[1] * (length // len(parts[1])) + parts[2]
                return (
                    made.encode("latin1", "replace") if isinstance(pattern.pattern, bytes) else made
                )

            yield make


def _time_s(use: Callable[[Any], object], text: str | bytes) -> float:
    begun = time.process_time()
    use(text)
    return time.process_time() - begun


def _steep(pattern: re.Pattern[Any], methods: frozenset[str] = ANYWHERE) -> str:
    """Return a text for which the time grows faster than its length; "" without one."""
    for make in _texts(pattern):
        short, long = make(SHORT), make(LONG)
        for use in (getattr(pattern, name) for name in methods):
            if _time_s(use, short) * STEEP < FLOOR_S and _time_s(use, long) < FLOOR_S:
                continue
            for _ in range(TRIES):  # a busy machine slows single measurements
                base = min(_time_s(use, short) for _ in range(3))
                worst = min(_time_s(use, long) for _ in range(3))
                if worst <= max(FLOOR_S, STEEP * base):
                    break
            else:
                return f"{make(24)!r}: {worst:.4f} s for {LONG} characters, {worst / base:.1f}-fold"
    return ""


@pytest.mark.parametrize("text", [r"[\w-]+:", r" *\n *x", r"(?:- ?)*- !x"])
def test_a_pattern_that_is_not_linear_is_seen(text: str) -> None:
    assert _steep(re.compile(text))


@pytest.mark.parametrize(
    ("below", "least"),
    [
        (("napalm_cloudengine", "rocefort.base.documents"), 60),
        pytest.param(("rocefort",), 250, marks=pytest.mark.thorough),
    ],
)
def test_every_pattern_is_linear(below: tuple[str, ...], least: int) -> None:
    patterns = list(_patterns(name for name in _names() if name.startswith(below)))
    assert len(patterns) > least
    slow = [
        f"{name}: {pattern.pattern!r} on {text}"
        for name, pattern, methods in patterns
        if (text := _steep(pattern, methods))
    ]
    assert not slow, "\n".join(slow)
