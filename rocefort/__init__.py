"""Network-as-code for lossless RoCE fabrics on Huawei CloudEngine."""

from napalm_cloudengine import __version__

__all__ = ["__version__"]
