"""NAPALM driver for Huawei CloudEngine switches, found by `get_network_driver("cloudengine")`."""

# NAPALM takes the alphabetically first NetworkDriver that this module shows: show one.
from napalm_cloudengine.driver import CloudEngineDriver

__all__ = ["CloudEngineDriver"]
