"""Design of a fabric: load its YAML with positions, allocate, derive a Network."""
