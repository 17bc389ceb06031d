"""What a fabric is, as frozen data: Fabric, Device, Network, Finding, Change, Plan."""
