"""YAML files as checked data with the place of every value: common ground of all rooms."""
