"""Readers of VRP lines with more content than fields and their values."""
