"""Intent: what a fabric is meant to be, as its YAML gives it."""
