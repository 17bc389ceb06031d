"""Command line: help pages, common options, completion; `commands/` has the commands."""
