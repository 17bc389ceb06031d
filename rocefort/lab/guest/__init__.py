"""Soft-RoCE guests: a small Linux of Debian's packages that QEMU runs as a server of a lab.

It is built with apt, dpkg-deb and Python alone: mmdebstrap, cpio and initramfs-tools would have to
be installed first. `lab guest build` finds an existing image again, offline, by its packages.
mmdebstrap also unpacks all dependencies; a guest contains only the libraries of its programs.
"""
