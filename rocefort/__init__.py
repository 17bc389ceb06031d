"""Network-as-code for lossless RoCE fabrics on Huawei CloudEngine."""

__version__ = "0.2.0.dev0"  # of its driver too: napalm_cloudengine/__init__.py, and pyproject.toml
