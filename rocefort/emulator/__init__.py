"""Emulated CloudEngine switches: their command line, their state, and servers that replay runs."""
