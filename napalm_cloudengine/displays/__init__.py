"""Definitions of every `display` that this driver reads, shared by readers and writers."""
