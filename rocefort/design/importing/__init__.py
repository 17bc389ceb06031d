"""From what switches' texts say to the YAML of a fabric that derives the same texts."""
