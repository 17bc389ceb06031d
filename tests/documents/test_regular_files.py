"""A pipe, a socket or a device among inputs is one clear error, and never waited for."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from napalm.base.exceptions import MergeConfigException

from napalm_cloudengine.load import config_text
from rocefort.base.documents.read import read_text
from rocefort.base.errors import RocefortError
from rocefort.design import subject
from rocefort.design.importing.import_texts import facts_of
from rocefort.fleet.connections import load_connections
from rocefort.rollout.planning.sealed_files import read_plan

READERS: dict[str, Callable[[Path], object]] = {
    "fabric": read_text,
    "configuration": subject.read_text,
    "plan": read_plan,
    "connections": load_connections,
    "facts": lambda path: facts_of((), (), path),
    "candidate": lambda path: config_text(str(path), None),
}


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        end.bind(str(path))


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("make", [_pipe, _socket, _device])
def test_what_is_no_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str, make: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    make(path := Path("in.yaml"))
    with pytest.raises((RocefortError, MergeConfigException)) as error:
        READERS[reader](path)
    assert "not a file" in str(error.value)
    assert "in.yaml" in str(error.value)
