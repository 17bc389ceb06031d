"""Displays of a command's progress, on standard error."""
