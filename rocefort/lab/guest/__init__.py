"""Soft-RoCE guests: a small Linux of Debian's packages that QEMU runs as a server of a lab."""
