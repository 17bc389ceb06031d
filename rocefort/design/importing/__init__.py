"""Import configurations of switches as the YAML of a fabric that derives the same texts."""
