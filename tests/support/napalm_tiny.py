"""The NAPALM driver of TinyOS, where NAPALM looks for it."""

from tiny_dialect.switch import TinyDriver

__all__ = ["TinyDriver"]
