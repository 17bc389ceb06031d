"""Size of the product's code, for `make size`: counted by AST, without tests.

A line of code is a line that a token of a statement is on: no blank line, comment or docstring.
"""

from __future__ import annotations

import argparse
import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[2]
PACKAGES = ("rocefort", "models", "validators", "napalm_cloudengine")
FILLERS = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.ENCODING,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DOCUMENTED = (ast.Module, ast.ClassDef, *FUNCTIONS)


@dataclass(frozen=True)
class Module:
    """One Python file, parsed."""

    path: Path  # from the root of the repository
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Import name of the module."""
        parts = self.path.with_suffix("").parts
        inside = parts if parts[0] in ("rocefort", "napalm_cloudengine") else ("rocefort", *parts)
        return ".".join(inside).removesuffix(".__init__")


def modules() -> list[Module]:
    """List all modules of the product; a linked folder counts once."""
    files = [ROOT / "tasks.py"]
    for package in PACKAGES:
        files += (path for path in (ROOT / package).rglob("*.py") if not _linked(path))
    texts = ((path, path.read_text(encoding="utf-8")) for path in sorted(files))
    return [Module(path.relative_to(ROOT), text, ast.parse(text)) for path, text in texts]


def _linked(path: Path) -> bool:
    inside = takewhile(lambda folder: folder != ROOT, (path, *path.parents))
    return any(part.is_symlink() for part in inside)


def code_lines(module: Module) -> int:
    """Return the line numbers of code of a module."""
    docstrings: set[int] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstrings.update(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in FILLERS:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def used_names(tree: ast.AST) -> Iterator[str]:
    """Yield each use of a name or an attribute; a definition is no use."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def private_used_once(module: Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """List private functions of a module that are used once in it."""
    uses = Counter(used_names(module.tree))
    return [
        node
        for node in module.tree.body
        if isinstance(node, FUNCTIONS) and node.name.startswith("_") and uses[node.name] == 1
    ]


def imported(module: Module, names: set[str]) -> set[str]:
    """Return the modules of `names` that a module imports, except itself."""
    imports: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            imports.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            imports.add(node.module)
            imports.update(f"{node.module}.{alias.name}" for alias in node.names)
    return (imports & names) - {module.name}


def main() -> None:
    """Print the sizes; `--once` and `--single` list what could be joined."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--once", action="store_true", help="list private functions used once")
    parser.add_argument("--single", action="store_true", help="list modules with one importer")
    chosen = parser.parse_args()
    every = modules()
    names = {module.name for module in every}
    sizes = {module: code_lines(module) for module in every}
    importers: dict[str, list[Module]] = {}
    for module in every:
        for name in imported(module, names):
            importers.setdefault(name, []).append(module)
    single = [module for module in every if len(importers.get(module.name, ())) == 1]
    functions = [n for m in every for n in ast.walk(m.tree) if isinstance(n, FUNCTIONS)]
    classes = [n.name for m in every for n in ast.walk(m.tree) if isinstance(n, ast.ClassDef)]
    once = [(module, node) for module in every for node in private_used_once(module)]
    folders = Counter(module.path.parent for module in every)
    repeated = sum(1 for count in Counter(classes).values() if count > 1)
    (largest, most), longest = folders.most_common(1)[0], max(every, key=_length)
    for title, figure in (
        ("lines of code", f"{sum(sizes.values()):,}"),
        ("modules", f"{len(every):,}"),
        ("modules with one importer", f"{len(single):,}"),
        ("modules of 60 lines of code or fewer", f"{sum(n <= 60 for n in sizes.values()):,}"),
        ("longest module", f"{_length(longest):,} lines, {longest.path}"),
        ("classes", f"{len(classes):,}"),
        ("class names used more than once", f"{repeated:,}"),
        ("functions", f"{len(functions):,}"),
        ("private functions used once", f"{len(once):,}"),
        ("of these, 4 lines or fewer", f"{sum(_span(node) <= 4 for _, node in once):,}"),
        ("modules a folder, median", f"{median(folders.values()):g}"),
        ("modules a folder, most", f"{most}, {largest}"),
    ):
        print(f"{title:<38}{figure:>9}")
    if chosen.once:
        for module, node in once:
            print(f"{module.path}:{node.lineno}: {node.name}, {_span(node)} lines")
    if chosen.single:
        for module in single:
            (user,) = importers[module.name]
            print(f"{module.path}: {sizes[module]} lines, by {user.path} ({sizes[user]})")


def _length(module: Module) -> int:
    return module.text.count("\n")


def _span(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Count the lines of a function from its `def`, without its docstring."""
    document = 0
    if ast.get_docstring(node, clean=False) is not None:
        document = (node.body[0].end_lineno or 0) - node.body[0].lineno + 1
    return (node.end_lineno or 0) - node.lineno + 1 - document


if __name__ == "__main__":
    main()
