"""Soft-RoCE guests: a small Linux of Debian's packages that QEMU runs as a server of a lab.

It is built with apt, dpkg-deb and Python alone: mmdebstrap, cpio and initramfs-tools would have to
be installed first, and `lab guest build` finds its image again, offline, by the packages it is of.
mmdebstrap also unpacks all dependencies; a guest takes the libraries that its programs name.
"""
