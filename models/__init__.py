"""Data models of a fabric: Fabric, Device, Network, Finding, Change and Plan, all frozen."""
