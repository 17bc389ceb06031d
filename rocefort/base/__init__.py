"""Errors, progress, clock, paths, YAML documents, the frame of the command line, and output."""
