"""Widths and colors in which axe-core judges a page: each once in a quick run, all thorough."""

from __future__ import annotations

import pytest

LOOKS = [
    (1400, False),
    (400, True),
    pytest.param(1400, True, marks=pytest.mark.thorough),
    pytest.param(400, False, marks=pytest.mark.thorough),
]
