"""`rocefort` as a process of its own, once for each group of commands.

Other tests run commands in this process or fork them: here are the entry point, the exit code that
a shell sees, and an output whose reader has gone, as with `| head -1`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocefort.base.repository import ROOT

ROCEFORT = Path(sys.executable).with_name("rocefort")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ("new heps --spines 2 --leaves 2", 4, "inventory/heps/fabric.yaml: is there already; "),
        ("plan heps --connections nowhere", 2, "nowhere: no such file; check the path"),
        ("rehearse nowhere", 2, "nowhere: no such file; make it by `rocefort plan`"),
        ("status nowhere", 2, "nowhere: no such file; make it by `rocefort plan`"),
        ("trust heps --connections nowhere", 2, "nowhere: no such file; check the path"),
        ("health heps --connections nowhere", 2, "nowhere: no such file; check the path"),
    ],
)
def test_a_process_ends_with_the_code_of_its_error(words: str, code: int, sentence: str) -> None:
    done = subprocess.run(
        [ROCEFORT, *words.split()], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith(f"rocefort: {sentence}")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        "rules",
        "lab faults",
        "host render heps",
        "rdma plan heps --suite write --servers k8sgn08,k8sgn09",
    ],
)
def test_a_reader_that_has_gone_ends_it_quietly(words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [ROCEFORT, *words.split()], stdout=writer, stderr=subprocess.PIPE, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, b"")
