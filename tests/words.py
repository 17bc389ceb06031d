"""Check the prose of the repository against words.toml, for `make lint`.

Prose is docstrings, comments, string literals of two words or more, and other text files outside
of code (Markdown, the inventory, templates).
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
WORDS: dict[str, str] = tomllib.loads((ROOT / "tests/words.toml").read_text())["words"]
UNWANTED = re.compile(rf"\b({'|'.join(sorted(WORDS, key=len, reverse=True))})\b", re.IGNORECASE)
OPENING = re.compile(r"(What|Where|Who|Which|How|Whose|That)\b")
OPENINGS = re.compile(rf'"""{OPENING.pattern}')
CODE = re.compile(r"```.*?```|`[^`\n]*`|\brocefort( [a-z]+)+", re.DOTALL)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Prose(NamedTuple):
    """A piece of text that a person reads."""

    line: int  # its first
    text: str


class Complaint(NamedTuple):
    """A word of words.toml, or a docstring that begins with a question word."""

    path: Path
    line: int
    word: str
    better: str


def complaints(path: Path) -> Iterator[Complaint]:
    """Yield all complaints on one file."""
    text = path.read_text(encoding="utf-8")
    if not UNWANTED.search(text) and not OPENINGS.search(text):
        return  # most files; parsing is slow
    if path.suffix == ".py":
        tree = ast.parse(text)
        yield from (
            Complaint(path, line, opening, "a noun or a verb as the first word")
            for line, opening in _openings(tree)
        )
        pieces = [*_comments(text), *_strings(tree)]
    else:
        pieces = [Prose(1, CODE.sub(lambda code: re.sub(r"[^\n]", " ", code[0]), text))]
    for piece in pieces:
        for match in UNWANTED.finditer(piece.text):
            line = piece.line + piece.text[: match.start()].count("\n")
            yield Complaint(path, line, match[1], WORDS[match[1].lower()])


def _comments(text: str) -> Iterator[Prose]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield Prose(token.start[0], CODE.sub("", token.string))


def _strings(tree: ast.Module) -> Iterator[Prose]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield Prose(node.lineno, CODE.sub("", node.value))


def _openings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and (match := OPENING.match(ast.get_docstring(node) or "")):
            yield getattr(node, "lineno", 1), match[1]


def main() -> int:
    """Print every complaint; exit with 1 if there is one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="*", help="files or folders; the whole repository if none")
    parser.add_argument("--count", action="store_true", help="counts by word and folder only")
    arguments = parser.parse_args()
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "--", *arguments.paths],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    files = [ROOT / name for name in listed if _is_prose(Path(name))]
    results = [one for path in files if path.is_file() for one in complaints(path)]
    if arguments.count:
        folders = (str(one.path.relative_to(ROOT).parent) for one in results)
        for counter in (Counter(one.word.lower() for one in results), Counter(folders)):
            for name, number in counter.most_common():
                print(f"{number:5} {name}")
    else:
        for one in results:
            print(f"{one.path.relative_to(ROOT)}:{one.line}: {one.word!r}: write {one.better}")
    return bool(results)


def _is_prose(path: Path) -> bool:
    if path.suffix == ".py":
        return path.name not in ("words.py", "test_words.py")  # the latter: its test data
    if path.name.endswith(".service.j2"):
        return False  # keys of systemd
    return path.suffix in (".md", ".j2") or (
        path.suffix == ".yaml" and path.parts[0] == "inventory"
    )


if __name__ == "__main__":
    sys.exit(main())
