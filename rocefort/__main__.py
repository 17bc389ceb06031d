"""`python -m rocefort`: entry point of the command line for child processes."""

from __future__ import annotations

from rocefort.tasks import app

app()
