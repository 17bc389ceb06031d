"""Batfish: a snapshot of a network, and the client of a Batfish service."""
