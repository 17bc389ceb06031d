"""Frame of the command line: help pages, completion, names and exits."""
