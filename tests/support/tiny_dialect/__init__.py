"""TinyOS: a made-up system with ten commands, the smallest dialect that is rolled out.

hostname, vlan, interface, description, mtu, address, routed, disabled, bgp, neighbor; `no LINE`
takes a line back, `exit` leaves a view, `end` closes a saved text.
"""
