"""`make lab-demo` where no twin can be run; where one can, it asserts its own outcome."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rocefort.base.errors import BadInput, ServiceFailed
from rocefort.lab.demo import twin_demo as lab_demo

EditHeps = Callable[..., Path]


def test_no_root(monkeypatch: pytest.MonkeyPatch, heps_file: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    said: list[str] = []
    with pytest.raises(ServiceFailed) as failed:
        lab_demo.run_lab_demo(heps_file, said.append)
    assert (failed.value.exit_code, str(failed.value), said) == (
        3,
        "a twin needs root, for its namespaces; run it with sudo",
        [],
    )


def test_another_user_gets_one_line(
    monkeypatch: pytest.MonkeyPatch, rocefort: Callable[..., Any]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    done = rocefort("demo", "--lab", "heps")
    assert (done.code, done.out, done.err) == (
        3,
        "",
        "rocefort: a twin needs root, for its namespaces; run it with sudo\n",
    )


def test_a_server_whose_name_has_no_line_of_its_own(
    edit_heps: EditHeps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lab_demo, "require_host", lambda: None)
    monkeypatch.setattr(lab_demo, "_twin", lambda *_: pytest.fail("a lab was brought up"))
    fabric = edit_heps(("  - name: k8sgn08\n", "  - name:  k8sgn08  # the first\n"))
    with pytest.raises(BadInput) as bad:
        lab_demo.run_lab_demo(fabric, lambda _: None)
    assert str(bad.value) == (
        f"{fabric}: the demonstration writes a description below `- name: k8sgn08`; write that "
        "server's name on a line of its own"
    )
