"""Reports on differences, changes and growth."""
