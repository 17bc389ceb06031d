"""Traffic demand against the capacity of a fabric."""
