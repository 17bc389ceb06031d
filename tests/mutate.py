"""Mutation tests of validators/: flip one comparison or `and`/`or` at a time (`make mutate`).

Works in a temporary copy and never touches the tree. Exit code 1 when a mutant survives.
"""

from __future__ import annotations

import argparse
import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
COPIED = (
    "rocefort",
    "models",
    "validators",
    "templates",
    "inventory",
    "napalm_cloudengine",
    "docs",
)
TESTS = (
    "tests/validators",
    "tests/hosts",
    "tests/commands/running",
    "tests/tuning/test_pause_spread.py",
)
OF_MODULES = {  # tests of these modules alone
    "tests/commands/running": "validators/rules/running",
    "tests/tuning/test_pause_spread.py": "validators/capacity/pauses",
}
SLOW = {"agreement", "batfish"}  # folders with tests of engines, not of rules
FLIPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
LOOPS = 3  # a mutant that takes this many times longer loops


@dataclass(frozen=True, slots=True)
class Mutant:
    """One flip: the number of the operator in its file, and its text."""

    file: str
    line: int
    number: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.before}  ->  {self.after}"


def flippable(tree: ast.Module) -> Iterator[tuple[ast.expr, int]]:
    """Yield expressions with an operator to flip, and the operator's index in each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BoolOp):
            yield node, 0
        elif isinstance(node, ast.Compare):
            yield from ((node, index) for index, _ in enumerate(node.ops))


def flip(node: ast.expr, index: int) -> None:
    """Flip one operator in place."""
    if isinstance(node, ast.BoolOp):
        node.op = FLIPS[type(node.op)]()  # type: ignore[assignment]  # the table keeps the kind
    elif isinstance(node, ast.Compare):
        node.ops[index] = FLIPS[type(node.ops[index])]()  # type: ignore[call-overload]  # same


def mutants(file: str, source: str) -> Iterator[Mutant]:
    """List all mutants of a module."""
    for number, (node, index) in enumerate(flippable(ast.parse(source))):
        before = ast.unparse(node)
        flip(node, index)
        after = ast.unparse(node)
        flip(node, index)  # restored, so that each mutant has one flip
        yield Mutant(file, node.lineno, number, before, after)


def all_mutants(files: Sequence[str] = ()) -> Iterator[Mutant]:
    """List the mutants of these modules, or of all of validators/."""
    for module in files or sorted(str(path.relative_to(ROOT)) for path in _modules()):
        yield from mutants(module, (ROOT / module).read_text(encoding="utf-8"))


def mutated(source: str, number: int) -> str:
    """Return the source with one operator flipped."""
    tree = ast.parse(source)
    flip(*list(flippable(tree))[number])
    return ast.unparse(tree)


def sample(candidates: Sequence[Mutant], size: int | None, seed: int) -> list[Mutant]:
    """Draw some mutants by a hash, in the order of the files; all if no size is given.

    The hash is of a mutant's text, not of its position: a change elsewhere draws no other mutants.
    """
    ranks, copies = {}, Counter[tuple[str, str, str]]()
    for index, mutant in enumerate(candidates):
        text = (mutant.file, mutant.before, mutant.after)
        copies[text] += 1
        ranks[index] = sha256(repr((seed, text, copies[text])).encode()).digest()
    chosen = sorted(ranks, key=lambda index: ranks[index])[:size]
    return [candidates[index] for index in sorted(chosen)]


def copy_tree(to: Path) -> Path:
    """Copy the files that tests of validators need; links stay links."""
    for name in (*COPIED, "tests"):
        shutil.copytree(
            ROOT / name, to / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    for name in ("pyproject.toml", "tasks.py"):
        shutil.copy(ROOT / name, to / name)
    return to


def survives(
    tree: Path, tests: Sequence[str], mutant: Mutant | None, seconds: float | None
) -> bool:
    """Return whether the tests pass in a copy, with a mutant or without; None: no time limit."""
    file = tree / mutant.file if mutant else None
    source = file.read_text(encoding="utf-8") if file else ""
    if file and mutant:
        file.write_text(mutated(source, mutant.number), encoding="utf-8")
    for own, modules in OF_MODULES.items():
        if mutant and not mutant.file.startswith(modules):
            tests = [test for test in tests if not test.startswith(own)]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    near = [test for test in tests if mutant and is_near(test, mutant.file)]
    rest = [test for test in tests if test not in near]
    try:
        for part in filter(None, (near, rest)):
            words = [*command, *part]
            done = subprocess.run(
                words, cwd=tree, env=environment, capture_output=True, timeout=seconds, check=False
            )
            if done.returncode:
                return False
    except subprocess.TimeoutExpired:
        return False
    finally:
        if file:
            file.write_text(source, encoding="utf-8")
    return True


def is_near(test: str, module: str) -> bool:
    """Whether a file of tests is named like a module or its folder: it kills most mutants."""
    return Path(module).stem in test or Path(module).parent.name in test


def tests_of(paths: Sequence[str]) -> list[str]:
    """List the test files to run, rules first: they are quick and kill most mutants."""
    if paths:
        return list(paths)
    folders = (ROOT / name for name in TESTS if not name.endswith(".py"))
    files = (path for folder in folders for path in folder.rglob("test_*.py"))
    listed = [str(path.relative_to(ROOT)) for path in files if path.parent.name not in SLOW]
    return sorted((*listed, *(name for name in TESTS if name.endswith(".py"))))


def seconds_of(tests: Sequence[str]) -> float:
    """Run the tests without any mutant; return how long they take. Exit where one fails."""
    with tempfile.TemporaryDirectory(prefix="rocefort-mutate-") as where:
        tree = copy_tree(Path(where) / "tree")
        begin = time.monotonic()
        if not survives(tree, tests, None, None):
            sys.exit("the tests fail without any mutant; fix them first")
        return time.monotonic() - begin


def run(chosen: Sequence[Mutant], tests: Sequence[str], jobs: int, limit: float) -> list[Mutant]:
    """Try every mutant, print each outcome, and return those that survived.

    A mutant whose tests take longer than the limit, in seconds, loops; it counts as killed.
    """
    with tempfile.TemporaryDirectory(prefix="rocefort-mutate-") as where:
        free: SimpleQueue[Path] = SimpleQueue()
        for job in range(jobs):
            free.put(copy_tree(Path(where) / str(job)))

        def attempt(mutant: Mutant) -> bool:
            tree = free.get()
            try:
                return survives(tree, tests, mutant, limit)
            finally:
                free.put(tree)

        survivors = []
        with ThreadPoolExecutor(jobs) as pool:
            for mutant, survived in zip(chosen, pool.map(attempt, chosen), strict=True):
                print(f"{'SURVIVED' if survived else 'killed  '} {mutant}", flush=True)
                survivors += [mutant] if survived else []
    return survivors


def main() -> int:
    """Read the options, try the mutants, print how many were killed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", help="modules of validators/ (default: all)")
    parser.add_argument("--sample", type=int, help="try so many, chosen by chance")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another sample")
    parser.add_argument("--jobs", type=int, default=2, help="how many at the same time")
    parser.add_argument("--tests", action="append", default=[], help="run these test files only")
    options = parser.parse_args()
    candidates = list(all_mutants(options.files))
    chosen = sample(candidates, options.sample, options.seed)
    tests = tests_of(options.tests)
    survivors = run(chosen, tests, options.jobs, LOOPS * seconds_of(tests))
    print(
        f"{len(chosen) - len(survivors)} of {len(chosen)} killed ({len(candidates)} mutants there are)"
    )
    return 1 if survivors else 0


def _modules() -> Iterator[Path]:
    """List modules whose tests need no service; queries to Batfish are tested with recordings."""
    files = (ROOT / "validators").rglob("*.py")
    return (f for f in files if "batfish" not in str(f) and not f.name.startswith("engine_"))


if __name__ == "__main__":
    sys.exit(main())
