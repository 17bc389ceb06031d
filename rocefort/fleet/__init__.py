"""Access to switches and servers through Nornir, with strict host keys and masked secrets."""

from __future__ import annotations

import logging

# Failures come back as results. Without a handler here Python would also print the traceback of
# every failed task on stderr; an application's own handlers still get the records.
for _library in ("nornir", "paramiko"):
    logging.getLogger(_library).addHandler(logging.NullHandler())
