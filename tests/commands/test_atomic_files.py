"""Files of one set: all of them in place, or the earlier set as it was."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rocefort.base import atomic_files
from rocefort.base.atomic_files import create_together, put_together
from rocefort.base.errors import BadInput, Refused

OLD = {"review.md": "old words", "review.json": "{}"}
NEW = {"review.md": "new words", "review.json": "[]", "review.html": "<p>"}


def held(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_a_directory_appears_with_all_files(tmp_path: Path) -> None:
    out = tmp_path / "some" / "where"
    assert put_together(NEW, out) == [out / name for name in NEW]
    assert held(out) == NEW
    assert [path.name for path in out.parent.iterdir()] == ["where"]
    (tmp_path / "plain").mkdir()
    assert out.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_set_takes_the_place_of_an_earlier_one_and_of_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    put_together(OLD, tmp_path)
    put_together(NEW, tmp_path)
    assert held(tmp_path) == NEW | {"notes.txt": "mine"}


@pytest.mark.parametrize(
    ("at", "said"),
    [
        ("file/out", "cannot be written: Not a directory"),
        ("file", "cannot be written: Not a directory"),
        ("full", "cannot be written: Is a directory"),
        ("x" * 300, "cannot be written: File name too long"),
    ],
)
def test_where_it_cannot_be_written_is_named_as_it_was_given(
    tmp_path: Path, at: str, said: str
) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "full" / "review.json").mkdir(parents=True)
    (tmp_path / "full" / "review.md").write_text("kept")
    with pytest.raises(BadInput) as caught:
        put_together(NEW, tmp_path / at)
    assert str(caught.value) == f"{tmp_path / at}: {said}"
    assert {path.name for path in tmp_path.iterdir()} == {"file", "full"}
    assert {path.name for path in (tmp_path / "full").iterdir()} == {"review.json", "review.md"}


@pytest.mark.parametrize("fails_at", range(1, len(OLD) + len(NEW) + 1))
def test_the_earlier_set_comes_back_wherever_it_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """The system call that puts a file in its place fails: the first, the second, and so on."""
    put_together(OLD, tmp_path)
    real, left = Path.rename, [fails_at]

    def rename(self: Path, target: Path) -> Path:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    said = f"{tmp_path}: cannot be written: No space left on device"
    with pytest.raises(BadInput, match=re.escape(said)):
        put_together(NEW, tmp_path)
    assert held(tmp_path) == OLD


TREE = {"a.txt": "a", "deep/er/b.txt": "b", "deep/c.txt": "c"}


def tree(directory: Path) -> dict[str, str]:
    """Text of every file below a directory; of a folder without files nothing."""
    return {
        path.relative_to(directory).as_posix(): path.read_text() if path.is_file() else ""
        for path in directory.rglob("*")
    }


WHOLE = {**TREE, "deep": "", "deep/er": ""}


@pytest.mark.parametrize("there", [False, True])
def test_new_files_are_created_below_a_directory(tmp_path: Path, there: bool) -> None:
    out = tmp_path / "out"
    if there:
        out.mkdir()
    assert create_together(TREE, out) == [out / name for name in TREE]
    assert tree(out) == WHOLE
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_existing_file_is_never_replaced_and_each_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("own")
    (tmp_path / "deep").write_text("a file where a folder must be")
    with pytest.raises(Refused) as refused:
        create_together(TREE, tmp_path)
    assert list(map(str, refused.value.problems)) == [
        f"{tmp_path}/a.txt: is there already; move it away first",
        *[f"{tmp_path}/deep: is a file or a link, not a folder; move it away first"] * 2,
    ]
    assert tree(tmp_path) == {"a.txt": "own", "deep": "a file where a folder must be"}


def test_a_folder_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "deep").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused, match="is a file or a link"):
        create_together(TREE, tmp_path / "out")
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("late", [FileExistsError, KeyboardInterrupt])
def test_a_failure_on_the_way_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: type[BaseException]
) -> None:
    """Another process writes deep/c.txt, or Ctrl-C ends this one, after the check."""
    (tmp_path / "own").write_text("own")
    create = atomic_files._create

    def create_late(new: Path, path: Path, created: list[Path]) -> None:
        if path.name == "c.txt":
            if late is KeyboardInterrupt:
                raise late
            path.write_text("of another process")
        create(new, path, created)

    monkeypatch.setattr(atomic_files, "_create", create_late)
    with pytest.raises(BadInput if late is FileExistsError else late):
        create_together({"deep/er/b.txt": "b", "c.txt": "c"}, tmp_path)
    others = {"c.txt": "of another process"} if late is FileExistsError else {}
    assert tree(tmp_path) == {"own": "own", **others}
