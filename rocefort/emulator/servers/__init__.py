"""Emulated servers of a lab."""
