"""From a page of YAML to a Network: load with positions, allocate, derive."""
