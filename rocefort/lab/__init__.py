"""Emulated fabric for rehearsals: CloudEngine command lines over SSH, and servers."""
