"""`python -m rocefort`: the command line, for a process that another one starts."""

from __future__ import annotations

from rocefort.tasks import app

app()
