"""Verification of a network by a routing engine, and of engines against each other."""
