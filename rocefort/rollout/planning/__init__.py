"""Planning of a change: waves, drains, refusals and the signature of the sealed plan."""
