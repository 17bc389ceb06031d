"""Judge a fabric: check, verify, trace, capacity, the report page, and reviews of changes."""
