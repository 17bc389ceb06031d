"""`facts`: unconfirmed facts of switches, and their probe on a switch."""
