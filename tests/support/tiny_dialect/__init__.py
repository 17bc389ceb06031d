"""TinyOS: a fictitious system with ten commands, the smallest dialect that can be rolled out.

hostname, vlan, interface, description, mtu, address, routed, disabled, bgp, neighbor; `no LINE`
removes a line, `exit` leaves a view, `end` closes a saved text.
"""
