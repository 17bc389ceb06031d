"""From a change to a sealed plan: waves, drains, refusals and signatures."""
