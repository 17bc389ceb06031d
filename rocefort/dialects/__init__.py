"""Dialects: readers and writers of a Device, one package for each network operating system."""
