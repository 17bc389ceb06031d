"""Servers beside the emulated switches."""
