"""YAML files as validated data with the position of every value, for all packages."""
