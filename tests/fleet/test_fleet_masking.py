"""A secret that was read is masked in all later texts, also in logs of libraries."""

from __future__ import annotations

import io
import logging
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from napalm_cloudengine.masking import MASK
from rocefort.base.secret_masking import masked, remember
from rocefort.base.secret_references import resolve

CANARY = "c4nary-%^&|#\\of'a-test"


@pytest.fixture(autouse=True)
def read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_OF_A_TEST", CANARY)
    resolve("env:CANARY_OF_A_TEST")


def test_a_secret_is_masked_also_as_python_writes_it() -> None:
    assert masked(f"refused: peer x password cipher {CANARY}") == (
        f"refused: peer x password cipher {MASK}"
    )
    assert masked(repr(ValueError(CANARY))) == f'ValueError("{MASK}")'
    assert masked("nothing to hide") == "nothing to hide"


def test_a_short_secret_is_masked_where_it_stands_alone() -> None:
    remember("net")
    assert masked("password net, of the network") == f"password {MASK}, of the network"


def test_secrets_that_many_sessions_read_at_once_are_all_masked() -> None:
    """Each secret is masked from the moment of its reading, also with concurrent threads."""
    seen: list[str] = []

    def read_some(number: int) -> None:
        for at in range(30):
            secret = f"c4nary-{number}-{at}-of-many"
            remember(secret)
            seen.append(masked(secret))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(6) as pool:
            list(pool.map(read_some, range(6)))
    finally:
        sys.setswitchinterval(before)
    assert seen == [MASK] * 180


@given(before=st.text(max_size=20), after=st.text(max_size=20))
def test_no_text_around_it_lets_a_secret_through(before: str, after: str) -> None:
    assert CANARY not in masked(before + CANARY + after)


def test_log_records_and_their_tracebacks_are_masked() -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logger = logging.getLogger("somebody.else")
    logger.addHandler(handler)
    try:
        logger.warning("sent %r to %s", CANARY, "leaf01")
        try:
            int(CANARY)
        except ValueError:
            logger.exception("failed")
    finally:
        logger.removeHandler(handler)
    text = stream.getvalue()
    assert "to leaf01" in text
    assert f'ValueError: invalid literal for int() with base 10: "{MASK}"' in text
    assert CANARY not in text
    assert CANARY.replace("\\", "\\\\") not in text
